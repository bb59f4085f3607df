// A pool that lives for one call.
#include "checker/support/jobs.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace lockstep {

namespace {

struct Pool {
  std::mutex mutex;
  std::condition_variable changed;
  std::size_t next = 0;
  std::size_t ended = 0;
  unsigned working = 0;
  std::exception_ptr error;
};

void work_off(Pool& pool, std::size_t count, const std::function<void(std::size_t)>& work) {
  std::unique_lock lock(pool.mutex);
  while (pool.next < count && !pool.error) {
    const std::size_t job = pool.next++;
    lock.unlock();
    std::exception_ptr error;
    try {
      work(job);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    if (error && !pool.error) pool.error = error;
    ++pool.ended;
    pool.changed.notify_one();
  }
  --pool.working;
  pool.changed.notify_one();
}

}  // namespace

void run_jobs(std::size_t count, unsigned threads, const std::function<void(std::size_t)>& work,
              const std::function<void()>& attend) {
  constexpr std::chrono::milliseconds patience{200};
  Pool pool;
  pool.working = static_cast<unsigned>(std::min<std::size_t>(std::max(1U, threads), count));
  std::vector<std::jthread> workers;
  for (unsigned i = 0, n = pool.working; i < n; ++i) {
    workers.emplace_back([&] { work_off(pool, count, work); });
  }
  std::unique_lock lock(pool.mutex);
  std::size_t attended = 0;
  while (pool.working > 0) {
    pool.changed.wait_for(lock, patience, [&] { return pool.ended > attended || pool.working == 0; });
    attended = pool.ended;
    lock.unlock();
    attend();
    lock.lock();
  }
  if (pool.error) std::rethrow_exception(pool.error);
  lock.unlock();
  attend();
}

}  // namespace lockstep
