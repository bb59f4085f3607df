// FEAR, fast exclusive access to resources: a core (CU here) performs an atomic in its own L1, under a mutex
// that a ring of nodes gives away, in front of the write-through hierarchy (write_through.hpp).
//
// Source: Franey and Lipasti, "Accelerating Atomic Operations on GPGPUs" (sections named at each rule). What
// the paper builds up step by step are variants: AtomDir (II.A), one node with all mutexes; rings of nodes
// (III.B; AtomNaive is a ring of all of them); and speculative fetches (III.C), which make it FEAR.
//
// A mutex stands for addresses, and several addresses may have the same one. Every node of a ring has a table
// of all its mutexes. A node gives a mutex away when it has the talking stick, the busy wire is clear and its
// table says that the mutex is there (III.D); it tells the others by a message that goes round the ring, and
// holds the busy wire up until that is back. A mutex is given back to any node, in the same way. The table
// says, too, who had the mutex last: a core that had it last, and for the same block, may use what its L1
// holds. Anybody else uses what it fetched when it asked, if no epoch has ended since and one has ended since
// the mutex was given back, and fetches else.
//
// A ring is a circle of positions. Who asks whom is free: which node is nearest depends on the place of both,
// and any placement is some choice. Rings that differ have no mutex in common, so one is enough; each GPU
// has its own. Epochs may end at any moment.
//
// What is ours, since the paper is silent:
//
//   Atomic loads and stores take the mutex as well, at agent scope, which is the paper's GPU. So do those at
//   system scope, which the directory then performs, as in write-through. Those of a work-group, and all
//   that is no atomic, are write-through's: a fence or an acquire drops L1, and with it what FEAR might have
//   used again.
//
//   A mutex stands for whole blocks, since whole blocks are cached; which mutex a block has, which entry of
//   the lookup table a mutex ("simple, direct mapping", IV.E) and which busy wire, their numbers say.
//
//   The L2 sends a mutex back that comes with a write (III.C), its core one that does not: that of an atomic
//   load (III.D has the core send them all), which brings no write; and the directory what it has performed.
//
//   What is fetched stays beside the L1 until its atomic is performed, and one that waits has one fetch
//   under way: what it does not use is let in before it goes on. Where a store of the CU has passed, or an
//   acquire has dropped the L1 meanwhile, it is fetched again. An atomic store fetches nothing.
//
//   AtomDir and AtomNaive cache what is under a mutex by a coherence controller that is not described. Here
//   they have III.A's tables in its place, which "performance results are unaffected" by.
//
//   How many messages a link of the ring holds. With fewer than there may be updates they can fill the ring,
//   each waiting for room in front of the next.
//
//   Nothing is mature at first. Epochs of all GPUs end together.
//
// As printed a mutex is taken back at any time; in all else here a node does so when it could give one away,
// which `release-out-of-turn` shows to be needed. Then one update is on its way at a time for each busy wire,
// and who has the stick sees whether one is, since the wire is no slower. So the wire is seen by all, and
// anybody may have the stick, but in `as-printed` and `wire-by-hop`, where both go from node to node, and a
// node whose update is back lets the wire fall and looks at its upstream node again when that has done so.
#pragma once

#include <algorithm>
#include <array>
#include <boost/describe.hpp>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "spec/kernel/folded.hpp"
#include "spec/kernel/loops.hpp"
#include "spec/kernel/rules.hpp"
#include "spec/memory/memory_system.hpp"
#include "spec/memory/write_through.hpp"

namespace lockstep::fear {

struct NodeTag : FixedNumbered<"ring-node", 4> {};
// Sizes that follow from no others.
struct MutexTag : Indices<"mutex", 5> {
  static constexpr bool is_free = true;
};
struct EntryTag : Indices<"lookup-entry", 5> {  // of a core's lookup table
  static constexpr bool is_free = true;
};
struct WireTag : Indices<"busy-wire", 5> {
  static constexpr bool is_free = true;
};
struct RingSlot : Slots<"ring-messages", 6> {};
inline constexpr NodeTag nodes{};
inline constexpr MutexTag mutexes{};

// How far an atomic has come.
enum class Hold : std::uint8_t {
  none,
  asks,  // its request waits at a node
  holds,
};
BOOST_DESCRIBE_ENUM(Hold, none, asks, holds)

inline constexpr std::array variants{
    Variant{"default",
            "III, with the repair that docs/findings.md shows to be needed; one mutex for all blocks"},
    Variant{"as-printed",
            "III as it is printed: the busy wire from node to node, a mutex taken back at any time"},
    Variant{"wire-by-hop", "the default with the busy wire from node to node, and a mutex for each block"},
    Variant{"mutex-each", "the default with a mutex, a lookup entry and a busy wire for each block"},
    Variant{"no-speculation", "III without C: what is not held is fetched under the mutex"},
    Variant{"atom-dir", "II.A: no speculation, and one node has all mutexes"},
};

// What a variant has, by its number.
constexpr bool goes_by_hop(int variant) {
  using Name = NameIn<variants>;
  return variant == Name("as-printed") || variant == Name("wire-by-hop");
}
constexpr bool has_mutex_each(int variant) {
  return variant == NameIn<variants>("mutex-each") || goes_by_hop(variant);
}
constexpr bool fetches_ahead(int variant) {
  using Name = NameIn<variants>;
  return variant != Name("no-speculation") && variant != Name("atom-dir");
}

// The first is what the print has.
inline constexpr std::array own_faults{
    Fault{"release-out-of-turn",
          "a mutex is taken back without the stick, and whatever update is on its way"},
    Fault{"busy-ignored", "a mutex is given away while an update is on its way"},
    Fault{"grant-not-told", "the other nodes of a ring are not told that a mutex is gone"},
    Fault{"release-overtakes-write", "a mutex is given back ahead of what was written under it"},
    Fault{"first-not-last", "a table goes on saying who had a mutex first"},
    Fault{"last-not-told", "a node notes who gets a mutex, and tells nobody"},
    Fault{"copy-always-used", "a copy is used whoever had the mutex last"},
    Fault{"block-not-noted", "a copy is used whatever the block that its core last had the mutex for"},
    Fault{"speculation-always-used", "what was fetched ahead is used, whatever the epochs"},
    Fault{"maturity-ignored", "what was fetched ahead is used although the mutex has just been given back"},
    Fault{"staleness-ignored", "what was fetched ahead is used although an epoch has ended since"},
    Fault{"epochs-apart", "epochs end at each node and each core on their own"},
    Fault{"store-keeps-copy", "an atomic store leaves in L1 what others have written to since"},
    Fault{"late-fetch-used", "who fetches again takes for the answer what was fetched ahead"},
};
constexpr unsigned printed_faults = 1;

inline constexpr auto faults = faults_with(own_faults, write_through::faults);

// The rings and what cores know of them, as a front of the write-through hierarchy.
template <class K>
struct Rings : MemorySystem<K, fear::own_faults, variants>, write_through::PlainWrites<K> {
  using Base = MemorySystem<K, fear::own_faults, variants>;
  using Base::Base, Base::k, Base::machine, Base::agent, Base::cu, Base::is, Base::on_gpu, Base::word_of;
  using Base::variant;
  using typename Base::Agent, typename Base::Block, typename Base::Word;
  using typename Base::Bool, typename Base::Value, typename Base::ThreadIx, typename Base::Cu;
  using Node = typename K::template Ix<NodeTag>;
  using Mutex = typename K::template Ix<MutexTag>;
  using LookupEntry = typename K::template Ix<EntryTag>;

  using MaybeBlock = typename K::template Maybe<BlockTag>;
  using LastCu = typename K::template Maybe<CuTag>;

  // Of a node's mutex status table.
  struct Status {
    Bool taken;
    Bool mature;  // an epoch has ended since it was given back
    LastCu last;  // who had it last
    BOOST_DESCRIBE_CLASS(Status, (), (taken, mature, last), (), ())
  };
  // On its way round the ring.
  struct Update {
    Node origin;
    Mutex mutex;
    Bool taken;
    LastCu last;  // by whom, if it is
    BOOST_DESCRIBE_CLASS(Update, (), (origin, mutex, taken, last), (), ())
  };
  // The busy wire between one node and the next.
  struct Wire {
    Bool up;       // what the next node sees
    Bool ignored;  // by the next node, until it falls
    BOOST_DESCRIBE_CLASS(Wire, (), (up, ignored), (), ())
  };
  struct Atomic {
    typename K::template Enum<Hold> hold;
    Node at;         // who is asked
    Bool stale;      // an epoch has ended since
    Bool exclusive;  // nobody else had the mutex since its CU
    Bool usable;     // what was fetched may be used
    BOOST_DESCRIBE_CLASS(Atomic, (), (hold, at, stale, exclusive, usable), (), ())
  };
  struct State {
    typename K::template Table<Atomic, ThreadTag> atomic;
    typename K::template Table<MaybeBlock, CuTag, EntryTag> lookup;
    typename K::template Table<Status, AgentTag, NodeTag, MutexTag> status;
    typename K::template Table<typename K::template Fifo<Update, RingSlot>, AgentTag, NodeTag> ring;
    typename K::template Table<Wire, AgentTag, NodeTag> wire;
    typename K::template Table<Node, AgentTag> stick;
    typename K::template Table<Bool, AgentTag, MutexTag> release;  // on its way from L2 to a node
    BOOST_DESCRIBE_CLASS(State, (), (atomic, lookup, status, ring, wire, stick, release), (), ())
  };
  // Of a write that brings a mutex back.
  struct Payload {
    Bool gives_back;
    Mutex mutex;
    BOOST_DESCRIBE_CLASS(Payload, (), (gives_back, mutex), (), ())
  };
  static constexpr unsigned own_faults = fear::own_faults.size();
  static constexpr bool performs_atomics = true;

  [[nodiscard]] bool fault(typename Base::FaultName name) const {
    return (is("as-printed") && name.position < printed_faults) || Base::fault(name);
  }

  // ---- What the hierarchy asks ----

  template <class S>
  [[nodiscard]] Bool takes(const S& s, ThreadIx t) const {
    return on_gpu(s, t) && !asks(s, t, Operation::fence) && atomic_beyond_group(s, t);
  }
  // It sends the marker that a release waits for, and what is for the directory when its mutex is here.
  template <class S>
  [[nodiscard]] Bool admits(const S& s, ThreadIx t) const {
    const Bool to_release = releases(s.port(t).request.order) && s.stage(t) == write_through::Stage::idle;
    return !takes(s, t) || to_release || (to_system(s, t) && s.front.atomic(t).hold == Hold::holds);
  }
  // "Piggy-backing the release to the writeback in this way is necessary" (III.C).
  template <class S, class Up>
  void reaches_l2(S& s, Agent a, Up& m) const {
    k.when(m.payload.gives_back, [&] { s.front.release(a, m.payload.mutex) = true; });
    m.payload = Payload{};
  }
  // The directory has, if the thread still holds its mutex.
  template <class S>
  void performed(S& s, ThreadIx t) const {
    k.when(s.front.atomic(t).hold == Hold::holds, [&] {
      s.front.release(agent(t), mutex_of(s, t)) = true;
      s.front.atomic(t) = Atomic{};
    });
  }

  template <class Rules, class Hierarchy>
  void rules(Rules& r, const Hierarchy& hierarchy) const {
    using S = typename Hierarchy::State;
    request_rules<S>(r, hierarchy);
    perform_rules<S>(r, hierarchy);
    ring_rules<S>(r);
    epoch_rules<S>(r);
  }

  template <class Invariants>
  void invariants(Invariants& v) const {
    v.invariant("a mutex has one holder", [=, this](const auto& s) {
      return k.forall(threads, [&](ThreadIx t) {
        return !has(s, t) || (!given_back(s, agent(t), mutex_of(s, t)) && k.forall(threads, [&](ThreadIx u) {
          return t == u || !has(s, u) || agent(t) != agent(u) || mutex_of(s, t) != mutex_of(s, u);
        }));
      });
    });
    v.invariant("a table says whether a mutex is held, or an update is on its way", [=, this](const auto& s) {
      return k.forall(agents, [&](Agent a) {
        return k.forall(mutexes, [&](Mutex m) {
          return under_way(s, a, m) || k.forall(nodes, [&](Node n) {
            return s.front.status(a, n, m).taken == (is_held(s, a, m) || given_back(s, a, m));
          });
        });
      });
    });
  }

  // ---- What claims speak of, too ----

  [[nodiscard]] Mutex mutex_of(Block b) const { return folded<MutexTag, BlockTag>(k, b); }
  [[nodiscard]] LookupEntry entry_of(Mutex m) const { return folded<EntryTag, MutexTag>(k, m); }
  [[nodiscard]] Bool same_wire(const Mutex& a, const Mutex& b) const {
    if (k.template extent<WireTag>() == 1) return true;
    return folded<WireTag, MutexTag>(k, a) == folded<WireTag, MutexTag>(k, b);
  }
  template <class S>
  [[nodiscard]] Mutex mutex_of(const S& s, ThreadIx t) const {
    return mutex_of(s.port(t).request.block);
  }
  [[nodiscard]] bool alone() const { return k.template extent<NodeTag>() == 1; }
  [[nodiscard]] Node next(const Node& n) const {
    Node found = K::template constant<NodeTag>(0);
    for (int i = 0; i + 1 < k.template extent<NodeTag>(); ++i) {
      found = K::select(n == K::template constant<NodeTag>(i), K::template constant<NodeTag>(i + 1), found);
    }
    return found;
  }

  // The atomic takes something from its block, at its L1.
  template <class S>
  [[nodiscard]] Bool reads(const S& s, ThreadIx t) const {
    return !(asks(s, t, Operation::store) || to_system(s, t));
  }
  // The thread has its mutex.
  template <class S>
  [[nodiscard]] Bool has(const S& s, ThreadIx t) const {
    return s.front.atomic(t).hold == Hold::holds;
  }
  template <class S>
  [[nodiscard]] Bool is_held(const S& s, Agent a, const Mutex& m) const {
    return k.exists(threads, [&](ThreadIx t) { return has(s, t) && agent(t) == a && mutex_of(s, t) == m; });
  }
  // The mutex is on its way back.
  template <class S>
  [[nodiscard]] Bool given_back(const S& s, Agent a, const Mutex& m) const {
    return s.front.release(a, m) || k.exists(cus, [&](Cu c) {
      return machine.agent_of(c) == a && K::contains(s.link1(c), [&](const auto& message) {
               return message.payload.gives_back && message.payload.mutex == m;
             });
    });
  }
  template <class S, class F>
  [[nodiscard]] Bool any_update(const S& s, Agent a, F&& f) const {
    return k.exists(nodes, [&](Node n) { return K::contains(s.front.ring(a, n), f); });
  }
  template <class S>
  [[nodiscard]] Bool under_way(const S& s, Agent a, const Mutex& m) const {
    return any_update(s, a, [&](const Update& u) { return u.mutex == m; });
  }

 private:
  [[nodiscard]] bool speculates() const { return fetches_ahead(variant); }

  // ---- The busy wire (II.A) ----
  //
  // "Each node is responsible for keeping the busy wire asserted as indicated by its upstream node [...]
  // until such time as that node indicates it no longer needs to be asserted." A node whose update is back
  // "clears the busy wire": were it to go by its upstream node, it would see what it has sent itself, and
  // the wire would stay up for ever. So it lets the wire fall, and looks at its upstream node again when that
  // has done so.

  [[nodiscard]] bool hop_by_hop() const { return goes_by_hop(variant); }
  template <class S>
  [[nodiscard]] Bool own_update(const S& s, Agent a, const Node& n) const {
    return any_update(s, a, [&](const Update& u) { return u.origin == n; });
  }
  // What the node sees of its upstream node stands at the wire that leads to it.
  template <class S>
  [[nodiscard]] Bool seen(const S& s, Agent a, const Node& n) const {
    return k.exists(nodes, [&](Node up) {
      return next(up) == n && s.front.wire(a, up).up && !s.front.wire(a, up).ignored;
    });
  }
  template <class S>
  [[nodiscard]] Bool asserts(const S& s, Agent a, const Node& n) const {
    return own_update(s, a, n) || seen(s, a, n);
  }
  // The next node sees what this one does: the wire is at least as fast as the stick and the updates.
  template <class S>
  [[nodiscard]] Bool wire_follows(const S& s, Agent a, const Node& n) const {
    return !Bool(hop_by_hop()) || s.front.wire(a, n).up == asserts(s, a, n);
  }
  template <class S>
  [[nodiscard]] Bool busy(const S& s, Agent a, const Node& n, const Mutex& m) const {
    if (hop_by_hop()) return asserts(s, a, n);
    return any_update(s, a, [&](const Update& u) { return same_wire(u.mutex, m); });
  }

  // The stick is "implied" (II.A), by how many cycles have passed: anybody may have it at any moment. It is
  // state only where it matters how far the wire has come meanwhile.
  template <class S>
  [[nodiscard]] Bool has_turn(const S& s, Agent a, const Node& n) const {
    return hop_by_hop() ? Bool(s.front.stick(a) == n) : Bool(true);
  }

  // ---- Requests, and who gives a mutex away ----

  template <class S>
  [[nodiscard]] Bool room(const S& s, Agent a, const Node& n) const {
    return Bool(alone()) || !k.full(s.front.ring(a, n));
  }
  template <class S>
  void tell(S& s, Agent a, const Node& n, const Mutex& m, const LastCu& taker) const {
    if (alone()) return;
    Update u;
    u.origin = n;
    u.mutex = m;
    u.taken = s.front.status(a, n, m).taken;
    u.last = taker;
    k.push(s.front.ring(a, n), u);
  }
  // Its node could give the mutex away, had it the stick.
  template <class S>
  [[nodiscard]] Bool could_be_granted(const S& s, ThreadIx t) const {
    const Atomic& atomic = s.front.atomic(t);
    const Agent a = agent(t);
    const Mutex m = mutex_of(s, t);
    return atomic.hold == Hold::asks && !s.front.status(a, atomic.at, m).taken &&
           (Bool(fault("busy-ignored")) || !busy(s, a, atomic.at, m));
  }

  template <class S, class Rules, class Hierarchy>
  void request_rules(Rules& r, const Hierarchy& hierarchy) const {
    // "It makes a request of the node nearest it" (III.D); "memory fetches are issued in parallel with a
    // mutex request" (III.C).
    r.rule(
        {.name = "atomic asks for its mutex", .unit = "L1", .source = "III.C, D"}, over(threads, nodes),
        [=, this](const S& s, ThreadIx t, Node) {
          const Bool fetches = Bool(speculates()) && reads(s, t);
          return takes(s, t) && hierarchy.release_done(s, t) && s.front.atomic(t).hold == Hold::none &&
                 (!fetches || hierarchy.can_send(s, cu(t)));
        },
        [=, this](S& s, ThreadIx t, Node n) {
          s.front.atomic(t).hold = Hold::asks;
          s.front.atomic(t).at = n;
          if (speculates()) k.when(reads(s, t), [&] { hierarchy.fetch1(s, t); });
        });
    // "1) it is their turn (i.e., they have the 'talking stick'), 2) they have up-to-date mutex information
    // (as indicated by the appropriate busy wire being clear), 3) their mutex status table indicates that the
    // mutex is available" (III.D). "When the requester receives the mutex, if it is mature, it checks whether
    // or not its request is stale" (III.C); it has it at once, since to this request an epoch that ends on
    // the way does what one that ends before does. The lookup table says for which address it had the mutex
    // (III.A).
    r.rule(
        {.name = "node gives a mutex away", .unit = "ring", .source = "III.D"}, over(threads),
        [=, this](const S& s, ThreadIx t) {
          const Agent a = agent(t);
          return could_be_granted(s, t) && has_turn(s, a, s.front.atomic(t).at) &&
                 room(s, a, s.front.atomic(t).at);
        },
        [=, this](S& s, ThreadIx t) {
          const Agent a = agent(t);
          Atomic& atomic = s.front.atomic(t);
          const Node n = atomic.at;
          const Mutex m = mutex_of(s, t);
          Status& status = s.front.status(a, n, m);
          atomic.hold = Hold::holds;
          atomic.at = Node{};
          if (speculates()) {
            const Bool mature = status.mature || Bool(fault("maturity-ignored"));
            const Bool fresh = !atomic.stale || Bool(fault("staleness-ignored"));
            atomic.usable = Bool(fault("speculation-always-used")) || (mature && fresh);
            atomic.stale = false;
          }
          const MaybeBlock block = s.port(t).request.block;
          MaybeBlock& noted = s.front.lookup(cu(t), entry_of(m));
          const Bool same = noted == block;
          atomic.exclusive = Bool(fault("copy-always-used")) ||
                             (status.last == LastCu(cu(t)) && (same || Bool(fault("block-not-noted"))));
          noted = block;
          status.taken = true;
          status.mature = false;
          const LastCu before = status.last;
          LastCu taker = cu(t);
          if (fault("first-not-last")) k.when(before.has(), [&] { taker = before; });
          status.last = taker;
          if (fault("last-not-told")) taker = LastCu{};
          if (!fault("grant-not-told")) tell(s, a, n, m, taker);
        });
  }

  // ---- The atomic itself ----

  template <class S>
  [[nodiscard]] Bool hits(const S& s, ThreadIx t) const {
    return s.front.atomic(t).exclusive && s.l1(cu(t), s.port(t).request.block).present;
  }
  // Nothing that was fetched is on its way.
  template <class S>
  [[nodiscard]] Bool fetch_is_in(const S& s, ThreadIx t) const {
    return s.read(t).stage == write_through::ReadStage::none ||
           s.read(t).stage == write_through::ReadStage::from_l2;
  }

  template <class S, class Rules, class Hierarchy>
  void perform_rules(Rules& r, const Hierarchy& hierarchy) const {
    using Read = typename Hierarchy::Read;
    const auto holds = [=](const S& s, ThreadIx t) { return s.front.atomic(t).hold == Hold::holds; };
    // A write needs room; who writes nothing gives the mutex back at once.
    const auto room_to_write = [=, this](const S& s, ThreadIx t) {
      return asks(s, t, Operation::load) || hierarchy.can_send(s, cu(t));
    };
    const auto perform = [=, this](S& s, ThreadIx t, const Value& old) {
      const auto& q = s.port(t).request;
      const Mutex m = mutex_of(s, t);
      k.when(
          q.operation == Operation::load, [&] { s.front.release(agent(t), m) = true; },
          [&] {
            const Value result = K::select(q.operation == Operation::rmw, rmw_result(k, q, old), Value(q.a));
            auto write = hierarchy.write_message(q.block, q.word, result);
            if (fault("release-overtakes-write")) {
              s.front.release(agent(t), m) = true;
            } else {
              write.payload.gives_back = true;
              write.payload.mutex = m;
            }
            hierarchy.write_at_l1(s, cu(t), write);
          });
      k.when(q.operation != Operation::store, [&] { s.port(t).result = old; });
      s.front.atomic(t) = Atomic{};
      hierarchy.performed(s, t);
    };
    r.rule(
        {.name = "atomic stores under its mutex", .unit = "L1", .source = "ours"}, over(threads),
        [=](const S& s, ThreadIx t) {
          return holds(s, t) && asks(s, t, Operation::store) && !to_system(s, t) && room_to_write(s, t);
        },
        [=, this](S& s, ThreadIx t) {
          if (!fault("store-keeps-copy"))
            k.when(!hits(s, t), [&] { hierarchy.drop_from_l1(s, cu(t), s.port(t).request.block); });
          perform(s, t, Value(0));
        });
    // "Note that in cases where the requesting node can use locally cached data, the speculative fetch data
    // is ignored" (III.C).
    r.rule(
        {.name = "atomic finds its copy", .unit = "L1", .source = "III.A"}, over(threads),
        [=, this](const S& s, ThreadIx t) {
          return holds(s, t) && reads(s, t) && hits(s, t) && fetch_is_in(s, t) && room_to_write(s, t);
        },
        [=, this](S& s, ThreadIx t) {
          const auto& q = s.port(t).request;
          const Value old = word_of(s.l1(cu(t), q.block).data, q.word);
          s.read(t) = Read{};
          perform(s, t, old);
        });
    r.rule(
        {.name = "atomic takes what was fetched", .unit = "L1", .source = "III.C"}, over(threads),
        [=, this](const S& s, ThreadIx t) {
          return holds(s, t) && s.read(t).stage == write_through::ReadStage::from_l2 && !hits(s, t) &&
                 s.front.atomic(t).usable && !s.read(t).stale1 && room_to_write(s, t);
        },
        [=, this](S& s, ThreadIx t) {
          const auto& q = s.port(t).request;
          const auto data = s.read(t).data;
          // What else is on its way to this L1 may be older.
          hierarchy.drop_from_l1(s, cu(t), q.block);
          hierarchy.install(s.l1(cu(t), q.block), data);
          s.read(t) = Read{};
          perform(s, t, word_of(data, q.word));
        });
    r.rule(
        {.name = "atomic fetches its block", .unit = "L1", .source = "III.C"}, over(threads),
        [=, this](const S& s, ThreadIx t) {
          const Bool none = s.read(t).stage == write_through::ReadStage::none;
          const Bool in_vain = s.read(t).stage == write_through::ReadStage::from_l2 &&
                               (!s.front.atomic(t).usable || s.read(t).stale1);
          return holds(s, t) && reads(s, t) && !hits(s, t) && (none || in_vain) &&
                 hierarchy.can_send(s, cu(t));
        },
        [=, this](S& s, ThreadIx t) {
          s.read(t) = Read{};
          s.front.atomic(t).usable = true;
          hierarchy.fetch1(s, t);
        });
    if (fault("late-fetch-used")) {
      r.rule(
          {.name = "atomic fetches its block beside", .unit = "L1", .source = "III.C"}, over(threads),
          [=, this](const S& s, ThreadIx t) {
            return holds(s, t) && reads(s, t) && !hits(s, t) && !fetch_is_in(s, t) &&
                   !s.front.atomic(t).usable;
          },
          [=](S& s, ThreadIx t) { s.front.atomic(t).usable = true; });
    }
  }

  // ---- The ring ----

  template <class S, class Rules>
  void ring_rules(Rules& r) const {
    // "This nearest node then indicates in their mutex status table that the mutex is now available,
    // generates another update message" (III.D); in AtomNaive "release of the mutex would then again involve
    // waiting for the talking stick to return" (II.A).
    r.rule(
        {.name = "node takes a mutex back", .unit = "ring", .source = "III.D"}, over(agents, nodes, mutexes),
        [=, this](const S& s, Agent a, Node n, Mutex m) {
          if (fault("release-out-of-turn")) return s.front.release(a, m) && room(s, a, n);
          return s.front.release(a, m) && has_turn(s, a, n) && !busy(s, a, n, m) && room(s, a, n);
        },
        [=, this](S& s, Agent a, Node n, Mutex m) {
          s.front.release(a, m) = false;
          s.front.status(a, n, m).taken = false;
          s.front.status(a, n, m).mature = false;
          tell(s, a, n, m, LastCu{});
        });
    if (alone()) return;
    r.triggered(
        {.name = "update reaches the next node", .unit = "ring", .source = "III.D"}, over(agents, nodes),
        [](auto& s, Agent a, Node n) -> auto& { return s.front.ring(a, n); },
        [=, this](const S& s, Agent a, Node n, const Update& u) {
          const Node to = next(n);
          return (u.origin == to || room(s, a, to)) && wire_follows(s, a, n);
        },
        [=, this](S& s, Agent a, Node n, const Update& u) {
          const Node to = next(n);
          k.when(
              u.origin == to,
              [&] {
                if (hop_by_hop())
                  k.when(!own_update(s, a, to), [&] { s.front.wire(a, n).ignored = s.front.wire(a, n).up; });
              },
              [&] {
                Status& status = s.front.status(a, to, u.mutex);
                status.taken = u.taken;
                status.mature = false;
                k.when(u.last.has(), [&] { status.last = u.last; });
                k.push(s.front.ring(a, to), u);
              });
        });
    if (!hop_by_hop()) return;
    // It goes on where somebody waits for it: otherwise nobody can tell where it is.
    r.rule(
        {.name = "talking stick goes on", .unit = "ring", .source = "II.A"}, over(agents),
        [=, this](const S& s, Agent a) {
          const Node here = s.front.stick(a);
          const Bool to_ask = k.exists(threads, [&](ThreadIx t) {
            return could_be_granted(s, t) && agent(t) == a && s.front.atomic(t).at != here;
          });
          const Bool to_take_back = Bool(!fault("release-out-of-turn")) && k.exists(mutexes, [&](Mutex m) {
            return s.front.release(a, m) &&
                   k.exists(nodes, [&](Node n) { return n != here && !busy(s, a, n, m); });
          });
          return wire_follows(s, a, here) && (to_ask || to_take_back);
        },
        [=, this](S& s, Agent a) { s.front.stick(a) = next(s.front.stick(a)); });
    r.rule(
        {.name = "busy wire follows", .unit = "ring", .source = "II.A"}, over(agents, nodes),
        [=, this](const S& s, Agent a, Node n) { return !wire_follows(s, a, n); },
        [=, this](S& s, Agent a, Node n) {
          Wire& wire = s.front.wire(a, n);
          wire.up = !wire.up;
          wire.ignored = wire.ignored && wire.up;
        });
  }

  // ---- Epochs ----

  template <class S>
  [[nodiscard]] Bool ages(const S& s, ThreadIx t) const {
    return s.front.atomic(t).hold == Hold::asks && !s.front.atomic(t).stale && reads(s, t);
  }
  template <class S>
  [[nodiscard]] static Bool matures(const S& s, Agent a, const Node& n, const Mutex& m) {
    return !s.front.status(a, n, m).taken && !s.front.status(a, n, m).mature;
  }

  // "At the boundary of each epoch, all responders indicate that their mutex releases [...] are mature and
  // all requesters indicate that their outstanding mutex requests are stale" (III.C). One that changes
  // nothing is none.
  template <class S, class Rules>
  void epoch_rules(Rules& r) const {
    if (!speculates()) return;
    const auto age = [=, this](S& s, ThreadIx t) {
      k.when(ages(s, t), [&] { s.front.atomic(t).stale = true; });
    };
    const auto mature = [=, this](S& s, Agent a, Node n) {
      k.for_each(mutexes, [&](Mutex m) {
        k.when(matures(s, a, n, m), [&] { s.front.status(a, n, m).mature = true; });
      });
    };
    const auto has_immature = [=, this](const S& s, Agent a, Node n) {
      return k.exists(mutexes, [&](Mutex m) { return matures(s, a, n, m); });
    };
    if (fault("epochs-apart")) {
      r.rule(
          {.name = "epoch ends at a requester", .unit = "L1", .source = "III.C"}, over(threads),
          [=, this](const S& s, ThreadIx t) { return ages(s, t); }, age);
      r.rule({.name = "epoch ends at a node", .unit = "ring", .source = "III.C"}, over(agents, nodes),
             has_immature, mature);
      return;
    }
    r.rule(
        {.name = "epoch ends", .unit = "ring", .source = "III.C"}, over(),
        [=, this](const S& s) {
          return k.exists(threads, [&](ThreadIx t) { return ages(s, t); }) || k.exists(agents, [&](Agent a) {
            return k.exists(nodes, [&](Node n) { return has_immature(s, a, n); });
          });
        },
        [=, this](S& s) {
          k.for_each(threads, [&](ThreadIx t) { age(s, t); });
          k.for_each(agents, [&](Agent a) { k.for_each(nodes, [&](Node n) { mature(s, a, n); }); });
        });
  }
};

struct Info : MemoryInfo<faults, variants, write_through::Link1Slot, write_through::Link2Slot, NodeTag,
                         MutexTag, EntryTag, WireTag, RingSlot> {
  static constexpr std::string_view name = "fear";
  static constexpr std::string_view what =
      "atomics performed in L1 under mutexes of a ring (Franey and Lipasti: FEAR, AtomNaive, AtomDir)";
  static constexpr int place = 18;  // among the systems, where people read of them
  // Fields that no rule reads: where the wire is seen by all, where nothing is fetched ahead, and where
  // copies are used whatever they are of.
  static constexpr bool is_unread(std::string_view field, std::string_view variant, std::string_view fault) {
    int number = 0;
    while (variants[static_cast<std::size_t>(number)].name != variant) ++number;
    const bool by_hop = goes_by_hop(number);
    const bool speculates = fetches_ahead(number);
    return (!by_hop && (field == "front.wire(agent, ring-node).up" ||
                        field == "front.wire(agent, ring-node).ignored" || field == "front.stick(agent)")) ||
           (!speculates && (field == "front.atomic(thread).stale" ||
                            field == "front.status(agent, ring-node, mutex).mature")) ||
           (field == "front.lookup(cu, lookup-entry)" &&
            (fault == "copy-always-used" || fault == "block-not-noted"));
  }
  template <class S>
  static constexpr void default_sizes(S& sizes, int variant) {
    write_through::Info::default_sizes(sizes, variant);
    const bool by_hop = goes_by_hop(variant);
    const bool mutex_each = has_mutex_each(variant);
    sizes.template set<NodeTag>(is(variant, "atom-dir") ? 1 : by_hop ? 3 : 2);
    const int mutexes_there = mutex_each ? sizes.template extent<BlockTag>() : 1;
    sizes.template set<MutexTag>(mutexes_there);
    sizes.template set<EntryTag>(mutexes_there);
    sizes.template set<WireTag>(by_hop ? 1 : mutexes_there);
    const int updates = mutexes_there + (by_hop ? 1 : 0);
    sizes.template set<RingSlot>(std::max(2, updates));
  }
  template <class K>
  using Memory = write_through::Protocol<K, Rings>;
};

}  // namespace lockstep::fear
