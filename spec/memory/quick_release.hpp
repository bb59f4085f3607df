// QuickRelease: write-combining caches at every level, each beside a FIFO of what may be dirty (S-FIFO), so
// that a release drains a queue instead of walking a cache, and an acquire costs nothing.
//
// Source: Hechtman, "Exploiting Parallelism in GPUs", thesis, Duke 2014, ch. 4 (sections named at each rule);
// first published as Hechtman et al., "QuickRelease", HPCA 2014. The rules come in the order of 4.3.1: a
// write's life from wL1 to memory, a read's life, synchronization, and the CPUs.
//
// The machine is figure 4.2: each CU has rL1, wL1 and S-FIFO1; an agent's CUs share rL2, wL2 and S-FIFO2; all
// agents share wL3 and S-FIFO3 beside the directory, memory and the CPU cluster (home.hpp). Here a link1
// leads from each CU to its L2 and a link2 from each L2 to the directory; both keep order ("the marker then
// will propagate through the cache hierarchy just like a normal write" has no meaning otherwise). Fills and
// invalidations travel back at any time; the default keeps an invalidation behind the fills sent before it.
//
// What is ours, since the thesis is silent:
//   Scopes and more than one GPU. wave and wg complete at wL1, which a work-group shares; agent when the
//   marker has left S-FIFO2, system when it has left S-FIFO3, each when the invalidations then on their way
//   to the caches in that scope have been delivered. wL3's evictions also invalidate every agent's read
//   caches when there is more than one agent. A thread executes in order with blocking loads and RMWs. When
//   its program has ended everywhere the machine drains, as a kernel end makes it (4.3.1, "a release
//   operation (e.g., a StRel or kernel end)").
//
//   Everything a CU sends up, reads and RMWs included, keeps its order on the link; so does what an L2 sends.
//   "sends invalidations to the CPU cluster [...] before the line is written" is one step: the CPUs have
//   dropped the line when it is written. A CPU write tells the GPU caches each time, also when the CPUs own
//   the line. A partial hit evicts its block ("the dirty bytes are written through"), as any eviction does.
//   The marker that an RMW leaves in S-FIFO1 comes out when the RMW has been performed.
//   Unused words of a block count as clean, so a block that a program uses one word of never hits wL2 or wL3
//   in full and is always written through first.
//
// The default variant differs from `as-printed` in the first eight faults below, which are what the print
// lacks; docs/findings.md has the shortest counterexample for each.
#pragma once

#include <array>
#include <boost/describe.hpp>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "spec/kernel/loops.hpp"
#include "spec/kernel/rules.hpp"
#include "spec/memory/home.hpp"
#include "spec/memory/memory_system.hpp"
#include "spec/program/ended.hpp"

namespace lockstep::quick_release {

// S-FIFO1 is one for each CU, or in `split-fifo` one for each wavefront (4.3, "can be split into multiple
// FIFOs for each wavefront").
struct QueueTag : Indices<"s-fifo1", 5> {};
struct Fifo1Slot : Slots<"s-fifo1-entries", 4> {};
struct Fifo2Slot : Slots<"s-fifo2-entries", 4> {};
struct Fifo3Slot : Slots<"s-fifo3-entries", 4> {};
struct Link1Slot : Slots<"link1-messages", 2> {};
struct Link2Slot : Slots<"link2-messages", 2> {};
inline constexpr QueueTag queues{};

// What an S-FIFO entry stands for.
enum class EntryKind : std::uint8_t {
  write,   // a block that may be dirty
  marker,  // a release: acknowledged when it comes out
  flush,   // the flush behind a StRel's store
  atomic,  // an RMW that went ahead to the directory
};
BOOST_DESCRIBE_ENUM(EntryKind, write, marker, flush, atomic)

// What travels up a link.
enum class UpKind : std::uint8_t { write, marker, flush, read, atomic };
BOOST_DESCRIBE_ENUM(UpKind, write, marker, flush, read, atomic)

// Where a thread's read stands.
enum class ReadStage : std::uint8_t {
  none,
  to_l2,
  to_directory,
  from_directory,  // the fill is on its way to L2
  from_l2,         // the fill is on its way to L1
};
BOOST_DESCRIBE_ENUM(ReadStage, none, to_l2, to_directory, from_directory, from_l2)

// Where a thread's synchronization stands.
enum class Stage : std::uint8_t {
  idle,
  releasing,  // its marker is in the hierarchy
  awaiting,   // its marker is out, invalidations are still on their way
  released,   // the release is complete, its own operation may proceed
  stored,     // the store of a StRel is in wL1, the flush behind it is still to be queued
  atomic,     // its RMW is in flight
};
BOOST_DESCRIBE_ENUM(Stage, idle, releasing, awaiting, released, stored, atomic)

inline constexpr std::array variants{
    Variant{"default", "the thesis with the repairs that docs/findings.md shows to be needed"},
    Variant{"as-printed", "thesis 4.3 as it is printed, with our readings where it is silent"},
    Variant{"split-fifo", "the default with S-FIFO1 split by wavefront, as 4.3 mentions"},
    Variant{"lean", "the default without two printed steps at L1 that the written bit makes superfluous"},
};

// The first eight take out, one at a time, what the default adds to the print.
inline constexpr std::array faults{
    Fault{"fill-ignores-write",
          "a fill installs its block with the written bit clear although the write cache is newer"},
    Fault{"fill-overtaken", "an invalidation may overtake the fill that was sent before it"},
    Fault{"fill-survives-eviction", "a fill asked for before an eviction of its block is cached after it"},
    Fault{"acquire-hits-l1", "an acquire at agent or system scope may be served by a nearer cache"},
    Fault{"flush-unacknowledged",
          "a thread's next synchronization does not wait for the flush of its last StRel"},
    Fault{"atomic-overtakes-write", "an RMW leaves dirty words of its block behind in the write caches"},
    Fault{"atomic-invalidates-nothing", "an RMW at the directory leaves copies in the read caches"},
    Fault{"host-release-does-not-wait", "a CPU release does not wait for the invalidations of its writes"},
    Fault{"early-acknowledgement", "a system release is acknowledged when its marker leaves S-FIFO2"},
    Fault{"invalidations-not-awaited", "a release is acknowledged while its invalidations are on their way"},
    Fault{"mask-ignored", "wL1 writes through whole blocks, not the dirty words"},
    Fault{"entry-lost", "a replacement in wL1 dequeues the head of S-FIFO1"},
    Fault{"no-broadcast", "wL2's evictions do not invalidate the rL1s"},
    Fault{"stale-own-copy", "wL1's evictions clear the written bit in rL1 instead of invalidating the block"},
    Fault{"written-bit-forgotten", "a store does not set the written bit in rL1"},
    Fault{"cpu-not-invalidated", "wL3's evictions do not invalidate the CPUs"},
    Fault{"cpu-write-not-broadcast", "rL2 drops its block on a CPU write but does not tell the rL1s"},
    Fault{"partial-hit-served", "a load that finds its block in wL1 is served from it, dirty word or not"},
    Fault{"marker-overtakes", "a release marker enters S-FIFO1 at the head"},
    Fault{"no-second-flush", "the store of a StRel is not followed by a flush"},
    Fault{"agents-not-invalidated", "wL3's evictions do not invalidate the other agents"},
    Fault{"l2-partial-hit-not-written",
          "a read that partially hits wL2 goes on without writing the dirty words through"},
};

template <class K>
struct Protocol : MemorySystem<K, faults, variants> {
  using Base = MemorySystem<K, faults, variants>;
  using Base::agent, Base::cu, Base::on_cpu, Base::on_gpu, Base::every, Base::word_of;
  using Base::Base, Base::k, Base::machine, Base::fault, Base::is;
  using typename Base::Block, typename Base::Word, typename Base::FaultName;
  using typename Base::Bool, typename Base::Value, typename Base::Data, typename Base::Mask;
  using typename Base::ThreadIx, typename Base::Cu, typename Base::Agent;
  using Queue = typename K::template Ix<QueueTag>;
  template <class E>
  using Enum = typename K::template Enum<E>;

  struct ReadLine {
    Bool present;
    Bool written;  // newer data is in the write cache beside it
    Data data;
    BOOST_DESCRIBE_CLASS(ReadLine, (), (present, written, data), (), ())
  };
  struct WriteLine {
    Mask dirty;
    Data data;
    BOOST_DESCRIBE_CLASS(WriteLine, (), (dirty, data), (), ())
  };
  struct Entry {
    Enum<EntryKind> kind;
    Block block;        // of a write
    ThreadIx thread;    // of a marker, a flush or an atomic
    Enum<Scope> scope;  // of a marker or a flush
    BOOST_DESCRIBE_CLASS(Entry, (), (kind, block, thread, scope), (), ())
  };
  struct Up {
    Enum<UpKind> kind;
    Block block;
    ThreadIx thread;
    Enum<Scope> scope;
    Mask mask;  // of a write
    Data data;
    BOOST_DESCRIBE_CLASS(Up, (), (kind, block, thread, scope, mask, data), (), ())
  };
  struct Read {
    Enum<ReadStage> stage;
    Data data;
    Bool poisoned;  // evicted past by its own write cache: to be used, not to be cached
    Bool followed;  // an invalidation of its block has been sent behind it
    BOOST_DESCRIBE_CLASS(Read, (), (stage, data, poisoned, followed), (), ())
  };
  struct State {
    typename K::template Table<Port<K>, ThreadTag> port;
    typename K::template Table<Enum<Stage>, ThreadTag> stage;
    typename K::template Table<Bool, ThreadTag> flushing;  // the flush of its last StRel is not complete
    typename K::template Table<Read, ThreadTag> read;
    typename K::template Table<ReadLine, CuTag, BlockTag> rl1;
    typename K::template Table<WriteLine, CuTag, BlockTag> wl1;
    typename K::template Table<typename K::template Fifo<Entry, Fifo1Slot>, QueueTag> fifo1;
    typename K::template Table<typename K::template Fifo<Up, Link1Slot>, CuTag> link1;
    typename K::template Table<ReadLine, AgentTag, BlockTag> rl2;
    typename K::template Table<WriteLine, AgentTag, BlockTag> wl2;
    typename K::template Table<typename K::template Fifo<Entry, Fifo2Slot>, AgentTag> fifo2;
    typename K::template Table<typename K::template Fifo<Up, Link2Slot>, AgentTag> link2;
    typename K::template Table<WriteLine, BlockTag> wl3;
    typename K::template Fifo<Entry, Fifo3Slot> fifo3;
    typename Home<K>::State home;
    typename K::template Table<Bool, CuTag, BlockTag> invalidation1;     // on its way to rL1
    typename K::template Table<Bool, AgentTag, BlockTag> invalidation2;  // on its way to rL2
    typename K::template Table<Bool, ThreadTag, CuTag, BlockTag> awaited1;
    typename K::template Table<Bool, ThreadTag, AgentTag, BlockTag> awaited2;
    BOOST_DESCRIBE_CLASS(State, (),
                         (port, stage, flushing, read, rl1, wl1, fifo1, link1, rl2, wl2, fifo2, link2, wl3,
                          fifo3, home, invalidation1, invalidation2, awaited1, awaited2),
                         (), ())
  };
  using Rules = RuleList<K, State>;
  using Invariants = InvariantList<K, State>;

  [[nodiscard]] bool printed() const { return is("as-printed"); }
  // The print lacks the repairs.
  [[nodiscard]] bool repaired(FaultName name) const { return !printed() && !fault(name); }
  // Keeps rL1's block, its written bit set, when wL1 evicts it, and leaves wL1's dirty words in place when a
  // load partially hits them: a set bit sends the next load past rL1, and wL1 either has the word or knows
  // better.
  [[nodiscard]] bool lean() const { return is("lean"); }
  [[nodiscard]] Home<K> home() const { return {k}; }

  void initialise(State& s, Block b, Word w, Value v) const { s.home.memory(b)(w) = v; }
  [[nodiscard]] Value final_value(const State& s, Block b, Word w) const {
    return home().current(s.home, b, w);
  }

  void rules(Rules& r) const {
    store_rules(r);
    level1_rules(r);
    level2_rules(r);
    level3_rules(r);
    load_rules(r);
    release_rules(r);
    atomic_rules(r);
    invalidation_rules(r);
    cpu_rules(r);
  }

  // Nothing is buffered or on its way.
  [[nodiscard]] Bool drained(const State& s) const {
    return k.forall(queues, [&](Queue q) { return s.fifo1(q).empty(); }) &&
           k.forall(cus,
                    [&](Cu c) {
                      return s.link1(c).empty() && k.forall(blocks, [&](Block b) {
                        return !dirty(s.wl1(c, b)) && !s.invalidation1(c, b);
                      });
                    }) &&
           k.forall(agents,
                    [&](Agent a) {
                      return s.fifo2(a).empty() && s.link2(a).empty() && k.forall(blocks, [&](Block b) {
                        return !dirty(s.wl2(a, b)) && !s.invalidation2(a, b);
                      });
                    }) &&
           s.fifo3.empty() && k.forall(blocks, [&](Block b) { return !dirty(s.wl3(b)); });
  }

  void invariants(Invariants& v) const {
    v.invariant("S-FIFO1 lists every dirty block of its wL1", [=, this](const State& s) {
      return every(cus, blocks, [&](Cu c, Block b) {
        return !dirty(s.wl1(c, b)) ||
               k.exists(queues, [&](Queue q) { return cu_of(q) == c && lists(s.fifo1(q), b); });
      });
    });
    v.invariant("S-FIFO2 lists every dirty block of its wL2", [=, this](const State& s) {
      return every(agents, blocks,
                   [&](Agent a, Block b) { return !dirty(s.wl2(a, b)) || lists(s.fifo2(a), b); });
    });
    v.invariant("S-FIFO3 lists every dirty block of wL3", [=, this](const State& s) {
      return k.forall(blocks, [&](Block b) { return !dirty(s.wl3(b)) || lists(s.fifo3, b); });
    });
    v.invariant("the written bit of rL1 is set while wL1 is newer", [=, this](const State& s) {
      return every(cus, blocks, [&](Cu c, Block b) {
        return !s.rl1(c, b).present || s.rl1(c, b).written || !dirty(s.wl1(c, b));
      });
    });
    v.invariant("the written bit of rL2 is set while wL2 is newer", [=, this](const State& s) {
      return every(agents, blocks, [&](Agent a, Block b) {
        return !s.rl2(a, b).present || s.rl2(a, b).written || !dirty(s.wl2(a, b));
      });
    });
    v.invariant("a copy in rL1 is current, or newer data waits above it, or its invalidation is on the way",
                [=, this](const State& s) {
                  return every(cus, blocks, [&](Cu c, Block b) {
                    return !s.rl1(c, b).present || s.rl1(c, b).written || s.invalidation1(c, b) ||
                           s.invalidation2(machine.agent_of(c), b) || buffered(s, b) ||
                           agrees(s, b, s.rl1(c, b).data);
                  });
                });
    v.invariant("a copy in rL2 is current, or newer data waits above it, or its invalidation is on the way",
                [=, this](const State& s) {
                  return every(agents, blocks, [&](Agent a, Block b) {
                    return !s.rl2(a, b).present || s.invalidation2(a, b) || buffered(s, b) ||
                           agrees(s, b, s.rl2(a, b).data);
                  });
                });
    home().invariants(v);
    v.invariant("what is awaited is on its way", [=, this](const State& s) {
      return every(threads, blocks, [&](ThreadIx t, Block b) {
        return k.forall(cus, [&](Cu c) { return !s.awaited1(t, c, b) || s.invalidation1(c, b); }) &&
               k.forall(agents, [&](Agent a) { return !s.awaited2(t, a, b) || s.invalidation2(a, b); });
      });
    });
  }

  // ---- what rules, invariants and lemmas ask
  // ------------------------------------------------------------------------

  [[nodiscard]] bool split() const { return is("split-fifo"); }
  // In the split variant a host thread's queue stays empty.
  [[nodiscard]] Queue queue_of(ThreadIx t) const {
    return split() ? K::template same<QueueTag>(t) : K::template same<QueueTag>(cu(t));
  }
  [[nodiscard]] Cu cu_of(Queue q) const {
    return split() ? cu(K::template same<ThreadTag>(q)) : K::template same<CuTag>(q);
  }

  [[nodiscard]] Bool dirty(const WriteLine& line) const {
    return k.exists(words, [&](Word w) { return line.dirty(w); });
  }
  [[nodiscard]] Bool all_dirty(const WriteLine& line) const {
    return k.forall(words, [&](Word w) { return line.dirty(w); });
  }
  [[nodiscard]] Bool word_dirty(const WriteLine& line, Word word) const {
    return k.pick(words, word, [&](Word w) { return line.dirty(w); });
  }
  template <class Fifo>
  [[nodiscard]] static Bool lists(const Fifo& fifo, Block b) {
    return K::contains(fifo, [&](const Entry& e) { return e.kind == EntryKind::write && e.block == b; });
  }
  [[nodiscard]] static Bool is_marker(const Entry& e) {
    return e.kind == EntryKind::marker || e.kind == EntryKind::flush;
  }
  template <class Fifo>
  [[nodiscard]] static Bool has_marker(const Fifo& fifo) {
    return K::contains(fifo, [](const Entry& e) { return is_marker(e); });
  }
  [[nodiscard]] Bool all_ended(const State& s) const { return lockstep::all_ended(k, s.port); }
  // Some write of the block has not reached memory.
  [[nodiscard]] Bool buffered(const State& s, Block b) const {
    const auto carries = [b](const Up& m) { return m.kind == UpKind::write && m.block == b; };
    return dirty(s.wl3(b)) ||
           k.exists(cus, [&](Cu c) { return dirty(s.wl1(c, b)) || K::contains(s.link1(c), carries); }) ||
           k.exists(agents, [&](Agent a) { return dirty(s.wl2(a, b)) || K::contains(s.link2(a), carries); });
  }
  [[nodiscard]] Bool agrees(const State& s, Block b, const Data& data) const {
    return k.forall(words, [&](Word w) { return data(w) == home().current(s.home, b, w); });
  }

 private:
  static Entry write_entry(Block b) {
    Entry e;
    e.kind = EntryKind::write;
    e.block = b;
    return e;
  }
  static Entry entry_of(EntryKind kind, ThreadIx t, const Enum<Scope>& scope) {
    Entry e;
    e.kind = kind;
    e.thread = t;
    e.scope = scope;
    return e;
  }
  static Up up(UpKind kind, Block b, ThreadIx t, const Enum<Scope>& scope) {
    Up m;
    m.kind = kind;
    m.block = b;
    m.thread = t;
    m.scope = scope;
    return m;
  }
  static Up write_through(Block b, const Mask& mask, const Data& data) {
    Up m;
    m.kind = UpKind::write;
    m.block = b;
    m.mask = mask;
    m.data = data;
    return m;
  }
  static void set_written(ReadLine& copy) { copy.written = copy.written || copy.present; }
  void merge(WriteLine& line, const Up& m) const {
    k.for_each(words, [&](Word w) {
      k.when(m.mask(w), [&] {
        line.dirty(w) = true;
        line.data(w) = m.data(w);
      });
    });
  }

  [[nodiscard]] static Bool synchronizes(const State& s, ThreadIx t) {
    const auto& order = s.port(t).request.order;
    return order != Order::plain && order != Order::relaxed;
  }
  // A release, or the store or RMW that belongs to one, may proceed: nothing is to be drained for it, or it
  // has been.
  [[nodiscard]] Bool release_done(const State& s, ThreadIx t) const {
    const Bool needs = releases(s.port(t).request.order) && beyond_group(s, t);
    return (needs && s.stage(t) == Stage::released) || (!needs && s.stage(t) == Stage::idle && flushed(s, t));
  }
  // The repaired protocol lets a thread synchronize again when its last StRel's store is visible.
  [[nodiscard]] Bool flushed(const State& s, ThreadIx t) const {
    return !repaired("flush-unacknowledged") ? Bool(true) : !s.flushing(t) || !synchronizes(s, t);
  }
  // A load that has to be performed where its whole scope sees it; `level` 1 or 2 is asked.
  [[nodiscard]] Bool passes(const State& s, ThreadIx t, int level) const {
    if (!repaired("acquire-hits-l1")) return Bool(false);
    const auto& q = s.port(t).request;
    return q.order != Order::plain && (level == 1 ? beyond_group(s, t) : to_system(s, t));
  }

  // ---- what a level has -----------------------------------------------------------------------------------

  template <class S>
  static auto& fifo(S& s, Queue q) {
    return s.fifo1(q);
  }
  template <class S>
  static auto& fifo(S& s, Agent a) {
    return s.fifo2(a);
  }
  template <class S>
  static auto& fifo(S& s) {
    return s.fifo3;
  }
  [[nodiscard]] static const WriteLine& line(const State& s, Cu c, Block b) { return s.wl1(c, b); }
  [[nodiscard]] const WriteLine& line(const State& s, Queue q, Block b) const { return s.wl1(cu_of(q), b); }
  [[nodiscard]] static const WriteLine& line(const State& s, Agent a, Block b) { return s.wl2(a, b); }
  [[nodiscard]] static const WriteLine& line(const State& s, Block b) { return s.wl3(b); }
  // Its link has room; behind wL3 is memory.
  [[nodiscard]] Bool may_send(const State& s, Cu c) const { return !k.full(s.link1(c)); }
  [[nodiscard]] Bool may_send(const State& s, Queue q) const { return may_send(s, cu_of(q)); }
  [[nodiscard]] Bool may_send(const State& s, Agent a) const { return !k.full(s.link2(a)); }
  [[nodiscard]] Bool may_send(const State&) const { return true; }
  void send(State& s, Queue q, const Up& m) const { k.push(s.link1(cu_of(q)), m); }
  void send(State& s, Agent a, const Up& m) const { k.push(s.link2(a), m); }
  // Of the next level, to which a CU or an agent sends.
  template <class S>
  auto& fifo_beyond(S& s, Cu c) const {
    return s.fifo2(machine.agent_of(c));
  }
  template <class S>
  static auto& fifo_beyond(S& s, Agent) {
    return s.fifo3;
  }
  WriteLine& line_beyond(State& s, Cu c, const Block& b) const { return s.wl2(machine.agent_of(c), b); }
  static WriteLine& line_beyond(State& s, Agent, const Block& b) { return s.wl3(b); }
  // A marker at agent scope has arrived at level 2; one at system scope travels on.
  [[nodiscard]] static Bool ends(const Entry&, Queue) { return false; }
  [[nodiscard]] Bool ends(const Entry& e, Agent) const {
    return e.scope == Scope::agent || (fault("early-acknowledgement") ? Bool(true) : Bool(false));
  }
  [[nodiscard]] static Bool ends(const Entry&) { return true; }
  // The agents whose caches a release that ends there waits for.
  [[nodiscard]] static Bool concerns(Agent other, Agent a) { return other == a; }
  [[nodiscard]] static Bool concerns(Agent) { return true; }

  // ---- evictions ----------------------------------------------------------------------------------------

  // 4.3.1: "In either case, when evicted, the controller also will invalidate the block in the rL1".
  void evict(State& s, Queue q, Block b) const { evict(s, cu_of(q), b); }
  void evict(State& s, Cu c, Block b) const {
    Mask mask = s.wl1(c, b).dirty;
    if (fault("mask-ignored")) k.for_each(words, [&](Word w) { mask(w) = true; });
    k.push(s.link1(c), write_through(b, mask, s.wl1(c, b).data));
    s.wl1(c, b) = WriteLine{};
    if (fault("stale-own-copy")) {
      s.rl1(c, b).written = false;
    } else if (!lean()) {
      s.rl1(c, b) = ReadLine{};
    }
    poison(s, c, b);
  }

  // 4.3.1: "When a wL2 evicts a block, it invalidates the local rL2 and broadcasts an invalidation message to
  // all the rL1s."
  void evict(State& s, Agent a, Block b) const {
    k.push(s.link2(a), write_through(b, s.wl2(a, b).dirty, s.wl2(a, b).data));
    s.wl2(a, b) = WriteLine{};
    s.rl2(a, b) = ReadLine{};
    poison(s, a, b);
    if (!fault("no-broadcast")) {
      k.for_each(cus, [&](Cu c) { k.when(machine.agent_of(c) == a, [&] { send_invalidation(s, c, b); }); });
    }
  }

  // 4.3.1: "when a line is evicted from the wL3, the controller sends invalidations to the CPU cluster [...]
  // before the line is written to the L3 cache or main memory."
  void evict(State& s, Block b) const {
    home().write(s.home, b, s.wl3(b).dirty, s.wl3(b).data, !fault("cpu-not-invalidated"));
    s.wl3(b) = WriteLine{};
    if (k.extent(agents) > 1 && !fault("agents-not-invalidated")) invalidate_agents(s, b);
  }

  // Where a thread's reads come by, and when they may still meet what goes past them there: at a CU's L1, at
  // an agent's L2.
  [[nodiscard]] Bool sits(ThreadIx t, Cu c) const { return !machine.is_host(t) && cu(t) == c; }
  [[nodiscard]] Bool sits(ThreadIx t, Agent a) const { return !machine.is_host(t) && agent(t) == a; }
  [[nodiscard]] static Bool is_beyond(const Read& read, Cu) { return read.stage != ReadStage::none; }
  [[nodiscard]] static Bool is_beyond(const Read& read, Agent) {
    return read.stage == ReadStage::to_directory || read.stage == ReadStage::from_directory;
  }
  static constexpr ReadStage fill_to(Cu) { return ReadStage::from_l2; }
  static constexpr ReadStage fill_to(Agent) { return ReadStage::from_directory; }

  // Reads in flight whose answer misses what goes past them are not cached (repair; the print invalidates
  // only what is in the cache).
  template <class Place>
  void poison(State& s, Place at, Block b) const {
    if (!repaired("fill-survives-eviction")) return;
    for_each_asking(k, s.port, b, [&](ThreadIx t) {
      k.when(sits(t, at) && is_beyond(s.read(t), at), [&] { s.read(t).poisoned = true; });
    });
  }
  // An access that is performed beyond a cache takes the cache's copy along, and what is on its way there.
  void drop(State& s, Cu c, Block b) const {
    s.rl1(c, b) = ReadLine{};
    poison(s, c, b);
  }
  void drop(State& s, Agent a, Block b) const {
    s.rl2(a, b) = ReadLine{};
    poison(s, a, b);
  }

  void send_invalidation(State& s, Cu c, Block b) const {
    s.invalidation1(c, b) = true;
    follow(s, c, b);
  }
  void send_invalidation(State& s, Agent a, Block b) const {
    s.invalidation2(a, b) = true;
    follow(s, a, b);
  }
  void invalidate_agents(State& s, Block b) const {
    k.for_each(agents, [&](Agent a) { send_invalidation(s, a, b); });
  }
  // Fills on the same way keep their place before the invalidation (repair; the print lets it overtake them).
  template <class Place>
  void follow(State& s, Place at, Block b) const {
    if (!repaired("fill-overtaken")) return;
    for_each_asking(k, s.port, b, [&](ThreadIx t) {
      k.when(sits(t, at) && s.read(t).stage == fill_to(at), [&] { s.read(t).followed = true; });
    });
  }

  // ---- normal write operation (4.3.1) -------------------------------------------------------------------

  void store_rules(Rules& r) const {
    // "a CU inserts the write into the wL1, enqueues the address at the tail of the L1 S-FIFO, and, if the
    // block is found in the rL1, sets a written bit in the tag". "Writes never receive an ack." A StRel's
    // store "can proceed as a normal store in the write path after the release completes".
    r.rule(
        {.name = "store enters wL1", .unit = "L1", .source = "4.3.1 Normal Write"}, over(threads),
        [=, this](const State& s, ThreadIx t) {
          return on_gpu(s, t) && asks(s, t, Operation::store) && release_done(s, t) &&
                 !k.full(s.fifo1(queue_of(t)));
        },
        [=, this](State& s, ThreadIx t) {
          const auto& q = s.port(t).request;
          auto& line = s.wl1(cu(t), q.block);
          k.at(words, q.word, [&](Word w) {
            line.dirty(w) = true;
            line.data(w) = q.a;
          });
          k.push(s.fifo1(queue_of(t)), write_entry(q.block));
          if (!fault("written-bit-forgotten")) set_written(s.rl1(cu(t), q.block));
          k.when(
              s.stage(t) == Stage::released, [&] { s.stage(t) = Stage::stored; },
              [&] { complete<K>(s.port(t)); });
        });
    // "a store from a StRel will also trigger S-FIFO flushes, but it will not send an acknowledgement message
    // back to the requesting wavefront."
    r.rule(
        {.name = "flush follows StRel's store", .unit = "L1", .source = "4.3.1 Synchronization"},
        over(threads),
        [=, this](const State& s, ThreadIx t) {
          return s.stage(t) == Stage::stored && !k.full(s.fifo1(queue_of(t)));
        },
        [=, this](State& s, ThreadIx t) {
          if (!fault("no-second-flush")) {
            k.push(s.fifo1(queue_of(t)), entry_of(EntryKind::flush, t, s.port(t).request.scope));
            if (repaired("flush-unacknowledged")) s.flushing(t) = true;
          }
          s.stage(t) = Stage::idle;
          complete<K>(s.port(t));
        });
  }

  // ---- the levels: a write cache, its S-FIFO and the way on (4.3.1) --------------------------------------
  //
  // "The operation of a wL2 is similar, though with the addition of an L1 invalidation step", and so is that
  // of wL3, which has nothing beyond it but memory. What a rule works on follows from its parameter: a queue
  // of a CU at level 1, an agent at level 2, none at level 3.

  template <class Tag>
  using Ix = typename K::template Ix<Tag>;
  using Names = std::array<std::string_view, 2>;

  void level1_rules(Rules& r) const {
    replacement_rule(r, "wL1 replaces a block", "L1", over(cus));
    dequeue_rules(r, {"S-FIFO1 dequeues a dirty block", "S-FIFO1 dequeues a stale entry"}, "L1",
                  over(queues));
    pass_on_rule(r, "S-FIFO1 passes a marker on", "L1", over(queues));
    // "Completing an atomic operation also inserts a write marker into the S-FIFO": it holds up releases
    // behind it until the RMW has been performed.
    r.rule(
        {.name = "S-FIFO1 dequeues an atomic's marker", .unit = "L1", .source = "4.3.1 Normal Write"},
        over(queues),
        [=, this](const State& s, Queue q) {
          return drains(s, fifo(s, q)) && fifo(s, q).head().kind == EntryKind::atomic &&
                 s.stage(fifo(s, q).head().thread) != Stage::atomic;
        },
        [=, this](State& s, Queue q) { k.pop(fifo(s, q)); });
    r.rule(
        {.name = "rL1 replaces a block", .unit = "L1", .source = "4.3.1", .fairness = Fairness::optional},
        over(cus, blocks), [](const State& s, Cu c, Block b) { return s.rl1(c, b).present; },
        [](State& s, Cu c, Block b) { s.rl1(c, b) = ReadLine{}; });
  }

  void level2_rules(Rules& r) const {
    take_rules(
        r, {"L2 takes a write", "L2 takes a marker"}, "L2", over(cus),
        [](auto& s, Cu c) -> auto& { return s.link1(c); });
    replacement_rule(r, "wL2 replaces a block", "L2", over(agents));
    dequeue_rules(r, {"S-FIFO2 dequeues a dirty block", "S-FIFO2 dequeues a stale entry"}, "L2",
                  over(agents));
    end_rule(r, "S-FIFO2 ends an agent's release", "L2", over(agents));
    pass_on_rule(r, "S-FIFO2 passes a marker on", "L2", over(agents));
    r.rule(
        {.name = "rL2 replaces a block", .unit = "L2", .source = "4.3.1", .fairness = Fairness::optional},
        over(agents, blocks), [](const State& s, Agent a, Block b) { return s.rl2(a, b).present; },
        [](State& s, Agent a, Block b) { s.rl2(a, b) = ReadLine{}; });
  }

  void level3_rules(Rules& r) const {
    take_rules(
        r, {"wL3 takes a write", "wL3 takes a marker"}, "directory", over(agents),
        [](auto& s, Agent a) -> auto& { return s.link2(a); });
    r.rule(
        {.name = "wL3 replaces a block",
         .unit = "directory",
         .source = "4.3.1 Normal Write",
         .fairness = Fairness::optional},
        over(blocks), [=, this](const State& s, Block b) { return dirty(s.wl3(b)); },
        [=, this](State& s, Block b) { evict(s, b); });
    dequeue_rules(r, {"S-FIFO3 dequeues a dirty block", "S-FIFO3 dequeues a stale entry"}, "directory",
                  over());
    end_rule(r, "S-FIFO3 ends a release", "directory", over());
  }

  // A write from the level before is merged into the write cache, its address joins the S-FIFO, and a copy in
  // the read cache learns of it; "the marker then will propagate through the cache hierarchy just like a
  // normal write".
  template <class Tag, class Link>
  void take_rules(Rules& r, const Names& names, std::string_view unit, Over<Tag> senders, Link link) const {
    r.triggered(
        {.name = names[0], .unit = unit, .source = "4.3.1 Normal Write"}, senders, link,
        [=, this](const State& s, Ix<Tag> from, const Up& m) {
          return m.kind == UpKind::write && !k.full(fifo_beyond(s, from));
        },
        [=, this](State& s, Ix<Tag> from, const Up& m) {
          merge(line_beyond(s, from, m.block), m);
          k.push(fifo_beyond(s, from), write_entry(m.block));
          if constexpr (std::is_same_v<Tag, CuTag>) set_written(s.rl2(machine.agent_of(from), m.block));
        });
    r.triggered(
        {.name = names[1], .unit = unit, .source = "4.3.1 Synchronization"}, senders, link,
        [=, this](const State& s, Ix<Tag> from, const Up& m) {
          return (m.kind == UpKind::marker || m.kind == UpKind::flush) && !k.full(fifo_beyond(s, from));
        },
        [=, this](State& s, Ix<Tag> from, const Up& m) { k.push(fifo_beyond(s, from), marker_entry(m)); });
  }

  // "The updated data will stay in the wL1 until the block is selected for eviction by the wL1 replacement
  // policy or the address reaches the head of the S-FIFO."
  template <class Tag>
  void replacement_rule(Rules& r, std::string_view name, std::string_view unit, Over<Tag>) const {
    r.rule(
        {.name = name, .unit = unit, .source = "4.3.1 Normal Write", .fairness = Fairness::optional},
        over(Tag{}, blocks),
        [=, this](const State& s, Ix<Tag> at, Block b) { return dirty(line(s, at, b)) && may_send(s, at); },
        [=, this](State& s, Ix<Tag> at, Block b) {
          evict(s, at, b);
          if constexpr (std::is_same_v<Tag, CuTag>) {
            if (fault("entry-lost")) lose_entry(s, at);
          }
        });
  }

  // "the marker will cause the cache controller to begin dequeuing the S-FIFO (and performing the associated
  // cache evictions) until the release marker reaches the head of the queue". An S-FIFO "may contain more
  // addresses that already have been evicted from the write cache" (4.3).
  template <class... Tags>
  void dequeue_rules(Rules& r, const Names& names, std::string_view unit, Over<Tags...> at_level) const {
    r.rule(
        {.name = names[0], .unit = unit, .source = "4.3.1 Synchronization"}, at_level,
        [=, this](const State& s, Ix<Tags>... at) {
          const Entry& e = fifo(s, at...).head();
          return drains(s, fifo(s, at...)) && e.kind == EntryKind::write && dirty(line(s, at..., e.block)) &&
                 may_send(s, at...);
        },
        [=, this](State& s, Ix<Tags>... at) {
          const Block b = fifo(s, at...).head().block;
          k.pop(fifo(s, at...));
          evict(s, at..., b);
        });
    r.rule(
        {.name = names[1], .unit = unit, .source = "4.3"}, at_level,
        [=, this](const State& s, Ix<Tags>... at) {
          const Entry& e = fifo(s, at...).head();
          return drains(s, fifo(s, at...)) && e.kind == EntryKind::write && !dirty(line(s, at..., e.block));
        },
        [=, this](State& s, Ix<Tags>... at) { k.pop(fifo(s, at...)); });
  }

  // "When the marker finally reaches the head of the wL3, the system can be sure that all prior writes from
  // the wavefront have reached an ordering point (i.e., main memory)." Ours: at agent scope it is the head of
  // S-FIFO2.
  template <class... Tags>
  void end_rule(Rules& r, std::string_view name, std::string_view unit, Over<Tags...> at_level) const {
    r.rule(
        {.name = name, .unit = unit, .source = "4.3.1 Synchronization"}, at_level,
        [=, this](const State& s, Ix<Tags>... at) {
          const Entry& e = fifo(s, at...).head();
          return drains(s, fifo(s, at...)) && is_marker(e) && ends(e, at...);
        },
        [=, this](State& s, Ix<Tags>... at) {
          const Entry e = fifo(s, at...).head();
          k.pop(fifo(s, at...));
          marker_out(s, e, [&](Agent a) { return concerns(a, at...); });
        });
  }
  template <class Tag>
  void pass_on_rule(Rules& r, std::string_view name, std::string_view unit, Over<Tag> at_level) const {
    r.rule(
        {.name = name, .unit = unit, .source = "4.3.1 Synchronization"}, at_level,
        [=, this](const State& s, Ix<Tag> at) {
          const Entry& e = fifo(s, at).head();
          return drains(s, fifo(s, at)) && is_marker(e) && !ends(e, at) && may_send(s, at);
        },
        [=, this](State& s, Ix<Tag> at) {
          send(s, at, marker_message(fifo(s, at).head()));
          k.pop(fifo(s, at));
        });
  }

  // "The controller will dequeue an S-FIFO entry when the S-FIFO fills up or a synchronization event triggers
  // an S-FIFO flush" (4.1).
  template <class Fifo>
  [[nodiscard]] Bool drains(const State& s, const Fifo& fifo) const {
    return !fifo.empty() && (k.full(fifo) || has_marker(fifo) || all_ended(s));
  }
  [[nodiscard]] Up marker_message(const Entry& e) const {
    Up m = up(UpKind::marker, Block{}, e.thread, e.scope);
    k.when(e.kind == EntryKind::flush, [&] { m.kind = UpKind::flush; });
    return m;
  }
  [[nodiscard]] Entry marker_entry(const Up& m) const {
    Entry e = entry_of(EntryKind::marker, m.thread, m.scope);
    k.when(m.kind == UpKind::flush, [&] { e.kind = EntryKind::flush; });
    return e;
  }
  void lose_entry(State& s, Cu c) const {
    k.for_each(queues,
               [&](Queue q) { k.when(cu_of(q) == c && !s.fifo1(q).empty(), [&] { k.pop(s.fifo1(q)); }); });
  }

  // ---- normal read operation (4.3.1) --------------------------------------------------------------------

  void load_rules(Rules& r) const {
    const auto loads = [=, this](const State& s, ThreadIx t) {
      return on_gpu(s, t) && asks(s, t, Operation::load) && s.read(t).stage == ReadStage::none &&
             flushed(s, t);
    };
    const auto line1 = [=, this](const State& s, ThreadIx t) -> const WriteLine& {
      return s.wl1(cu(t), s.port(t).request.block);
    };
    const auto copy1 = [=, this](const State& s, ThreadIx t) -> const ReadLine& {
      return s.rl1(cu(t), s.port(t).request.block);
    };
    const auto hits_read = [=, this](const State& s, ThreadIx t) {
      return copy1(s, t).present && !copy1(s, t).written && !passes(s, t, 1);
    };
    const auto hits_write = [=, this](const State& s, ThreadIx t) {
      const Bool hit =
          fault("partial-hit-served") ? dirty(line1(s, t)) : word_dirty(line1(s, t), s.port(t).request.word);
      return hit && !passes(s, t, 1);
    };

    // "If the load hits valid data and the written bit is clear, the load will complete without touching the
    // write-cache tags."
    r.rule(
        {.name = "load hits rL1", .unit = "L1", .source = "4.3.1 Normal Read"}, over(threads),
        [=](const State& s, ThreadIx t) { return loads(s, t) && hits_read(s, t); },
        [=, this](State& s, ThreadIx t) {
          complete<K>(s.port(t), word_of(copy1(s, t).data, s.port(t).request.word));
        });
    // "On a read-tag miss or when the written bit is set, the write cache is checked to see if the load can
    // be satisfied fully by dirty bytes present in the write cache."
    r.rule(
        {.name = "load hits wL1", .unit = "L1", .source = "4.3.1 Normal Read"}, over(threads),
        [=](const State& s, ThreadIx t) { return loads(s, t) && !hits_read(s, t) && hits_write(s, t); },
        [=, this](State& s, ThreadIx t) {
          complete<K>(s.port(t), word_of(line1(s, t).data, s.port(t).request.word));
        });
    // "otherwise, if the read request at least partially misses in the write cache, the dirty bytes are
    // written through from the write-only cache and the read request is sent to the next level of the
    // hierarchy."
    r.rule(
        {.name = "partial hit writes wL1's block through", .unit = "L1", .source = "4.3.1 Normal Read"},
        over(threads),
        [=, this](const State& s, ThreadIx t) {
          return loads(s, t) && !hits_read(s, t) && !hits_write(s, t) && dirty(line1(s, t)) &&
                 !k.full(s.link1(cu(t))) && (passes(s, t, 1) || Bool(!lean()));
        },
        [=, this](State& s, ThreadIx t) { evict(s, cu(t), s.port(t).request.block); });
    r.rule(
        {.name = "load misses L1", .unit = "L1", .source = "4.3.1 Normal Read"}, over(threads),
        [=, this](const State& s, ThreadIx t) {
          const Bool ready = !dirty(line1(s, t)) || (Bool(lean()) && !passes(s, t, 1));
          return loads(s, t) && !hits_read(s, t) && !hits_write(s, t) && ready && !k.full(s.link1(cu(t)));
        },
        [=, this](State& s, ThreadIx t) {
          k.when(passes(s, t, 1), [&] { drop(s, cu(t), s.port(t).request.block); });
          k.push(s.link1(cu(t)), up(UpKind::read, s.port(t).request.block, t, Enum<Scope>{}));
          s.read(t).stage = ReadStage::to_l2;
        });

    // "To perform a load at any level": the same at L2, for a whole block.
    const auto from_cu = [](auto& s, Cu c) -> auto& {
      return s.link1(c);
    };
    const auto hits_read2 = [=, this](const State& s, Cu c, const Up& m) {
      const auto& copy = s.rl2(machine.agent_of(c), m.block);
      return copy.present && !copy.written && !passes(s, m.thread, 2);
    };
    const auto line2 = [=, this](const State& s, Cu c, Block b) -> const WriteLine& {
      return s.wl2(machine.agent_of(c), b);
    };
    const auto hits_write2 = [=, this](const State& s, Cu c, const Up& m) {
      const Bool word =
          passes(s, m.thread, 1) && word_dirty(line2(s, c, m.block), s.port(m.thread).request.word);
      return (all_dirty(line2(s, c, m.block)) || word) && !passes(s, m.thread, 2);
    };
    r.triggered(
        {.name = "read hits rL2", .unit = "L2", .source = "4.3.1 Normal Read"}, over(cus), from_cu,
        [=](const State& s, Cu c, const Up& m) { return m.kind == UpKind::read && hits_read2(s, c, m); },
        [=, this](State& s, Cu c, const Up& m) {
          answer(s, m.thread, s.rl2(machine.agent_of(c), m.block).data, ReadStage::from_l2);
        });
    r.triggered(
        {.name = "read hits wL2", .unit = "L2", .source = "4.3.1 Normal Read"}, over(cus), from_cu,
        [=](const State& s, Cu c, const Up& m) {
          return m.kind == UpKind::read && !hits_read2(s, c, m) && hits_write2(s, c, m);
        },
        [=, this](State& s, Cu c, const Up& m) {
          answer(s, m.thread, line2(s, c, m.block).data, ReadStage::from_l2);
        });
    r.rule(
        {.name = "partial hit writes wL2's block through", .unit = "L2", .source = "4.3.1 Normal Read"},
        over(cus),
        [=, this](const State& s, Cu c) {
          const auto& link = s.link1(c);
          const Up& m = link.head();
          return !link.empty() && must_write_through2(s, c, m, hits_read2, hits_write2) &&
                 dirty(line2(s, c, m.block)) && !k.full(s.link2(machine.agent_of(c)));
        },
        [=, this](State& s, Cu c) { evict(s, machine.agent_of(c), s.link1(c).head().block); });
    r.triggered(
        {.name = "read misses L2", .unit = "L2", .source = "4.3.1 Normal Read"}, over(cus), from_cu,
        [=, this](const State& s, Cu c, const Up& m) {
          const Bool clean = fault("l2-partial-hit-not-written") ? Bool(true) : !dirty(line2(s, c, m.block));
          return m.kind == UpKind::read && !hits_read2(s, c, m) && !hits_write2(s, c, m) && clean &&
                 !k.full(s.link2(machine.agent_of(c)));
        },
        [=, this](State& s, Cu c, const Up& m) {
          const Agent a = machine.agent_of(c);
          k.when(passes(s, m.thread, 2), [&] { drop(s, a, m.block); });
          k.push(s.link2(a), m);
          s.read(m.thread).stage = ReadStage::to_directory;
        });

    // The same once more at wL3; behind it are the L3 and memory, which the directory keeps coherent with the
    // CPUs.
    const auto from_agent = [](auto& s, Agent a) -> auto& {
      return s.link2(a);
    };
    const auto hits_write3 = [=, this](const State& s, const Up& m) {
      return all_dirty(s.wl3(m.block)) && !passes(s, m.thread, 2);
    };
    r.triggered(
        {.name = "read hits wL3", .unit = "directory", .source = "4.3.1 Normal Read"}, over(agents),
        from_agent,
        [=](const State& s, Agent, const Up& m) { return m.kind == UpKind::read && hits_write3(s, m); },
        [=, this](State& s, Agent, const Up& m) {
          answer(s, m.thread, s.wl3(m.block).data, ReadStage::from_directory);
        });
    r.rule(
        {.name = "partial hit writes wL3's block through",
         .unit = "directory",
         .source = "4.3.1 Normal Read"},
        over(agents),
        [=, this](const State& s, Agent a) {
          const auto& link = s.link2(a);
          const Up& m = link.head();
          const Bool read = m.kind == UpKind::read && !hits_write3(s, m);
          const Bool rmw = m.kind == UpKind::atomic && Bool(repaired("atomic-overtakes-write"));
          return !link.empty() && (read || rmw) && dirty(s.wl3(m.block));
        },
        [=, this](State& s, Agent a) { evict(s, s.link2(a).head().block); });
    r.triggered(
        {.name = "read reaches memory", .unit = "directory", .source = "4.3.1 Normal Read"}, over(agents),
        from_agent,
        [=, this](const State& s, Agent, const Up& m) {
          return m.kind == UpKind::read && !hits_write3(s, m) && !dirty(s.wl3(m.block));
        },
        [=, this](State& s, Agent, const Up& m) {
          answer(s, m.thread, home().read(s.home, m.block), ReadStage::from_directory);
        });

    r.rule(
        {.name = "fill reaches L2", .unit = "L2", .source = "4.3.1 Normal Read"}, over(threads),
        [](const State& s, ThreadIx t) { return s.read(t).stage == ReadStage::from_directory; },
        [=, this](State& s, ThreadIx t) {
          const Agent a = agent(t);
          const Block b = s.port(t).request.block;
          k.when(!s.read(t).poisoned && !passes(s, t, 2),
                 [&] { install(s.rl2(a, b), s.wl2(a, b), s.read(t).data); });
          s.read(t).stage = ReadStage::from_l2;
          s.read(t).followed = false;
        });
    r.rule(
        {.name = "fill reaches L1", .unit = "L1", .source = "4.3.1 Normal Read"}, over(threads),
        [](const State& s, ThreadIx t) { return s.read(t).stage == ReadStage::from_l2; },
        [=, this](State& s, ThreadIx t) {
          const Block b = s.port(t).request.block;
          k.when(!s.read(t).poisoned && !passes(s, t, 1),
                 [&] { install(s.rl1(cu(t), b), s.wl1(cu(t), b), s.read(t).data); });
          complete<K>(s.port(t), word_of(s.read(t).data, s.port(t).request.word));
          s.read(t) = Read{};
        });
  }

  template <class HitsRead, class HitsWrite>
  [[nodiscard]] Bool must_write_through2(const State& s, Cu c, const Up& m, HitsRead&& hits_read,
                                         HitsWrite&& hits_write) const {
    const Bool read = m.kind == UpKind::read && !hits_read(s, c, m) && !hits_write(s, c, m) &&
                      Bool(!fault("l2-partial-hit-not-written"));
    const Bool rmw = m.kind == UpKind::atomic && Bool(repaired("atomic-overtakes-write"));
    return read || rmw;
  }
  void answer(State& s, ThreadIx t, const Data& data, ReadStage stage) const {
    s.read(t).stage = stage;
    s.read(t).data = data;
  }
  // The written bit of a filled block: the print sets it only when a store finds the block (repair).
  void install(ReadLine& copy, const WriteLine& line, const Data& data) const {
    copy.present = true;
    copy.data = data;
    copy.written = repaired("fill-ignores-write") ? dirty(line) : Bool(false);
  }

  // ---- synchronization (4.3.1) --------------------------------------------------------------------------

  void release_rules(Rules& r) const {
    // "To start a release operation (e.g., a StRel or kernel end), a wavefront enqueues a special release
    // marker onto the L1 S-FIFO."
    r.rule(
        {.name = "release queues its marker", .unit = "L1", .source = "4.3.1 Synchronization"}, over(threads),
        [=, this](const State& s, ThreadIx t) {
          return on_gpu(s, t) && releases(s.port(t).request.order) && beyond_group(s, t) &&
                 s.stage(t) == Stage::idle && flushed(s, t) && !k.full(s.fifo1(queue_of(t)));
        },
        [=, this](State& s, ThreadIx t) {
          const Entry e = entry_of(EntryKind::marker, t, s.port(t).request.scope);
          if (fault("marker-overtakes")) {
            k.push_front(s.fifo1(queue_of(t)), e);
          } else {
            k.push(s.fifo1(queue_of(t)), e);
          }
          s.stage(t) = Stage::releasing;
        });
    // "An acknowledgement is sent to the wavefront to signal that the release is complete"; "the
    // invalidations only delay synchronization completion".
    r.rule(
        {.name = "release is acknowledged", .unit = "L1", .source = "4.3.1 Synchronization"}, over(threads),
        [=, this](const State& s, ThreadIx t) { return s.stage(t) == Stage::awaiting && !awaits(s, t); },
        [=](State& s, ThreadIx t) { s.stage(t) = Stage::released; });
    // As printed nobody waits for it.
    if (repaired("flush-unacknowledged")) {
      r.rule(
          {.name = "flush is complete", .unit = "L1", .source = "ours"}, over(threads),
          [=, this](const State& s, ThreadIx t) {
            return s.flushing(t) && s.stage(t) != Stage::awaiting && flush_out(s, t) && !awaits(s, t);
          },
          [](State& s, ThreadIx t) { s.flushing(t) = false; });
    }
    // A release fence ends with its release; an acquire "is a no-op".
    r.rule(
        {.name = "fence completes", .unit = "L1", .source = "4.3.1 Synchronization"}, over(threads),
        [=, this](const State& s, ThreadIx t) {
          return on_gpu(s, t) && asks(s, t, Operation::fence) && release_done(s, t);
        },
        [](State& s, ThreadIx t) {
          s.stage(t) = Stage::idle;
          complete<K>(s.port(t));
        });
  }

  // A marker or flush leaves the last S-FIFO of its scope: from here on it waits for the invalidations then
  // on their way to the caches of the agents concerned.
  template <class Concerned>
  void marker_out(State& s, const Entry& e, Concerned&& concerned) const {
    const ThreadIx t = e.thread;
    k.when(e.kind == EntryKind::marker, [&] { s.stage(t) = Stage::awaiting; });
    // As printed a flush is not acknowledged, so nobody waits for its invalidations.
    const Bool acknowledged = e.kind == EntryKind::marker || Bool(repaired("flush-unacknowledged"));
    if (fault("invalidations-not-awaited")) return;
    k.when(acknowledged, [&] { await(s, t, concerned); });
  }
  template <class Concerned>
  void await(State& s, ThreadIx t, Concerned&& concerned) const {
    for_each_present(k, slice(s.invalidation1, cus, blocks), [&](Cu c, Block b) {
      s.awaited1(t, c, b) = s.awaited1(t, c, b) || (concerned(machine.agent_of(c)) && s.invalidation1(c, b));
    });
    for_each_present(k, slice(s.invalidation2, agents, blocks), [&](Agent a, Block b) {
      s.awaited2(t, a, b) = s.awaited2(t, a, b) || (concerned(a) && s.invalidation2(a, b));
    });
  }
  [[nodiscard]] Bool awaits(const State& s, ThreadIx t) const {
    return exists_present(k, slice(s.awaited1, t, cus, blocks),
                          [&](Cu c, Block b) { return s.awaited1(t, c, b); }) ||
           exists_present(k, slice(s.awaited2, t, agents, blocks),
                          [&](Agent a, Block b) { return s.awaited2(t, a, b); });
  }
  // The thread's flush is in no S-FIFO and on no link any more.
  [[nodiscard]] Bool flush_out(const State& s, ThreadIx t) const {
    const auto queued = [t](const Entry& e) { return e.kind == EntryKind::flush && e.thread == t; };
    const auto travels = [t](const Up& m) { return m.kind == UpKind::flush && m.thread == t; };
    return !K::contains(s.fifo1(queue_of(t)), queued) && !K::contains(s.link1(cu(t)), travels) &&
           !K::contains(s.fifo2(agent(t)), queued) && !K::contains(s.link2(agent(t)), travels) &&
           !K::contains(s.fifo3, queued);
  }

  // "Completing an atomic operation also inserts a write marker into the S-FIFO, but instead of lazily
  // writing through to memory, the atomic is forwarded immediately to the point of system coherence, which is
  // the directory."
  void atomic_rules(Rules& r) const {
    const auto starts = [=, this](const State& s, ThreadIx t) {
      return on_gpu(s, t) && asks(s, t, Operation::rmw) && release_done(s, t) && !k.full(s.link1(cu(t)));
    };
    const auto own_line = [=, this](const State& s, ThreadIx t) -> const WriteLine& {
      return s.wl1(cu(t), s.port(t).request.block);
    };
    // Dirty words of the block go ahead of the RMW (repair; the print lets it overtake them).
    if (repaired("atomic-overtakes-write")) {
      r.rule(
          {.name = "atomic writes wL1's block through", .unit = "L1", .source = "ours"}, over(threads),
          [=, this](const State& s, ThreadIx t) { return starts(s, t) && dirty(own_line(s, t)); },
          [=, this](State& s, ThreadIx t) { evict(s, cu(t), s.port(t).request.block); });
    }
    r.rule(
        {.name = "atomic leaves for the directory", .unit = "L1", .source = "4.3.1 Normal Write"},
        over(threads),
        [=, this](const State& s, ThreadIx t) {
          const Bool ready = repaired("atomic-overtakes-write") ? !dirty(own_line(s, t)) : Bool(true);
          return starts(s, t) && ready && !k.full(s.fifo1(queue_of(t)));
        },
        [=, this](State& s, ThreadIx t) {
          const Block b = s.port(t).request.block;
          if (repaired("atomic-overtakes-write")) drop(s, cu(t), b);
          k.push(s.fifo1(queue_of(t)), entry_of(EntryKind::atomic, t, Enum<Scope>{}));
          k.push(s.link1(cu(t)), up(UpKind::atomic, b, t, Enum<Scope>{}));
          s.stage(t) = Stage::atomic;
        });
    r.triggered(
        {.name = "L2 forwards an atomic", .unit = "L2", .source = "4.3.1 Normal Write"}, over(cus),
        [](auto& s, Cu c) -> auto& { return s.link1(c); },
        [=, this](const State& s, Cu c, const Up& m) {
          const Agent a = machine.agent_of(c);
          const Bool ready = repaired("atomic-overtakes-write") ? !dirty(s.wl2(a, m.block)) : Bool(true);
          return m.kind == UpKind::atomic && ready && !k.full(s.link2(a));
        },
        [=, this](State& s, Cu c, const Up& m) {
          const Agent a = machine.agent_of(c);
          if (repaired("atomic-overtakes-write")) drop(s, a, m.block);
          k.push(s.link2(a), m);
        });
    r.triggered(
        {.name = "directory performs an atomic", .unit = "directory", .source = "4.3.1 Normal Write"},
        over(agents), [](auto& s, Agent a) -> auto& { return s.link2(a); },
        [=, this](const State& s, Agent, const Up& m) {
          const Bool ready = repaired("atomic-overtakes-write") ? !dirty(s.wl3(m.block)) : Bool(true);
          return m.kind == UpKind::atomic && ready;
        },
        [=, this](State& s, Agent, const Up& m) {
          const auto& q = s.port(m.thread).request;
          Data data = home().read(s.home, m.block);
          const Value old = word_of(data, q.word);
          Mask mask{};
          k.at(words, q.word, [&](Word w) {
            data(w) = rmw_result(k, q, old);
            mask(w) = true;
          });
          home().write(s.home, m.block, mask, data);
          // The print is silent on read copies of what an RMW changed (repair).
          if (repaired("atomic-invalidates-nothing")) invalidate_agents(s, m.block);
          s.stage(m.thread) = Stage::idle;
          complete<K>(s.port(m.thread), old);
        });
  }

  // "these invalidations are not critical to performance": they arrive at any time.
  void invalidation_rules(Rules& r) const {
    r.rule(
        {.name = "invalidation reaches rL1", .unit = "L1", .source = "4.3.1 Normal Read"}, over(cus, blocks),
        [=, this](const State& s, Cu c, Block b) { return arrives1(s, c, b); },
        [=, this](State& s, Cu c, Block b) { invalidate1(s, c, b); });
    // "The APU directory will invalidate the rL2, which in turn will invalidate the rL1 caches".
    r.rule(
        {.name = "invalidation reaches rL2", .unit = "L2", .source = "4.3.1 Normal Write"},
        over(agents, blocks), [=, this](const State& s, Agent a, Block b) { return arrives2(s, a, b); },
        [=, this](State& s, Agent a, Block b) { invalidate2(s, a, b); });
  }

  // No fill that it has to stay behind is still on its way.
  [[nodiscard]] Bool arrives1(const State& s, Cu c, Block b) const {
    return s.invalidation1(c, b) && !behind_fill(s, c, b);
  }
  [[nodiscard]] Bool arrives2(const State& s, Agent a, Block b) const {
    return s.invalidation2(a, b) && !behind_fill(s, a, b);
  }
  template <class Place>
  [[nodiscard]] Bool behind_fill(const State& s, Place at, Block b) const {
    return exists_asking(k, s.port, b, [&](ThreadIx t) {
      return sits(t, at) && s.read(t).followed && s.read(t).stage == fill_to(at);
    });
  }
  void invalidate1(State& s, Cu c, Block b) const {
    s.rl1(c, b) = ReadLine{};
    s.invalidation1(c, b) = false;
    for_each_present(k, slice(s.awaited1, threads, c, b), [&](ThreadIx t) { s.awaited1(t, c, b) = false; });
  }
  void invalidate2(State& s, Agent a, Block b) const {
    s.rl2(a, b) = ReadLine{};
    s.invalidation2(a, b) = false;
    const bool tell = !fault("cpu-write-not-broadcast");
    k.for_each(cus, [&](Cu c) {
      k.when(machine.agent_of(c) == a, [&] {
        if (tell) send_invalidation(s, c, b);
        for_each_present(k, slice(s.awaited2, threads, a, b), [&](ThreadIx t) {
          s.awaited1(t, c, b) = s.awaited1(t, c, b) || (Bool(tell) && s.awaited2(t, a, b));
        });
      });
    });
    for_each_present(k, slice(s.awaited2, threads, a, b), [&](ThreadIx t) { s.awaited2(t, a, b) = false; });
  }

  // "CPUs perform stores as normal with coherent write-back caches. The APU directory will invalidate the rL2
  // [...]"; "the CPUs perform loads as normal".
  void cpu_rules(Rules& r) const {
    const auto ready = [=, this](const State& s, ThreadIx t) {
      const Bool waits = releases(s.port(t).request.order) && Bool(repaired("host-release-does-not-wait"));
      return (waits && s.stage(t) == Stage::released) || (!waits && s.stage(t) == Stage::idle);
    };
    home().cpu_rules(r, *this,
                     {.load = "4.3.1 Normal Read",
                      .store = "4.3.1 Normal Write",
                      .rmw = "4.3.1 Normal Write",
                      .fence = "4.3.1"},
                     ready, [=, this](State& s, ThreadIx t, bool wrote) {
                       if (wrote) invalidate_agents(s, s.port(t).request.block);
                       s.stage(t) = Stage::idle;
                     });
    // "CPU invalidations can be applied lazily": as printed a CPU's release does not wait for them (repair).
    if (repaired("host-release-does-not-wait")) {
      r.rule(
          {.name = "CPU release waits for its invalidations", .unit = "CPU", .source = "ours"}, over(threads),
          [=, this](const State& s, ThreadIx t) {
            return on_cpu(s, t) && releases(s.port(t).request.order) && s.stage(t) == Stage::idle;
          },
          [=, this](State& s, ThreadIx t) {
            s.stage(t) = Stage::awaiting;
            await(s, t, [](Agent) { return Bool(true); });
          });
    }
  }
};

struct Info : MemoryInfo<faults, variants, QueueTag, Fifo1Slot, Fifo2Slot, Fifo3Slot, Link1Slot, Link2Slot> {
  static constexpr std::string_view name = "quick-release";
  static constexpr std::string_view what = "write-combining caches with S-FIFOs (Hechtman, thesis 2014, 4.3)";
  static constexpr int place = 20;  // among the systems, where people read of them
  // Fields that no rule reads: as printed nobody waits for a StRel's flush.
  static constexpr bool is_unread(std::string_view field, std::string_view variant, std::string_view fault) {
    return field == "flushing(thread)" && (variant == "as-printed" || fault == "flush-unacknowledged");
  }
  // Whether a release orders what other threads of its CU have done before, too: HRF-indirect.
  static constexpr bool releases_cover_others(int variant) { return !is(variant, "split-fifo"); }
  // The smallest sizes that show every rule; a program's placement sets the others.
  template <class S>
  static constexpr void default_sizes(S& sizes, int variant) {
    sizes.template set<QueueTag>(is(variant, "split-fifo") ? sizes.template extent<ThreadTag>()
                                                           : sizes.template extent<CuTag>());
    sizes.template set<Fifo1Slot>(2);
    sizes.template set<Fifo2Slot>(2);
    sizes.template set<Fifo3Slot>(2);
    sizes.template set<Link1Slot>(1);
    sizes.template set<Link2Slot>(1);
  }
  template <class K>
  using Memory = Protocol<K>;
};

}  // namespace lockstep::quick_release
