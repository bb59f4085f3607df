// The monitor that stands at a port (port_theorem.hpp) says raced only where there is a race by definition,
// and what it says is newest is what a flat memory holds that performs the operations in the order of their
// points: on random runs of the systems whose promise is proved, with the points of their proofs.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "checker/systems/sizes.hpp"
#include "proofs/lemmas/halcone.theorem.hpp"
#include "proofs/lemmas/quick_release.theorem.hpp"
#include "proofs/lemmas/rfo.theorem.hpp"
#include "proofs/lemmas/write_through.theorem.hpp"
#include "proofs/theorem_system.hpp"
#include "tests/race_definition.hpp"

using namespace lockstep;

namespace {

// Three threads, and up to three of everything else.
struct WalkCapacities {
  template <class Tag>
  static constexpr int of =
      std::is_same_v<Tag, AskedTag> || !counts_things<Tag> ? Tag::capacity : std::min(Tag::capacity, 3);
};
constexpr std::size_t walkers = 3;

constexpr auto any_location = SyncReading::any_location;
constexpr auto same_location = SyncReading::same_location;

// Where the threads sit.
struct Seats {
  std::array<int, walkers> cu;     // of each thread
  std::array<int, walkers> agent;  // of each CU
  bool host;                       // the last thread is a CPU's
};
constexpr std::array<Seats, 5> all_seats{
    Seats{{0, 0, 1}, {0, 0, 0}, false}, Seats{{0, 1, 2}, {0, 0, 0}, false},
    Seats{{0, 1, 2}, {0, 0, 1}, false}, Seats{{0, 0, 1}, {0, 1, 0}, false},
    Seats{{0, 1, 0}, {0, 0, 0}, true}};

// An operation that a thread has asked for.
struct Operated {
  Instruction instruction;
  std::int32_t datum = 0;
  std::int32_t newest = 0;  // at its point, if it reads
  bool pointed = false;
};

// What a run has shown: what was asked, and what has had its point.
class Record {
 public:
  Record(const Seats& seats, SyncReading reading) : reading_(reading) {
    for (std::size_t t = 0; t < walkers; ++t) {
      Thread thread;
      thread.name = "P" + std::to_string(t);
      thread.placement.host = seats.host && t + 1 == walkers;
      thread.placement.wave = static_cast<int>(t);
      thread.placement.wg = seats.cu.at(t);
      thread.placement.agent = seats.agent.at(static_cast<std::size_t>(seats.cu.at(t)));
      thread.registers = {"r"};
      program_.threads.push_back(std::move(thread));
    }
    for (int l = 0; l < 4; ++l) program_.locations.push_back({std::string(1, "xyzw"[l]), 0, l, 0});
  }

  template <class Request>
  void ask(std::size_t t, const Request& q, int location) {
    constexpr std::array opcodes{Opcode::load, Opcode::store, Opcode::rmw, Opcode::fence};
    Operated operated;
    Instruction& i = operated.instruction;
    i.opcode = opcodes.at(static_cast<std::size_t>(q.operation.v));
    i.order = q.order.v;
    i.scope = q.scope.v;
    i.rmw = RmwFunction::bit_xor;
    i.a = {false, q.a.v};
    i.location = static_cast<std::int16_t>(i.opcode == Opcode::fence ? -1 : location);
    operated.datum = q.a.v;
    asked_.at(t).push_back(operated);
  }
  [[nodiscard]] std::size_t latest(std::size_t t) const { return asked_.at(t).size() - 1; }
  [[nodiscard]] const Operated& operation(std::size_t t, std::size_t place) const {
    return asked_.at(t).at(place);
  }

  // The operation has its point; `late` is the place of the thread's store that is late, if one is.
  void perform(std::size_t t, std::size_t place, std::optional<std::size_t> late) {
    Operated& operated = asked_.at(t).at(place);
    const Instruction& i = operated.instruction;
    operated.pointed = true;
    run_.push_back(step(t, place));
    if (i.opcode == Opcode::fence) return;
    const bool own = late && *late != place && operation(t, *late).instruction.location == i.location;
    operated.newest = own ? operation(t, *late).datum : memory_[i.location];
    if (i.opcode == Opcode::store) memory_[i.location] = operated.datum;
    if (i.opcode == Opcode::rmw) memory_[i.location] = operated.newest ^ operated.datum;
  }
  [[nodiscard]] std::int32_t memory(int location) { return memory_[location]; }
  [[nodiscard]] std::size_t points() const { return run_.size(); }

  using Places = std::vector<std::pair<std::size_t, std::size_t>>;
  // There is a race; or there is one once these, which have been asked for, have their points, in some order.
  // A race stays one, so none of them has to be left out.
  [[nodiscard]] bool races(const Places& waiting) const {
    const by_definition::Races definition(program_, RaceModel::hrf_indirect, reading_);
    Places order = waiting;
    std::sort(order.begin(), order.end());
    do {
      by_definition::Run run = run_;
      for (const auto& [t, place] : order) run.push_back(step(t, place));
      if (definition.in(run)) return true;
    } while (std::next_permutation(order.begin(), order.end()));
    return false;
  }
  // There would be one if the thread asked for this.
  template <class Request>
  [[nodiscard]] bool would_race(std::size_t t, const Request& q, int location) {
    ask(t, q, location);
    Places waiting;
    for (std::size_t u = 0; u < walkers; ++u) {
      for (std::size_t place = 0; place < asked_.at(u).size(); ++place) {
        if (!asked_.at(u).at(place).pointed) waiting.emplace_back(u, place);
      }
    }
    const bool race = races(waiting);
    asked_.at(t).pop_back();
    return race;
  }

  [[nodiscard]] std::string text() const {
    std::ostringstream out;
    for (const by_definition::Step& s : run_)
      out << 'P' << s.thread << '.' << s.place << ' ' << print_instruction(*s.instruction, program_, s.thread)
          << "; ";
    return out.str();
  }

 private:
  [[nodiscard]] by_definition::Step step(std::size_t t, std::size_t place) const {
    const Instruction& i = operation(t, place).instruction;
    const bool accesses = i.opcode != Opcode::fence;
    return {static_cast<int>(t), &i, accesses && i.opcode != Opcode::store,
            accesses && i.opcode != Opcode::load, place};
  }

  SyncReading reading_;
  Program program_;
  std::array<std::deque<Operated>, walkers> asked_;  // by thread, in program order
  by_definition::Run run_;
  std::map<int, std::int32_t> memory_;
};

// What the threads of a walk ask for.
struct Habits {
  std::uint32_t allowed;   // of the explored requests
  bool plain_at_other;     // plain accesses to the other block than the watched one, too
  int synchronization_at;  // the block of what is not plain; -1: any
  int patience;            // how many steps are thought of before a rash one is taken
};

// What the walks of a system have seen.
struct Seen {
  int races = 0;               // walks in which the monitor said raced
  int only_by_definition = 0;  // walks that race, on whatever word, without its noticing
  int without = 0;             // walks without a race
  int synchronized = 0;        // values of other threads that were read, in those
  int points = 0;
};

template <class Info, template <class> class History>
class Walk {
 public:
  using Sizes = typename AskedSizesOf<typename Info::template Sizes<WalkCapacities>>::type;
  using K = Concrete<Sizes>;
  using Client = WatchedByFew<Info, K>;
  using System = WithHistory<Client, History>;
  using State = typename System::State;
  using Port = typename History<Client>::Port;
  using ThreadIx = typename K::template Ix<ThreadTag>;

  Walk(const Seats& seats, const Habits& habits, SyncReading reading, std::mt19937& random, Seen& seen)
      : client_(kind(), machine(seats), 0, 0, habits.allowed),
        model_(System(client_), Reductions::none()),
        record_(seats, reading),
        random_(random),
        seen_(seen),
        habits_(habits) {}

  void go(int steps) {
    Successors next;
    next.clear(model_.words());
    model_.initial(next);
    std::vector<std::uint64_t> at(next.state(0), next.state(0) + model_.words());
    int fresh = 0;
    for (int i = 0; i < steps; ++i) {
      next.clear(model_.words());
      next.begin_state();
      model_.expand(at.data(), next);
      REQUIRE(next.size() > 0);
      const State before = model_.load(at.data());
      const std::size_t chosen = choose(before, next);
      at.assign(next.state(chosen), next.state(chosen) + model_.words());
      const State after = model_.load(at.data());
      const std::size_t points = record_.points();
      observe(before, after, fresh);
      if (after.ghost.port.raced.v) {
        ++seen_.races;
        return;
      }
      if (record_.points() > points && record_.races({})) {
        ++seen_.only_by_definition;
        return;
      }
    }
    seen_.points += static_cast<int>(record_.points());
    ++seen_.without;
    seen_.synchronized += fresh;
  }

 private:
  static K kind() {
    K k;
    k.sizes.visit([]<class Tag>(Tag, int& size) {
      if (!std::is_same_v<Tag, AskedTag> && counts_things<Tag>) size = 1;
    });
    Info::default_sizes(k.sizes, 0);
    k.sizes.template set<ThreadTag>(walkers);
    k.sizes.template set<CuTag>(3);
    k.sizes.template set<AgentTag>(2);
    k.sizes.template set<BlockTag>(2);
    k.sizes.visit([]<class Tag>(Tag, int& size) {
      if (!std::is_same_v<Tag, AskedTag> && counts_things<Tag> && is_slot<Tag>) size = 1;
    });
    k.set_value_range({0, 3});
    return k;
  }
  static Machine<K> machine(const Seats& seats) {
    Machine<K> machine{};
    for (std::size_t t = 0; t < walkers; ++t) {
      machine.cu_of.image[t] = static_cast<std::uint8_t>(seats.cu.at(t));
      machine.agent_of.image[t] = static_cast<std::uint8_t>(seats.agent.at(t));
    }
    machine.is_host.member[walkers - 1] = seats.host;
    return machine;
  }
  [[nodiscard]] int location(const auto& request) const {
    return request.block.v * client_.kind().template extent<WordTag>() + request.word.v;
  }

  // A rule, then one of its firings; mostly one after which no race is near.
  std::size_t choose(const State& before, const Successors& next) {
    std::vector<std::vector<std::size_t>> by_rule(model_.rules().size());
    for (std::size_t i = 0; i < next.size(); ++i) by_rule.at(next.firing(i).rule).push_back(i);
    std::erase_if(by_rule, [](const auto& firings) { return firings.empty(); });
    for (int tries = 0;; ++tries) {
      const auto& firings = by_rule.at(random_() % by_rule.size());
      const std::size_t chosen = firings.at(random_() % firings.size());
      const State after = model_.load(next.state(chosen));
      if (is_left_out(after)) continue;
      if (tries >= habits_.patience ||
          ((is_telling(before, after) || random_() % 4 == 0) && !is_rash(before, after)))
        return chosen;
    }
  }
  // The thread that asks for something in the step, if one does.
  [[nodiscard]] static std::optional<ThreadIx> asker(const State& before, const State& after) {
    for (std::size_t t = 0; t < walkers; ++t) {
      const ThreadIx ix = K::template constant<ThreadTag>(static_cast<int>(t));
      if (!before.system.memory.port(ix).pending.v && after.system.memory.port(ix).pending.v) return ix;
    }
    return {};
  }
  [[nodiscard]] bool is_rash(const State& before, const State& after) {
    const std::optional<ThreadIx> t = asker(before, after);
    if (!t) return false;
    const auto& q = after.system.memory.port(*t).request;
    return record_.would_race(static_cast<std::size_t>(t->v), q, location(q));
  }
  // Nobody asks in the step; or who does accesses the word, or hands over what it knows of it, or, knowing
  // nothing, asks somebody.
  [[nodiscard]] static bool is_telling(const State& before, const State& after) {
    const std::optional<ThreadIx> t = asker(before, after);
    if (!t) return true;
    const Asked& asked = detail::asked_of_explored.at(after.system.asked(*t).v);
    return before.ghost.port.unordered(*t).v ? acquires(asked.order)
                                             : asked.order == Order::plain || releases(asked.order);
  }
  // What no program asks, a CPU at a narrow scope, and what is no habit of the walk.
  [[nodiscard]] bool is_left_out(const State& state) const {
    for (std::size_t t = 0; t < walkers; ++t) {
      const ThreadIx ix = K::template constant<ThreadTag>(static_cast<int>(t));
      const Asked& asked = detail::asked_of_explored.at(state.system.asked(ix).v);
      const bool plain = asked.order == Order::plain;
      if (!plain && asked.scope != Scope::system && client_.machine().is_host(ix).v) return true;
      const int block = state.system.block(ix).v;
      if (plain && !habits_.plain_at_other && block != 0) return true;
      const bool placed = !plain && asked.operation != Operation::fence && habits_.synchronization_at >= 0;
      if (placed && state.system.memory.port(ix).pending.v && block != habits_.synchronization_at)
        return true;
    }
    return false;
  }

  // What the step shows: points, and what is said of them.
  void observe(const State& before, const State& after, int& fresh) {
    const Port port{client_};
    const auto& was = before.ghost.port;
    const auto& now = after.ghost.port;
    const auto each = [&](const auto& visit) {
      for (std::size_t t = 0; t < walkers; ++t)
        visit(t, K::template constant<ThreadTag>(static_cast<int>(t)));
    };
    each([&](std::size_t t, const ThreadIx& ix) {
      const auto& p = after.system.memory.port(ix);
      if (!before.system.memory.port(ix).pending.v && p.pending.v)
        record_.ask(t, p.request, location(p.request));
    });

    // Late stores have their points first, those that others have been merged over ahead of those.
    struct Point {
      std::size_t thread;
      std::size_t place;
      std::int64_t turn;
    };
    std::vector<Point> points;
    constexpr std::int64_t at_once = std::numeric_limits<std::int64_t>::max() - 1;
    each([&](std::size_t t, const ThreadIx& ix) {
      if constexpr (Port::has_late) {
        if (port.has_late_point(was, before.system, after.system, ix).v)
          points.push_back({t, late_.at(t).value(), was.late.of(ix).covered.v ? 0 : 1});
      }
      if (!port.has_point(was, before.system, after.system, ix).v) return;
      std::int64_t turn = at_once;
      if constexpr (Port::in_turns)
        turn = history_points().turn(port.time(was, before.system, after.system, ix), before.system, ix).v;
      points.push_back({t, record_.latest(t), turn});
    });
    std::stable_sort(points.begin(), points.end(),
                     [](const Point& a, const Point& b) { return a.turn < b.turn; });
    for (const Point& point : points) {
      const bool is_late = late_.at(point.thread) == point.place;
      if (is_late) late_.at(point.thread).reset();
      record_.perform(point.thread, point.place, late_.at(point.thread));
    }
    each([&](std::size_t t, const ThreadIx& ix) {
      if constexpr (Port::has_late) {
        if (now.late.of(ix).pending.v && !late_.at(t)) late_.at(t) = record_.latest(t);
        REQUIRE(now.late.of(ix).pending.v == late_.at(t).has_value());
      }
    });

    INFO(record_.text());
    if (now.raced.v) {
      REQUIRE(record_.races(without_points(before)));
      return;
    }
    CHECK(now.newest.v == record_.memory(0));
    each([&](std::size_t t, const ThreadIx& ix) {
      const auto& p = after.system.memory.port(ix);
      if (before.system.memory.port(ix).done.v || !p.done.v) return;
      const Operated& operated = record_.operation(t, record_.latest(t));
      const bool reads =
          operated.instruction.opcode == Opcode::load || operated.instruction.opcode == Opcode::rmw;
      if (!reads) return;
      if (operated.instruction.location == 0) {
        CHECK(now.expected(ix).v == operated.newest);
        fresh += static_cast<int>(now.from_another(ix).v);
      }
      if (p.result.v != operated.newest) CHECK(record_.races(without_points(before)));
    });
  }

  // Operations whose effects others may see ahead of their points: any of these could have it now.
  [[nodiscard]] Record::Places without_points(const State& before) const {
    Record::Places waiting;
    for (std::size_t t = 0; t < walkers; ++t) {
      if (late_.at(t)) waiting.emplace_back(t, *late_.at(t));
      if constexpr (Port::in_turns) {
        const ThreadIx ix = K::template constant<ThreadTag>(static_cast<int>(t));
        const bool asked = before.system.memory.port(ix).pending.v;
        if (asked && !record_.operation(t, record_.latest(t)).pointed &&
            lockstep::writes(before.system.memory, ix).v && history_points().is_ahead(before.system, ix).v)
          waiting.emplace_back(t, record_.latest(t));
      }
    }
    return waiting;
  }
  [[nodiscard]] auto history_points() const { return halcone::Points<Client>{client_}; }

  Client client_;
  CompiledModel<System> model_;
  Record record_;
  std::array<std::optional<std::size_t>, walkers> late_;  // places of stores that are late
  std::mt19937& random_;
  Seen& seen_;
  Habits habits_;
};

// Atomics of one scope or two, at one block or both, with plain accesses and often without fences.
Habits any_habits(std::mt19937& random) {
  constexpr std::array scopes{Scope::wg, Scope::agent, Scope::system};
  const std::array<Scope, 2> wanted{scopes.at(random() % 3), scopes.at(random() % 3)};
  const auto one_in = [&](unsigned n) { return random() % n == 0; };
  const bool fences = one_in(3);
  const bool relaxed = one_in(4);
  std::vector<Asked> all;
  for (const Asked& one : detail::asked_of_explored) {
    const bool scoped = one.order == Order::plain || one.scope == wanted[0] || one.scope == wanted[1];
    if (scoped && (fences || one.operation != Operation::fence) && (relaxed || one.order != Order::relaxed))
      all.push_back(one);
  }
  return {allowed_of(all), one_in(6), static_cast<int>(random() % 3) - 1, one_in(4) ? 1 : 40};
}

template <class Info, template <class> class History>
Seen walks(SyncReading reading, int count, int steps) {
  using Port = typename Walk<Info, History>::Port;
  using Request = typename lockstep::Port<typename Walk<Info, History>::K>::Request;
  std::mt19937 random(20140301);
  Seen seen;
  for (int i = 0; i < count; ++i) {
    Habits habits = any_habits(random);
    habits.allowed &= judged<Port, Request>();
    const Seats& seats = all_seats.at(static_cast<std::size_t>(i) % all_seats.size());
    Walk<Info, History>(seats, habits, reading, random, seen).go(steps);
  }
  return seen;
}

// The walks have gone where the monitor could be wrong.
void check_telling(const Seen& seen, int count) {
  CHECK(seen.races >= count / 10);
  CHECK(seen.without >= count / 2);
  CHECK(seen.synchronized >= count / 3);
  CHECK(seen.points >= 4 * count);
}

}  // namespace

TEST_CASE("at write-through's port the monitor says raced only where there is a race, and newest is newest") {
  check_telling(walks<write_through::Info, write_through::TheoremHistory>(any_location, 400, 120), 400);
}
// Nothing is said there, nor of HALCONE, of the reading in which any locations pair.
TEST_CASE("at quick-release's port the monitor says raced only where there is a race, and newest is newest") {
  check_telling(walks<quick_release::Info, quick_release::TheoremHistory>(same_location, 200, 240), 200);
}
TEST_CASE("at halcone's port the monitor says raced only where there is a race, and newest is newest") {
  check_telling(walks<halcone::Info, halcone::TheoremHistory>(same_location, 100, 200), 100);
}
TEST_CASE("at rfo's port the monitor says raced only where there is a race, and newest is newest") {
  check_telling(walks<rfo::Info, rfo::TheoremHistory>(any_location, 200, 400), 200);
}
TEST_CASE("in many runs a port's monitor says raced only where there is a race", "[.][nightly]") {
  check_telling(walks<write_through::Info, write_through::TheoremHistory>(any_location, 4000, 240), 4000);
  check_telling(walks<quick_release::Info, quick_release::TheoremHistory>(same_location, 4000, 240), 4000);
  check_telling(walks<halcone::Info, halcone::TheoremHistory>(same_location, 1000, 200), 1000);
}
