#include "app/mpi_line.h"

#define OMPI_SKIP_MPICXX 1  // its C++ classes, which nothing here needs, want a library of their own
#include <mpi.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <vector>

#include "trammel/base/diagnosis.h"

namespace trammel {
namespace {

constexpr int end_tag = 32001;  // others are indices of participants

double wall() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// Who has waited long takes less of the processor.
void nap(long turns) { usleep(turns < 2000 ? 20 : 500); }

// Whether a process of this machine is gone, or dead and not yet cleared away.
bool is_gone(int process) {
  if (kill(process, 0) != 0) return true;
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string text;
  std::getline(file, text);
  const std::size_t end = text.rfind(')');
  return end != std::string::npos && end + 2 < text.size() && text[end + 2] == 'Z';
}

struct OtherProcess {
  int process = 0;
  bool here = false;  // on this machine
};
std::vector<OtherProcess>& processes() {
  static std::vector<OtherProcess> list;
  return list;
}

// One call at a time: lines may be used from several threads.
std::mutex& mpi_calls() {
  static std::mutex mutex;
  return mutex;
}

void send_text(const std::string& text, int rank, int tag) {
  MPI_Send(text.data(), static_cast<int>(text.size()), MPI_CHAR, rank, tag, MPI_COMM_WORLD);
}

std::string receive_text(const MPI_Status& status) {
  int size = 0;
  MPI_Get_count(&status, MPI_CHAR, &size);
  std::string text(static_cast<std::size_t>(size), ' ');
  MPI_Recv(text.data(), size, MPI_CHAR, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return text;
}

class MpiLine final : public Channel {
 public:
  MpiLine(int rank, int index, std::string name, double patience, const std::atomic<bool>* stop)
      : rank_(rank), index_(index), name_(std::move(name)), patience_(patience), stop_(stop) {}
  // Long messages are only sent once the other side takes them, which a dead one never does.
  void send(const std::string& line) override {
    MPI_Request request;
    {
      const std::lock_guard<std::mutex> lock(mpi_calls());
      MPI_Isend(line.data(), static_cast<int>(line.size()), MPI_CHAR, rank_, index_, MPI_COMM_WORLD, &request);
    }
    wait_until([&] {
      const std::lock_guard<std::mutex> lock(mpi_calls());
      int done = 0;
      MPI_Test(&request, &done, MPI_STATUS_IGNORE);
      return done != 0;
    });
  }
  std::string receive() override {
    MPI_Status status;
    wait_until([&] {
      const std::lock_guard<std::mutex> lock(mpi_calls());
      int there = 0;
      MPI_Iprobe(rank_, index_, MPI_COMM_WORLD, &there, &status);
      return there != 0;
    });
    const std::lock_guard<std::mutex> lock(mpi_calls());
    return receive_text(status);
  }

 private:
  template <class Done>
  void wait_until(Done&& done) const {
    const double begin = wall();
    double looked = begin;
    for (long turns = 0; !done(); ++turns) {
      if (turns < 20) continue;
      nap(turns);
      if (wall() - looked < 0.02 && !(stop_ != nullptr && *stop_)) continue;
      looked = wall();
      // mpirun ends everybody when a rank dies; who it was is still to be told.
      const OtherProcess& other = processes()[static_cast<std::size_t>(rank_)];
      if (other.here && is_gone(other.process)) lost("is gone");
      if (stop_ != nullptr && *stop_ && wall() - begin > 0.2) {
        for (std::size_t r = 1; r < processes().size(); ++r) {
          if (processes()[r].here && is_gone(processes()[r].process))
            lost("waits in vain: rank " + std::to_string(r) + " is gone");
        }
        lost("was left waiting when the run was ended");
      }
      if (wall() - begin > patience_) lost("does not answer");
    }
  }
  [[noreturn]] void lost(const std::string& what) const {
    throw Failure({Severity::error,
                   "participant-lost",
                   "participant '" + name_ + "' (rank " + std::to_string(rank_) + ", process " +
                       std::to_string(processes()[static_cast<std::size_t>(rank_)].process) + ") " + what,
                   "",
                   {}},
                  ExitCode::failed_run);
  }
  int rank_, index_;
  std::string name_;
  double patience_;
  const std::atomic<bool>* stop_;
};

}  // namespace

MpiWorld::MpiWorld() {
  const char* size = std::getenv("OMPI_COMM_WORLD_SIZE");
  if (size == nullptr || std::atoi(size) < 2) return;
  // Where ranks share processors MPI would give way at every look for a message: on a busy machine half a second each.
  setenv("OMPI_MCA_mpi_yield_when_idle", "0", 0);
  int threads = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &threads);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
  // Everybody's process and machine, so that rank 0 can tell who is gone.
  char own[256] = {}, name[200] = {};
  gethostname(name, sizeof name - 1);
  std::snprintf(own, sizeof own, "%d %s", static_cast<int>(getpid()), name);
  std::vector<char> all(static_cast<std::size_t>(size_) * sizeof own);
  MPI_Allgather(own, sizeof own, MPI_CHAR, all.data(), sizeof own, MPI_CHAR, MPI_COMM_WORLD);
  for (int r = 0; r < size_; ++r) {
    const std::string text(all.data() + static_cast<std::size_t>(r) * sizeof own);
    processes().push_back({std::atoi(text.c_str()), text.substr(text.find(' ') + 1) == name});
  }
}

MpiWorld::~MpiWorld() {
  if (size_ > 1) MPI_Finalize();
}

std::unique_ptr<Channel> MpiWorld::line(int rank, int index, std::string name, double patience,
                                        const std::atomic<bool>* stop) {
  return std::make_unique<MpiLine>(rank, index, std::move(name), patience, stop);
}

void MpiWorld::serve(const std::function<bool(int, const std::string&, std::string&)>& answer,
                     const std::atomic<bool>* stop) {
  for (long turns = 0;; ++turns) {
    int there = 0;
    MPI_Status status;
    MPI_Iprobe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &status);
    if (there == 0) {
      if (turns > 20) nap(turns);
      if (stop != nullptr && *stop) return;
      continue;
    }
    turns = 0;
    const int tag = status.MPI_TAG;
    const std::string request = receive_text(status);
    if (tag == end_tag) return;
    std::string reply;
    answer(tag, request, reply);
    send_text(reply, 0, tag);
  }
}

void MpiWorld::end_all() {
  for (int r = 1; r < size_; ++r) send_text("", r, end_tag);
}

int MpiWorld::run(const std::function<int()>& verb) {
  try {
    return verb();
  } catch (const Failure& failure) {
    if (size_ < 2) throw;
    // All ranks read the same files: the first one is to tell, and to end the others.
    if (rank_ > 0) usleep(1000000);
    for (const Problem& problem : failure.problems()) std::fprintf(stderr, "%s\n", to_text(problem).c_str());
    // Ranks wait for each other at the end; one that is gone never comes.
    abort(static_cast<int>(failure.exit_code()));
  }
}

void MpiWorld::abort(int code) {
  MPI_Abort(MPI_COMM_WORLD, code);
  std::exit(code);
}

}  // namespace trammel
