// Write-through (WT): the baseline of today's GPUs. Stores go through every cache to memory in order, a
// release waits until they are there, an acquire invalidates whole caches.
//
// Source: Hechtman, thesis 2014, 4.2.1 (figure 4.2: an L1 for each CU, one L2, all behind the APU directory)
// and 4.2.3, "Realistic Write-through GPU Memory System".
//
// The thesis has one scope and one GPU. Ours, in its spirit: a release at a scope waits until the writes
// before it have reached the level that all of the scope shares (wg: L1, agent: L2, system: memory); an
// acquire invalidates the caches nearer the thread than that level; an atomic is performed at that level.
// Caches do not allocate on stores; a store updates the copies it passes. Links keep order ("relies on
// in-order memory responses", 4.2.3), so a release is a marker sent behind the writes and answered from the
// level it has to reach. Replacement may take any line at any time. The CPUs and memory are home.hpp; GPU
// caches are not told of CPU writes, the next acquire at system scope drops them. 4.2.3 makes every release
// global, barriers included; with scopes a barrier is a release and acquire at wg (semantics.md).
//
// Variant no-l1 is the other baseline of the thesis' figures 4.5 to 4.9, "a system that disables the L1 cache
// for coherent traffic, similar to NVIDIA's Kepler architecture" (4.5.1), which "only needs to wait for all
// outstanding writes" at a fence (4.2.1): nothing is kept in L1, and a work-group synchronizes at L2.
//
// Variant atomics-hold is ours as well: L2 replaces no block that an atomic on its way asks for. In the
// default a block may be replaced each time between its arrival and its use, so that an atomic may wait for
// ever, on fair runs too.
//
// Variant sm-wt-nc is a baseline of HALCONE (Mojumder et al. 2020, 4.1): GPUs that share memory, "L2$ with WT
// and no coherency". Within a GPU all is as above. Between GPUs nothing but a fence at system scope keeps L2s
// coherent, and so a kernel's begin and end, which reach a port as such fences: an atomic at system scope is
// one at agent scope.
//
// What L2 does with writes is the third parameter: it passes them on (WritesPass), or keeps them
// (remote_atomics.hpp).
//
// A front may stand before each L1 (Direct: none does): it takes requests of its own, holds others back, and
// sends writes whose words are computed from those that they meet.
#pragma once

#include <algorithm>
#include <array>
#include <boost/describe.hpp>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "spec/kernel/loops.hpp"
#include "spec/kernel/rules.hpp"
#include "spec/memory/home.hpp"
#include "spec/memory/memory_system.hpp"
#include "spec/program/ended.hpp"

namespace lockstep::write_through {

struct Link1Slot : Slots<"link1-messages", 4> {};
struct Link2Slot : Slots<"link2-messages", 4> {};

enum class UpKind : std::uint8_t { write, marker, read, atomic };
BOOST_DESCRIBE_ENUM(UpKind, write, marker, read, atomic)

enum class ReadStage : std::uint8_t { none, to_l2, to_directory, from_directory, from_l2 };
BOOST_DESCRIBE_ENUM(ReadStage, none, to_l2, to_directory, from_directory, from_l2)

// Where a thread's synchronization stands.
enum class Stage : std::uint8_t {
  idle,
  releasing,     // its marker is on a link
  writing_back,  // its marker waits for what an L2 that keeps writes had of them when it came
  released,
  performing,     // its atomic is on a link
  invalidating2,  // an acquire is to drop L2
  invalidating1,  // an acquire is to drop L1
};
BOOST_DESCRIBE_ENUM(Stage, idle, releasing, writing_back, released, performing, invalidating2, invalidating1)

inline constexpr std::array variants{
    Variant{"default", "thesis 4.2.3, extended with scopes"},
    Variant{"no-l1", "4.5.1: L1 is passed by, and a work-group synchronizes at L2"},
    Variant{"atomics-hold", "the default, but L2 replaces no block that an atomic on its way asks for"},
    Variant{"sm-wt-nc", "HALCONE 4.1: between GPUs no coherence but by fences and kernels' edges"},
};

inline constexpr std::array faults{
    Fault{"release-does-not-wait", "a release is acknowledged when its marker is sent"},
    Fault{"early-acknowledgement", "a system release is acknowledged at L2"},
    Fault{"acquire-keeps-l1", "an acquire does not invalidate L1"},
    Fault{"acquire-keeps-l2", "an acquire at system scope does not invalidate L2"},
    Fault{"fill-survives-acquire", "a fill in flight while its cache is invalidated is cached after it"},
    Fault{"fill-survives-write", "a fill in flight while its block is written is cached after it"},
    Fault{"l1-copy-not-updated", "a store leaves the old word in its L1"},
    Fault{"l2-copy-not-updated", "a write passing L2 leaves the old word there"},
    Fault{"atomic-keeps-l1-copy", "an atomic performed beyond L1 leaves the old copy in its L1"},
    Fault{"atomic-overtakes-writes", "an atomic is sent ahead of the writes on its link"},
    Fault{"marker-overtakes-writes", "a release marker is sent ahead of the writes on its link"},
    Fault{"cpu-not-invalidated", "a GPU write reaches memory without invalidating the CPUs"},
};

// L2 passes writes on, with faults and variants of such systems.
struct WritesPass {
  static constexpr bool kept_at_l2 = false;
  static constexpr auto& faults = write_through::faults;
  static constexpr auto& variants = write_through::variants;
  static constexpr const char* non_coherent = "sm-wt-nc";  // which of the variants
  static constexpr std::string_view source = "4.2.3";
};

// Of fronts whose writes are no more than they say, and which hold nothing back that memory lacks.
template <class K>
struct PlainWrites {
  using Bool = typename K::Bool;
  static constexpr bool computes_words = false;

  // The word that a write leaves where `old` was; whether that is what it carries, whatever was there.
  template <class Up, class Word, class Value>
  [[nodiscard]] const Value& word(const Up& m, const Word& w, const Value&) const {
    return m.data(w);
  }
  template <class Up>
  [[nodiscard]] Bool overwrites(const Up&) const {
    return true;
  }
  template <class S>
  [[nodiscard]] Bool drained(const S&) const {
    return true;
  }
};

// No front: every request reaches L1, and a write puts there what it carries.
template <class K>
struct Direct : NoFront<K>, PlainWrites<K> {
  using NoFront<K>::NoFront;
  struct State {
    BOOST_DESCRIBE_CLASS(State, (), (), (), ())
  };
  // What a write carries besides.
  struct Payload {
    BOOST_DESCRIBE_CLASS(Payload, (), (), (), ())
  };
  // It performs atomics at agent scope itself, whichever its `takes` admits; else L2 does.
  static constexpr bool performs_atomics = false;

  template <class Rules, class Hierarchy>
  void rules(Rules&, const Hierarchy&) const {}
  template <class Invariants>
  void invariants(Invariants&) const {}
};

template <class K, template <class> class Front = Direct, class Writes = WritesPass>
struct Protocol : MemorySystem<K, Writes::faults, Writes::variants, Front<K>::own_faults> {
  using Base = MemorySystem<K, Writes::faults, Writes::variants, Front<K>::own_faults>;
  using Base::agent, Base::cu, Base::on_gpu, Base::every, Base::word_of;
  using Base::Base, Base::k, Base::machine, Base::fault, Base::fault_bits, Base::is, Base::variant;
  using typename Base::Block, typename Base::Word;
  using typename Base::Bool, typename Base::Value, typename Base::Data, typename Base::Mask;
  using typename Base::ThreadIx, typename Base::Cu, typename Base::Agent;
  template <class E>
  using Enum = typename K::template Enum<E>;

  struct Line {
    Bool present;
    Data data;
    BOOST_DESCRIBE_CLASS(Line, (), (present, data), (), ())
  };
  // Of an L2 that keeps writes: of the words that are dirty the data are right whether or not the block is
  // present.
  struct KeepingLine {
    Bool present;
    Data data;
    Mask dirty;
    Bool due;  // is to be written back for a release
    BOOST_DESCRIBE_CLASS(KeepingLine, (), (present, data, dirty, due), (), ())
  };
  static constexpr bool keeps = Writes::kept_at_l2;
  using Line2 = std::conditional_t<keeps, KeepingLine, Line>;
  struct Up {
    Enum<UpKind> kind;
    Block block;
    ThreadIx thread;  // of a marker, read or atomic
    Mask mask;        // of a write; of a read or an atomic, what an L2 that keeps writes has of the block
    Data data;
    typename Front<K>::Payload payload;
    BOOST_DESCRIBE_CLASS(Up, (), (kind, block, thread, mask, data, payload), (), ())
  };
  struct Read {
    Enum<ReadStage> stage;
    Data data;
    Bool stale1;  // not to be cached in L1
    Bool stale2;  // not to be cached in L2
    BOOST_DESCRIBE_CLASS(Read, (), (stage, data, stale1, stale2), (), ())
  };
  struct State {
    typename K::template Table<Port<K>, ThreadTag> port;
    typename K::template Table<Enum<Stage>, ThreadTag> stage;
    typename K::template Table<Read, ThreadTag> read;
    typename K::template Table<Line, CuTag, BlockTag> l1;
    typename K::template Table<typename K::template Fifo<Up, Link1Slot>, CuTag> link1;
    typename K::template Table<Line2, AgentTag, BlockTag> l2;
    typename K::template Table<typename K::template Fifo<Up, Link2Slot>, AgentTag> link2;
    typename Home<K>::State home;
    typename Front<K>::State front;
    BOOST_DESCRIBE_CLASS(State, (), (port, stage, read, l1, link1, l2, link2, home, front), (), ())
  };
  using Rules = RuleList<K, State>;
  using Invariants = InvariantList<K, State>;

  [[nodiscard]] Home<K> home() const { return {k}; }
  [[nodiscard]] Front<K> front() const { return {k, machine, fault_bits, variant}; }

  void initialise(State& s, Block b, Word w, Value v) const { s.home.memory(b)(w) = v; }
  [[nodiscard]] Value final_value(const State& s, Block b, Word w) const {
    return home().current(s.home, b, w);
  }
  [[nodiscard]] Bool drained(const State& s) const {
    return k.forall(cus, [&](Cu c) { return s.link1(c).empty(); }) &&
           k.forall(agents, [&](Agent a) { return s.link2(a).empty(); }) && nothing_kept(s) &&
           front().drained(s);
  }
  [[nodiscard]] Bool nothing_kept(const State& s) const {
    if constexpr (keeps) {
      return every(agents, blocks, [&](Agent a, Block b) { return !any_dirty(s.l2(a, b)); });
    } else {
      return true;
    }
  }

  void rules(Rules& r) const {
    r.keep(front()).rules(r, *this);
    store_rules(r);
    load_rules(r);
    keeping_rules(r);
    release_rules(r);
    atomic_rules(r);
    acquire_rules(r);
    replacement_rules(r);
    cpu_rules(r);
  }

  void invariants(Invariants& v) const {
    v.invariant("a copy in L1 has its CU's newest write on the link", [=, this](const State& s) {
      return every(cus, blocks,
                   [&](Cu c, Block b) { return !s.l1(c, b).present || newest(s.link1(c), b, s.l1(c, b)); });
    });
    v.invariant("a copy in L2 has its agent's newest write on the link", [=, this](const State& s) {
      return every(agents, blocks, [&](Agent a, Block b) {
        return !s.l2(a, b).present || newest(s.link2(a), b, s.l2(a, b));
      });
    });
    home().invariants(v);
    v.keep(front()).invariants(v);
  }

  // For fronts: a write that leaves no copy in the L1 that it passes.
  void drop_from_l1(State& s, Cu c, Block b) const {
    s.l1(c, b) = Line{};
    stale_in_l1(s, c, b);
  }
  void send(State& s, Cu c, const Up& m) const { k.push(s.link1(c), m); }
  [[nodiscard]] Bool can_send(const State& s, Cu c) const { return !k.full(s.link1(c)); }
  // For fronts that perform atomics.
  // No marker is needed, or it has been answered.
  [[nodiscard]] Bool release_done(const State& s, ThreadIx t) const {
    const Bool needs = releases(s.port(t).request.order) && leaves_cu(s, t);
    return (needs && s.stage(t) == Stage::released) || (!needs && s.stage(t) == Stage::idle);
  }
  void fetch1(State& s, ThreadIx t) const {
    k.push(s.link1(cu(t)), message(UpKind::read, s.port(t).request.block, t));
    s.read(t).stage = ReadStage::to_l2;
  }
  template <class Copy>
  static void install(Copy& line, const Data& data) {
    line.present = true;
    line.data = data;
  }
  [[nodiscard]] Up write_message(Block b, Word word, const Value& value) const {
    Up m;
    m.kind = UpKind::write;
    m.block = b;
    k.at(words, word, [&](Word w) {
      m.mask(w) = true;
      m.data(w) = value;
    });
    return m;
  }
  // A store at L1: the copy is updated, the write goes on.
  void write_at_l1(State& s, Cu c, const Up& m) const {
    if (!fault("l1-copy-not-updated")) overlay(s.l1(c, m.block), m);
    stale_in_l1(s, c, m.block);
    k.push(s.link1(c), m);
  }
  // An atomic at L2 or the directory, or what a CPU does there; its answer may drop caches first.
  [[nodiscard]] Bool to_be_performed(const State& s, ThreadIx t) const {
    const Bool invalidates = s.stage(t) == Stage::invalidating2 || s.stage(t) == Stage::invalidating1;
    return !asks(s, t, Operation::fence) && (machine.is_host(t) || (leaves_cu(s, t) && !invalidates));
  }
  [[nodiscard]] Value found(const State& s, ThreadIx t) const { return s.port(t).result; }
  // What L2 of the one GPU has, or would fetch.
  [[nodiscard]] Value at_monitor(const State& s, Block b, Word w) const {
    const Line2& line = s.l2(K::template constant<AgentTag>(0), b);
    Bool has = line.present;
    if constexpr (keeps) has = has || line.dirty(w);
    return K::select(has, Value(line.data(w)), home().current(s.home, b, w));
  }
  // An operation has been performed; an acquire beyond the work-group still has caches to drop.
  void performed(State& s, ThreadIx t) const {
    if constexpr (Front<K>::performs_atomics) front().performed(s, t);
    // What is not kept in L1 need not be dropped there.
    const Bool drops =
        acquires(s.port(t).request.order) && (passes_l1_by() ? leaves_agent(s, t) : leaves_cu(s, t));
    k.when(
        drops,
        [&] {
          s.stage(t) = K::select(leaves_agent(s, t), Enum<Stage>(Stage::invalidating2),
                                 Enum<Stage>(Stage::invalidating1));
        },
        [&] {
          s.stage(t) = Stage::idle;
          complete<K>(s.port(t));
        });
  }

 private:
  // Asked last: what a front looks at changes often.
  [[nodiscard]] Bool admitted(const State& s, ThreadIx t) const { return front().admits(s, t); }
  // Of a front, variants are its own.
  [[nodiscard]] bool is_ours(NameIn<variants> name) const {
    if constexpr (std::is_same_v<Front<K>, Direct<K>> && std::is_same_v<Writes, WritesPass>) {
      return is(name);
    } else {
      return false;
    }
  }
  [[nodiscard]] bool passes_l1_by() const { return is_ours("no-l1"); }
  // An atomic or a fence that is not for L1.
  [[nodiscard]] Bool leaves_cu(const State& s, ThreadIx t) const {
    return passes_l1_by() ? Bool(s.port(t).request.order != Order::plain) : Bool(atomic_beyond_group(s, t));
  }

  [[nodiscard]] bool is_non_coherent() const {
    if constexpr (std::is_same_v<Front<K>, Direct<K>>) {
      return is(Writes::non_coherent);
    } else {
      return false;
    }
  }
  // Of an atomic or a fence: it is not for L2 either.
  [[nodiscard]] Bool leaves_agent(const State& s, ThreadIx t) const {
    if (is_non_coherent()) return to_system(s, t) && asks(s, t, Operation::fence);
    return to_system(s, t);
  }

  // The last write of each word on the link, if any, is what the copy says.
  template <class Link, class Copy>
  [[nodiscard]] Bool newest(const Link& link, Block b, const Copy& copy) const {
    const Data& data = copy.data;
    return k.forall(words, [&](Word w) {
      Bool written(false);
      Value last(0);
      K::for_each_queued(link, [&](const Up& m) {
        const Bool hit = m.kind == UpKind::write && m.block == b && m.mask(w);
        // What an update leaves is not to be told from the link alone.
        written = (written && (!hit || front().overwrites(m))) || (hit && front().overwrites(m));
        last = K::select(hit, Value(m.data(w)), last);
      });
      const Bool right = !written || last == data(w);
      if constexpr (std::is_same_v<Copy, KeepingLine>) {
        return copy.dirty(w) || right;  // that write is still to come
      } else {
        return right;
      }
    });
  }

  static Up message(UpKind kind, Block b, ThreadIx t) {
    Up m;
    m.kind = kind;
    m.block = b;
    m.thread = t;
    return m;
  }
  void overlay(Line& line, const Up& m) const {
    k.when(line.present, [&] {
      k.for_each(words, [&](Word w) {
        k.when(m.mask(w), [&] { line.data(w) = front().word(m, w, line.data(w)); });
      });
    });
  }
  // Reads of the block in flight miss the write: their data is not to be cached.
  void stale_in_l1(State& s, Cu c, Block b) const {
    if (fault("fill-survives-write")) return;
    for_each_asking(k, s.port, b, [&](ThreadIx t) {
      k.when(!machine.is_host(t) && cu(t) == c && s.read(t).stage != ReadStage::none,
             [&] { s.read(t).stale1 = true; });
    });
  }
  void stale_in_l2(State& s, Agent a, Block b) const {
    if (fault("fill-survives-write")) return;
    for_each_asking(k, s.port, b, [&](ThreadIx t) {
      k.when(!machine.is_host(t) && agent(t) == a && beyond_l2(s, t), [&] { s.read(t).stale2 = true; });
    });
  }
  [[nodiscard]] static Bool beyond_l2(const State& s, ThreadIx t) {
    return s.read(t).stage == ReadStage::to_directory || s.read(t).stage == ReadStage::from_directory;
  }

  // A write lands in L2, or passes it.
  [[nodiscard]] Bool room_for_write(const State& s, Agent a) const {
    return Bool(keeps) || !k.full(s.link2(a));
  }
  void write_at_l2(State& s, Agent a, const Up& m) const {
    stale_in_l2(s, a, m.block);
    if constexpr (keeps) {
      Line2& line = s.l2(a, m.block);
      k.for_each(words, [&](Word w) {
        k.when(m.mask(w), [&] {
          line.data(w) = m.data(w);
          line.dirty(w) = true;
        });
      });
    } else {
      if (!fault("l2-copy-not-updated")) overlay(s.l2(a, m.block), m);
      Up passed = m;
      if constexpr (Front<K>::performs_atomics) front().reaches_l2(s, a, passed);
      k.push(s.link2(a), passed);
    }
  }

  // ---- an L2 that keeps writes ---------------------------------------------------------------------------

  template <class Copy>
  [[nodiscard]] Bool any_dirty(const Copy& line) const {
    if constexpr (keeps) {
      return k.exists(words, [&](Word w) { return line.dirty(w); });
    } else {
      return false;
    }
  }
  // What goes on from L2 takes along what L2 has of its block that memory has not.
  void take_along(const State& s, Agent a, Up& m) const {
    if constexpr (keeps) {
      const Line2& line = s.l2(a, m.block);
      k.for_each(words, [&](Word w) {
        k.when(line.dirty(w), [&] {
          m.mask(w) = true;
          m.data(w) = line.data(w);
        });
      });
    }
  }
  [[nodiscard]] Up read_beyond_l2(const State& s, Agent a, Block b, ThreadIx t) const {
    Up m = message(UpKind::read, b, t);
    if constexpr (keeps) {
      if (!fault("read-lacks-dirty-words")) take_along(s, a, m);
    }
    return m;
  }
  void keeping_rules(Rules& r) const {
    if constexpr (keeps) {
      r.rule(
          {.name = "L2 writes a block back at the end", .unit = "L2", .source = Writes::source},
          over(agents, blocks),
          [=, this](const State& s, Agent a, Block b) {
            return any_dirty(s.l2(a, b)) && !k.full(s.link2(a)) && all_ended(k, s.port);
          },
          [=, this](State& s, Agent a, Block b) { write_back(s, a, b); });
      r.rule(
          {.name = "release writes a block back", .unit = "L2", .source = Writes::source},
          over(agents, blocks),
          [=, this](const State& s, Agent a, Block b) { return s.l2(a, b).due && !k.full(s.link2(a)); },
          [=, this](State& s, Agent a, Block b) { write_back(s, a, b); });
      r.rule(
          {.name = "release finds what L2 has kept", .unit = "L2", .source = Writes::source}, over(cus),
          [=, this](const State& s, Cu c) {
            const Up& m = s.link1(c).head();
            return !s.link1(c).empty() && m.kind == UpKind::marker && !ends_at_l2(s, m.thread) &&
                   s.stage(m.thread) == Stage::releasing;
          },
          [=, this](State& s, Cu c) {
            const Agent a = machine.agent_of(c);
            s.stage(s.link1(c).head().thread) = Stage::writing_back;
            if (fault("release-leaves-dirty-words")) return;
            for_each_present(k, slice(s.l2, a, blocks),
                             [&](Block b) { k.when(any_dirty(s.l2(a, b)), [&] { s.l2(a, b).due = true; }); });
          });
    }
  }
  void write_back(State& s, Agent a, Block b) const {
    Line2& line = s.l2(a, b);
    Up m;
    m.kind = UpKind::write;
    m.block = b;
    take_along(s, a, m);
    if (fault("whole-block-written-back")) {
      k.when(line.present, [&] {
        k.for_each(words, [&](Word w) {
          m.mask(w) = true;
          m.data(w) = line.data(w);
        });
      });
    }
    k.push(s.link2(a), m);
    line.due = false;
    k.for_each(words, [&](Word w) { line.dirty(w) = false; });
    k.when(!line.present, [&] { line = Line2{}; });
  }
  // What an acquire leaves of a block.
  void drop_copy(Line2& line) const {
    if constexpr (keeps) {
      if (!fault("acquire-drops-dirty-words")) {
        k.for_each(words, [&](Word w) { k.when(!line.dirty(w), [&] { line.data(w) = 0; }); });
        line.present = false;
        return;
      }
    }
    line = Line2{};
  }
  // Of a marker that goes on: all that L2 had when it came is on the link.
  [[nodiscard]] Bool written_back(const State& s, Agent a, ThreadIx t) const {
    if constexpr (keeps) {
      return s.stage(t) == Stage::writing_back &&
             !exists_present(k, slice(s.l2, a, blocks), [&](Block b) { return s.l2(a, b).due; });
    } else {
      return true;
    }
  }

  void store_rules(Rules& r) const {
    r.rule(
        {.name = "store writes through L1", .unit = "L1", .source = "4.2.3"}, over(threads),
        [=, this](const State& s, ThreadIx t) {
          return on_gpu(s, t) && asks(s, t, Operation::store) && !leaves_cu(s, t) && release_done(s, t) &&
                 !k.full(s.link1(cu(t))) && admitted(s, t);
        },
        [=, this](State& s, ThreadIx t) {
          const auto& q = s.port(t).request;
          write_at_l1(s, cu(t), write_message(q.block, q.word, q.a));
          complete<K>(s.port(t));
        });
    r.triggered(
        {.name = keeps ? "L2 keeps a write" : "write passes L2", .unit = "L2", .source = Writes::source},
        over(cus), [](auto& s, Cu c) -> auto& { return s.link1(c); },
        [=, this](const State& s, Cu c, const Up& m) {
          return m.kind == UpKind::write && room_for_write(s, machine.agent_of(c));
        },
        [=, this](State& s, Cu c, const Up& m) { write_at_l2(s, machine.agent_of(c), m); });
    r.triggered(
        {.name = "write reaches memory", .unit = "directory", .source = "4.2.3"}, over(agents),
        [](auto& s, Agent a) -> auto& { return s.link2(a); },
        [](const State&, Agent, const Up& m) { return m.kind == UpKind::write; },
        [=, this](State& s, Agent, const Up& m) {
          const auto reach = [&](const Data& data) {
            home().write(s.home, m.block, m.mask, data, !fault("cpu-not-invalidated"));
          };
          if constexpr (Front<K>::computes_words) {
            Data data = home().read(s.home, m.block);
            k.for_each(words, [&](Word w) { data(w) = front().word(m, w, Value(data(w))); });
            reach(data);
          } else {
            reach(m.data);
          }
        });
  }

  void load_rules(Rules& r) const {
    const auto loads = [=, this](const State& s, ThreadIx t) {
      return on_gpu(s, t) && asks(s, t, Operation::load) && !leaves_cu(s, t) &&
             s.read(t).stage == ReadStage::none;
    };
    const auto copy = [=, this](const State& s, ThreadIx t) -> const Line& {
      return s.l1(cu(t), s.port(t).request.block);
    };
    if (passes_l1_by()) {
      read_rules(r);
      r.rule(
          {.name = "load passes L1 by", .unit = "L1", .source = "4.5.1"}, over(threads),
          [=, this](const State& s, ThreadIx t) {
            return loads(s, t) && !k.full(s.link1(cu(t))) && admitted(s, t);
          },
          [=, this](State& s, ThreadIx t) { fetch1(s, t); });
      r.rule(
          {.name = "fill reaches its thread", .unit = "L1", .source = "4.5.1"}, over(threads),
          [](const State& s, ThreadIx t) { return s.read(t).stage == ReadStage::from_l2; },
          [=, this](State& s, ThreadIx t) {
            complete<K>(s.port(t), word_of(s.read(t).data, s.port(t).request.word));
            s.read(t) = Read{};
          });
      return;
    }
    r.rule(
        {.name = "load hits L1", .unit = "L1", .source = "4.2.1"}, over(threads),
        [=, this](const State& s, ThreadIx t) { return loads(s, t) && copy(s, t).present && admitted(s, t); },
        [=, this](State& s, ThreadIx t) {
          complete<K>(s.port(t), word_of(copy(s, t).data, s.port(t).request.word));
        });
    r.rule(
        {.name = "load misses L1", .unit = "L1", .source = "4.2.1"}, over(threads),
        [=, this](const State& s, ThreadIx t) {
          return loads(s, t) && !copy(s, t).present && !k.full(s.link1(cu(t))) && admitted(s, t);
        },
        [=, this](State& s, ThreadIx t) { fetch1(s, t); });
    read_rules(r);
    r.rule(
        {.name = "fill reaches L1", .unit = "L1", .source = "4.2.1"}, over(threads),
        [=, this](const State& s, ThreadIx t) {
          const Bool here = s.read(t).stage == ReadStage::from_l2;
          if constexpr (Front<K>::performs_atomics) {
            return here && !front().takes(s, t);
          } else {
            return here;
          }
        },
        [=, this](State& s, ThreadIx t) {
          k.when(!s.read(t).stale1, [&] { install(s.l1(cu(t), s.port(t).request.block), s.read(t).data); });
          k.when(asks(s, t, Operation::load),
                 [&] { complete<K>(s.port(t), word_of(s.read(t).data, s.port(t).request.word)); });
          s.read(t) = Read{};
        });
  }

  void read_rules(Rules& r) const {
    const auto from_cu = [](auto& s, Cu c) -> auto& {
      return s.link1(c);
    };
    r.triggered(
        {.name = "read hits L2", .unit = "L2", .source = "4.2.1"}, over(cus), from_cu,
        [=, this](const State& s, Cu c, const Up& m) {
          return m.kind == UpKind::read && s.l2(machine.agent_of(c), m.block).present;
        },
        [=, this](State& s, Cu c, const Up& m) {
          s.read(m.thread).stage = ReadStage::from_l2;
          s.read(m.thread).data = s.l2(machine.agent_of(c), m.block).data;
        });
    r.triggered(
        {.name = "read misses L2", .unit = "L2", .source = "4.2.1"}, over(cus), from_cu,
        [=, this](const State& s, Cu c, const Up& m) {
          const Agent a = machine.agent_of(c);
          return m.kind == UpKind::read && !s.l2(a, m.block).present && !k.full(s.link2(a));
        },
        [=, this](State& s, Cu c, const Up& m) {
          const Agent a = machine.agent_of(c);
          k.push(s.link2(a), read_beyond_l2(s, a, m.block, m.thread));
          s.read(m.thread).stage = ReadStage::to_directory;
        });
    r.triggered(
        {.name = "read reaches memory", .unit = "directory", .source = "4.2.1"}, over(agents),
        [](auto& s, Agent a) -> auto& { return s.link2(a); },
        [](const State&, Agent, const Up& m) { return m.kind == UpKind::read; },
        [=, this](State& s, Agent, const Up& m) {
          s.read(m.thread).stage = ReadStage::from_directory;
          s.read(m.thread).data = home().read(s.home, m.block);
          if constexpr (keeps) {
            k.for_each(words,
                       [&](Word w) { k.when(m.mask(w), [&] { s.read(m.thread).data(w) = m.data(w); }); });
          }
        });
    // An agent-scope RMW fetches its block into L2 and no further.
    r.rule(
        {.name = "fill reaches L2", .unit = "L2", .source = "4.2.1"}, over(threads),
        [](const State& s, ThreadIx t) { return s.read(t).stage == ReadStage::from_directory; },
        [=, this](State& s, ThreadIx t) {
          k.when(!s.read(t).stale2,
                 [&] { install(s.l2(agent(t), s.port(t).request.block), s.read(t).data); });
          k.when(
              s.stage(t) == Stage::performing, [&] { s.read(t) = Read{}; },
              [&] { s.read(t).stage = ReadStage::from_l2; });
        });
  }

  // "a release operation (kernel end, barrier, or StRel) will need to wait for all prior writes to be visible
  // globally before executing more memory operations" (4.2.3).
  void release_rules(Rules& r) const {
    r.rule(
        {.name = "release sends its marker", .unit = "L1", .source = "4.2.3"}, over(threads),
        [=, this](const State& s, ThreadIx t) {
          return on_gpu(s, t) && releases(s.port(t).request.order) && leaves_cu(s, t) &&
                 s.stage(t) == Stage::idle && !k.full(s.link1(cu(t))) && admitted(s, t);
        },
        [=, this](State& s, ThreadIx t) {
          s.stage(t) = Stage::releasing;
          if (fault("release-does-not-wait")) {
            s.stage(t) = Stage::released;
          } else if (fault("marker-overtakes-writes")) {
            k.push_front(s.link1(cu(t)), message(UpKind::marker, Block{}, t));
          } else {
            k.push(s.link1(cu(t)), message(UpKind::marker, Block{}, t));
          }
        });
    r.triggered(
        {.name = "L2 answers a marker", .unit = "L2", .source = "4.2.3"}, over(cus),
        [](auto& s, Cu c) -> auto& { return s.link1(c); },
        [=, this](const State& s, Cu, const Up& m) {
          return m.kind == UpKind::marker && ends_at_l2(s, m.thread);
        },
        [](State& s, Cu, const Up& m) { s.stage(m.thread) = Stage::released; });
    r.triggered(
        {.name = "L2 passes a marker on", .unit = "L2", .source = "4.2.3"}, over(cus),
        [](auto& s, Cu c) -> auto& { return s.link1(c); },
        [=, this](const State& s, Cu c, const Up& m) {
          const Agent a = machine.agent_of(c);
          return m.kind == UpKind::marker && !ends_at_l2(s, m.thread) && written_back(s, a, m.thread) &&
                 !k.full(s.link2(a));
        },
        [=, this](State& s, Cu c, const Up& m) { k.push(s.link2(machine.agent_of(c)), m); });
    r.triggered(
        {.name = "directory answers a marker", .unit = "directory", .source = "4.2.3"}, over(agents),
        [](auto& s, Agent a) -> auto& { return s.link2(a); },
        [](const State&, Agent, const Up& m) { return m.kind == UpKind::marker; },
        [](State& s, Agent, const Up& m) { s.stage(m.thread) = Stage::released; });
    r.rule(
        {.name = "fence has released", .unit = "L1", .source = "4.2.3"}, over(threads),
        [=, this](const State& s, ThreadIx t) {
          return on_gpu(s, t) && asks(s, t, Operation::fence) && release_done(s, t) && admitted(s, t);
        },
        [=, this](State& s, ThreadIx t) { performed(s, t); });
  }
  [[nodiscard]] Bool ends_at_l2(const State& s, ThreadIx t) const {
    return !leaves_agent(s, t) || Bool(fault("early-acknowledgement"));
  }

  void local_rmw_rules(Rules& r) const {
    const auto local_rmw = [=, this](const State& s, ThreadIx t) {
      return on_gpu(s, t) && asks(s, t, Operation::rmw) && !leaves_cu(s, t) &&
             s.read(t).stage == ReadStage::none && !k.full(s.link1(cu(t)));
    };
    r.rule(
        {.name = "RMW at L1 fetches its block", .unit = "L1", .source = "ours"}, over(threads),
        [=, this](const State& s, ThreadIx t) {
          return local_rmw(s, t) && !s.l1(cu(t), s.port(t).request.block).present && admitted(s, t);
        },
        [=, this](State& s, ThreadIx t) { fetch1(s, t); });
    r.rule(
        {.name = "L1 performs an RMW", .unit = "L1", .source = "ours"}, over(threads),
        [=, this](const State& s, ThreadIx t) {
          return local_rmw(s, t) && s.l1(cu(t), s.port(t).request.block).present && admitted(s, t);
        },
        [=, this](State& s, ThreadIx t) {
          const auto& q = s.port(t).request;
          const Value old = word_of(s.l1(cu(t), q.block).data, q.word);
          write_at_l1(s, cu(t), write_message(q.block, q.word, rmw_result(k, q, old)));
          complete<K>(s.port(t), old);
        });
  }

  template <class Link>
  void l2_atomic_rules(Rules& r, Link from_cu) const {
    r.triggered(
        {.name = "L2 performs an atomic store", .unit = "L2", .source = "ours"}, over(cus), from_cu,
        [=, this](const State& s, Cu c, const Up& m) {
          return m.kind == UpKind::atomic && !leaves_agent(s, m.thread) &&
                 asks(s, m.thread, Operation::store) && room_for_write(s, machine.agent_of(c));
        },
        [=, this](State& s, Cu c, const Up& m) {
          const auto& q = s.port(m.thread).request;
          write_at_l2(s, machine.agent_of(c), write_message(q.block, q.word, q.a));
          performed(s, m.thread);
        });
    r.rule(
        {.name = "L2 fetches an atomic's block", .unit = "L2", .source = "ours"}, over(cus),
        [=, this](const State& s, Cu c) {
          const Agent a = machine.agent_of(c);
          const Up& m = s.link1(c).head();
          return !s.link1(c).empty() && m.kind == UpKind::atomic && !leaves_agent(s, m.thread) &&
                 !asks(s, m.thread, Operation::store) && !s.l2(a, m.block).present &&
                 s.read(m.thread).stage == ReadStage::none && !k.full(s.link2(a));
        },
        [=, this](State& s, Cu c) {
          const ThreadIx t = s.link1(c).head().thread;
          const Agent a = machine.agent_of(c);
          k.push(s.link2(a), read_beyond_l2(s, a, s.port(t).request.block, t));
          s.read(t).stage = ReadStage::to_directory;
        });
    r.triggered(
        {.name = "L2 performs an atomic load", .unit = "L2", .source = "ours"}, over(cus), from_cu,
        [=, this](const State& s, Cu c, const Up& m) {
          return m.kind == UpKind::atomic && !leaves_agent(s, m.thread) &&
                 asks(s, m.thread, Operation::load) && s.l2(machine.agent_of(c), m.block).present &&
                 s.read(m.thread).stage == ReadStage::none;
        },
        [=, this](State& s, Cu c, const Up& m) {
          auto& port = s.port(m.thread);
          port.result = word_of(s.l2(machine.agent_of(c), m.block).data, port.request.word);
          performed(s, m.thread);
        });
    r.triggered(
        {.name = "L2 performs an RMW", .unit = "L2", .source = "ours"}, over(cus), from_cu,
        [=, this](const State& s, Cu c, const Up& m) {
          const Agent a = machine.agent_of(c);
          return m.kind == UpKind::atomic && !leaves_agent(s, m.thread) &&
                 asks(s, m.thread, Operation::rmw) && s.l2(a, m.block).present &&
                 s.read(m.thread).stage == ReadStage::none && room_for_write(s, a);
        },
        [=, this](State& s, Cu c, const Up& m) {
          const Agent a = machine.agent_of(c);
          auto& port = s.port(m.thread);
          const Value old = word_of(s.l2(a, m.block).data, port.request.word);
          write_at_l2(s, a, write_message(m.block, port.request.word, rmw_result(k, port.request, old)));
          port.result = old;
          performed(s, m.thread);
        });
  }

  void atomic_rules(Rules& r) const {
    if (!passes_l1_by()) local_rmw_rules(r);
    const auto leaves = [=, this](const State& s, ThreadIx t) {
      return on_gpu(s, t) && !asks(s, t, Operation::fence) && leaves_cu(s, t) && release_done(s, t) &&
             !k.full(s.link1(cu(t))) && admitted(s, t);
    };
    r.rule({.name = "atomic leaves L1", .unit = "L1", .source = "ours"}, over(threads), leaves,
           [=, this](State& s, ThreadIx t) {
             const auto& q = s.port(t).request;
             if (!fault("atomic-keeps-l1-copy")) drop_from_l1(s, cu(t), q.block);
             if (fault("atomic-overtakes-writes")) {
               k.push_front(s.link1(cu(t)), message(UpKind::atomic, q.block, t));
             } else {
               k.push(s.link1(cu(t)), message(UpKind::atomic, q.block, t));
             }
             s.stage(t) = Stage::performing;
           });

    const auto from_cu = [](auto& s, Cu c) -> auto& {
      return s.link1(c);
    };
    if constexpr (!Front<K>::performs_atomics) l2_atomic_rules(r, from_cu);
    if (is_non_coherent()) return;
    r.triggered(
        {.name = "L2 passes an atomic on", .unit = "L2", .source = "ours"}, over(cus), from_cu,
        [=, this](const State& s, Cu c, const Up& m) {
          return m.kind == UpKind::atomic && leaves_agent(s, m.thread) &&
                 !k.full(s.link2(machine.agent_of(c)));
        },
        [=, this](State& s, Cu c, const Up& m) {
          const Agent a = machine.agent_of(c);
          Up passed = m;
          if constexpr (keeps) {
            if (!fault("atomic-leaves-dirty-words")) take_along(s, a, passed);
          }
          k.push(s.link2(a), passed);
          s.l2(a, m.block) = Line2{};
          stale_in_l2(s, a, m.block);
        });
    r.triggered(
        {.name = "directory performs an atomic", .unit = "directory", .source = "ours"}, over(agents),
        [](auto& s, Agent a) -> auto& { return s.link2(a); },
        [](const State&, Agent, const Up& m) { return m.kind == UpKind::atomic; },
        [=, this](State& s, Agent, const Up& m) {
          auto& port = s.port(m.thread);
          const auto& q = port.request;
          if constexpr (keeps) {
            k.when(k.exists(words, [&](Word w) { return m.mask(w); }),
                   [&] { home().write(s.home, m.block, m.mask, m.data, !fault("cpu-not-invalidated")); });
          }
          const Value old = word_of(home().read(s.home, m.block), q.word);
          const Value result = K::select(q.operation == Operation::rmw, rmw_result(k, q, old), Value(q.a));
          k.when(q.operation != Operation::load, [&] {
            const Up w = write_message(m.block, q.word, result);
            home().write(s.home, m.block, w.mask, w.data, !fault("cpu-not-invalidated"));
          });
          k.when(q.operation != Operation::store, [&] { port.result = old; });
          performed(s, m.thread);
        });
  }

  // "an acquiring memory fence (kernel begin or LdAcq) will invalidate all clean and potentially stale L1
  // cache data" (4.2.3); beyond one agent the same holds for L2.
  void acquire_rules(Rules& r) const {
    r.rule(
        {.name = "acquire invalidates L2", .unit = "L2", .source = "4.2.3"}, over(threads),
        [](const State& s, ThreadIx t) { return s.stage(t) == Stage::invalidating2; },
        [=, this](State& s, ThreadIx t) {
          if (!fault("acquire-keeps-l2")) {
            for_each_present(k, slice(s.l2, agent(t), blocks),
                             [&](Block b) { drop_copy(s.l2(agent(t), b)); });
            stale_after(
                s, [&](ThreadIx u) { return agent(u) == agent(t) && beyond_l2(s, u); },
                [](Read& read) { read.stale2 = true; });
          }
          if (passes_l1_by()) {
            s.stage(t) = Stage::idle;
            complete<K>(s.port(t));
          } else {
            s.stage(t) = Stage::invalidating1;
          }
        });
    if (passes_l1_by()) return;
    r.rule(
        {.name = "acquire invalidates L1", .unit = "L1", .source = "4.2.3"}, over(threads),
        [](const State& s, ThreadIx t) { return s.stage(t) == Stage::invalidating1; },
        [=, this](State& s, ThreadIx t) {
          if (!fault("acquire-keeps-l1")) {
            for_each_present(k, slice(s.l1, cu(t), blocks), [&](Block b) { s.l1(cu(t), b) = Line{}; });
            stale_after(
                s, [&](ThreadIx u) { return cu(u) == cu(t); }, [](Read& read) { read.stale1 = true; });
          }
          s.stage(t) = Stage::idle;
          complete<K>(s.port(t));
        });
  }
  template <class Where, class Mark>
  void stale_after(State& s, Where&& where, Mark&& mark) const {
    if (fault("fill-survives-acquire")) return;
    for_each_present(k, slice(s.read, threads), [&](ThreadIx u) {
      k.when(!machine.is_host(u) && s.read(u).stage != ReadStage::none && where(u), [&] { mark(s.read(u)); });
    });
  }

  [[nodiscard]] Bool looks_up(const State& s, ThreadIx t, Block b) const {
    return on_gpu(s, t) && s.port(t).request.block == b &&
           (asks(s, t, Operation::load) || asks(s, t, Operation::rmw));
  }

  void l1_replacement_rules(Rules& r) const {
    // Only an access that looks the block up can tell that it is gone.
    r.rule(
        {.name = "L1 replaces a block", .unit = "L1", .source = "4.2.1", .fairness = Fairness::optional},
        over(cus, blocks), [](const State& s, Cu c, Block b) { return s.l1(c, b).present; },
        [](State& s, Cu c, Block b) { s.l1(c, b) = Line{}; });
  }
  void replacement_rules(Rules& r) const {
    if (!passes_l1_by()) l1_replacement_rules(r);
    r.rule(
        {.name = "L2 replaces a block", .unit = "L2", .source = "4.2.1", .fairness = Fairness::optional},
        over(agents, blocks),
        [=, this](const State& s, Agent a, Block b) {
          const Line2& line = s.l2(a, b);
          if constexpr (keeps) {
            const Bool is_dirty = any_dirty(line);
            return (line.present && !is_dirty) || (is_dirty && !k.full(s.link2(a)));
          } else {
            return line.present && !held_at_l2(s, a, b);
          }
        },
        [=, this](State& s, Agent a, Block b) {
          if constexpr (keeps) k.when(any_dirty(s.l2(a, b)), [&] { write_back(s, a, b); });
          s.l2(a, b) = Line2{};
        });
  }
  [[nodiscard]] Bool held_at_l2(const State& s, Agent a, Block b) const {
    if (!is_ours("atomics-hold")) return false;
    return k.exists(threads, [&](ThreadIx t) {
      return !machine.is_host(t) && agent(t) == a && s.stage(t) == Stage::performing && !leaves_agent(s, t) &&
             s.port(t).request.block == b;
    });
  }

  void cpu_rules(Rules& r) const {
    home().cpu_rules(
        r, *this, {.load = "4.2.3", .store = "4.2.3", .rmw = "4.2.3", .fence = "4.2.3"},
        [](const State&, ThreadIx) { return Bool(true); }, [](State&, ThreadIx, bool) {});
  }
};

struct Info : MemoryInfo<faults, variants, Link1Slot, Link2Slot> {
  static constexpr std::string_view name = "write-through";
  static constexpr std::string_view what =
      "write-through caches, invalidated by acquires (Hechtman, thesis 2014, 4.2)";
  static constexpr std::string_view monitor = "L2 and the directory";
  static constexpr int place = 10;  // among the systems, where people read of them
  // Fields that no rule reads: nothing is kept in L1.
  static constexpr bool is_unread(std::string_view field, std::string_view variant, std::string_view fault) {
    return variant == "no-l1" && (field == "l1(cu, block).data" || field == "read(thread).stale1" ||
                                  (field == "l1(cu, block).present" && fault == "l1-copy-not-updated"));
  }
  template <class S>
  static constexpr void default_sizes(S& sizes, int) {
    sizes.template set<Link1Slot>(2);
    sizes.template set<Link2Slot>(2);
  }
  template <class K>
  using Memory = Protocol<K>;
};

}  // namespace lockstep::write_through
