// Waiting for engines.
#include "python/calls.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <condition_variable>
#include <exception>

#include "checker/support/diagnostic.hpp"
#include "checker/support/jobs.hpp"

namespace lockstep::python {

namespace {

// Calls under way in any thread. A thread that asked for Python's lock after Python has ended would be ended
// within this code, and the process aborted: so Python, before it ends, has them end.
class CallsUnderWay {
 public:
  void begin() {
    const std::scoped_lock lock(mutex_);
    ++count_;
  }
  void end() {
    const std::scoped_lock lock(mutex_);
    --count_;
    changed_.notify_all();
  }
  [[nodiscard]] bool are_to_end() const { return to_end_.load(std::memory_order_relaxed); }
  void end_all() {
    to_end_ = true;
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return count_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t count_ = 0;
  std::atomic<bool> to_end_{false};
};

CallsUnderWay& calls_under_way() {
  static CallsUnderWay calls;
  return calls;
}

struct UnderWay {
  UnderWay() { calls_under_way().begin(); }
  ~UnderWay() { calls_under_way().end(); }
  UnderWay(const UnderWay&) = delete;
  UnderWay& operator=(const UnderWay&) = delete;
};

// What the command takes, too.
constexpr int most_threads = 1024;
constexpr double least_seconds = 0.001, most_seconds = 1e9;
constexpr double least_gibibytes = 0.001, most_gibibytes = 1048576;

double within(double value, double least, double most, const char* name, const char* unit) {
  if (!(value >= least && value <= most)) {
    throw BadInput(fmt::format("{}={} is not between {} and {} {}", name, value, least, most, unit));
  }
  return value;
}

}  // namespace

RunLimits LimitArguments::limits(const std::atomic<bool>& interrupted) const {
  constexpr double gibibyte = 1024.0 * 1024.0 * 1024.0;
  RunLimits limits;
  limits.threads = static_cast<unsigned>(within(threads, 1, most_threads, "threads", "threads"));
  limits.memory = usual_memory();
  if (memory) {
    limits.memory = static_cast<std::size_t>(
        within(*memory, least_gibibytes, most_gibibytes, "memory", "GiB") * gibibyte);
  }
  if (timeout) {
    limits.time = std::chrono::milliseconds(static_cast<std::int64_t>(
        std::ceil(within(*timeout, least_seconds, most_seconds, "timeout", "seconds") * 1000)));
  }
  limits.interrupted = &interrupted;
  return limits;
}

void attend_to(const std::function<void(const std::atomic<bool>& interrupted)>& work,
               const Meanwhile& meanwhile) {
  const UnderWay call;
  std::atomic<bool> interrupted{false};
  std::exception_ptr raised;  // of Python, while work went on; let go of with the lock held
  std::exception_ptr failed;
  const auto attend = [&] {
    if (calls_under_way().are_to_end()) interrupted = true;
    const py::gil_scoped_acquire lock;
    if (raised) return;
    try {
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
      if (meanwhile) meanwhile(interrupted);
    } catch (...) {
      raised = std::current_exception();
      interrupted = true;
    }
  };
  {
    const py::gil_scoped_release unlocked;
    try {
      run_jobs(
          1, 1, [&](std::size_t) { work(interrupted); }, attend);
    } catch (...) {
      failed = std::current_exception();
    }
  }
  if (raised) std::rethrow_exception(raised);
  if (failed) std::rethrow_exception(failed);
}

void add_calls() {
  py::module_::import("atexit").attr("register")(py::cpp_function([] {
    const py::gil_scoped_release unlocked;
    calls_under_way().end_all();
  }));
}

}  // namespace lockstep::python
