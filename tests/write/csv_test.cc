// CSV results: round trips, cut and damaged files, full disks, pipes.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <csignal>

#include <fstream>

#include "tests/write/sample.h"
#include "trammel/write/csv_writer.h"
#include "trammel/write/read_trajectory.h"

namespace trammel::csv_test {
namespace {

using ::testing::HasSubstr;

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_text(const std::string& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

class Csv : public ::testing::Test {
 protected:
  sample::TemporaryFolder folder_;
  std::string path_ = folder_ / "run.csv";
};

TEST_F(Csv, RoundTripIsExact) {
  CsvWriter writer(path_);
  sample::write_run(writer, 3000);
  std::vector<Problem> notes;
  const auto result = read_trajectory(path_, {}, &notes);
  sample::expect_description(result);
  sample::expect_rows(result, 0, 3000);
  sample::expect_rows(result, 1, 9000);
  EXPECT_EQ(result.status(), RunStatus::finished);
  EXPECT_EQ(result.summary_json(), R"({"steps": 12, "text": "a\nb"})");
  EXPECT_TRUE(notes.empty());
}

TEST_F(Csv, LooksAsDocumented) {
  CsvWriter writer(path_);
  std::vector<Table> tables(1);
  tables[0].name = "output";
  tables[0].signals = {{"time", "s", "", "", false, ""}, {"a,b", "m", "world", "", true, "careful"}};
  Provenance provenance;
  provenance.set("title", "One");
  writer.begin(tables, provenance);
  ASSERT_TRUE(writer.append(0, std::vector<double>{0, 0.1}));
  ASSERT_TRUE(writer.append(0, std::vector<double>{0.5, -1e-300}));
  writer.finish(RunStatus::finished, "{\"a\":\n1}", "");
  EXPECT_EQ(read_text(path_),
            "# trammel-result 1\n# table: output\n# provenance.title: One\n# unit: s,m\n# frame: ,world\n# text: ,\n"
            "# flag: ,careful\ntime,\"a,b\"\n0,0.1\n0.5,-1e-300\n# status: finished\n# summary: {\"a\":\\n1}\n");
}

TEST_F(Csv, FurtherTablesStandBeside) {
  CsvWriter writer(path_);
  sample::write_run(writer, 4);
  EXPECT_EQ(CsvWriter::path_of_table(path_, "steps"), folder_ / "run.steps.csv");
  const auto steps = read_trajectory(folder_ / "run.steps.csv");
  ASSERT_EQ(steps.tables().size(), 1u);
  sample::expect_rows(steps, 0, 12);

  const auto some = read_trajectory(path_, {{"solver.step_size"}});
  ASSERT_EQ(some.tables().size(), 1u);
  EXPECT_EQ(some.tables()[0].signals.size(), 2u);
  EXPECT_TRUE(sample::same(some.column("solver.step_size")[5], sample::row(3, 5)[1]));

  std::filesystem::remove(folder_ / "run.steps.csv");
  std::vector<Problem> notes;
  EXPECT_EQ(read_trajectory(path_, {}, &notes).tables().size(), 1u);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_THAT(notes[0].message, HasSubstr("run.steps.csv' is missing"));
}

TEST_F(Csv, FlushedRowsAreVisible) {
  CsvWriter writer(path_, 1e9);
  writer.begin(sample::tables(), {});
  sample::append_rows(writer, 0, 5, 0, 7);
  writer.flush();
  sample::append_rows(writer, 0, 5, 7, 9);
  const auto result = read_trajectory(path_);
  EXPECT_EQ(result.status(), RunStatus::running);
  sample::expect_rows(result, 0, 7);
  EXPECT_EQ(result.rows(1), 0u);
}

TEST_F(Csv, CutFilesKeepTheirWholeRows) {
  CsvWriter writer(path_);
  sample::write_run(writer, 40);
  const std::string whole = read_text(path_);
  const std::size_t header = whole.find("\ntime,") + 1;
  const std::size_t first_row = whole.find('\n', header) + 1;
  const std::string cut = folder_ / "cut.csv";
  for (std::size_t length = 20; length < whole.size(); length += 13) {
    write_text(cut, whole.substr(0, length));
    if (length < first_row) {
      EXPECT_THROW(read_trajectory(cut), Failure) << length;
      continue;
    }
    std::vector<Problem> notes;
    const auto result = read_trajectory(cut, {}, &notes);
    sample::expect_rows(result, 0, result.rows(0));
    EXPECT_FALSE(notes.empty());  // at least that the steps are missing
  }
}

TEST_F(Csv, DamageIsNamedWithItsLine) {
  {
    CsvWriter writer(path_);
    sample::write_run(writer, 3);
  }
  std::string text = read_text(path_);
  const std::size_t at = text.find("\n0.1,");
  const std::string shorter = text.substr(0, at + 1) + "0.1,2\n" + text.substr(at + 1);
  write_text(path_, shorter);
  const auto first = sample::expect_failure([&] { read_trajectory(path_); }, "damaged-result", ExitCode::bad_usage);
  const auto line = 2 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  EXPECT_THAT(first, HasSubstr("run.csv:" + std::to_string(line) + ":"));
  text[at + 2] = 'x';
  write_text(path_, text);
  const auto second = sample::expect_failure([&] { read_trajectory(path_); }, "damaged-result", ExitCode::bad_usage);
  EXPECT_THAT(second, HasSubstr("signal 'time'"));
  write_text(path_, "# trammel-result 2\n");
  sample::expect_failure([&] { read_trajectory(path_); }, "newer-result", ExitCode::bad_usage);
}

TEST_F(Csv, ForeignFilesAreLeftAlone) {
  write_text(path_, "a,b\n1,2\n");
  sample::expect_failure([&] { CsvWriter writer(path_); }, "not-a-result", ExitCode::cannot_write);
  sample::expect_failure([&] { read_trajectory(path_); }, "not-a-result", ExitCode::bad_usage);
  EXPECT_EQ(read_text(path_), "a,b\n1,2\n");
  sample::expect_failure([&] { CsvWriter writer(folder_ / "none/run.csv"); }, "cannot-write", ExitCode::cannot_write);
}

TEST_F(Csv, FullDevice) {
  CsvWriter writer("/dev/full", 1e9);
  sample::expect_failure([&] { writer.begin(sample::tables(), {}); }, "cannot-write", ExitCode::cannot_write);
}

TEST_F(Csv, FullDiskIsReportedAndFlushedRowsStay) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{100000, 100000};
    setrlimit(RLIMIT_FSIZE, &limit);
    int outcome = 1;
    try {
      CsvWriter writer(path_, 0);
      writer.begin(sample::tables(), {});
      bool fine = true;
      for (std::size_t i = 0; i < 10000 && fine; ++i) fine = writer.append(0, sample::row(5, i));
      if (fine) _exit(2);
      try {
        writer.flush();
        _exit(3);
      } catch (const Failure& failure) {
        if (failure.exit_code() != ExitCode::cannot_write) _exit(4);
      }
      writer.finish(RunStatus::failed, "", "");
      outcome = 0;
    } catch (...) {
      outcome = 5;
    }
    _exit(outcome);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  const auto result = read_trajectory(path_);
  EXPECT_GT(result.rows(0), 500u);
  sample::expect_rows(result, 0, result.rows(0));
}

TEST_F(Csv, GoesOnFromAnyRow) {
  for (const std::size_t kept : {0u, 1u, 30u}) {
    {
      CsvWriter writer(path_);
      writer.begin(sample::tables(), sample::provenance());
      sample::append_rows(writer, 0, 5, 0, 30);
      sample::append_rows(writer, 1, 3, 0, 40);
    }
    CsvWriter writer(path_);
    writer.resume(sample::tables(), {kept, 10});
    sample::append_rows(writer, 0, 5, kept, 50);
    sample::append_rows(writer, 1, 3, 10, 60);
    writer.finish(RunStatus::finished, "{}", "");
    const auto result = read_trajectory(path_);
    EXPECT_EQ(result.status(), RunStatus::finished);
    EXPECT_EQ(result.provenance().entries, sample::provenance().entries);
    sample::expect_rows(result, 0, 50);
    sample::expect_rows(result, 1, 60);
  }
  CsvWriter writer(path_);
  sample::expect_failure(
      [&] {
        writer.resume(sample::tables(), {51, 60});
      },
      "cannot-continue-result", ExitCode::cannot_write);
}

TEST_F(Csv, PipesTakeTheFirstTable) {
  const std::string pipe = folder_ / "pipe.csv";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  CsvWriter writer(pipe);
  sample::write_run(writer, 5);
  std::string text(65536, '\0');
  const ssize_t count = read(reader, text.data(), text.size());
  ASSERT_GT(count, 0);
  close(reader);
  text.resize(static_cast<std::size_t>(count));
  write_text(path_, text);
  sample::expect_rows(read_trajectory(path_), 0, 5);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "pipe.steps.csv"));
}

TEST(CsvText, FieldsAndEscapes) {
  for (const std::string text : {"", "a", "a,b", "\"", "a\"\"b", "#x", "\\n", "a\nb\\", "line\r\n"}) {
    std::vector<std::string> fields;
    ASSERT_TRUE(csv_split(csv_field(csv_escape(text)) + ",z", fields));
    ASSERT_EQ(fields.size(), 2u) << text;
    EXPECT_EQ(csv_unescape(fields[0]), text);
  }
  std::vector<std::string> fields;
  EXPECT_FALSE(csv_split("\"open", fields));
}

}  // namespace
}  // namespace trammel::csv_test
