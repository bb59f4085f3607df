// A solver that is a program of its own, asked for a second opinion on an obligation's SMT-LIB text.
#pragma once

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
  // `command` is a name to be found in PATH, or a path; throws BadInput where it is neither or does not run.
  SecondSolver(const std::string& command, double seconds);
  // Safe to call from several threads at once.
  [[nodiscard]] SecondOpinion ask(const std::string& file) const;

 private:
  std::string program_;
  double seconds_;
  std::vector<std::string> arguments_;
};

// An empty folder that goes with its owner.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory();
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace lockstep
