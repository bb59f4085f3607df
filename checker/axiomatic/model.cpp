#include "checker/axiomatic/model.hpp"

#include <fmt/format.h>
#define XXH_INLINE_ALL
#define XXH_VECTOR 0  // outcomes are short
#include <xxhash.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "checker/axiomatic/rounds.hpp"
#include "checker/axiomatic/search.hpp"
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
  return unroll(test.program, style_of(test), options.unroll, asked);
}

std::optional<cat::Plan> plan_for_all(const cat::Source& source) {
  try {
    return cat::compile(source);
  } catch (const cat::NeedsStructure&) {
    return std::nullopt;
  }
}

// Runs the search with rows of as many words as the events need.
struct Searches {
  Search<1> one;
  Search<2> two;
  Search<4> four;

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

// Which choices of paths can have values that agree: every read of some run of each finds its value initially
// or among what some run of the others or its own path writes.
class Feasibility {
 public:
  Feasibility(const Program& program, const ProgramEvents& events) {
    for (std::size_t l = 0; l < program.locations.size(); ++l) {
      put(initial_, id(static_cast<int>(l), program.locations[l].initial_value));
    }
    for (const ThreadEvents& thread : events.threads) {
      auto& paths = paths_.emplace_back();
      for (const ThreadPath& path : thread.paths) {
        Path& one = paths.emplace_back();
        for (std::size_t run = 0; run < path.runs; ++run) {
          Ids needs;
          for (std::size_t e = 0; e < path.events.size(); ++e) {
            const ProgramEvent& event = path.events[e];
            if (event.kind == EventKind::read) put(needs, id(event.location, path.value(run, e)));
            if (event.kind == EventKind::write) put(one.writes, id(event.location, path.value(run, e)));
          }
          one.needs.push_back(std::move(needs));
        }
      }
    }
  }
  [[nodiscard]] bool feasible(const std::vector<std::size_t>& choice) {
    available_ = initial_;
    for (std::size_t t = 0; t < choice.size(); ++t) join(available_, paths_[t][choice[t]].writes);
    for (std::size_t t = 0; t < choice.size(); ++t) {
      const auto& runs = paths_[t][choice[t]].needs;
      if (std::none_of(runs.begin(), runs.end(),
                       [&](const Ids& needs) { return within(needs, available_); })) {
        return false;
      }
    }
    return true;
  }

 private:
  using Ids = std::vector<std::uint64_t>;
  struct Path {
    Ids writes;
    std::vector<Ids> needs;  // by run
  };
  std::size_t id(int location, std::int32_t value) {
    return known_.emplace(std::pair(location, value), known_.size()).first->second;
  }
  static void put(Ids& ids, std::size_t one) {
    if (ids.size() <= one / 64) ids.resize(one / 64 + 1);
    ids[one / 64] |= std::uint64_t{1} << (one % 64);
  }
  static void join(Ids& ids, const Ids& more) {
    if (ids.size() < more.size()) ids.resize(more.size());
    for (std::size_t i = 0; i < more.size(); ++i) ids[i] |= more[i];
  }
  static bool within(const Ids& some, const Ids& all) {
    for (std::size_t i = 0; i < some.size(); ++i) {
      if ((some[i] & ~(i < all.size() ? all[i] : 0)) != 0) return false;
    }
    return true;
  }
  std::map<std::pair<int, std::int32_t>, std::size_t> known_;
  Ids initial_;
  Ids available_;
  std::vector<std::vector<Path>> paths_;
};

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
// on.
template <class Use>
void for_each_combination(const LitmusTest& test, const ProgramEvents& events, const Use& use) {
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
  const bool may_diverge = is_flagged_for_divergence(test);
  std::optional<Feasibility> feasibility;
  if (!single) feasibility.emplace(test.program, events);
  Execution execution;
  std::vector<const ThreadPath*> paths(threads);
  do {
    if (feasibility && !feasibility->feasible(at)) continue;
    for (std::size_t t = 0; t < threads; ++t) paths[t] = &events.threads[t].paths[at[t]];
    execution.assemble(test.program, style_of(test), paths);
    if (execution.size() > Execution::largest) {
      throw BadInput(fmt::format("'{}' has executions of more than {} events", test.name, Execution::largest),
                     "use a smaller unrolling bound");
    }
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

std::vector<std::string> flag_labels(const cat::Plan& plan) {
  std::vector<std::string> labels;
  for (const cat::Check& check : plan.checks) {
    if (check.flag) labels.push_back(check.label);
  }
  return labels;
}

class Collector final : public SearchVisitor {
 public:
  Collector(const LitmusTest& test, ModelRun& run, Limits& limits) : test_(test), run_(run), limits_(limits) {
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
    const auto [found, fresh] = known_.try_emplace(outcome_, run_.outcomes.size());
    if (fresh) run_.outcomes.push_back({outcome_, 0, 0});
    AllowedOutcome& one = run_.outcomes[found->second];
    one.flags |= flags;
    ++one.executions;
  }
  // To be called at the end: puts the outcomes in order.
  void finish() {
    std::sort(run_.outcomes.begin(), run_.outcomes.end(),
              [](const AllowedOutcome& a, const AllowedOutcome& b) { return a.outcome < b.outcome; });
  }
  void hung(std::uint64_t flags) override { run_.raised |= flags; }
  void cut() override { run_.cut = true; }
  bool stop() override { return limits_.reached(); }

 private:
  struct Hash {
    std::size_t operator()(const Outcome& outcome) const {
      return XXH3_64bits(outcome.data(), outcome.size() * sizeof(outcome[0]));
    }
  };
  const LitmusTest& test_;
  ModelRun& run_;
  Limits& limits_;
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

template <class Use>
void search_all(const LitmusTest& test, const AxiomaticModel& model, const ProgramEvents& events,
                Searches& searches, const Use& use) {
  for_each_combination(test, events, [&](const Execution& execution) {
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

// Models know loops, and no waiting.
static LitmusTest with_loops(LitmusTest test) {
  test.program = without_waiting_atomics(std::move(test.program));
  return test;
}

ModelRun judge(const LitmusTest& test, const AxiomaticModel& model, const JudgeOptions& options) {
  refuse_slots(test.program, "models judge executions of program order");
  if (has_waiting_atomics(test.program)) return judge(with_loops(test), model, options);
  ModelRun run;
  run.model = model.name();
  Limits limits(options);
  Collector collector(test, run, limits);
  thread_local Searches searches;
  try {
    const ProgramEvents events = events_of(test, options);
    const bool memory = observes_memory(test);
    const bool may_diverge = is_flagged_for_divergence(test);
    const auto labels = [&](const cat::Plan& plan) {
      std::vector<std::string> all = flag_labels(plan);
      if (may_diverge) all.emplace_back(divergence_flag);
      return all;
    };
    if (model.plan()) run.flags = labels(*model.plan());
    search_all(test, model, events, searches,
               [&](const cat::Plan& plan, const Execution& execution, auto& search) {
                 if (!model.plan()) run.flags = labels(plan);
                 const bool is_cut = std::any_of(execution.paths.begin(), execution.paths.end(),
                                                 [](const ThreadPath* path) { return path->cut; });
                 if (is_cut && run.cut) return true;
                 const std::uint64_t before = search.candidates();
                 try {
                   search.run(plan, execution, memory, !options.unconstrained, collector);
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
    run.status = limits.status();
  } catch (...) {
    const RunError error = describe_error(std::current_exception(), test.program);
    run.status = error.status;
    run.message = error.message;
    run.bad_input = error.bad_input;
  }
  collector.finish();
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
  Searches searches;
  // Allowed ones first: pruned branches hold none.
  for (const bool prune : {true, false}) {
    search_all(test, model, *events, searches,
               [&](const cat::Plan& plan, const Execution& execution, auto& search) {
                 Finder finder(test, plan, search, limits, found);
                 search.run(plan, execution, true, prune, finder);
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
