// Processes started by mpirun: which one this is, and lines between them.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "trammel/couple/channel.h"

namespace trammel {

// MPI is only begun where mpirun started more than one process: it costs a third of a second.
class MpiWorld {
 public:
  MpiWorld();
  ~MpiWorld();
  MpiWorld(const MpiWorld&) = delete;
  MpiWorld& operator=(const MpiWorld&) = delete;
  int rank() const { return rank_; }
  int size() const { return size_; }

  // From rank 0 to participant `index` on another rank; may be used from a thread of its own. `stop`: set by a signal.
  std::unique_ptr<Channel> line(int rank, int index, std::string name, double patience, const std::atomic<bool>* stop);
  // On the other ranks: answers what rank 0 asks, by index of the participant, until it says that all is done.
  void serve(const std::function<bool(int index, const std::string& request, std::string& reply)>& answer,
             const std::atomic<bool>* stop);
  void end_all();                     // from rank 0: the others return from serve
  [[noreturn]] void abort(int code);  // ends every rank
  // A verb on all ranks: what one of them throws ends them all, and is told once.
  int run(const std::function<int()>& verb);

 private:
  int rank_ = 0, size_ = 1;
};

}  // namespace trammel
