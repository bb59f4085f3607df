// The Recorded kind: what a rule turns into when it is read as a tree, which fields it reads and writes, and
// which laws of protocol code it is caught breaking.
#include "spec/kernel/recorded.hpp"

#include <catch2/catch.hpp>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "checker/systems/trees.hpp"

using namespace lockstep;

namespace {

// ---- a protocol to record --------------------------------------------------------------------------------

struct CellTag {
  static constexpr std::string_view name = "cell";
  static constexpr int capacity = 4;
  static constexpr bool interchangeable = true;
  static constexpr bool fixed = false;
};
struct StepTag {
  static constexpr std::string_view name = "step";
  static constexpr int capacity = 4;
  static constexpr bool interchangeable = false;
  static constexpr bool fixed = false;
};
struct WordTag2 {
  static constexpr std::string_view name = "word";
  static constexpr int capacity = 4;
  static constexpr bool interchangeable = true;
  static constexpr bool fixed = true;
};
struct SlotTag {
  static constexpr std::string_view name = "slot";
  static constexpr int capacity = 4;
  static constexpr bool interchangeable = false;
  static constexpr bool fixed = true;
};
inline constexpr CellTag cells{};
inline constexpr WordTag2 slots_of_words{};

enum class Colour : std::uint8_t { red, green, blue };
BOOST_DESCRIBE_ENUM(Colour, red, green, blue)

using K = Recorded<DynamicSizes<CellTag, StepTag, WordTag2, SlotTag>>;
using Bool = K::Bool;
using Value = K::Value;
using Cell = K::Ix<CellTag>;
using Step = K::Ix<StepTag>;
using Word = K::Ix<WordTag2>;
using Data = K::Array<Value, WordTag2>;

struct Line {
  Bool valid;
  K::Enum<Colour> colour;
  Data data;
  BOOST_DESCRIBE_CLASS(Line, (), (valid, colour, data), (), ())
};
struct Message {
  Cell from;
  Value payload;
  BOOST_DESCRIBE_CLASS(Message, (), (from, payload), (), ())
};
struct State {
  K::Table<Line, CellTag> line;
  K::Table<Bool, CellTag, CellTag> knows;
  K::Table<K::Fifo<Message, SlotTag>, CellTag> inbox;
  Value memory;
  K::Int<0, 9> count;
  Cell turn;
  Step now;
  K::Maybe<CellTag> owner;
  Bool busy;
  BOOST_DESCRIBE_CLASS(State, (), (line, knows, inbox, memory, count, turn, now, owner, busy), (), ())
};

K kind() {
  DynamicSizes<CellTag, StepTag, WordTag2, SlotTag> sizes;
  sizes.set<WordTag2>(2);
  sizes.set<SlotTag>(2);
  return K(sizes);
}

using recorded::Description;
using recorded::Op;
using recorded::RecordedRule;

// `list` puts rules on the list it is called with.
template <class List>
Description describe(List&& list) {
  Description description;
  const recorded::Recorder constants;
  const K k = kind();
  RuleList<K, State> rules(k);
  list(rules);
  recorded::read_rules(rules.values(), recorded::bound_state<K, State>, description.rules);
  return description;
}

template <class... Tags, class Guard, class Action>
RecordedRule record(Over<Tags...> parameters, Guard&& guard, Action&& action) {
  return describe([&](auto& r) { r.rule({.name = "a rule", .unit = "home"}, parameters, guard, action); })
      .rules.front();
}
template <class Action>
RecordedRule record_action(Action&& action) {
  return record(
      over(cells), [](const State&, Cell) { return Bool(true); }, action);
}

std::string guard_of(const RecordedRule& rule) {
  return print(rule.guard);
}
std::string action_of(const RecordedRule& rule) {
  return print(rule.action, "");
}

using Paths = std::set<std::string>;
using Texts = std::vector<std::string>;

}  // namespace

// ---- trees -----------------------------------------------------------------------------------------------

TEST_CASE("a rule is recorded with its name, unit, source, parameters and fairness") {
  const Description d = describe([](auto& r) {
    r.rule(
        {.name = "drops", .unit = "cache", .source = "ch. 4", .fairness = Fairness::optional},
        over(cells, cells), [](const State& s, Cell, Cell) { return s.busy; },
        [](State& s, Cell, Cell) { s.busy = false; });
  });
  const RecordedRule& rule = d.rules.front();
  CHECK(rule.name == "drops");
  CHECK(rule.unit == "cache");
  CHECK(rule.source == "ch. 4");
  CHECK(rule.fairness == Fairness::optional);
  CHECK(rule.parameters == Texts{"cell", "cell"});
  CHECK(rule.trigger.empty());
  CHECK(rule.problems.empty());
}

TEST_CASE("a guard and an action print as they were written") {
  const RecordedRule rule = record(
      over(cells),
      [](const State& s, Cell c) {
        return s.line(c).valid && (s.line(c).colour != Colour::red || !s.busy) && s.count < 3;
      },
      [](State& s, Cell c) {
        s.line(c).colour = Colour::blue;
        s.memory = s.memory + Value(1);
        s.count = s.count - 2;
      });
  CHECK(guard_of(rule) == "line(cell).valid && (line(cell).colour != red || !busy) && count < 3");
  CHECK(action_of(rule) ==
        "line(cell).colour = blue\n"
        "memory = memory + 1\n"
        "count = count - 2\n");
  CHECK(rule.reads == Paths{"line(cell).valid", "line(cell).colour", "busy", "count", "memory"});
  CHECK(rule.writes == Paths{"line(cell).colour", "memory", "count"});
}

TEST_CASE("parameters of one index type are told apart") {
  const RecordedRule rule = record(
      over(cells, cells), [](const State& s, Cell a, Cell b) { return a != b && s.knows(a, b); },
      [](State& s, Cell a, Cell b) { s.knows(b, a) = true; });
  CHECK(guard_of(rule) == "cell != cell2 && knows(cell, cell2)");
  CHECK(action_of(rule) == "knows(cell2, cell) = true\n");
  CHECK(rule.reads == Paths{"knows(cell, cell2)"});
  CHECK(rule.writes == Paths{"knows(cell2, cell)"});
}

TEST_CASE("a condition on state becomes a statement with both branches") {
  const RecordedRule rule = record_action([](State& s, Cell c) {
    K::when(
        s.line(c).valid, [&] { s.busy = true; },
        [&] {
          s.memory = 0;
          K::when(s.count == 2, [&] { s.owner = K::Maybe<CellTag>(c); });
        });
  });
  CHECK(action_of(rule) ==
        "when line(cell).valid\n"
        "  busy = true\n"
        "otherwise\n"
        "  memory = 0\n"
        "  when count == 2\n"
        "    owner = cell\n");
  CHECK(rule.reads == Paths{"line(cell).valid", "count"});
  CHECK(rule.writes == Paths{"busy", "memory", "owner"});
}

TEST_CASE("a loop over a set of any size stays a loop, one over a fixed set unrolls") {
  const K k = kind();
  const RecordedRule rule = record_action([&](State& s, Cell c) {
    k.for_each(cells, [&](Cell other) { s.knows(c, other) = s.line(other).valid; });
    k.for_each(slots_of_words, [&](Word w) { s.line(c).data(w) = s.memory; });
  });
  CHECK(action_of(rule) ==
        "for each cell2\n"
        "  knows(cell, cell2) = line(cell2).valid\n"
        "line(cell).data(0) = memory\n"
        "line(cell).data(1) = memory\n");
  CHECK(rule.reads == Paths{"line(cell2).valid", "memory"});
  CHECK(rule.writes == Paths{"knows(cell, cell2)", "line(cell).data(0)", "line(cell).data(1)"});
}

TEST_CASE("quantifiers bind a variable of their own") {
  const K k = kind();
  const RecordedRule rule = record(
      over(cells),
      [&](const State& s, Cell c) {
        return k.forall(cells, [&](Cell d) { return d == c || !s.line(d).valid; }) &&
               k.exists(cells, [&](Cell d) { return s.knows(c, d); }) &&
               k.exists(slots_of_words, [&](Word w) { return s.line(c).data(w) == s.memory; });
      },
      [](State&, Cell) {});
  CHECK(guard_of(rule) ==
        "forall(cell2: cell2 == cell || !line(cell2).valid) && exists(cell3: knows(cell, cell3)) && "
        "(line(cell).data(0) == memory || line(cell).data(1) == memory)");
  CHECK(rule.reads == Paths{"line(cell2).valid", "knows(cell, cell3)", "line(cell).data(0)",
                            "line(cell).data(1)", "memory"});
  CHECK(rule.writes.empty());
}

TEST_CASE("a choice between values keeps its condition") {
  const RecordedRule rule = record_action([](State& s, Cell c) {
    s.memory = K::select(s.busy, s.memory, s.line(c).data(K::constant<WordTag2>(1)));
  });
  CHECK(action_of(rule) == "memory = select(busy, memory, line(cell).data(1))\n");
  CHECK(rule.reads == Paths{"busy", "memory", "line(cell).data(1)"});
}

TEST_CASE("an element chosen by state is looked up among the fixed set") {
  const K k = kind();
  const RecordedRule rule = record(
      over(cells, slots_of_words), [](const State&, Cell, Word) { return Bool(true); },
      [&](State& s, Cell c, Word w) {
        k.at(slots_of_words, w, [&](Word i) { s.line(c).data(i) = 7; });
        s.memory = k.pick(slots_of_words, w, [&](Word i) { return s.line(c).data(i); });
      });
  CHECK(action_of(rule) ==
        "when word == 0\n"
        "  line(cell).data(0) = 7\n"
        "when word == 1\n"
        "  line(cell).data(1) = 7\n"
        "let data = line(cell).data(0)\n"
        "let data2 = line(cell).data(1)\n"
        "memory = select(word == 1, data2, data)\n");
}

TEST_CASE("a queue is pushed and popped as a whole and read through its parts") {
  const RecordedRule rule = record(
      over(cells),
      [](const State& s, Cell c) {
        return !K::full(s.inbox(c)) && !s.inbox(s.turn).empty() &&
               K::contains(s.inbox(c), [&](const Message& m) { return m.from == c; });
      },
      [](State& s, Cell c) {
        Message m;
        m.from = c;
        m.payload = s.memory;
        K::push(s.inbox(c), m);
        m.payload = 2;
        K::push_front(s.inbox(s.turn), m);
        K::pop(s.inbox(c));
      });
  CHECK(guard_of(rule) ==
        "!inbox(cell).full && !inbox(turn).empty && inbox(cell).contains(inbox(cell).entry.from == cell)");
  CHECK(action_of(rule) ==
        "inbox(cell).push(from cell, payload memory)\n"
        "inbox(turn).push_front(from cell, payload 2)\n"
        "inbox(cell).pop()\n");
  CHECK(rule.reads == Paths{"inbox(cell)", "inbox(cell).full", "inbox(turn).empty", "inbox(cell).entry.from",
                            "turn", "memory"});
  CHECK(rule.writes == Paths{"inbox(cell)", "inbox(turn)"});
}

TEST_CASE("a triggered rule consumes the head of its channel, which is its message") {
  const Description d = describe([](auto& r) {
    r.triggered(
        {.name = "takes a message", .unit = "cell"}, over(cells),
        [](auto& s, Cell c) -> auto& { return s.inbox(c); },
        [](const State&, Cell c, const Message& m) { return m.from != c; },
        [](State& s, Cell, const Message& m) { s.memory = m.payload; });
  });
  const RecordedRule& rule = d.rules.front();
  CHECK(print(rule.trigger) == "inbox(cell)");
  CHECK(guard_of(rule) == "!inbox(cell).empty && inbox(cell).head.from != cell");
  CHECK(action_of(rule) == "memory = inbox(cell).head.payload\n");
  CHECK(rule.reads == Paths{"inbox(cell).empty", "inbox(cell).head.from", "inbox(cell).head.payload"});
  CHECK(rule.writes == Paths{"inbox(cell)", "memory"});
  CHECK(rule.problems.empty());
}

TEST_CASE("a field copied into a variable keeps its meaning when the field changes") {
  const RecordedRule rule = record_action([](State& s, Cell c) {
    const Value old = s.memory;
    s.memory = s.line(c).data(K::constant<WordTag2>(0));
    s.line(c).data(K::constant<WordTag2>(0)) = old;
  });
  REQUIRE(rule.action.size() == 3);
  CHECK(rule.action[0].kind == recorded::Statement::Kind::let);
  CHECK(print(rule.action[0].value) == "memory");
  CHECK(print(rule.action[1].target) == "memory");
  CHECK(print(rule.action[2].target) == "line(cell).data(0)");
  CHECK(rule.action[2].value->op == Op::local);
  CHECK(rule.action[2].value->text == rule.action[0].name);
  CHECK(rule.problems.empty());
  CHECK(rule.reads == Paths{"memory", "line(cell).data(0)"});
}

TEST_CASE("a variable assigned under a condition is a choice") {
  const RecordedRule rule = record_action([](State& s, Cell) {
    Value v(1);
    K::when(
        s.busy, [&] { v = Value(2); }, [&] { v = s.memory; });
    s.memory = v;
  });
  CHECK(action_of(rule) == "memory = select(!busy, memory, select(busy, 2, 1))\n");
}

TEST_CASE("an index read from state selects a row, and is read itself") {
  const RecordedRule rule =
      record_action([](State& s, Cell) { s.line(s.turn).valid = s.knows(s.turn, s.turn); });
  CHECK(action_of(rule) == "line(turn).valid = knows(turn, turn)\n");
  CHECK(rule.reads == Paths{"turn", "knows(turn, turn)"});
  CHECK(rule.writes == Paths{"line(turn).valid"});
}

TEST_CASE("invariants are recorded with the fields they read") {
  const K k = kind();
  const recorded::Recorder constants;
  InvariantList<K, State> list;
  list.invariant("one owner", [&](const State& s) {
    return k.forall(cells, [&](Cell c) { return !s.line(c).valid || s.owner == K::Maybe<CellTag>(c); });
  });
  Description d;
  recorded::read_invariants(list.values(), recorded::bound_state<K, State>, d.invariants);
  REQUIRE(d.invariants.size() == 1);
  CHECK(d.invariants.front().name == "one owner");
  CHECK(print(d.invariants.front().predicate) == "forall(cell: !line(cell).valid || owner == cell)");
  CHECK(d.invariants.front().reads == Paths{"line(cell).valid", "owner"});
}

TEST_CASE("every declared field is listed with the index types of its rows") {
  kind();
  Texts fields;
  const recorded::Recorder recorder;
  State state;
  recorded::list_fields_of<K>(state, fields);
  CHECK(fields == Texts{"line(cell).valid", "line(cell).colour", "line(cell).data", "knows(cell, cell)",
                        "inbox(cell)", "memory", "count", "turn", "now", "owner", "busy"});
}

// ---- constants -------------------------------------------------------------------------------------------

TEST_CASE("constants fold: what is switched off leaves no trace in a tree") {
  const auto rule = [](bool fault) {
    return record(
        over(cells),
        [&](const State& s, Cell c) {
          return (Bool(fault) || !s.line(c).valid) && !(Bool(fault) && s.busy) && (s.busy || Bool(fault));
        },
        [&](State& s, Cell c) {
          K::when(
              Bool(fault), [&] { s.memory = 1; }, [&] { s.count = 1; });
          K::when(Bool(fault) && s.busy, [&] { s.busy = false; });
          s.line(c).valid = K::select(Bool(fault), s.busy, s.line(c).valid);
        });
  };
  const RecordedRule off = rule(false);
  CHECK(guard_of(off) == "!line(cell).valid && busy");
  CHECK(action_of(off) ==
        "count = 1\n"
        "line(cell).valid = line(cell).valid\n");
  const RecordedRule on = rule(true);
  CHECK(guard_of(on) == "!busy");
  CHECK(on.reads.contains("busy"));
  CHECK(on.writes == Paths{"memory", "busy", "line(cell).valid"});
  CHECK(off.writes == Paths{"count", "line(cell).valid"});
}

TEST_CASE("what is denied twice is said once") {
  const RecordedRule rule = record(
      over(cells), [](const State& s, Cell) { return !(!s.busy) && !(!(!(s.count < 3))); },
      [](State&, Cell) {});
  CHECK(guard_of(rule) == "busy && !(count < 3)");
}

TEST_CASE("comparing two constants folds, whatever they are constants of") {
  const recorded::Recorder recorder;
  const Bool red(K::Enum<Colour>(Colour::red) == K::Enum<Colour>(Colour::red));
  CHECK(recorded::is_constant(red.value(), "true"));
  const Bool blue(K::Enum<Colour>(Colour::red) == K::Enum<Colour>(Colour::blue));
  CHECK(recorded::is_constant(blue.value(), "false"));
  const Bool differ(K::constant<WordTag2>(0) != K::constant<WordTag2>(1));
  CHECK(recorded::is_constant(differ.value(), "true"));
}

TEST_CASE("a fault that is off leaves a system's trees as they are without it") {
  const auto text = [](const std::vector<std::string>& faults) {
    SystemOptions options;
    options.faults = faults;
    std::string all;
    for (const RecordedRule& rule : find_system("german").describe(options).rules) {
      all += rule.name + "\n" + print(rule.guard) + "\n" + print(rule.action, "  ");
    }
    return all;
  };
  const std::string sound = text({});
  CHECK(sound.find("forall(node2: !node(node2).sharer)") != std::string::npos);
  CHECK(sound.find("node(node).sharer = true") != std::string::npos);
  CHECK(sound.find("false &&") == std::string::npos);
  CHECK(sound.find("true ||") == std::string::npos);
  const std::string broken = text({"grant-without-invalidating"});
  CHECK(broken.find("forall(node2: !node(node2).sharer)") == std::string::npos);
  CHECK(broken != sound);
}

// ---- questions in actions --------------------------------------------------------------------------------

TEST_CASE("what a question in an action looks at stays within the question") {
  const RecordedRule plain = record_action([](State& s, Cell c) {
    const K k = kind();
    s.busy = k.exists(cells, [&](Cell d) { return s.line(d).valid; }) &&
             k.forall(cells, [&](Cell d) { return s.knows(c, d); });
  });
  CHECK(action_of(plain) == "busy = exists(cell2: line(cell2).valid) && forall(cell3: knows(cell, cell3))\n");
  CHECK(plain.reads == Paths{"knows(cell, cell3)", "line(cell2).valid"});

  const RecordedRule kept = record_action([](State& s, Cell c) {
    const K k = kind();
    s.busy = k.exists(cells, [&](Cell d) {
      const Line line = s.line(d);
      return line.valid && line.colour == s.line(c).colour;
    });
  });
  CHECK(action_of(kept) ==
        "busy = exists(cell2: line(cell2).valid && line(cell2).colour == line(cell).colour)\n");

  const RecordedRule queued = record_action([](State& s, Cell c) {
    s.busy = K::contains(s.inbox(c), [&](const Message& m) {
      const Cell from = m.from;
      return from == c;
    });
  });
  CHECK(action_of(queued) == "busy = inbox(cell).contains(inbox(cell).entry.from == cell)\n");
  for (const RecordedRule& rule : {plain, kept, queued}) CHECK(rule.problems.empty());
}

TEST_CASE("what is kept beside a question is still what it was then") {
  const RecordedRule rule = record_action([](State& s, Cell) {
    const K k = kind();
    const Bool before = s.busy;
    s.busy = k.exists(cells, [&](Cell d) { return s.line(d).valid; });
    s.count = K::select(before, s.count + 1, s.count + 0);
  });
  CHECK(action_of(rule) ==
        "let busy = busy\n"
        "busy = exists(cell2: line(cell2).valid)\n"
        "count = select(busy, count + 1, count + 0)\n");
  CHECK(rule.problems.empty());
}

// ---- laws ------------------------------------------------------------------------------------------------

TEST_CASE("a guard that writes is a problem") {
  // A row of a table is reached by reference, so the state's const does not stop this.
  const RecordedRule through_table = record(
      over(cells),
      [](const State& s, Cell c) {
        s.line(c).valid = true;
        return s.busy;
      },
      [](State&, Cell) {});
  CHECK(through_table.problems == Texts{"its guard writes line(cell).valid"});

  const RecordedRule through_cast = record(
      over(cells),
      [](const State& s, Cell) {
        const_cast<State&>(s).busy = false;
        return Bool(true);
      },
      [](State&, Cell) {});
  CHECK(through_cast.problems == Texts{"its guard writes busy"});

  const RecordedRule by_queue = record(
      over(cells),
      [](const State& s, Cell c) {
        K::pop(s.inbox(c));
        return Bool(true);
      },
      [](State&, Cell) {});
  CHECK(by_queue.problems == Texts{"its guard writes inbox(cell)"});

  const RecordedRule by_question = record_action([](State& s, Cell) {
    const K k = kind();
    s.busy = k.exists(cells, [&](Cell d) {
      s.line(d).valid = true;
      return s.line(d).valid;
    });
  });
  CHECK(by_question.problems == Texts{"a question in it writes line(cell2).valid"});
}

TEST_CASE("a field's old value used after it was written is a problem") {
  const RecordedRule value = record_action([](State& s, Cell) {
    const Value next = s.memory + Value(1);  // names the field, for it is no copy
    s.memory = 0;
    s.line(s.turn).data(K::constant<WordTag2>(0)) = next;
  });
  CHECK(value.problems == Texts{"uses memory as it was before it changed"});

  const RecordedRule pushed = record_action([](State& s, Cell c) {
    const Value next = s.memory + Value(1);
    s.memory = 0;
    Message m;
    m.payload = next;
    K::push(s.inbox(c), m);
  });
  CHECK(pushed.problems == Texts{"uses memory as it was before it changed"});
}

TEST_CASE("a condition that names a field as it was before it was written is a problem") {
  const RecordedRule rule = record_action([](State& s, Cell) {
    const Bool was_busy = s.busy && s.count == 1;
    s.busy = true;
    K::when(was_busy, [&] { s.memory = 1; });
  });
  CHECK(rule.problems == Texts{"uses busy as it was before it changed"});

  const RecordedRule part = record_action([](State& s, Cell c) {
    const Bool not_empty = !s.inbox(c).empty();
    K::pop(s.inbox(c));
    s.busy = not_empty;
  });
  CHECK(part.problems == Texts{"uses inbox(cell).empty as it was before it changed"});
}

TEST_CASE("a system with a rule that breaks a law is refused, with the rule and the field") {
  recorded::Description trees;
  trees.rules.push_back(record_action([](State& s, Cell) { s.busy = true; }));
  refuse_unlawful("mine", trees);
  trees.rules.push_back(record_action([](State& s, Cell) {
    const Bool was_busy = s.busy && s.count == 1;
    s.busy = true;
    K::when(was_busy, [&] { s.memory = 1; });
  }));
  trees.rules.back().name = "takes its turn";
  CHECK_THROWS_WITH(refuse_unlawful("mine", trees),
                    Catch::Contains("'takes its turn' of mine") && Catch::Contains("uses busy as it was"));
}

TEST_CASE("an index that names a field as it was before it was written is a problem") {
  const RecordedRule read = record_action([](State& s, Cell c) {
    const auto& line = s.line(s.turn);  // of whose turn it is now
    s.turn = c;
    s.busy = line.valid;
  });
  CHECK(read.problems == Texts{"uses turn as it was before it changed"});

  const RecordedRule written = record_action([](State& s, Cell c) {
    auto& line = s.line(s.turn);
    s.turn = c;
    line.valid = false;
  });
  CHECK(written.problems == Texts{"uses turn as it was before it changed"});
}

TEST_CASE("a field read, written and read again is no problem") {
  const RecordedRule rule = record_action([](State& s, Cell) {
    s.count = s.count + 1;
    s.memory = Value(0);
    s.count = s.count + 1;
    K::when(s.count == 2, [&] { s.memory = s.memory + Value(1); });
  });
  CHECK(rule.problems.empty());
}

TEST_CASE("an interchangeable index asked for more than equality is a problem") {
  // The types have no such operator, so the trees are built by hand.
  const recorded::Type cell{"cell", true};
  const recorded::Type step{"step", false};
  const auto variable = [](const recorded::Type& type, const char* name) {
    return recorded::make(Op::parameter, type, {}, name);
  };
  const auto problems_of = [&](const recorded::Type& type, Op op) {
    RecordedRule rule;
    rule.guard = recorded::make(op, recorded::bool_type, {variable(type, "a"), variable(type, "b")});
    recorded::check_laws(rule);
    return rule.problems;
  };
  const Texts twice{"asks more than equality of the interchangeable index a in a < b",
                    "asks more than equality of the interchangeable index b in a < b"};
  CHECK(problems_of(cell, Op::less) == twice);
  CHECK(problems_of(cell, Op::add).size() == 2);
  CHECK(problems_of(cell, Op::less_equal).size() == 2);
  CHECK(problems_of(cell, Op::equal).empty());
  CHECK(problems_of(cell, Op::not_equal).empty());
  CHECK(problems_of(step, Op::less).empty());
}

TEST_CASE("an order among interchangeable indices is found wherever it hides in a rule") {
  const recorded::Type cell{"cell", true};
  const auto ordered = [&] {
    const auto a = recorded::make(Op::parameter, cell, {}, "a");
    return recorded::make(Op::less, recorded::bool_type, {a, recorded::constant(cell, "0")});
  };
  RecordedRule nested;
  nested.guard =
      recorded::negation(recorded::conjunction(recorded::constant(recorded::bool_type, "x"), ordered()));
  recorded::check_laws(nested);
  CHECK(nested.problems.size() == 2);

  recorded::Statement assignment;
  assignment.value = ordered();
  recorded::Statement inner;
  inner.kind = recorded::Statement::Kind::when;
  inner.value = recorded::constant(recorded::bool_type, "x");
  inner.otherwise = {assignment};
  recorded::Statement loop;
  loop.kind = recorded::Statement::Kind::for_each;
  loop.then = {inner};
  RecordedRule in_action;
  in_action.action = {loop};
  recorded::check_laws(in_action);
  CHECK(in_action.problems.size() == 2);

  recorded::Statement push;
  push.kind = recorded::Statement::Kind::push;
  push.row = {{"field", ordered()}};
  RecordedRule in_message;
  in_message.action = {push};
  recorded::check_laws(in_message);
  CHECK(in_message.problems.size() == 2);
}

TEST_CASE("an order among members that stand in order is no problem") {
  const RecordedRule rule = record(
      over(StepTag{}), [](const State& s, Step t) { return s.now < t; }, [](State& s, Step t) { s.now = t; });
  CHECK(guard_of(rule) == "now < step");
  CHECK(rule.problems.empty());
}

TEST_CASE("an array in a state is not indexed by state") {
  CHECK_THROWS_WITH(record(
                        over(slots_of_words), [](const State&, Word) { return Bool(true); },
                        [](State& s, Word w) { s.line(s.turn).data(w) = 1; }),
                    Catch::Contains("use k.at or k.pick"));
}
