// A rule that does what its types do not allow ends the run with the rule, what it did, and the shortest way
// there: it never reads or writes past what the state holds.
#include <boost/describe.hpp>
#include <catch2/catch.hpp>
#include <string>
#include <string_view>

#include "checker/explore/adaptor.hpp"
#include "checker/explore/explorer.hpp"

using namespace lockstep;

namespace {

struct CellTag {
  static constexpr std::string_view name = "cell";
  static constexpr int capacity = 2;
  static constexpr bool interchangeable = true;
  static constexpr bool fixed = false;
};
struct SlotTag {
  static constexpr std::string_view name = "slot";
  static constexpr int capacity = 2;
  static constexpr bool interchangeable = false;
  static constexpr bool fixed = true;
};
using Sizes = DynamicSizes<CellTag, SlotTag>;

enum class Mistake { none, push, pop, row, range, guard, claim, start, at_once };

// Counts to two, then does what it must not, unless its mistake is none.
struct Careless {
  using Kind = Concrete<Sizes>;
  using Bool = Kind::Bool;
  using Cell = Kind::Ix<CellTag>;
  struct Item {
    Kind::Int<0, 3> number;
    BOOST_DESCRIBE_CLASS(Item, (), (number), (), ())
  };
  struct State {
    Kind::Int<0, 3> count;
    Kind::Fifo<Item, SlotTag> queue;
    Kind::Table<Kind::Int<0, 3>, CellTag> rows;
    Kind::Maybe<CellTag> nobody;
    BOOST_DESCRIBE_CLASS(State, (), (count, queue, rows, nobody), (), ())
  };
  Mistake mistake = Mistake::none;
  Kind k{};

  [[nodiscard]] const Kind& kind() const { return k; }
  void start(StartList<Kind, State>& s) const {
    s.start(over(), [=, this](State& state) {
      if (mistake == Mistake::start) k.pop(state.queue);
    });
  }
  void rules(RuleList<Kind, State>& r) const {
    r.rule(
        {.name = "counts", .unit = "toy"}, over(), [](const State& s) { return s.count < 2; },
        [=, this](State& s) {
          k.push(s.queue, Item{s.count});
          s.count = s.count + 1;
        });
    r.rule(
        {.name = "slips", .unit = "toy", .own_move = mistake == Mistake::at_once}, over(cells),
        [=, this](const State& s, Cell) {
          if (mistake == Mistake::guard && s.count.v == 2) return s.rows(s.nobody.value()) == 0;
          return s.count == 2 && Bool{mistake != Mistake::none && mistake != Mistake::claim};
        },
        [=, this](State& s, Cell cell) {
          switch (mistake) {
            case Mistake::push:
            case Mistake::at_once:
              k.push(s.queue, Item{});
              break;
            case Mistake::pop:
              k.pop(s.queue);
              k.pop(s.queue);
              k.pop(s.queue);
              break;
            case Mistake::row:
              s.rows(s.nobody.value()) = 1;
              break;
            case Mistake::range:
              s.rows(cell) = s.count + 2;
              break;
            default:
              break;
          }
        });
  }
  void invariants(InvariantList<Kind, State>& v) const {
    v.invariant("nobody has a row", [=, this](const State& s) {
      return mistake == Mistake::claim && s.count.v == 2 ? s.rows(s.nobody.value()) == 0 : Bool{true};
    });
  }
  void restore(State&) const {}
  [[nodiscard]] bool proper_end(const State&) const { return true; }

 private:
  static constexpr CellTag cells{};
};

ExploreResult explored(Mistake mistake, unsigned threads = 1) {
  const CompiledModel<Careless> model(Careless{mistake}, Reductions{true, false, false, false});
  ExploreOptions options;
  options.threads = threads;
  return explore(model, options);
}

}  // namespace

TEST_CASE("a rule that does what its types do not allow is a verdict of its own, with the way there") {
  CHECK(explored(Mistake::none).verdict == Verdict::holds);
  for (const auto& [mistake, text] : {
           std::pair{Mistake::push, "'slips' (cell 0) pushes into a full queue"},
           {Mistake::pop, "'slips' (cell 0) takes from an empty queue"},
           {Mistake::row, "'slips' (cell 0) looks up a row that there is not"},
           {Mistake::range, "'slips' (cell 0) gives a number a value out of its range"},
           {Mistake::guard, "the guard of 'slips' looks up a row that there is not"},
           {Mistake::claim, "a claim, or a state as it was found, looks up a row that there is not"},
       }) {
    for (const unsigned threads : {1U, 2U}) {
      INFO(text << ", " << threads << " threads");
      const ExploreResult result = explored(mistake, threads);
      CHECK(result.verdict == Verdict::broken);
      CHECK(result.broken == text);
      // The initial state, and two counts: the state is as it was before the rule.
      REQUIRE(result.trace.steps.size() == 3);
      CHECK(result.trace.steps.back().narration.front().rule == "counts");
    }
  }
}

TEST_CASE("a rule that is taken at once is named where it breaks, at the state before") {
  const ExploreResult result = explored(Mistake::at_once);
  CHECK(result.verdict == Verdict::broken);
  CHECK(result.broken == "'slips' (cell 0) pushes into a full queue");
  CHECK(result.trace.steps.size() == 2);
}

TEST_CASE("a mistake in the initial state is told, too") {
  CHECK_THROWS_AS(explored(Mistake::start), BrokenRule);
}
