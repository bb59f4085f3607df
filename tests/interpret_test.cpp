// Trees that are walked in place of rules, as they are and with a change.
#include <algorithm>
#include <boost/describe.hpp>
#include <catch2/catch.hpp>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "checker/explore/adaptor.hpp"
#include "checker/explore/explorer.hpp"
#include "checker/interpret/mutation.hpp"
#include "checker/interpret/tree_rule.hpp"
#include "checker/language/read_tests.hpp"
#include "checker/litmus/faults.hpp"
#include "checker/runs/subject.hpp"
#include "checker/support/diagnostic.hpp"
#include "checker/systems/tree_rules.hpp"
#include "checker/systems/trees.hpp"
#include "spec/kernel/recorded.hpp"

using namespace lockstep;

namespace {

struct CellTag : Indices<"cell", 3> {};
struct LaneTag : FixedIndices<"lane", 2> {};
struct WaitingSlot : Slots<"waiting", 3> {};
inline constexpr CellTag cells;
inline constexpr LaneTag lanes;

enum class Colour : std::uint8_t { red, green };
BOOST_DESCRIBE_ENUM(Colour, red, green)

// Something of everything that rules are made of.
template <class K>
struct Toy {
  using Kind = K;
  using Bool = typename K::Bool;
  using Cell = typename K::template Ix<CellTag>;
  template <class T>
  using ByLane = typename K::template Array<T, LaneTag>;
  struct Message {
    Cell cell;
    ByLane<Bool> mask;
    typename K::template Enum<Colour> colour;
    BOOST_DESCRIBE_CLASS(Message, (), (cell, mask, colour), (), ())
  };
  struct State {
    typename K::template Table<typename K::template Fifo<Message, WaitingSlot>, CellTag> waiting;
    typename K::template Table<typename K::template Int<-2, 5>, CellTag> level;
    typename K::template Table<ByLane<Bool>, CellTag> held;
    typename K::template Maybe<CellTag> last;
    BOOST_DESCRIBE_CLASS(State, (), (waiting, level, held, last), (), ())
  };
  K k;
  [[nodiscard]] const K& kind() const { return k; }
  void start(StartList<K, State>& s) const {
    s.start(over(), [](State&) {});
  }
  void rules(RuleList<K, State>& r) const {
    r.rule(
        {.name = "asks", .unit = "toy"}, over(cells, cells),
        [this](const State& s, Cell from, Cell to) {
          return from != to && !k.full(s.waiting(to)) && s.level(from) < 2 &&
                 (!s.last.has() || k.forall(cells, [&](const Cell& c) { return s.level(c) <= 1; }));
        },
        [this](State& s, Cell from, Cell to) {
          Message m;
          m.cell = from;
          k.for_each(lanes, [&](const auto& l) { m.mask(l) = !s.held(from)(l); });
          m.colour = K::select(s.level(from) < 0, typename K::template Enum<Colour>(Colour::green),
                               typename K::template Enum<Colour>(Colour::red));
          k.when(
              k.contains(s.waiting(to), [&](const Message& other) { return other.cell == from; }),
              [&] { k.push_front(s.waiting(to), m); }, [&] { k.push(s.waiting(to), m); });
          s.level(from) = s.level(from) + 1;
        });
    r.triggered(
        {.name = "answers", .unit = "toy"}, over(cells),
        [](auto& s, Cell c) -> auto& { return s.waiting(c); },
        [](const State&, Cell, const Message& m) {
          return m.colour == Colour::red || m.mask(K::template constant<LaneTag>(0));
        },
        [this](State& s, Cell c, const Message& m) {
          k.for_each(lanes,
                     [&](const auto& l) { k.when(m.mask(l), [&] { s.held(m.cell)(l) = !s.held(c)(l); }); });
          k.when(s.level(m.cell) >= 0, [&] { s.level(m.cell) = s.level(m.cell) - 1; });
          s.last = m.cell;
          k.for_each(cells, [&](const Cell& other) {
            k.when(other != c && !s.waiting(other).empty(),
                   [&] { s.held(other)(K::template constant<LaneTag>(1)) = true; });
          });
        });
    r.rule(
        {.name = "drops", .unit = "toy", .fairness = Fairness::optional}, over(cells),
        [](const State& s, Cell c) { return !s.waiting(c).empty(); },
        [this](State& s, Cell c) {
          k.pop(s.waiting(c));
          s.level(c) = -1;
        });
  }
  void invariants(InvariantList<K, State>&) const {}
  void restore(State&) const {}
  [[nodiscard]] bool proper_end(const State&) const { return true; }
};

using ToySizes = DynamicSizes<CellTag, LaneTag, WaitingSlot>;

ToySizes sizes() {
  ToySizes sizes;
  sizes.set<CellTag>(2);
  sizes.set<LaneTag>(2);
  sizes.set<WaitingSlot>(2);
  return sizes;
}

recorded::WholeDescription toy_trees() {
  using K = Recorded<ToySizes>;
  recorded::WholeDescription whole;
  const Toy<K> toy{K(sizes())};
  recorded::describe_system(toy, toy.kind(), whole);
  return whole;
}

struct ToyModel : CompiledModel<Toy<Concrete<ToySizes>>> {
  ToyModel() : CompiledModel({concrete()}, Reductions::none()) {}
  static Concrete<ToySizes> concrete() {
    Concrete<ToySizes> k;
    k.sizes = sizes();
    return k;
  }
};

ExploreResult explored(const Model& model) {
  ExploreOptions options;
  options.deadlocks = false;
  return explore(model, options);
}

SystemOptions sound_options(const SystemEntry& entry) {
  SystemOptions options;
  options.sizes =
      entry.name == "german" ? std::map<std::string, int>{{"node", 2}} : std::map<std::string, int>{};
  return options;
}

}  // namespace

TEST_CASE("a rule's tree, walked in its place, is the rule") {
  const ToyModel compiled;
  const ExploreResult sound = explored(compiled);
  REQUIRE(sound.verdict == Verdict::holds);
  CHECK(sound.states > 1000);
  CHECK(std::count(sound.fired.begin(), sound.fired.end(), 0U) == 0);
  const recorded::WholeDescription whole = toy_trees();
  for (std::size_t r = 0; r < whole.rules.size(); ++r) {
    ToyModel model;
    model.replace(r, tree_rules(whole, model.places(), model.default_bytes()).at(r));
    const ExploreResult walked = explored(model);
    CHECK(walked.verdict == sound.verdict);
    CHECK(walked.states == sound.states);
    CHECK(walked.transitions == sound.transitions);
    CHECK(walked.fired == sound.fired);
  }
}

TEST_CASE("a tree that is not what its rule does is found out, whatever is changed in it") {
  const recorded::WholeDescription whole = toy_trees();
  std::set<MutationKind> kinds;
  std::size_t found_out = 0;
  for (std::size_t r = 0; r < whole.rules.size(); ++r) {
    for (const Mutation& mutation : mutations_of(whole.rules[r])) {
      INFO("'" << mutation.rule << "' " << text(mutation));
      kinds.insert(mutation.kind);
      recorded::WholeDescription changed = whole;
      changed.rules[r] = mutated(changed.rules[r], mutation, "");
      ToyModel model;
      model.check_footprints(true);
      model.check_trees(tree_rules(changed, model.places(), model.default_bytes()));
      CHECK_THROWS_WITH(explored(model), Catch::Contains("the tree of '" + mutation.rule + "'") &&
                                             Catch::Contains("is not what it does"));
      ++found_out;
    }
  }
  CHECK(found_out > 20);
  // All but a swap of two pushes, of which the toy has none.
  CHECK(kinds.size() == 7);
}

TEST_CASE("what a tree does that its types do not allow ends the run with the rule") {
  const recorded::WholeDescription whole = toy_trees();
  const auto broken_by = [&](std::size_t rule, MutationKind kind, std::string_view what) {
    for (const Mutation& mutation : mutations_of(whole.rules[rule])) {
      if (mutation.kind != kind || mutation.what.find(what) == std::string::npos) continue;
      recorded::WholeDescription changed = whole;
      changed.rules[rule] = mutated(changed.rules[rule], mutation, "");
      ToyModel model;
      model.replace(rule, tree_rules(changed, model.places(), model.default_bytes()).at(rule));
      return explored(model).broken;
    }
    return std::string("no such change");
  };
  CHECK_THAT(broken_by(0, MutationKind::drops_condition, "full"),
             Catch::Contains("'asks'") && Catch::Contains("pushes into a full queue"));
  CHECK_THAT(broken_by(2, MutationKind::drops_condition, "empty"),
             Catch::Contains("'drops'") && Catch::Contains("takes from an empty queue"));
  CHECK_THAT(broken_by(0, MutationKind::drops_condition, "level(cell) < 2"),
             Catch::Contains("a value out of its range"));
}

TEST_CASE("a change means the same at all sizes: each that a system's trees offer is one in some program") {
  const SuiteFiles files =
      read_tests(std::vector<std::string>{"corr-agent", "false-sharing-agent", "fs-swap-system"},
                 LOCKSTEP_SOURCE_DIR "/litmus");
  REQUIRE(files.errors.empty());
  REQUIRE(files.tests.size() == 3);
  for (const SystemEntry& entry : systems()) {
    if (!entry.runs_programs || entry.describe == nullptr) continue;
    std::vector<recorded::WholeDescription> runs;
    for (const auto& test : files.tests)
      runs.push_back(entry.describe_whole(std::make_shared<const Program>(test->program), {}));
    for (const recorded::RecordedRule& tree : trees_of(entry, {}).rules) {
      for (const Mutation& mutation : mutations_of(tree)) {
        INFO(entry.name << ": '" << mutation.rule << "' " << text(mutation));
        CHECK(std::any_of(runs.begin(), runs.end(), [&](const recorded::WholeDescription& run) {
          const auto rule = std::find_if(run.rules.begin(), run.rules.end(),
                                         [&](const auto& one) { return one.name == mutation.rule; });
          if (rule == run.rules.end()) return false;
          const recorded::RecordedRule changed = mutated(*rule, mutation, "memory");
          return recorded::print(changed.guard) != recorded::print(rule->guard) ||
                 recorded::print(changed.action, "") != recorded::print(rule->action, "");
        }));
      }
    }
  }
}

TEST_CASE("mutants of German's protocol are killed by exploring it, but those of what nobody asks for") {
  FaultOptions options;
  options.system = subject_named("german");
  options.system.options = sound_options(*options.system.system);
  options.mistakes = mutants_of(options.system);
  options.enough = 1;
  CHECK(options.mistakes.size() > 50);
  std::size_t killed = 0;
  options.on_report = [&](const FaultReport& report) {
    CHECK(report.errors.empty());
    killed += report.killers.size();
  };
  const SuiteTotals totals = run_faults({}, options);
  CHECK(totals.errors + totals.inconclusive == 0);
  CHECK(totals.as_expected == killed);
  CHECK(killed > totals.tests / 3);
  CHECK_THROWS_WITH(mutants_of(options.system, "host sends requests"), Catch::Contains("has no rule"));
}
