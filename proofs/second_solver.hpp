// A solver that is a program of its own, asked for a second opinion on an obligation's SMT-LIB text.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace lockstep {

struct SecondOpinion {
  enum class Answer : std::uint8_t { unsat, sat, unknown, failed };
  Answer answer = Answer::failed;
  std::string message;  // of unknown and failed
};

class SecondSolver {
 public:
  // `command` is a name to be found in PATH, or a path; throws BadInput where it does not run. `seconds` are
  // for one question.
  SecondSolver(const std::string& command, double seconds, const std::atomic<bool>* interrupted);
  // Safe to call from several threads at once.
  [[nodiscard]] SecondOpinion ask(const std::string& file) const;

 private:
  std::vector<std::string> command_;
  double seconds_;
  const std::atomic<bool>* interrupted_;
};

}  // namespace lockstep
