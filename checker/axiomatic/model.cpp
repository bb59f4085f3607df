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

#include "checker/axiomatic/rounds.hpp"
#include "checker/axiomatic/search.hpp"
#include "checker/axiomatic/solver.hpp"
#include "checker/needs/slots.hpp"
#include "checker/support/diagnostic.hpp"
#include "spec/program/barriers.hpp"
#include "spec/program/lower_waiting.hpp"

namespace lockstep {

namespace {

using Clock = std::chrono::steady_clock;

EventStyle style_of(const LitmusTest& test) {
  if (test.dialect == "PTX") return EventStyle::ptx;
  if (test.dialect == "VULKAN") return EventStyle::vulkan;
  return test.dialect == "HRF" ? EventStyle::hrf : EventStyle::opencl;
}

void constants_of(const Formula& formula, std::set<std::int32_t>& out) {
  for (const Formula& child : formula.children) constants_of(child, out);
  if (formula.kind != Formula::Kind::compare) return;
  for (const ConditionTerm* const term : {&formula.left, &formula.right}) {
    if (term->kind == ConditionTerm::Kind::constant) out.insert(term->value);
  }
}

// With the values that the question is about for those that come out of thin air.
ProgramEvents events_of(const LitmusTest& test, const JudgeOptions& options) {
  std::set<std::int32_t> asked;
  constants_of(test.condition, asked);
  constants_of(test.filter, asked);
  UnrollLimits limits = options.unroll;
  limits.each_value = limits.each_value || options.plainly;
  return unroll(test.program, style_of(test), limits, asked);
}

std::optional<cat::Plan> plan_for_all(const cat::Source& source) {
  try {
    return cat::compile(source);
  } catch (const cat::NeedsStructure&) {
    return std::nullopt;
  }
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

constexpr std::size_t combinations_between_asking = 1024;

constexpr const char* divergence_flag = "barrier-divergence";

// Whether executions are asked whether all threads of a work-group come to the same barriers.
bool is_flagged_for_divergence(const LitmusTest& test) {
  if (!flags_divergence(style_of(test))) return false;
  const std::vector<bool> may = barriers::may_diverge(test.program);
  return std::find(may.begin(), may.end(), true) != may.end();
}

bool diverges(const Execution& execution) {
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

// Every choice of one path for each thread, and every way to meet at barriers, as long as `use` says to go
// on, and `stop`, which is asked now and then, does not say otherwise.
template <class Stop, class Use>
void for_each_combination(const LitmusTest& test, const ProgramEvents& events, const Stop& stop,
                          const Use& use) {
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
  std::vector<const ThreadPath*> paths(threads);
  std::size_t combinations = 0;
  do {
    if (++combinations % combinations_between_asking == 0 && stop()) return;
    for (std::size_t t = 0; t < threads; ++t) paths[t] = &events.threads[t].paths[at[t]];
    execution.assemble(test.program, style_of(test), events, paths);
    if (execution.size() > Execution::largest) {
      throw BadInput(fmt::format("'{}' has executions of more than {} events", test.name, Execution::largest),
                     "use a smaller unrolling bound");
    }
    if (!single && !agreement.possible(execution)) continue;
    execution.diverges = may_diverge && diverges(execution);
    for (Meeting& meeting : ways_to_meet(execution, may_diverge)) {
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

std::vector<std::string> flag_labels(const LitmusTest& test, const cat::Plan& plan) {
  std::vector<std::string> labels;
  for (const cat::Check& check : plan.checks) {
    if (check.flag) labels.push_back(check.label);
  }
  if (is_flagged_for_divergence(test)) labels.emplace_back(divergence_flag);
  return labels;
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

std::string no_fixpoint(const cat::Plan& plan, int recursion, const std::string& model) {
  const cat::Recursion& r = plan.recursions[static_cast<std::size_t>(recursion)];
  return BadInput(Diagnostic{model,
                             r.place,
                             "recursion that does not converge: '" + r.name + "' has no least fixpoint",
                             "let rec needs definitions that only grow: no ~ or \\ of what is being defined",
                             {}})
      .what();
}

template <template <int> class Engine, class Stop, class Use>
void search_all(const LitmusTest& test, const AxiomaticModel& model, const ProgramEvents& events,
                ByWords<Engine>& searches, const Stop& stop, const Use& use) {
  for_each_combination(test, events, stop, [&](const Execution& execution) {
    std::optional<cat::Plan> own;
    if (!model.plan()) {
      EventsOf structure(execution);
      own = cat::compile(model.source(), &structure);
    }
    const cat::Plan& plan = own ? *own : *model.plan();
    return searches.with(execution.words(), [&](auto& search) { return use(plan, execution, search); });
  });
}

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

// Models know loops, and no waiting.
static LitmusTest with_loops(LitmusTest test) {
  test.program = without_waiting_atomics(std::move(test.program));
  return test;
}

namespace {

bool is_cut(const Execution& execution) {
  return std::any_of(execution.paths.begin(), execution.paths.end(),
                     [](const ThreadPath* path) { return path->cut; });
}

// Meets every execution, or gives up.
void judge_executions(const LitmusTest& test, const AxiomaticModel& model, const JudgeOptions& options,
                      const ProgramEvents& events, ModelRun& run, Collector& collector) {
  thread_local ByWords<Search> searches;
  search_all(
      test, model, events, searches, [&] { return collector.stop(); },
      [&](const cat::Plan& plan, const Execution& execution, auto& search) {
        if (!model.plan()) run.flags = flag_labels(test, plan);
        if (run.cut && is_cut(execution)) return true;
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
      test, model, events, solvers, [&] { return collector.stop(); },
      [&](const cat::Plan& plan, const Execution& execution, auto& solver) {
        if (run.cut && is_cut(execution)) return true;
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
        test, model, *events, searches, [&] { return limits.reached(); },
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
