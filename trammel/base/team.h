// A few threads that share loops over independent items. They wait between loops without sleeping for a while: a loop
// of a simulation comes every few microseconds.
#pragma once
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace trammel {

class Team {
 public:
  explicit Team(int threads);  // in all, with the one that calls run()
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int threads() const { return static_cast<int>(others_.size()) + 1; }

  // work(i) for i = 0 .. count - 1, each once; returns when all are done. `work` must not throw.
  template <class Work>
  void run(std::size_t count, const Work& work) {
    run_all(
        count, [](const void* context, std::size_t i) { (*static_cast<const Work*>(context))(i); }, &work);
  }

 private:
  using Function = void (*)(const void*, std::size_t);
  void run_all(std::size_t count, Function function, const void* context);
  void share(std::size_t member) const;
  void wait_for_work(std::size_t member);

  Function function_ = nullptr;
  const void* context_ = nullptr;
  std::size_t count_ = 0;
  std::atomic<unsigned> loop_{0}, done_{0};
  std::atomic<bool> stop_{false};
  std::vector<std::thread> others_;
};

}  // namespace trammel
