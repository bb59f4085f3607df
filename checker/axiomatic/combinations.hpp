// What judging under a model is made of: every choice of one path for each thread, with every way to meet at
// barriers, put together and searched.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "checker/axiomatic/model.hpp"
#include "checker/axiomatic/rounds.hpp"
#include "checker/axiomatic/search.hpp"
#include "checker/axiomatic/valuation.hpp"
#include "checker/support/diagnostic.hpp"
#include "spec/program/barriers.hpp"
#include "spec/program/lower_waiting.hpp"

namespace lockstep::combining {

using Clock = std::chrono::steady_clock;

inline EventStyle style_of(const LitmusTest& test) {
  if (test.dialect == "PTX") return EventStyle::ptx;
  if (test.dialect == "VULKAN") return EventStyle::vulkan;
  return test.dialect == "HRF" ? EventStyle::hrf : EventStyle::opencl;
}

inline void constants_of(const Formula& formula, std::set<std::int32_t>& out) {
  for (const Formula& child : formula.children) constants_of(child, out);
  if (formula.kind != Formula::Kind::compare) return;
  for (const ConditionTerm* const term : {&formula.left, &formula.right}) {
    if (term->kind == ConditionTerm::Kind::constant) out.insert(term->value);
  }
}

// With the values that the question is about for those that come out of thin air.
inline ProgramEvents events_of(const LitmusTest& test, const JudgeOptions& options) {
  std::set<std::int32_t> asked;
  constants_of(test.condition, asked);
  constants_of(test.filter, asked);
  UnrollLimits limits = options.unroll;
  limits.each_value = limits.each_value || options.plainly;
  return unroll(test.program, style_of(test), limits, asked);
}

// Searches, with rows of as many words as the events need.
template <template <int> class Engine>
struct ByWords {
  Engine<1> one;
  Engine<2> two;
  Engine<4> four;

  template <class Use>
  auto with(int words, const Use& use) {
    if (words == 1) return use(one);
    if (words == 2) return use(two);
    return use(four);
  }
};

// The events of one execution, for a model that looks into sets.
class EventsOf final : public cat::Structure {
 public:
  explicit EventsOf(const Execution& execution) : execution_(execution) {}
  [[nodiscard]] int events() const override { return execution_.size(); }
  [[nodiscard]] int words() const override { return execution_.words(); }
  std::vector<std::uint64_t> rows(const cat::Plan& plan, int node) override {
    switch (execution_.words()) {
      case 1:
        return evaluated<1>(plan, node);
      case 2:
        return evaluated<2>(plan, node);
      default:
        return evaluated<4>(plan, node);
    }
  }

 private:
  template <int W>
  std::vector<std::uint64_t> evaluated(const cat::Plan& plan, int node) {
    cat::Evaluator<W> evaluator;
    evaluator.prepare(plan, execution_);
    for (int i = 0; i <= node; ++i) {
      const cat::Node& n = plan.nodes[static_cast<std::size_t>(i)];
      if (n.stage == cat::Stage::fixed_by_events && n.recursion < 0 && n.op != cat::Op::fixed)
        evaluator.evaluate(i);
    }
    const auto* const rows = evaluator.row(node);
    const std::size_t words = plan.nodes[static_cast<std::size_t>(node)].set ? static_cast<std::size_t>(W)
                                                                             : evaluator.relation_words();
    return {rows, rows + words};
  }
  const Execution& execution_;
};

// Whether the reads that decide which paths are taken can find values on which they are, before anything is
// asked of a model. Of what the others would have to write it is enough that it is not known yet.
class Agreement {
 public:
  bool possible(const Execution& execution) {
    execution_ = &execution;
    deciding_.clear();
    for (std::size_t t = 0; t < execution.paths.size(); ++t) {
      Terms::Bits reads = 0;
      for (const PathCondition& condition : execution.paths[t]->conditions) reads |= condition.reads;
      for (; reads != 0; reads &= reads - 1)
        deciding_.push_back(execution.first[t] + std::countr_zero(reads));
    }
    valuation_.begin(execution);
    tries_ = 0;
    return possible(0);
  }

 private:
  static constexpr std::size_t most_tries = 10'000;  // it saves a search, which finds out by itself

  bool possible(std::size_t next) {
    if (next == deciding_.size() || ++tries_ > most_tries) return true;
    const int read = deciding_[next];
    const int location = execution_->events[static_cast<std::size_t>(read)].location;
    const auto reads_from = [&](int write) {
      const std::size_t before = valuation_.mark();
      const bool agrees = valuation_.connect(read, write) && possible(next + 1);
      valuation_.undo(before);
      return agrees;
    };
    const auto& writes = execution_->writes[static_cast<std::size_t>(location)];
    return reads_from(location) || std::any_of(writes.begin(), writes.end(), reads_from);
  }

  const Execution* execution_ = nullptr;
  std::vector<int> deciding_;
  Valuation valuation_;
  std::size_t tries_ = 0;
};

inline constexpr std::size_t combinations_between_asking = 1024;

inline constexpr const char* divergence_flag = "barrier-divergence";

// Whether executions are asked whether all threads of a work-group come to the same barriers.
inline bool is_flagged_for_divergence(const LitmusTest& test) {
  if (!flags_divergence(style_of(test))) return false;
  const std::vector<bool> may = barriers::may_diverge(test.program);
  return std::find(may.begin(), may.end(), true) != may.end();
}

inline bool diverges(const Execution& execution) {
  std::vector<std::vector<std::int32_t>> numbers(execution.paths.size());
  for (std::size_t t = 0; t < numbers.size(); ++t) {
    for (const ProgramEvent& e : execution.paths[t]->events) {
      if (e.kind == EventKind::barrier || e.kind == EventKind::barrier_entry) numbers[t].push_back(e.barrier);
    }
  }
  const auto groups = barriers::groups_of(*execution.program);
  return std::any_of(groups.begin(), groups.end(), [&](const std::vector<int>& group) {
    return std::any_of(group.begin(), group.end(), [&](int t) {
      return numbers[static_cast<std::size_t>(t)] != numbers[static_cast<std::size_t>(group.front())];
    });
  });
}

using Paths = std::vector<const ThreadPath*>;  // by thread

// Which of the combinations are looked at.
template <class Wanted>
struct Which {
  Wanted wanted;            // of Paths
  bool with_hangs = false;  // also where some thread waits at a barrier for ever
};
template <class Wanted>
Which(Wanted) -> Which<Wanted>;
inline bool any_paths(const Paths&) {
  return true;
}

// Every choice of one path for each thread, and every way to meet at barriers, as long as `use` says to go
// on, and `stop`, which is asked now and then, does not say otherwise.
template <class Wanted, class Stop, class Use>
void for_each_combination(const LitmusTest& test, const ProgramEvents& events, const Which<Wanted>& which,
                          const Stop& stop, const Use& use) {
  const std::size_t threads = events.threads.size();
  std::vector<std::size_t> at(threads);
  for (const ThreadEvents& thread : events.threads) {
    if (thread.paths.empty()) return;
  }
  const auto step = [&] {
    std::size_t t = threads;
    while (t > 0 && ++at[t - 1] == events.threads[t - 1].paths.size()) at[--t] = 0;
    return t > 0;
  };
  const bool single = std::all_of(events.threads.begin(), events.threads.end(),
                                  [](const ThreadEvents& thread) { return thread.paths.size() == 1; });
  Agreement agreement;
  const bool may_diverge = is_flagged_for_divergence(test);
  Execution execution;
  Paths paths(threads);
  std::size_t combinations = 0;
  do {
    if (++combinations % combinations_between_asking == 0 && stop()) return;
    for (std::size_t t = 0; t < threads; ++t) paths[t] = &events.threads[t].paths[at[t]];
    if (!which.wanted(paths)) continue;
    execution.assemble(test.program, style_of(test), events, paths);
    if (execution.size() > Execution::largest) {
      throw BadInput(fmt::format("'{}' has executions of more than {} events", test.name, Execution::largest),
                     "use a smaller unrolling bound");
    }
    if (!single && !agreement.possible(execution)) continue;
    execution.diverges = may_diverge && diverges(execution);
    for (Meeting& meeting : ways_to_meet(execution, may_diverge || which.with_hangs)) {
      execution.round = std::move(meeting.round);
      execution.hangs = meeting.hangs;
      if (!use(execution)) return;
    }
  } while (step());
}

class Limits {
 public:
  explicit Limits(const JudgeOptions& options) : options_(options), start_(Clock::now()) {}
  bool reached() {
    if (options_.interrupted != nullptr && options_.interrupted->load(std::memory_order_relaxed)) {
      status_ = RunStatus::interrupted;
    } else if (options_.time.count() > 0 && Clock::now() - start_ > options_.time) {
      status_ = RunStatus::out_of_time;
    }
    return status_ != RunStatus::complete;
  }
  [[nodiscard]] RunStatus status() const { return status_; }
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(Clock::now() - start_).count();
  }

 private:
  const JudgeOptions& options_;
  Clock::time_point start_;
  RunStatus status_ = RunStatus::complete;
};

inline std::vector<std::string> flag_labels(const LitmusTest& test, const cat::Plan& plan) {
  std::vector<std::string> labels;
  for (const cat::Check& check : plan.checks) {
    if (check.flag) labels.push_back(check.label);
  }
  if (is_flagged_for_divergence(test)) labels.emplace_back(divergence_flag);
  return labels;
}

// Models know loops, and no waiting.
inline LitmusTest with_loops(LitmusTest test) {
  test.program = without_waiting_atomics(std::move(test.program));
  return test;
}

inline std::string no_fixpoint(const cat::Plan& plan, int recursion, const std::string& model) {
  const cat::Recursion& r = plan.recursions[static_cast<std::size_t>(recursion)];
  return BadInput(Diagnostic{model,
                             r.place,
                             "recursion that does not converge: '" + r.name + "' has no least fixpoint",
                             "let rec needs definitions that only grow: no ~ or \\ of what is being defined",
                             {}})
      .what();
}

template <template <int> class Engine, class Wanted, class Stop, class Use>
void search_all(const LitmusTest& test, const AxiomaticModel& model, const ProgramEvents& events,
                const Which<Wanted>& which, ByWords<Engine>& searches, const Stop& stop, const Use& use) {
  for_each_combination(test, events, which, stop, [&](const Execution& execution) {
    std::optional<cat::Plan> own;
    if (!model.plan()) {
      EventsOf structure(execution);
      own = cat::compile(model.source(), &structure);
    }
    const cat::Plan& plan = own ? *own : *model.plan();
    return searches.with(execution.words(), [&](auto& search) { return use(plan, execution, search); });
  });
}

}  // namespace lockstep::combining
