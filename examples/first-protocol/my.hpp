// The protocol of docs/writing-a-protocol.md: write-through caches that a directory keeps coherent by
// invalidations.
//
// Each thread is a core with a cache of its own. A store goes to the directory, which has every copy of its
// block dropped before it writes memory. What it sends to a core comes in order: a fill, or an invalidation.
// A core has one request at a time, so this is sequentially consistent: orders and scopes ask for nothing
// more.
#pragma once

#include <array>
#include <boost/describe.hpp>
#include <cstdint>
#include <string_view>

#include "spec/kernel/loops.hpp"
#include "spec/kernel/rules.hpp"
#include "spec/memory/memory_system.hpp"

namespace lockstep::my {

// Messages under way from the directory to one core.
struct DownSlot : Slots<"down-messages", 4> {};

// How far a core has come with what it asks for.
enum class Stage : std::uint8_t {
  idle,
  reads,   // it has asked the directory for a block
  filled,  // the block is on its way
  writes,  // it has asked the directory to write a word
};
BOOST_DESCRIBE_ENUM(Stage, idle, reads, filled, writes)

enum class DownKind : std::uint8_t { fill, invalidation };
BOOST_DESCRIBE_ENUM(DownKind, fill, invalidation)

enum class Invalidation : std::uint8_t { none, sent, acknowledged };
BOOST_DESCRIBE_ENUM(Invalidation, none, sent, acknowledged)

inline constexpr std::array variants{
    Variant{"default", "reads are answered, whatever writes wait"},
    Variant{"writes-first", "a read waits while a write of its block does"},
};

inline constexpr std::array faults{
    Fault{"sharer-forgotten", "the directory does not note who gets a copy"},
    Fault{"write-does-not-wait", "a write is performed while invalidations are on their way"},
    Fault{"invalidation-overtakes", "an invalidation arrives ahead of the fills sent before it"},
    Fault{"room-not-asked-for", "the directory sends invalidations whether there is room or not"},
};

template <class K>
struct Protocol : MemorySystem<K, faults, variants> {
  using Base = MemorySystem<K, faults, variants>;
  using Base::Base, Base::k, Base::fault, Base::is, Base::every, Base::put, Base::same, Base::word_of;
  using typename Base::Block, typename Base::Word, typename Base::Bool, typename Base::Value;
  using typename Base::Data;
  using Core = typename Base::ThreadIx;
  template <class E>
  using Enum = typename K::template Enum<E>;

  struct Line {
    Bool present;
    Data data;
    BOOST_DESCRIBE_CLASS(Line, (), (present, data), (), ())
  };
  struct Down {
    Enum<DownKind> kind;
    Block block;
    Data data;  // of a fill
    BOOST_DESCRIBE_CLASS(Down, (), (kind, block, data), (), ())
  };
  // What the directory knows of one core and one block.
  struct Entry {
    Bool sharer;
    Enum<Invalidation> invalidation;
    BOOST_DESCRIBE_CLASS(Entry, (), (sharer, invalidation), (), ())
  };
  struct State {
    typename K::template Table<Port<K>, ThreadTag> port;
    typename K::template Table<Enum<Stage>, ThreadTag> stage;
    typename K::template Table<Line, ThreadTag, BlockTag> cache;
    typename K::template Table<typename K::template Fifo<Down, DownSlot>, ThreadTag> down;
    typename K::template Table<Entry, ThreadTag, BlockTag> entry;
    typename K::template Table<Data, BlockTag> memory;
    BOOST_DESCRIBE_CLASS(State, (), (port, stage, cache, down, entry, memory), (), ())
  };
  using Rules = RuleList<K, State>;
  using Invariants = InvariantList<K, State>;

  void initialise(State& s, Block b, Word w, Value v) const { s.memory(b)(w) = v; }
  [[nodiscard]] Value final_value(const State& s, Block b, Word w) const { return s.memory(b)(w); }
  // What is still on its way changes no memory.
  [[nodiscard]] Bool drained(const State&) const { return true; }

  void rules(Rules& r) const {
    load_rules(r);
    write_rules(r);
    other_rules(r);
  }

  void invariants(Invariants& v) const {
    v.invariant("a copy is current", [=, this](const State& s) {
      return every(threads, blocks, [&](Core c, Block b) {
        return !s.cache(c, b).present || same(s.cache(c, b).data, s.memory(b));
      });
    });
  }

 private:
  // Of the block that the core asks for.
  [[nodiscard]] static Block block(const State& s, Core c) { return s.port(c).request.block; }
  [[nodiscard]] static Line& copy(State& s, Core c) { return s.cache(c, block(s, c)); }
  [[nodiscard]] static const Line& copy(const State& s, Core c) { return s.cache(c, block(s, c)); }
  [[nodiscard]] static Bool idle(const State& s, Core c) { return s.stage(c) == Stage::idle; }
  [[nodiscard]] Bool write_waits(const State& s, Block b) const {
    return exists_asking(k, s.port, b, [&](Core c) { return s.stage(c) == Stage::writes; });
  }

  void load_rules(Rules& r) const {
    r.rule(
        {.name = "load hits", .unit = "cache"}, over(threads),
        [](const State& s, Core c) {
          return waits_for(s, c, Operation::load) && idle(s, c) && copy(s, c).present;
        },
        [=, this](State& s, Core c) {
          complete<K>(s.port(c), word_of(copy(s, c).data, s.port(c).request.word));
        });
    r.rule(
        {.name = "load misses", .unit = "cache"}, over(threads),
        [](const State& s, Core c) {
          return waits_for(s, c, Operation::load) && idle(s, c) && !copy(s, c).present;
        },
        [](State& s, Core c) { s.stage(c) = Stage::reads; });
    r.rule(
        {.name = "directory answers a read", .unit = "directory"}, over(threads),
        [=, this](const State& s, Core c) {
          const Bool waits = is("writes-first") ? write_waits(s, block(s, c)) : Bool(false);
          return s.stage(c) == Stage::reads && !waits && !k.full(s.down(c));
        },
        [=, this](State& s, Core c) {
          Down m;
          m.kind = DownKind::fill;
          m.block = block(s, c);
          m.data = s.memory(block(s, c));
          k.push(s.down(c), m);
          if (!fault("sharer-forgotten")) s.entry(c, block(s, c)).sharer = true;
          s.stage(c) = Stage::filled;
        });
    r.triggered(
        {.name = "fill arrives", .unit = "cache"}, over(threads),
        [](auto& s, Core c) -> auto& { return s.down(c); },
        [](const State&, Core, const Down& m) { return m.kind == DownKind::fill; },
        [=, this](State& s, Core c, const Down& m) {
          s.cache(c, m.block).present = true;
          s.cache(c, m.block).data = m.data;
          s.stage(c) = Stage::idle;
          complete<K>(s.port(c), word_of(m.data, s.port(c).request.word));
        });
  }

  void write_rules(Rules& r) const {
    r.rule(
        {.name = "store or RMW goes to the directory", .unit = "cache"}, over(threads),
        [](const State& s, Core c) { return s.port(c).pending && writes(s, c) && idle(s, c); },
        [](State& s, Core c) { s.stage(c) = Stage::writes; });
    r.rule(
        {.name = "directory invalidates a copy", .unit = "directory"}, over(threads, blocks),
        [=, this](const State& s, Core c, Block b) {
          const Bool room = fault("room-not-asked-for") ? Bool(true) : !k.full(s.down(c));
          const Entry& entry = s.entry(c, b);
          return entry.sharer && entry.invalidation == Invalidation::none && room && write_waits(s, b);
        },
        [=, this](State& s, Core c, Block b) {
          Down m;
          m.kind = DownKind::invalidation;
          m.block = b;
          if (fault("invalidation-overtakes")) {
            k.push_front(s.down(c), m);
          } else {
            k.push(s.down(c), m);
          }
          s.entry(c, b).sharer = false;
          s.entry(c, b).invalidation = Invalidation::sent;
        });
    r.triggered(
        {.name = "invalidation arrives", .unit = "cache"}, over(threads),
        [](auto& s, Core c) -> auto& { return s.down(c); },
        [](const State&, Core, const Down& m) { return m.kind == DownKind::invalidation; },
        [](State& s, Core c, const Down& m) {
          s.cache(c, m.block) = Line{};
          s.entry(c, m.block).invalidation = Invalidation::acknowledged;
        });
    r.rule(
        {.name = "directory takes an acknowledgement", .unit = "directory"}, over(threads, blocks),
        [](const State& s, Core c, Block b) {
          return s.entry(c, b).invalidation == Invalidation::acknowledged;
        },
        [](State& s, Core c, Block b) { s.entry(c, b).invalidation = Invalidation::none; });
    r.rule(
        {.name = "directory performs a write", .unit = "directory"}, over(threads),
        [=, this](const State& s, Core c) {
          return s.stage(c) == Stage::writes && k.forall(threads, [&](Core d) {
            const Entry& entry = s.entry(d, block(s, c));
            const Bool awaited = entry.invalidation != Invalidation::none;
            return !entry.sharer && (fault("write-does-not-wait") || !awaited);
          });
        },
        [=, this](State& s, Core c) {
          const auto& q = s.port(c).request;
          const Value old = word_of(s.memory(q.block), q.word);
          const Value now = K::select(q.operation == Operation::rmw, rmw_result(k, q, old), Value(q.a));
          put(s.memory(q.block), q.word, now);
          k.when(q.operation == Operation::rmw, [&] { s.port(c).result = old; });
          s.stage(c) = Stage::idle;
          complete<K>(s.port(c));
        });
  }

  void other_rules(Rules& r) const {
    r.rule(
        {.name = "replaces a copy", .unit = "cache", .fairness = Fairness::optional}, over(threads, blocks),
        [](const State& s, Core c, Block b) { return s.cache(c, b).present; },
        [](State& s, Core c, Block b) { s.cache(c, b) = Line{}; });
    r.rule(
        {.name = "passes a fence", .unit = "cache"}, over(threads),
        [](const State& s, Core c) { return waits_for(s, c, Operation::fence); },
        [](State& s, Core c) { complete<K>(s.port(c)); });
  }
};

struct Info : MemoryInfo<faults, variants, DownSlot> {
  static constexpr std::string_view name = "my";
  static constexpr std::string_view what = "write-through caches, kept coherent by invalidations";
  static constexpr int place = 100;  // among the systems, where people read of them
  template <class S>
  static constexpr void default_sizes(S& sizes, int) {
    sizes.template set<DownSlot>(2);
  }
  template <class K>
  using Memory = Protocol<K>;
};

}  // namespace lockstep::my
