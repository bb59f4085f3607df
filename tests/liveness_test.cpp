// Claims about infinite runs: which cycles are fair, and what schedulers owe to whom.
#include "checker/liveness/liveness.hpp"

#include <catch2/catch.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "checker/language/test.hpp"
#include "checker/liveness/table.hpp"
#include "checker/scheduling/setup.hpp"
#include "checker/support/diagnostic.hpp"
#include "checker/trace/trace.hpp"
#include "tests/graphs.hpp"

namespace lockstep {
namespace {

// A graph given by its edges; the label of an edge is the rule that it fires.
class DrawnGraph final : public Model {
 public:
  struct Edge {
    unsigned from;
    unsigned to;
    std::uint16_t rule;
  };
  DrawnGraph(std::vector<Edge> edges, std::vector<Fairness> rules, unsigned end)
      : edges_(std::move(edges)), end_(end) {
    for (std::size_t i = 0; i < rules.size(); ++i) {
      RuleDescription& rule = rules_.emplace_back();
      rule.name = "rule " + std::to_string(i);
      rule.fairness = rules[i];
    }
  }
  [[nodiscard]] unsigned state_bits() const override { return 8; }
  void initial(Successors& out) const override {
    out.begin_state();
    out.fired.resize(rules_.size());
    *out.add(Firing{}) = 0;
  }
  void expand(const std::uint64_t* state, Successors& out) const override {
    out.begin_state();
    out.fired.resize(rules_.size());
    const std::uint64_t from = *state;
    for (const Edge& edge : edges_) {
      if (edge.from != from) continue;
      *out.add(Firing{edge.rule, 0, {}}) = edge.to;
      out.live |= rules_[edge.rule].fairness == Fairness::fair;
    }
  }
  [[nodiscard]] bool proper_end(const std::uint64_t* state) const override { return *state == end_; }
  [[nodiscard]] const std::vector<RuleDescription>& rules() const override { return rules_; }
  [[nodiscard]] const std::vector<std::string>& invariants() const override { return invariants_; }
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> fields(
      const std::uint64_t* state) const override {
    return {{"at", std::to_string(*state)}};
  }
  [[nodiscard]] std::vector<NarratedStep> narrate(const std::uint64_t*, const Firing& f) const override {
    return {{rules_[f.rule].name, "", "", {}}};
  }
  [[nodiscard]] std::vector<NarratedStep> narrate_initial(std::size_t) const override { return {}; }

 private:
  std::vector<Edge> edges_;
  std::vector<RuleDescription> rules_;
  std::vector<std::string> invariants_;
  unsigned end_;
};

constexpr Fairness fair = Fairness::fair;
constexpr Fairness optional_rule = Fairness::optional;

std::optional<Lasso> cycle(const StateGraph& graph, CycleFairness fairness = CycleFairness::weak) {
  CycleQuestion question;
  question.fairness = fairness;
  return find_fair_cycle(graph, question);
}

std::shared_ptr<const Program> program_of(const std::string& text) {
  return std::make_shared<const Program>(parse_litmus(text, "test").program);
}

LivenessRun judged(const std::string& scheduler, const std::shared_ptr<const Program>& program,
                   const std::vector<std::string>& settings = {}, bool by_paths = false) {
  Subject subject = subject_named("sc");
  subject.program = program;
  subject.options.scheduler = scheduler_named(scheduler);
  for (const std::string& setting : settings) apply_setting(*subject.options.scheduler, setting);
  LivenessOptions options;
  options.by_paths = by_paths;
  return judge_termination(subject, options);
}
std::string verdict(const std::string& scheduler, const std::shared_ptr<const Program>& program,
                    const std::vector<std::string>& settings = {}) {
  return std::string(word(judged(scheduler, program, settings).termination));
}

// P0 waits for P1, or P1 for P0.
const std::string lower_waits = R"(HRF lower-waits
{ x = 0; }
 P0@wg 0,agent 0            | P1@wg 1,agent 0          ;
 L: ld.acquire.agent r0, x  | st.release.agent x, 1    ;
 bne r0, 1, L               |                          ;
forall (true)
)";
const std::string higher_waits = R"(HRF higher-waits
{ x = 0; }
 P0@wg 0,agent 0            | P1@wg 1,agent 0           ;
 st.release.agent x, 1      | L: ld.acquire.agent r0, x ;
                            | bne r0, 1, L              ;
forall (true)
)";

}  // namespace

TEST_CASE("a cycle on which a fair rule stays enabled and never fires is not weakly fair", "[liveness]") {
  // 0 and 1 go round by rule 0; rule 1 leads out of both.
  const DrawnGraph drawn({{0, 1, 0}, {1, 0, 0}, {0, 2, 1}, {1, 2, 1}}, {fair, fair}, 2);
  const StateGraph graph(drawn, {});
  CHECK_FALSE(cycle(graph));
}

TEST_CASE("a cycle that disables a fair rule now and then is weakly fair, and not strongly", "[liveness]") {
  const DrawnGraph drawn({{0, 1, 0}, {1, 0, 0}, {0, 2, 1}}, {fair, fair}, 2);
  const StateGraph graph(drawn, {});
  const auto lasso = cycle(graph);
  REQUIRE(lasso);
  CHECK(lasso->stem == std::vector<StateNumber>{0});
  CHECK(lasso->loop.size() == 2);
  CHECK_FALSE(cycle(graph, CycleFairness::strong));
}

TEST_CASE("an optional rule may be put off for ever", "[liveness]") {
  const DrawnGraph drawn({{0, 0, 0}, {0, 1, 1}}, {fair, optional_rule}, 1);
  const StateGraph graph(drawn, {});
  const auto lasso = cycle(graph);
  REQUIRE(lasso);
  CHECK(lasso->loop.size() == 1);
}

TEST_CASE("strong fairness looks into what is left of a component", "[liveness]") {
  // 0 <-> 1 <-> 2: in 2 rule 1 is enabled and leads out; without 2 the cycle of 0 and 1 is strongly fair.
  const DrawnGraph drawn({{0, 1, 0}, {1, 0, 0}, {1, 2, 0}, {2, 1, 0}, {2, 3, 1}}, {fair, fair}, 3);
  const StateGraph graph(drawn, {});
  const auto lasso = cycle(graph, CycleFairness::strong);
  REQUIRE(lasso);
  CHECK(lasso->loop.size() == 2);
}

TEST_CASE("a fair loop takes self-loops of several rules in turn", "[liveness]") {
  const DrawnGraph drawn({{0, 0, 0}, {0, 0, 1}}, {fair, fair}, 9);
  const StateGraph graph(drawn, {});
  const auto lasso = cycle(graph);
  REQUIRE(lasso);
  CHECK(lasso->loop == std::vector<std::size_t>{0, 1});
  CHECK(graph.trace(lasso->stem, lasso->loop).steps.size() == 3);
}

TEST_CASE("a state that cannot reach the end is told from one that can", "[liveness]") {
  const DrawnGraph drawn({{0, 1, 0}, {0, 2, 0}, {2, 2, 0}}, {fair}, 1);
  const StateGraph graph(drawn, {});
  CHECK(states_that_can_end(graph, false) == std::vector<bool>{true, true, false});
}

TEST_CASE("always eventually: a goal that every fair run visits, and one that some run misses",
          "[liveness]") {
  const DrawnGraph drawn({{0, 1, 0}, {1, 0, 0}, {1, 1, 1}}, {fair, optional_rule}, 9);
  const StateGraph graph(drawn, {});
  CHECK_FALSE(always_eventually(graph, CycleFairness::weak, [](StateNumber s) { return s == 1; }));
  // Rule 0 is owed in state 1, so nobody stays there.
  CHECK_FALSE(always_eventually(graph, CycleFairness::weak, [](StateNumber s) { return s == 0; }));
  const DrawnGraph lazy({{0, 1, 0}, {1, 0, 1}, {1, 1, 0}}, {fair, optional_rule}, 9);
  const StateGraph stays(lazy, {});
  CHECK(always_eventually(stays, CycleFairness::weak, [](StateNumber s) { return s == 0; }));
}

TEST_CASE("liveness refuses reductions that do not keep it", "[liveness]") {
  Subject subject = subject_named("sc");
  subject.program = program_of(lower_waits);
  subject.options.reductions = {true, false, true, false};
  const auto model = subject.build_with_program();
  CHECK_THROWS_AS(StateGraph(*model, {}), BadInput);
}

TEST_CASE("who waits for whom decides under which progress models a program ends", "[liveness]") {
  const auto lower = program_of(lower_waits);
  const auto higher = program_of(higher_waits);
  // The lower waits: HSA owes it its spinning, and nobody owes the higher a first step but fair scheduling.
  CHECK(verdict("unfair", lower) == "livelock");
  CHECK(verdict("hsa", lower) == "livelock");
  CHECK(verdict("obe", lower) == "livelock");
  CHECK(verdict("hsa-obe", lower) == "livelock");
  CHECK(verdict("lobe", lower) == "livelock");
  CHECK(verdict("fair", lower) == "terminates");
  // The higher waits: the lowest is owed its store under HSA, and under LOBE once the higher has begun.
  CHECK(verdict("unfair", higher) == "livelock");
  CHECK(verdict("hsa", higher) == "terminates");
  CHECK(verdict("obe", higher) == "livelock");
  CHECK(verdict("hsa-obe", higher) == "terminates");
  CHECK(verdict("lobe", higher) == "terminates");
  CHECK(verdict("fair", higher) == "terminates");
}

TEST_CASE("a spin lock between two that have begun ends under OBE, not under HSA", "[liveness]") {
  const auto lock = program_of(R"(HRF lock
{ lock = 0; }
 P0@wg 0,agent 0                            | P1@wg 1,agent 0                            ;
 L: atom.acquire.agent.exch r0, lock, 1     | L: atom.acquire.agent.exch r0, lock, 1     ;
 bne r0, 0, L                               | bne r0, 0, L                               ;
 st.release.agent lock, 0                   | st.release.agent lock, 0                   ;
forall (true)
)");
  CHECK(verdict("unfair", lock) == "livelock");
  CHECK(verdict("hsa", lock) == "livelock");
  CHECK(verdict("obe", lock) == "terminates");
  CHECK(verdict("hsa-obe", lock) == "terminates");
  CHECK(verdict("lobe", lock) == "terminates");
  CHECK(verdict("fair", lock) == "terminates");
  // With a single slot the other waits for the first one's end.
  CHECK(verdict("obe", lock, {"slots=1"}) == "terminates");
  CHECK(verdict("fair", program_of(lower_waits), {"slots=1"}) == "trap");
  CHECK(verdict("lobe", program_of(higher_waits), {"slots=1"}) == "terminates");
  CHECK(verdict("fair", program_of(higher_waits), {"slots=1"}) == "trap");
}

TEST_CASE("a lasso can be fired again, and its loop closes", "[liveness]") {
  const LivenessRun run = judged("obe", program_of(lower_waits));
  REQUIRE(run.counterexample);
  REQUIRE(run.counterexample->loop_start);
  const std::string text = trace_json(*run.counterexample).dump();
  const RecordedTrace read = parse_trace(text, "trace");
  CHECK(replay(read).difference.empty());
  REQUIRE(read.steps.size() > *read.loop_start + 1);
  RecordedTrace open = read;
  open.loop_start = 0;
  CHECK((*read.loop_start == 0 || !replay(open).difference.empty()));
}

TEST_CASE("the graph of a system is the same, state by state, for any number of threads", "[liveness]") {
  const auto lock = program_of(R"(HRF three-take-a-lock
{ l = 0; x = 0; }
 P0@wg 0,agent 0               | P1@wg 1,agent 0               | P2@wg 2,agent 0               ;
 L: atom.acq_rel.agent.exch r0, l, 1 | L: atom.acq_rel.agent.exch r0, l, 1 | L: atom.acq_rel.agent.exch r0, l, 1 ;
 bne r0, 0, L                  | bne r0, 0, L                  | bne r0, 0, L                  ;
 ld r1, x                      | ld r1, x                      | ld r1, x                      ;
 xor r1, r1, 1                 | xor r1, r1, 1                 | xor r1, r1, 1                 ;
 st x, r1                      | st x, r1                      | st x, r1                      ;
 st.release.agent l, 0         | st.release.agent l, 0         | st.release.agent l, 0         ;
forall (true)
)");
  for (const char* system : {"sc", "write-through"}) {
    Subject subject = subject_named(system);
    subject.program = lock;
    subject.options.reductions = Reductions{}.only_moves();
    subject.options.many_states = true;
    const auto model = subject.build_with_program();
    const StateGraph one(*model, {});
    // Along a path each state is a successor of the one before.
    bool leads = true;
    for (StateNumber s = 0; s < one.states(); ++s) {
      const std::vector<StateNumber> path = one.path_to(s);
      if (path.size() < 2) continue;
      const StateNumber before = path[path.size() - 2];
      bool is_edge = false;
      for (std::size_t e = one.first_edge(before); e < one.first_edge(before + 1); ++e)
        is_edge = is_edge || one.target(e) == s;
      leads = leads && is_edge && path.back() == s;
    }
    CHECK(leads);
    CHECK(one.states() > 100);
    for (const unsigned threads : {2U, 5U}) {
      ExploreOptions options;
      options.threads = threads;
      const StateGraph several(*model, options);
      REQUIRE(several.states() == one.states());
      REQUIRE(several.edges() == one.edges());
      CHECK(several.depth() == one.depth());
      CHECK(several.fired() == one.fired());
      CHECK(same_graph(several, one));
    }
  }
}

TEST_CASE("without the local reduction the verdicts are the same", "[liveness]") {
  for (const std::string& text : {lower_waits, higher_waits}) {
    for (const char* scheduler : {"unfair", "hsa", "obe", "hsa-obe", "lobe", "fair"}) {
      CAPTURE(text, scheduler);
      Subject subject = subject_named("sc");
      subject.program = program_of(text);
      subject.options.scheduler = scheduler_named(scheduler);
      const LivenessRun reduced = judge_termination(subject, {});
      subject.options.reductions = Reductions::none();
      const LivenessRun whole = judge_termination(subject, {});
      CHECK(reduced.termination == whole.termination);
      CHECK(reduced.states <= whole.states);
    }
  }
}

TEST_CASE("settings of schedulers are checked, and printed as they are read", "[liveness]") {
  SchedulerSetup awg = scheduler_named("awg");
  apply_setting(awg, "slots=2");
  apply_setting(awg, "reading=keeps-monitoring");
  apply_setting(awg, "timeouts=none");
  CHECK(description_of(awg) == "awg, slots=2, timeouts=none, reading=keeps-monitoring");
  CHECK_THROWS_AS(apply_setting(awg, "slot=2"), BadInput);
  CHECK_THROWS_AS(apply_setting(awg, "slots=x"), BadInput);
  CHECK_THROWS_AS(apply_setting(awg, "reading=keep"), BadInput);
  SchedulerSetup obe = scheduler_named("obe");
  CHECK_THROWS_AS(apply_setting(obe, "taken=1"), BadInput);
  CHECK_THROWS_AS(scheduler_named("obee"), BadInput);
  CHECK(judged("fair", program_of(lower_waits), {"slots=3"}).termination == Termination::error);
}

}  // namespace lockstep
