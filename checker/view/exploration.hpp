// A walk that somebody steers: a path of choices, each one of the rules that were enabled, and the way to a
// state in which something is so.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "checker/language/test.hpp"
#include "checker/runs/limits.hpp"
#include "checker/trace/trace.hpp"
#include "checker/view/walk.hpp"

namespace lockstep::view {

// By number, among the rules that are enabled at each place and are no thread's own move where those are
// taken at once.
using Decisions = std::vector<std::size_t>;

struct Found {
  std::optional<Decisions> path;           // from the beginning
  RunStatus status = RunStatus::complete;  // of the search: a limit may have come first
  std::size_t states = 0;
};

class Exploration {
 public:
  // `test`: whose program the subject has, for its outcomes; may be null. With a trace, the walk begins with
  // its first rows. Throws BadInput as Subject::build() does, and where the trace cannot be followed so far.
  Exploration(const Subject& subject, std::shared_ptr<const LitmusTest> test, bool moves_at_once,
              std::size_t initial = 0);
  Exploration(const RecordedTrace& trace, std::size_t rows, bool moves_at_once);

  // Throws BadInput where a choice is none of those that there are.
  void go(const Decisions& path);
  // A shortest way from where it has got to, to a state in which the condition holds (state_condition.hpp).
  // Throws BadInput where it cannot be read.
  [[nodiscard]] Found find(const std::string& condition, const RunLimits& limits);
  // {"kind": "explore", ...}
  [[nodiscard]] nlohmann::json document() const;
  // As `lockstep replay` takes it. `end`: what is said of its last state.
  [[nodiscard]] RecordedTrace trace() const;
  [[nodiscard]] const Walk& walk() const { return walk_; }

 private:
  [[nodiscard]] std::vector<Choice> choices() const;
  void settle();

  Walk walk_;
  std::shared_ptr<const LitmusTest> test_;
  bool moves_at_once_;
  std::size_t initial_ = 0;
  Decisions path_;
  std::vector<std::size_t> rows_;  // by choices made: how many rows there were then
};

}  // namespace lockstep::view
