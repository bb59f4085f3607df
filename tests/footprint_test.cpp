// Footprints are what rules do, and stubborn sets, which rest on them alone, leave no outcome out and add
// none: on every memory system at every variant, and on its default with every fault, whatever is added
// later.
#include "checker/footprint/footprint.hpp"

#include <boost/describe.hpp>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "checker/explore/adaptor.hpp"
#include "checker/explore/explorer.hpp"
#include "checker/footprint/dead.hpp"
#include "checker/footprint/stubborn.hpp"
#include "checker/footprint/terms.hpp"
#include "checker/language/read_tests.hpp"
#include "checker/runs/subject.hpp"
#include "checker/systems/registry.hpp"
#include "spec/kernel/recorded.hpp"
#include "tests/ends.hpp"

using namespace lockstep;

namespace {

// What follows from the trees, and nothing else.
constexpr Reductions derived{false, true, true, false};

Explored explore_with(const Program& program, Subject subject, const Reductions& reductions, bool check,
                      std::size_t bytes = 0) {
  subject.options.reductions = reductions;
  subject.options.check_footprints = check;
  return explore_ends(program, std::move(subject), bytes);
}

std::vector<Program> programs_of(const std::vector<std::string>& tests) {
  const SuiteFiles files = read_tests(tests, LOCKSTEP_SOURCE_DIR "/litmus");
  REQUIRE(files.errors.empty());
  std::vector<Program> programs;
  for (const auto& test : files.tests) programs.push_back(test->program);
  return programs;
}

// Small ones that between them fire most rules: loads, stores, RMWs, fences, barriers, kernels, CPUs,
// updates.
const std::vector<std::string> small_tests{
    "corr-agent",      "corr-wg",          "cowr-add-agent",           "mp-barrier-wg",
    "add-store-agent", "add-store-system", "kernel-write-read-agent",  "corr-host-reads",
    "corw-host",       "stale-barrier-wg", "rmw-after-own-store-agent"};

struct UnitTag {
  static constexpr std::string_view name = "unit";
  static constexpr int capacity = 1;
  static constexpr bool interchangeable = true;
  static constexpr bool fixed = false;
};

// What a toy need not say.
template <class K>
struct Toy {
  using Kind = K;
  using Bool = typename K::Bool;
  K k;
  [[nodiscard]] const K& kind() const { return k; }
  template <class State>
  void start(StartList<K, State>& s) const {
    s.start(over(), [](State&) {});
  }
  template <class State>
  void invariants(InvariantList<K, State>&) const {}
  template <class State>
  void restore(State&) const {}
  template <class State>
  [[nodiscard]] auto proper_end(const State&) const {
    if constexpr (requires { K::truth(Bool(true)); }) {
      return true;
    } else {
      return Bool(true);
    }
  }
};

// Whether the first rule happens rests on what the second does, and on nothing else that either accesses.
template <class K>
struct Guarded : Toy<K> {
  using Bool = typename K::Bool;
  struct State {
    Bool closed;
    Bool passed;
    Bool tried;
    BOOST_DESCRIBE_CLASS(State, (), (closed, passed, tried), (), ())
  };
  void rules(RuleList<K, State>& r) const {
    r.rule(
        {.name = "passes", .unit = "toy"}, over(), [](const State& s) { return !s.closed && !s.passed; },
        [](State& s) { s.passed = true; });
    r.rule(
        {.name = "closes", .unit = "toy"}, over(), [](const State& s) { return !s.tried; },
        [](State& s) {
          s.closed = true;
          s.tried = true;
        });
  }
};

// Fields that look dead where one of the ways in which they matter is forgotten: `armed` decides only whether
// an optional rule may change what is looked at in the end, `busy` only whether there is an end.
template <class K>
struct Secretive : Toy<K> {
  using Bool = typename K::Bool;
  struct State {
    Bool begun;
    Bool armed;
    Bool busy;
    Bool idle;
    Bool result;
    BOOST_DESCRIBE_CLASS(State, (), (begun, armed, busy, idle, result), (), ())
  };
  void rules(RuleList<K, State>& r) const {
    r.rule(
        {.name = "begins", .unit = "toy"}, over(), [](const State& s) { return !s.begun; },
        [](State& s) {
          s.begun = true;
          s.armed = true;
        });
    r.rule(
        {.name = "tampers", .unit = "toy", .fairness = Fairness::optional}, over(),
        [](const State& s) { return s.armed; },
        [](State& s) {
          s.armed = false;
          s.busy = true;
          s.result = true;
        });
    r.rule(
        {.name = "works", .unit = "toy"}, over(), [](const State& s) { return s.busy; },
        [](State& s) { s.idle = !s.idle; });
  }
};

// Two cross a place, and neither looks whether the other is there: no order of theirs differs in what it ends
// in, and only some orders break the claim.
template <class K>
struct Crossing : Toy<K> {
  using Bool = typename K::Bool;
  struct State {
    Bool first;
    Bool second;
    Bool first_left;
    Bool second_left;
    BOOST_DESCRIBE_CLASS(State, (), (first, second, first_left, second_left), (), ())
  };
  void rules(RuleList<K, State>& r) const {
    const auto crosses = [&r](std::string_view enters, std::string_view leaves, Bool State::*there,
                              Bool State::*left) {
      r.rule(
          {.name = enters, .unit = "toy"}, over(), [=](const State& s) { return !(s.*there) && !(s.*left); },
          [=](State& s) { s.*there = true; });
      r.rule(
          {.name = leaves, .unit = "toy"}, over(), [=](const State& s) { return s.*there; },
          [=](State& s) {
            s.*there = false;
            s.*left = true;
          });
    };
    crosses("first enters", "first leaves", &State::first, &State::first_left);
    crosses("second enters", "second leaves", &State::second, &State::second_left);
  }
  void assertions(InvariantList<K, State>& v) const {
    v.invariant("one at a time", [](const State& s) { return !(s.first && s.second); });
  }
};

// States that a run may take are bounded by what they take.
constexpr std::size_t full_bytes = std::size_t{24} << 20;

// By all reductions, and by what follows from the trees alone; their footprints are held against the rules.
void check_reduced(const Program& program, const Subject& subject, const Explored& full) {
  for (const Reductions& reductions : {Reductions{}, derived}) {
    INFO(program.name << " on " << subject.description() << (reductions.moves ? ", all" : ", derived"));
    const Explored reduced = explore_with(program, subject, reductions, true);
    CHECK(reduced.ends == full.ends);
    CHECK(reduced.states <= full.states);
  }
}

// The systems that run programs, as they are by default and at their other variants, of which each part takes
// every other one: parts can run at once.
std::vector<std::string> defaults() {
  std::vector<std::string> names;
  for (const SystemEntry& entry : systems()) {
    if (entry.runs_programs) names.emplace_back(entry.name);
  }
  return names;
}
std::vector<std::string> every_other_variant(int part) {
  std::vector<std::string> names;
  int number = 0;
  for (const SystemEntry& entry : systems()) {
    if (!entry.runs_programs) continue;
    for (const Variant& variant : entry.variants) {
      if (&variant == entry.variants.data()) continue;
      if (number++ % 2 == part) names.push_back(std::string(entry.name) + "/" + std::string(variant.name));
    }
  }
  return names;
}

void check_footprints(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    for (const Program& program : programs_of(small_tests)) {
      const Subject subject = subject_named(name);
      INFO(program.name << " on " << subject.description());
      // A difference is thrown.
      CHECK(explore_with(program, subject, derived, true, full_bytes).states > 0);
    }
  }
}
// How many were compared.
std::size_t check_ends(const std::vector<std::string>& names) {
  std::size_t compared = 0;
  for (const std::string& name : names) {
    for (const Program& program : programs_of(small_tests)) {
      const Subject subject = subject_named(name);
      const Explored full = explore_with(program, subject, Reductions::none(), true, full_bytes);
      if (!full.complete) continue;
      check_reduced(program, subject, full);
      ++compared;
    }
  }
  return compared;
}

}  // namespace

TEST_CASE("every footprint is what its rule does, on every memory system") {
  check_footprints(defaults());
}
TEMPLATE_TEST_CASE_SIG("every footprint is what its rule does, at every variant", "[.][nightly]",
                       ((int part), part), 0, 1) {
  check_footprints(every_other_variant(part));
}

TEST_CASE("every reduction keeps the ends of small programs, on every memory system") {
  CHECK(check_ends(defaults()) > 100);
}
TEMPLATE_TEST_CASE_SIG("every reduction keeps the ends of small programs, at every variant", "[.][nightly]",
                       ((int part), part), 0, 1) {
  CHECK(check_ends(every_other_variant(part)) > 200);
}

TEST_CASE("every reduction keeps the ends of programs on systems with a mistake, one at a time",
          "[.][nightly]") {
  std::size_t compared = 0;
  for (const SystemEntry& entry : systems()) {
    if (!entry.runs_programs) continue;
    for (const Fault& fault : entry.faults) {
      for (const Program& program : programs_of({"corr-wg", "cowr-add-agent"})) {
        Subject subject = subject_named(entry.name);
        subject.options.faults = {std::string(fault.name)};
        const Explored full = explore_with(program, subject, Reductions::none(), true, full_bytes);
        if (!full.complete) continue;
        check_reduced(program, subject, full);
        ++compared;
      }
    }
  }
  CHECK(compared > 50);
}

// With all threads at their ends and memory unread, an epoch that ends would end for ever were its marks
// reset.
TEST_CASE("a run ends although something may go on that nobody looks at") {
  const Program program = programs_of({"fear-load-agent"}).front();
  Subject subject = subject_named("fear");
  subject.options.memory_observed = false;
  for (const Reductions& reductions : {Reductions::none(), Reductions{}, derived})
    CHECK_FALSE(explore_with(program, subject, reductions, true).ends.empty());
}

TEST_CASE("stubborn sets keep what programs assert, and break it where it is broken") {
  std::set<Verdict> seen;
  for (const std::string test : {"sync-test-and-set", "sync-spin-sem", "sync-spin-sem-as-printed"}) {
    const Program program = programs_of({test}).front();
    const auto verdict = [&](const Reductions& reductions) {
      Subject subject = subject_named("sc");
      subject.options.reductions = reductions;
      subject.program = std::make_shared<const Program>(program);
      ExploreOptions options;
      options.deadlocks = false;
      const ExploreResult result = explore(*subject.build_with_program(), options);
      return std::pair{result.verdict, result.violated};
    };
    INFO(test);
    const auto full = verdict(Reductions::none());
    CHECK(verdict(derived) == full);
    seen.insert(full.first);
  }
  CHECK(seen == std::set<Verdict>{Verdict::holds, Verdict::invariant});
}

TEST_CASE("stubborn sets find fewer states than there are, without a mark in any protocol") {
  const Program program = programs_of({"mp-agent"}).front();
  for (const std::string system : {"write-through", "quick-release", "lab"}) {
    INFO(system);
    const Subject subject = subject_named(system);
    const std::size_t full = explore_with(program, subject, Reductions::none(), false).states;
    CHECK(explore_with(program, subject, derived, false).states < full / 4);
  }
}

TEST_CASE("a set holds what may disable what is in it, though they share nothing but a guard") {
  using Sizes = DynamicSizes<UnitTag>;
  using Numbers = Guarded<Concrete<Sizes>>;
  using Trees = Guarded<Recorded<Sizes>>;
  recorded::WholeDescription whole;
  const Trees trees{Recorded<Sizes>(Sizes{})};
  recorded::describe_system(trees, trees.kind(), whole);
  const auto ends = [&](bool reduced) {
    CompiledModel<Numbers> model(Numbers{}, reduced ? derived : Reductions::none());
    const auto initial = model.first_state();
    if (reduced) {
      model.reduce(std::make_shared<const footprint::StubbornSets>(
          std::make_shared<const footprint::Footprints>(whole, model.places()),
          model.engine().fair_instances(), std::vector<footprint::TermId>{},
          std::vector<const std::byte*>{reinterpret_cast<const std::byte*>(initial.get())}));
      model.check_footprints(true);
    }
    std::set<std::vector<std::string>> found;
    ExploreOptions options;
    options.on_end = [&](const std::uint64_t* state) {
      std::vector<std::string> values;
      for (const auto& [path, value] : model.fields(state)) values.push_back(value);
      found.insert(values);
    };
    REQUIRE(explore(model, options).verdict == Verdict::holds);
    return found;
  };
  CHECK(ends(false).size() == 2);
  CHECK(ends(true) == ends(false));
}

TEST_CASE("a set holds what may break a claim, and not only what decides the end") {
  using Sizes = DynamicSizes<UnitTag>;
  using Numbers = Crossing<Concrete<Sizes>>;
  using Trees = Crossing<Recorded<Sizes>>;
  recorded::WholeDescription whole;
  const Trees trees{Recorded<Sizes>(Sizes{})};
  recorded::describe_system(trees, trees.kind(), whole);
  CompiledModel<Numbers> model(Numbers{}, derived);
  const auto initial = model.first_state();
  const auto footprints = std::make_shared<const footprint::Footprints>(whole, model.places());
  REQUIRE(footprints->assertions().size() == 1);
  const auto verdict = [&](const std::vector<footprint::TermId>& watched) {
    model.reduce(std::make_shared<const footprint::StubbornSets>(
        footprints, model.engine().fair_instances(), watched,
        std::vector<const std::byte*>{reinterpret_cast<const std::byte*>(initial.get())}));
    return explore(model, {}).verdict;
  };
  CHECK(verdict(footprints->assertions()) == Verdict::invariant);
  // Where nobody watches it, it goes by unseen.
  CHECK(verdict({}) == Verdict::holds);
}

TEST_CASE("a field is live that only an optional rule, or only whether there is an end, rests on") {
  using Sizes = DynamicSizes<UnitTag>;
  using Numbers = Secretive<Concrete<Sizes>>;
  using Trees = Secretive<Recorded<Sizes>>;
  recorded::WholeDescription whole;
  const Trees trees{Recorded<Sizes>(Sizes{})};
  recorded::describe_system(trees, trees.kind(), whole);
  whole.final_locations.push_back(recorded::record_expression<Recorded<Sizes>, Trees::State>(
      [](const Trees::State& s) { return s.result; }));
  CompiledModel<Numbers> model(Numbers{}, derived);
  const auto initial = model.first_state();
  const auto* const bytes = reinterpret_cast<const std::byte*>(initial.get());
  const auto footprints = std::make_shared<const footprint::Footprints>(whole, model.places());
  const auto sets = std::make_shared<const footprint::StubbornSets>(
      footprints, model.engine().fair_instances(), std::vector<footprint::TermId>{}, std::vector{bytes},
      footprint::DeadFields::candidates(*footprints));
  const footprint::DeadFields dead(footprints, sets->possible(), model.engine().fair_instances(), true, bytes,
                                   sizeof(*initial));
  const auto reset = [&](bool begun, bool armed, bool busy, bool idle, bool result) {
    Numbers::State state{{begun}, {armed}, {busy}, {idle}, {result}};
    footprint::DeadFields::Room room;
    dead.reset(reinterpret_cast<std::byte*>(&state), room);
    return std::vector{state.begun.v, state.armed.v, state.busy.v, state.idle.v, state.result.v};
  };
  // `begun` is read by a fair rule, `idle` by nobody but the rule that changes it.
  CHECK(reset(true, true, true, true, true) == std::vector{true, true, true, false, true});
}

TEST_CASE("terms fold constants and sink negations") {
  using namespace footprint;
  Terms terms({{"x", 0, 1, false}});
  const TermId x = terms.intern({.op = TermOp::scalar, .location = 0, .place = 0});
  const TermId is_two = terms.binary(TermOp::equal, terms.constant(2), x);
  CHECK(terms.is_true(terms.disjunction(terms.constant(1), is_two)));
  CHECK(terms.is_false(terms.conjunction(is_two, terms.constant(0))));
  CHECK(terms.negation(terms.negation(is_two)) == is_two);
  CHECK(terms.negation(terms.conjunction(is_two, x)) ==
        terms.disjunction(terms.negation(is_two), terms.negation(x)));
  CHECK(terms.binary(TermOp::equal, x, terms.constant(2)) == is_two);
  const std::byte two{2};
  CHECK(terms.evaluate(is_two, &two) == 1);
  CHECK(terms.evaluate(terms.negation(is_two), &two) == 0);
}
