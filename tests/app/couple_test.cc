// trammel couple, cut, participate and sweep as a user meets them; several processes under mpirun.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/app/command.h"

namespace trammel::testing::couple_test {
namespace {

std::string coupling(const std::string& name) { return std::string(TRAMMEL_SOURCE_DIR) + "/couplings/" + name; }

// mpirun as the tests use it: on one machine, as root if need be, more ranks than processors.
std::string mpirun(int ranks, const std::string& arguments) {
  // Leaks that a sanitizer finds would be those of MPI itself.
  return "ASAN_OPTIONS=detect_leaks=0 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "
         "OMPI_MCA_btl_vader_single_copy_mechanism=none "
         "OMPI_MCA_odls_base_sigkill_timeout=2 "
         "mpirun --oversubscribe -n " +
         std::to_string(ranks) + " " + TRAMMEL_COMMAND + " " + arguments;
}

int shell(const Command& command, const std::string& line) {
  const int status = std::system(("cd " + command.folder().string() + " && " + line + " > out.txt 2> err.txt").c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// All lines of a CSV result but those of its head that tell the date.
std::string numbers_of(const Command& command, const std::string& file) {
  std::stringstream in(command.read(file));
  std::string line, out;
  while (std::getline(in, line)) {
    if (line.rfind('#', 0) != 0) out += line + "\n";
  }
  return out;
}

TEST(Couple, WritesResultsThatCanBePlotted) {
  const Command command;
  const Outcome run = command.run({"couple", coupling("double_pendulum.yaml"), "--option", "end=0.1", "--json"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.json()["status"], "finished");
  EXPECT_EQ(run.json()["summary"]["steps"], 10);
  EXPECT_TRUE(command.has("double_pendulum.h5"));
  EXPECT_TRUE(command.has("double_pendulum.first.h5"));
  const Outcome list = command.run({"plot", "double_pendulum.h5", "--list"});
  EXPECT_NE(list.out.find("joint.pin.force.x"), std::string::npos);
  EXPECT_NE(command.run({"plot", "double_pendulum.first.h5", "--list"}).out.find("phi1"), std::string::npos);
}

TEST(Couple, SaysWhatIsWrong) {
  const Command command;
  command.write(
      "bad.yaml",
      "trammel-coupling: 1\nparticipants:\n  a: {model: nothing.yaml}\n  b: {modl: x.yaml}\njoints:\n  pin: {type: "
      "revolut, frames: [a.tip, c.top]}\ncoupling: {step: 0.01, sheme: linear}\n");
  const Outcome run = command.run({"couple", "bad.yaml"});
  EXPECT_EQ(run.code, 3);
  for (const char* text : {"bad.yaml:4:7", "bad.yaml:6:15", "bad.yaml:6:40", "bad.yaml:7:24", "did you mean 'scheme'"})
    EXPECT_NE(run.err.find(text), std::string::npos) << text << "\n" << run.err;
}

TEST(Couple, AProcessOfItsOwnGivesTheSameNumbers) {
  const Command command;
  const std::string models = std::string(TRAMMEL_SOURCE_DIR) + "/models/";
  command.write("two.yaml", "trammel-coupling: 1\nparticipants:\n  first: {model: " + models +
                                "glue_pendulum.yaml}\n  second: {command: [" + TRAMMEL_COMMAND + ", participate, " +
                                models +
                                "glue_rod.yaml]}\njoints:\n  pin: {type: revolute, frames: [first.tip, second.top]}\n"
                                "coupling: {step: 0.01, end: 0.1, scheme: linear}\n");
  ASSERT_EQ(command.run({"couple", "two.yaml", "-o", "two.csv"}).code, 0);
  ASSERT_EQ(command
                .run({"couple", coupling("double_pendulum.yaml"), "--option", "end=0.1", "--option", "scheme=linear",
                      "--option", "output_step=0.01", "-o", "one.csv"})
                .code,
            0);
  EXPECT_EQ(numbers_of(command, "one.csv"), numbers_of(command, "two.csv"));
}

TEST(Couple, RanksGiveTheSameNumbers) {
  const Command command;
  const std::string what = "couple " + coupling("spatial_chain.yaml") + " --option end=0.03 -q -o ";
  ASSERT_EQ(shell(command, TRAMMEL_COMMAND + (" " + what) + "one.csv"), 0) << command.read("err.txt");
  const std::string one = numbers_of(command, "one.csv");
  EXPECT_GT(one.size(), 500U);
  for (const int ranks : {2, 4}) {
    ASSERT_EQ(shell(command, mpirun(ranks, what + "many.csv")), 0) << command.read("err.txt");
    EXPECT_EQ(one, numbers_of(command, "many.csv")) << ranks;
    EXPECT_EQ(numbers_of(command, "one.second.csv"), numbers_of(command, "many.second.csv"));
  }
}

TEST(Couple, AKilledRankEndsTheRunWithItsName) {
  const Command command;
  const std::string line =
      "cd " + command.folder().string() + " && exec env " +
      mpirun(2, "couple " + coupling("double_pendulum.yaml") +
                    " --option end=1000 --option output=ends --option save_every=0.05 -q -o long.csv") +
      " > out.txt 2> err.txt";
  const pid_t child = fork();
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
    _exit(127);
  }
  // The second rank is the one that writes the result of the second participant.
  pid_t victim = 0;
  // mpirun alone may need seconds where the machine's own name is not known.
  for (int i = 0; i < 800 && victim == 0; ++i) {
    usleep(50000);
    std::error_code none;
    // It is there when the run has begun.
    if (!std::filesystem::exists(command.path("long.csv"), none) ||
        std::filesystem::file_size(command.path("long.csv"), none) == 0)
      continue;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", none)) {
      std::ifstream environment(entry.path() / "environ", std::ios::binary), arguments(entry.path() / "cmdline");
      const std::string all{std::istreambuf_iterator<char>(environment), {}},
          words{std::istreambuf_iterator<char>(arguments), {}};
      if (words.rfind(TRAMMEL_COMMAND, 0) == 0 && words.find("long.csv") != std::string::npos &&
          all.find("OMPI_COMM_WORLD_RANK=1") != std::string::npos &&
          std::filesystem::read_symlink(entry.path() / "cwd", none) == std::filesystem::canonical(command.folder()))
        victim = std::atoi(entry.path().filename().c_str());
    }
  }
  ASSERT_NE(victim, 0) << command.read("err.txt");
  usleep(200000);
  kill(victim, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_FALSE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  const std::string messages = command.read("err.txt");
  EXPECT_NE(messages.find("participant 'second'"), std::string::npos) << messages;
  EXPECT_NE(messages.find("is gone"), std::string::npos) << messages;
  ASSERT_TRUE(command.has("long.csv.state")) << messages;
  // The state is whole: a run that ends soon after goes on from it.
  const double reached = std::atof(messages.c_str() + messages.find("t = ") + 4);
  const Outcome more =
      command.run({"couple", coupling("double_pendulum.yaml"), "--option", "end=" + std::to_string(reached + 0.05),
                   "--option", "output=ends", "--resume", "long.csv.state", "-o", "more.csv"});
  EXPECT_EQ(more.code, 0) << more.err;
}

TEST(Cut, MakesACouplingThatEqualsTheWhole) {
  const Command command;
  const Outcome cut = command.run(
      {"cut", model_file("glue_double_pendulum.yaml"), "--at", "pin", "--macro-step", "0.01", "-o", "parts.yaml"});
  ASSERT_EQ(cut.code, 0) << cut.err;
  const Outcome run = command.run({"couple", "parts.yaml", "--option", "end=0.2", "--compare-whole", "--json"});
  ASSERT_EQ(run.code, 0) << run.err;
  const auto json = run.json();
  EXPECT_GT(json["whole"]["differences"].size(), 6U);
  for (const auto& row : json["whole"]["differences"]) EXPECT_LT(row["difference"], 1e-8) << row;
  EXPECT_EQ(command.run({"cut", model_file("glue_double_pendulum.yaml"), "--at", "pinn"}).code, 2);
}

TEST(Sweep, GoesOnWhereItWasAndKeepsFailures) {
  const Command command;
  const std::vector<std::string> words{"sweep",     model_file("pendulum.yaml"),
                                       "--end",     "0.2",
                                       "--grid",    "L=0.5:1.5:5",
                                       "--grid",    "m=1,-1",
                                       "--measure", "swing.max",
                                       "-o",        "table.csv",
                                       "--threads", "2",
                                       "--json"};
  const Outcome all = command.run(words);
  ASSERT_EQ(all.code, 0) << all.err;
  EXPECT_EQ(all.json()["finished"], 5);
  EXPECT_EQ(all.json()["failed"], 5);
  const std::string table = command.read("table.csv");
  EXPECT_NE(table.find("0,finished,0.5,1,"), std::string::npos) << table;
  EXPECT_NE(table.find("1,failed,0.5,-1,,"), std::string::npos) << table;
  // Cut off in the middle of its fourth row.
  std::size_t at = 0;
  for (int line = 0; line < 5; ++line) at = table.find('\n', at) + 1;
  command.write("table.csv", table.substr(0, at + 4));
  std::vector<std::string> again = words;
  again.emplace_back("--resume");
  const Outcome rest = command.run(again);
  ASSERT_EQ(rest.code, 0) << rest.err;
  EXPECT_EQ(rest.json()["taken_over"], 3);
  EXPECT_EQ(command.read("table.csv"), table);
  EXPECT_EQ(command.run({"sweep", model_file("pendulum.yaml"), "--grid", "L=1,2", "-o", "table.csv", "--resume"}).code,
            2);
}

TEST(Sweep, RanksMakeTheSameTable) {
  const Command command;
  const std::string what =
      "sweep " + model_file("pendulum.yaml") + " --end 0.2 --grid L=0.5:1.5:6 --grid m=1,-1 --measure swing.max -q -o ";
  ASSERT_EQ(shell(command, TRAMMEL_COMMAND + (" " + what) + "one.csv"), 0) << command.read("err.txt");
  ASSERT_EQ(shell(command, mpirun(2, what + "many.csv")), 0) << command.read("err.txt");
  EXPECT_EQ(command.read("one.csv"), command.read("many.csv"));
}

TEST(Sweep, KilledAndResumedItLosesNothing) {
  const Command command;
  const std::string what =
      "sweep " + model_file("pendulum.yaml") + " --end 2 --grid L=0.5:1.5:40 --measure swing.max -q --threads 2 -o ";
  ASSERT_EQ(shell(command, TRAMMEL_COMMAND + (" " + what) + "whole.csv"), 0) << command.read("err.txt");
  const std::string line = "cd " + command.folder().string() + " && exec " + TRAMMEL_COMMAND + " " + what + "cut.csv";
  const pid_t child = fork();
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
    _exit(127);
  }
  const auto rows = [&] {
    const std::string table = command.has("cut.csv") ? command.read("cut.csv") : "";
    return std::count(table.begin(), table.end(), '\n') - 2;
  };
  while (rows() < 3 && waitpid(child, nullptr, WNOHANG) == 0) usleep(500);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  const auto made = rows();
  EXPECT_GE(made, 3);
  const Outcome rest = command.run({"sweep", model_file("pendulum.yaml"), "--end", "2", "--grid", "L=0.5:1.5:40",
                                    "--measure", "swing.max", "-o", "cut.csv", "--resume", "--json"});
  ASSERT_EQ(rest.code, 0) << rest.err;
  EXPECT_EQ(rest.json()["taken_over"], made);
  EXPECT_EQ(command.read("cut.csv"), command.read("whole.csv"));
}

}  // namespace
}  // namespace trammel::testing::couple_test
