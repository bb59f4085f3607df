// What bounds a run, and how one ends: with an answer, at a limit, or not made at all.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>

#include "checker/support/diagnostic.hpp"
#include "spec/program/program.hpp"

namespace lockstep {

enum class RunStatus : std::uint8_t {
  complete,  // every reachable state was visited
  deadlock,  // what the system or the program does wrong: there is a trace
  assertion,
  broken,       // a rule does what its types do not allow
  out_of_time,  // limits: what was seen is not all
  out_of_memory,
  interrupted,
  error,  // the run could not be made: see its message
};
constexpr bool failed(RunStatus status) {
  return status == RunStatus::deadlock || status == RunStatus::assertion || status == RunStatus::broken;
}
constexpr bool inconclusive(RunStatus status) {
  return status == RunStatus::out_of_time || status == RunStatus::out_of_memory ||
         status == RunStatus::interrupted;
}
std::string_view word(RunStatus status);  // "out of time"

struct RunLimits {
  unsigned threads = 1;
  std::size_t memory = 0;             // bytes; 0: none
  std::chrono::milliseconds time{0};  // 0: none
  const std::atomic<bool>* interrupted = nullptr;
  // Of one of several runs at a time: a thread, and its share of the memory.
  [[nodiscard]] RunLimits of_one() const { return {1, memory / std::max(1U, threads), time, interrupted}; }
  [[nodiscard]] bool are_interrupted() const {
    return interrupted != nullptr && interrupted->load(std::memory_order_relaxed);
  }
};

// Of a run where nothing is said: three quarters of the machine's. Bytes.
std::size_t usual_memory();

// What an exception that ended a run means: a status and a message. Rethrows what is none of ours.
struct RunError {
  RunStatus status = RunStatus::error;
  std::string message;
  std::optional<Diagnostic> bad_input;  // where that is what it was
};
RunError describe_error(const std::exception_ptr& error, const Program& program);

}  // namespace lockstep
