// Calls that take long: their limits, as Python gives them, and how they wait. Engines work on a thread of
// their own without Python's lock; meanwhile the calling thread listens for Ctrl-C.
#pragma once

#include <pybind11/pybind11.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>

#include "checker/runs/limits.hpp"

namespace lockstep::python {

namespace py = pybind11;

// threads=, timeout= and memory= of a call. Throws BadInput on numbers that are none of these.
struct LimitArguments {
  int threads = 1;
  std::optional<double> timeout;  // seconds
  std::optional<double> memory;   // GiB; none: as the command takes where nothing is said
  [[nodiscard]] RunLimits limits(const std::atomic<bool>& interrupted) const;
};

// Called a few times a second while work goes on, with Python's lock held. What it throws ends the work, and
// so does setting `interrupted`.
using Meanwhile = std::function<void(std::atomic<bool>& interrupted)>;

// Does `work`, which is to end soon after the flag that it is given has been set: by Ctrl-C, or when Python
// ends. What the handler of a signal raises, KeyboardInterrupt as a rule, is thrown when the work has ended.
void attend_to(const std::function<void(const std::atomic<bool>& interrupted)>& work,
               const Meanwhile& meanwhile);

template <class Work>
auto without_lock(Work&& work, const Meanwhile& meanwhile = {}) {
  std::optional<std::invoke_result_t<Work&, const std::atomic<bool>&>> result;
  attend_to([&](const std::atomic<bool>& interrupted) { result.emplace(work(interrupted)); }, meanwhile);
  return std::move(*result);
}

// The newest of what one thread says now and then to another.
template <class Value>
class Newest {
 public:
  void put(const Value& value) {
    const std::scoped_lock lock(mutex_);
    value_ = value;
  }
  [[nodiscard]] std::optional<Value> take() {
    const std::scoped_lock lock(mutex_);
    return std::exchange(value_, std::nullopt);
  }

 private:
  std::mutex mutex_;
  std::optional<Value> value_;
};

// Has Python wait for calls under way before it ends.
void add_calls();

}  // namespace lockstep::python
