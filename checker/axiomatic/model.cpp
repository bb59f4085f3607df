#include "checker/axiomatic/model.hpp"

#include <fmt/format.h>
#define XXH_INLINE_ALL
#define XXH_VECTOR 0  // outcomes are short
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "checker/axiomatic/combinations.hpp"
#include "checker/axiomatic/solver.hpp"
#include "checker/needs/slots.hpp"
#include "checker/support/diagnostic.hpp"

namespace lockstep {

using namespace combining;

namespace {

std::optional<cat::Plan> plan_for_all(const cat::Source& source) {
  try {
    return cat::compile(source);
  } catch (const cat::NeedsStructure&) {
    return std::nullopt;
  }
}

class Collector final : public SearchVisitor, public Answers {
 public:
  // `patience`: how often it may be asked whether to stop before it finds executions too many to meet.
  Collector(const LitmusTest& test, ModelRun& run, Limits& limits, std::uint64_t patience)
      : test_(test), run_(run), limits_(limits), patience_(patience) {
    outcome_.resize(test.observed.size());
  }
  void allowed(const std::vector<const std::int32_t*>& registers, const std::vector<std::int32_t>& memory,
               std::uint64_t flags, bool assertion_failed) override {
    ++run_.executions;
    run_.assertion_fails |= assertion_failed;
    for (std::size_t i = 0; i < outcome_.size(); ++i) {
      const ConditionTerm& term = test_.observed[i];
      outcome_[i] = term.kind == ConditionTerm::Kind::location
                        ? memory[static_cast<std::size_t>(term.index)]
                        : registers[static_cast<std::size_t>(term.thread)][term.index];
    }
    note(outcome_, flags);
  }
  void allowed(const Outcome& outcome, std::uint64_t flags, bool assertion_failed) override {
    run_.assertion_fails |= assertion_failed;
    note(outcome, flags);
  }
  bool would_be_news(const Outcome& outcome, std::uint64_t flags, bool assertion_failed) override {
    const auto found = known_.find(outcome);
    return found == known_.end() || (flags & ~run_.outcomes[found->second].flags) != 0 ||
           (assertion_failed && !run_.assertion_fails);
  }
  void hung(std::uint64_t flags) override { run_.raised |= flags; }
  void cut() override { run_.cut = true; }
  bool stop() override {
    if (patience_ > 0 && --patience_ == 0) too_many_ = true;
    return too_many_ || limits_.reached();
  }
  [[nodiscard]] bool too_many() const { return too_many_; }

 private:
  void note(const Outcome& outcome, std::uint64_t flags) {
    const auto [found, fresh] = known_.try_emplace(outcome, run_.outcomes.size());
    if (fresh) run_.outcomes.push_back({outcome, 0, 0});
    AllowedOutcome& one = run_.outcomes[found->second];
    one.flags |= flags;
    ++one.executions;
  }
  struct Hash {
    std::size_t operator()(const Outcome& outcome) const {
      return XXH3_64bits(outcome.data(), outcome.size() * sizeof(outcome[0]));
    }
  };
  const LitmusTest& test_;
  ModelRun& run_;
  Limits& limits_;
  std::uint64_t patience_;
  bool too_many_ = false;
  Outcome outcome_;
  std::unordered_map<Outcome, std::size_t, Hash> known_;
};

}  // namespace

AxiomaticModel::AxiomaticModel(const std::string& name_or_path, const std::vector<std::string>& include_path)
    : name_(std::filesystem::path(name_or_path).stem() == name_or_path || !name_or_path.ends_with(".cat")
                ? name_or_path
                : std::filesystem::path(name_or_path).stem().string()),
      source_(cat::read_model(name_or_path, include_path)),
      plan_(plan_for_all(source_)) {}

AxiomaticModel::AxiomaticModel(std::string name, std::string text,
                               const std::vector<std::string>& include_path)
    : name_(name) {
  source_.file = std::make_shared<const cat::File>(cat::parse(std::move(text), std::move(name)));
  source_.path = include_path;
  cat::add_library_path(source_);
  plan_ = plan_for_all(source_);
}

bool AxiomaticModel::orders_kernels() const {
  if (!plan_) return true;
  return std::any_of(plan_->nodes.begin(), plan_->nodes.end(), [](const cat::Node& node) {
    return node.op == cat::Op::base && node.base == cat::Base::kernel;
  });
}

std::string AxiomaticModel::warnings() const {
  std::string text;
  if (!plan_) return text;
  for (const cat::Warning& one : plan_->warnings) {
    text += fmt::format("{}:{}:{}: warning: {}\n", one.file, one.place.line, one.place.column, one.message);
  }
  return text;
}

std::optional<Observation> ModelRun::observation() const {
  if (status != RunStatus::complete || raised != 0) return std::nullopt;
  const Observation seen = tally.observation();
  // What was cut could add outcomes, and so turn never and always into sometimes.
  if (cut && seen != Observation::sometimes) return std::nullopt;
  return seen;
}

bool ModelRun::allows(const Outcome& outcome) const {
  return std::binary_search(
      outcomes.begin(), outcomes.end(), AllowedOutcome{outcome, 0, 0},
      [](const AllowedOutcome& a, const AllowedOutcome& b) { return a.outcome < b.outcome; });
}

std::vector<std::string> ModelRun::raised_flags() const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < flags.size() && i < 64; ++i) {
    if (((raised >> i) & 1U) != 0) names.push_back(flags[i]);
  }
  return names;
}

// How often a search for executions may ask whether to stop, which it does some hundred times a second,
// before outcomes are looked for instead.
static constexpr std::uint64_t most_asked = 128;

static Pruning pruning_of(const JudgeOptions& options) {
  if (options.unconstrained) return Pruning::none;
  return options.plainly ? Pruning::late : Pruning::early;
}

namespace {

// Meets every execution, or gives up.
void judge_executions(const LitmusTest& test, const AxiomaticModel& model, const JudgeOptions& options,
                      const ProgramEvents& events, ModelRun& run, Collector& collector) {
  thread_local ByWords<Search> searches;
  search_all(
      test, model, events, Which{any_paths}, searches, [&] { return collector.stop(); },
      [&](const cat::Plan& plan, const Execution& execution, auto& search) {
        if (!model.plan()) run.flags = flag_labels(test, plan);
        if (run.cut && execution.any_path(PathEnd::cut)) return true;
        const std::uint64_t before = search.candidates();
        try {
          search.run(plan, execution, observes_memory(test), pruning_of(options), collector);
        } catch (const std::runtime_error& error) {
          using E = typename std::remove_reference_t<decltype(search.evaluator())>::NoFixpoint;
          if (const auto* none = dynamic_cast<const E*>(&error)) {
            throw BadInput(no_fixpoint(plan, none->recursion, model.name()));
          }
          throw;
        }
        run.candidates += search.candidates() - before;
        return !search.stopped();
      });
}

// Finds outcome after outcome until there is none left.
void judge_outcomes(const LitmusTest& test, const AxiomaticModel& model, const ProgramEvents& events,
                    ModelRun& run, Collector& collector) {
  thread_local ByWords<Solver> solvers;
  run.counted = false;
  search_all(
      test, model, events, Which{any_paths}, solvers, [&] { return collector.stop(); },
      [&](const cat::Plan& plan, const Execution& execution, auto& solver) {
        if (run.cut && execution.any_path(PathEnd::cut)) return true;
        return solver.run(plan, execution, test.observed, observes_memory(test), collector);
      });
  run.candidates = run.executions = 0;
  for (AllowedOutcome& one : run.outcomes) one.executions = 0;
}

}  // namespace

ModelRun judge(const LitmusTest& test, const AxiomaticModel& model, const JudgeOptions& options) {
  refuse_slots(test.program, "models judge executions of program order");
  if (has_waiting_atomics(test.program)) return judge(with_loops(test), model, options);
  ModelRun run;
  run.model = model.name();
  if (model.plan()) run.flags = flag_labels(test, *model.plan());
  Limits limits(options);
  // What threads that wait for ever have done is no outcome, and raises a flag all the same.
  const bool solvable = model.plan() && cat::has_bounds(*model.plan()) && !options.unconstrained &&
                        !is_flagged_for_divergence(test);
  try {
    const ProgramEvents events = events_of(test, options);
    bool too_many = solvable && options.by == JudgeBy::outcomes;
    if (!too_many) {
      Collector collector(test, run, limits, solvable && options.by == JudgeBy::by_size ? most_asked : 0);
      judge_executions(test, model, options, events, run, collector);
      too_many = collector.too_many();
    }
    if (too_many) {
      run.outcomes.clear();
      run.cut = run.assertion_fails = false;
      Collector collector(test, run, limits, 0);
      judge_outcomes(test, model, events, run, collector);
    }
    run.status = limits.status();
  } catch (...) {
    const RunError error = describe_error(std::current_exception(), test.program);
    run.status = error.status;
    run.message = error.message;
    run.bad_input = error.bad_input;
  }
  std::sort(run.outcomes.begin(), run.outcomes.end(),
            [](const AllowedOutcome& a, const AllowedOutcome& b) { return a.outcome < b.outcome; });
  for (const AllowedOutcome& one : run.outcomes) {
    if (!satisfies(test.filter, test, one.outcome)) continue;
    run.raised |= one.flags;
    ++(satisfies(test.condition, test, one.outcome) ? run.tally.positive : run.tally.negative);
  }
  run.seconds = limits.seconds();
  return run;
}

// ---- evidence ----

namespace {

// The best candidates so far, by outcome.
struct Best {
  std::unique_ptr<Candidate> candidate;
  std::size_t rank = std::numeric_limits<std::size_t>::max();
};
struct BestOfAll {
  const Outcome* only = nullptr;  // none: every outcome
  std::size_t most = 0;           // outcomes
  bool more = false;              // there are more
  std::map<Outcome, Best> best;
  std::set<Outcome> settled;  // not looked at any more
};

// Looks at every candidate and keeps the best of each outcome.
template <class SearchType>
class Finder final : public SearchVisitor {
 public:
  Finder(const LitmusTest& test, const cat::Plan& plan, SearchType& search, Limits& limits, BestOfAll& found)
      : test_(test), search_(search), limits_(limits), found_(found), evaluated_(cat::evaluated(plan)) {}

  void allowed(const std::vector<const std::int32_t*>& registers, const std::vector<std::int32_t>& memory,
               std::uint64_t flags, bool) override {
    if (done_) return;
    outcome_.clear();
    for (const ConditionTerm& term : test_.observed) {
      outcome_.push_back(term.kind == ConditionTerm::Kind::location
                             ? memory[static_cast<std::size_t>(term.index)]
                             : registers[static_cast<std::size_t>(term.thread)][term.index]);
    }
    if (found_.only != nullptr ? outcome_ != *found_.only : found_.settled.contains(outcome_)) return;
    if (found_.best.size() >= found_.most && !found_.best.contains(outcome_)) {
      found_.more = true;
      return;
    }
    std::size_t failing = 0;
    for (const cat::Check& check : search_.plan().checks) {
      if (!check.flag && search_.evaluator().holds(check) == check.negated) ++failing;
    }
    // One that fails nothing and raises a flag says most of an allowed outcome.
    const std::size_t rank = failing * 2 + (failing == 0 && flags == 0 ? 1 : 0);
    Best& best = found_.best[outcome_];
    if (rank >= best.rank) return;
    best.rank = rank;
    best.candidate = candidate();
    done_ = found_.only != nullptr && rank == 0;
  }
  void hung(std::uint64_t) override {}
  void cut() override {}
  bool stop() override { return done_ || limits_.reached(); }

 private:
  using Pairs = std::vector<std::pair<int, int>>;

  template <class Row>
  Pairs pairs(const Row& row) {
    Pairs all;
    for (int i = 0; i < search_.execution().size(); ++i) {
      for (int j = 0; j < search_.execution().size(); ++j) {
        if (search_.evaluator().has(row(i), j)) all.emplace_back(i, j);
      }
    }
    return all;
  }
  // Without what follows by transitivity.
  static Pairs immediate(const Pairs& all) {
    Pairs some;
    for (const auto& [a, c] : all) {
      const bool through = std::any_of(all.begin(), all.end(), [&, a = a, c = c](const auto& one) {
        return one.first == a && std::find(all.begin(), all.end(), std::pair(one.second, c)) != all.end();
      });
      if (!through) some.emplace_back(a, c);
    }
    return some;
  }

  std::unique_ptr<Candidate> candidate() {
    auto candidate = std::make_unique<Candidate>();
    candidate->execution = search_.execution();
    candidate->values = search_.values();
    auto& ev = search_.evaluator();
    for (int read = 0; read < candidate->execution.size(); ++read) {
      const int write = search_.sources()[static_cast<std::size_t>(read)];
      if (write >= 0) candidate->rf.emplace_back(write, read);
    }
    const Pairs co = pairs([&](int i) { return search_.final_coherence(i); });
    candidate->co = immediate(co);
    for (const auto& [write, read] : candidate->rf) {
      for (const auto& [a, b] : candidate->co) {
        if (a == write && b != read && candidate->execution.partner[static_cast<std::size_t>(b)] != read) {
          candidate->fr.emplace_back(read, b);
        }
      }
    }
    for (const cat::Shown& shown : search_.plan().shown) {
      candidate->shown.emplace_back(shown.name, pairs([&](int i) { return ev.row(shown.node, i); }));
    }
    for (const auto& [node, name] : search_.plan().names) {
      const bool is_shown = std::any_of(candidate->shown.begin(), candidate->shown.end(),
                                        [&, text = name.text](const auto& one) { return one.first == text; });
      if (is_shown || !evaluated_.contains(node)) continue;
      candidate->named.emplace_back(name.text, pairs([&, at = node](int i) { return ev.row(at, i); }));
    }
    if (candidate->execution.diverges) candidate->flags.emplace_back(divergence_flag);
    for (const cat::Check& check : search_.plan().checks) {
      if (check.flag) {
        if (ev.holds(check) != check.negated) candidate->flags.push_back(check.label);
        continue;
      }
      if (ev.holds(check) != check.negated) continue;
      Candidate::Failure failure{check.label, check.file, check.place, {}, {}};
      if (!check.negated) {
        failure.cycle = witness(check);
        failure.pairs = unfolded(check, failure.cycle);
      }
      candidate->failures.push_back(std::move(failure));
    }
    return candidate;
  }
  std::vector<int> witness(const cat::Check& check) {
    auto& ev = search_.evaluator();
    const cat::Node& node = search_.plan().nodes[static_cast<std::size_t>(check.node)];
    if (check.kind == cat::CheckKind::acyclic) return ev.shortest_cycle(check.node);
    for (int i = 0; i < search_.execution().size(); ++i) {
      if (node.set) {
        if (ev.has(ev.row(check.node), i)) return {i};
        continue;
      }
      for (int j = 0; j < search_.execution().size(); ++j) {
        if (!ev.has(ev.row(check.node, i), j)) continue;
        if (check.kind == cat::CheckKind::irreflexive && i != j) continue;
        return i == j ? std::vector<int>{i} : std::vector<int>{i, j};
      }
    }
    return {};
  }

  std::vector<Derivation> unfolded(const cat::Check& check, const std::vector<int>& cycle) {
    auto& ev = search_.evaluator();
    const cat::Plan& plan = search_.plan();
    const int events = search_.execution().size();
    if (cycle.empty() || plan.nodes[static_cast<std::size_t>(check.node)].set ||
        events > cat::Unfolding::most_events) {
      return {};
    }
    const cat::Unfolding unfolding(
        plan, check.node, events, [&](int node, int from, int to) { return ev.has(ev.row(node, from), to); });
    std::vector<Derivation> pairs;
    // What `empty` finds is one pair, which does not go round.
    const std::size_t count = check.kind == cat::CheckKind::empty ? 1 : cycle.size();
    for (std::size_t i = 0; i < count; ++i)
      pairs.push_back(unfolding.derive(cycle[i], cycle[(i + 1) % cycle.size()]));
    return pairs;
  }

  const LitmusTest& test_;
  SearchType& search_;
  Limits& limits_;
  BestOfAll& found_;
  std::set<int> evaluated_;  // nodes
  Outcome outcome_;          // of the candidate that is being looked at
  bool done_ = false;
};

}  // namespace

namespace {

void find_best(const LitmusTest& test, const AxiomaticModel& model, const JudgeOptions& options,
               BestOfAll& found) {
  Limits limits(options);
  const auto program = std::make_shared<const Program>(test.program);
  const auto events = std::make_shared<const ProgramEvents>(events_of(test, options));
  ByWords<Search> searches;
  // Allowed ones first: pruned branches hold none.
  for (const Pruning pruning : {Pruning::early, Pruning::none}) {
    search_all(
        test, model, *events, Which{any_paths}, searches, [&] { return limits.reached(); },
        [&](const cat::Plan& plan, const Execution& execution, auto& search) {
          Finder finder(test, plan, search, limits, found);
          search.run(plan, execution, true, pruning, finder);
          return !search.stopped();
        });
    if (found.only != nullptr && !found.best.empty()) break;
    for (const auto& [outcome, best] : found.best) found.settled.insert(outcome);
  }
  for (auto& [outcome, best] : found.best) {
    best.candidate->program = program;
    best.candidate->unrolled = events;
    best.candidate->execution.program = program.get();
  }
}

}  // namespace

std::unique_ptr<Candidate> find_candidate(const LitmusTest& test, const AxiomaticModel& model,
                                          const Outcome& outcome, const JudgeOptions& options) {
  if (has_waiting_atomics(test.program)) return find_candidate(with_loops(test), model, outcome, options);
  BestOfAll found;
  found.only = &outcome;
  found.most = 1;
  find_best(test, model, options, found);
  return found.best.empty() ? nullptr : std::move(found.best.begin()->second.candidate);
}

FoundCandidates find_candidates(const LitmusTest& test, const AxiomaticModel& model,
                                const JudgeOptions& options, std::size_t most) {
  if (has_waiting_atomics(test.program)) return find_candidates(with_loops(test), model, options, most);
  BestOfAll found;
  found.most = most;
  find_best(test, model, options, found);
  FoundCandidates all;
  all.more = found.more;
  for (auto& [outcome, best] : found.best) all.by_outcome.emplace(outcome, std::move(best.candidate));
  return all;
}

void refuse_vacuous(const AxiomaticModel& model) {
  const LitmusTest test = parse_litmus(
      "HRF probe\n{ x = 0; }\n P0@wg 0,agent 0 ;\n st x, 1 ;\n ld r0, x ;\nexists (P0:r0 == 1)\n", "probe");
  const ModelRun run = judge(test, model);
  if (run.status != RunStatus::complete) return;
  const bool flags_all = std::all_of(run.outcomes.begin(), run.outcomes.end(),
                                     [](const AllowedOutcome& one) { return one.flags != 0; });
  if (run.executions > 0 && !flags_all) return;
  const auto candidate = find_candidate(test, model, {1});
  std::string by;
  SourcePlace place;
  std::string file = model.source().file->name;
  if (candidate && !candidate->failures.empty()) {
    by = " ('" + candidate->failures.front().label + "')";
    place = candidate->failures.front().place;
    file = candidate->failures.front().file;
  } else if (candidate && !candidate->flags.empty()) {
    by = " ('" + candidate->flags.front() + "')";
  }
  throw BadInput(
      Diagnostic{file,
                 place,
                 fmt::format("the model {} every execution{}, even of one thread that writes and reads",
                             run.executions == 0 ? "forbids" : "flags", by),
                 "a verdict under it would say nothing",
                 {}});
}

}  // namespace lockstep
