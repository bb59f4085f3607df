// HALCONE: coherence of several GPUs by logical time. A block is leased to a cache until a logical time;
// every cache has a clock (cts), every write is put behind all leases of its block, and a copy whose lease
// has run out is fetched again. Nobody is ever invalidated.
//
// Source: Mojumder et al., "HALCONE: A Hardware-Level Timestamp-based Cache Coherence Scheme for Multi-GPU
// systems", 2020: Algorithms 1 to 5, 3.2.1 to 3.2.6; G-TSC as told in 2.2. An L1 for each CU, an L2 for
// each GPU in banks with a clock each (3.2.6 counts one cts a bank), main memory (MM) with the timestamp
// unit (TSU).
//
// A request and its response are messages in flight, one for each thread that waits: a CU is answered only
// at the end of Algorithms 1 and 4, so a thread has one request out at a time. They overtake each other
// freely unless links are `ordered`; in `atomic`, one is answered before the next is sent. Reads of a block
// that a cache has asked for already are sent on all the same, but in `merged`, where they wait and look
// again.
//
// As printed (`as-printed`), where the text leaves a choice:
//  - "Brts = max[wts + 1, rts]": wts is the response's; `as-printed-block-wts` takes it to be the block's
//    new Bwts, which lets a cache prolong a lease that memory has given it.
//  - Algorithms 1 and 2 leave cts alone after a read. The prose of 3.2.3, steps 5 and 6, says that caches
//    update it.
//  - "Mwts = Mrts - WrLease": a write begins at the end of the newest lease; in Fig. 5 it begins one later.
//  - a write that hits is answered with timestamps alone, and renews the lease of words that it has not
//    written.
//  - "access to the block" is locked for requests and for fills alike.
//  - the TSU may drop an entry whose memts is not "within one lease period" (memts > RdLease), since an L2
//    may replace the block at any time; and the lowest memts whenever a block comes that it does not know,
//    since it may be of any size.
//  - a timestamp that overflows becomes 0 (3.2.6), of that entry alone.
//  - acquire and release order issue, which a thread with one request at a time does anyway. Atomic loads
//    and stores are loads and stores. An RMW, which the paper does not have, MM performs like a write.
// The default variant differs where the checker convicts the print; each difference is a fault
// (docs/findings.md). What it adds for scopes is ours, and is the least that we know of:
//  - an atomic store or RMW beyond its work-group carries the clock of its L1, and begins no earlier;
//  - an atomic load at agent scope is answered by L2, at system scope by MM, which gives no lease to it; it
//    moves its L1's clock to the time of what it read, and an acquire at system scope the clocks of all
//    banks of its L2;
//  - an acquire fence (and a kernel's begin) moves its L1's clock to the latest memts, at system scope the
//    clocks of all banks of its L2, too.
// `time-carried` goes the way of G-TSC instead: every request carries the time of its L1.
//
// The CPUs, which the paper leaves out, have no caches and one clock here, which an acquire fence of theirs
// moves to the latest memts; a logical time that would overflow restarts everywhere at once, with empty
// caches.
#pragma once

#include <algorithm>
#include <array>
#include <boost/describe.hpp>
#include <cstdint>
#include <string_view>

#include "spec/kernel/folded.hpp"
#include "spec/kernel/rules.hpp"
#include "spec/memory/memory_system.hpp"

namespace lockstep::halcone {

// Amounts, in units of logical time: how many timestamps there are (0, 1, ...), and the leases.
struct TimestampTag : Amounts<"timestamps", 64> {};
struct ReadLease : Amounts<"read-lease", 31> {};
// Of all blocks but the first: leases may be chosen for each block (footnote 5, and Fig. 5).
struct OtherReadLease : Amounts<"read-lease-of-others", 31> {};
struct WriteLease : Amounts<"write-lease", 31> {};
// Banks of an L2, with a clock each (3.1: eight); blocks go to them in turn.
struct BankTag : Indices<"bank", 8> {
  static constexpr bool is_free = true;
};
inline constexpr BankTag banks{};
// Main memory, of which there is one.
struct MmTag : FixedNumbered<"mm", 1> {};
// Messages of one link, where links keep order.
struct LinkSlot : Slots<"link-messages", 5> {};

// Where a thread's request, or the response to it, is.
enum class Stage : std::uint8_t { none, to_l2, to_memory, from_memory, from_l2 };
BOOST_DESCRIBE_ENUM(Stage, none, to_l2, to_memory, from_memory, from_l2)

inline constexpr std::array variants{
    Variant{"default", "repaired, with synchronization by scopes"},
    Variant{"as-printed", "Algorithms 1 to 5 as they stand"},
    Variant{"as-printed-block-wts", "the same; Brts = max[wts + 1, rts] with the block's new wts"},
    Variant{"as-printed-ordered", "as-printed, and links keep order"},
    Variant{"one-clock", "default, and an L2 has one bank, as in Fig. 5"},
    Variant{"ordered", "default, and links keep order"},
    Variant{"merged", "default, and a read waits where another of its block is on its way from its cache"},
    Variant{"atomic", "default, and one request is answered before the next is sent"},
    Variant{"time-carried", "every request carries the time of its L1, as in G-TSC (2.2)"},
    Variant{"polls-leases",
            "default, and an atomic load may hit a copy on lease: it may wait for ever, or be too early"},
};

inline constexpr std::array faults{
    Fault{"write-joins-lease", "a write begins at the end of the newest lease (Alg. 3)"},
    Fault{"lease-prolonged", "a cache prolongs a lease to its own clock plus one"},
    Fault{"lease-prolonged-by-answer", "a cache prolongs a lease to the wts of what it is answered plus one"},
    Fault{"hit-keeps-words", "a write that hits renews the lease of words it has not fetched"},
    Fault{"read-keeps-clock", "a read leaves the clock of its L1 alone"},
    Fault{"store-without-time", "an atomic store or RMW does not carry the clock of its L1"},
    Fault{"acquire-keeps-l1-clock", "an atomic load does not move the clock of its L1"},
    Fault{"acquire-keeps-bank-clocks", "an acquire at system scope does not move the clocks of L2's banks"},
    Fault{"fence-keeps-l1", "an acquire fence does not move the clock of L1"},
    Fault{"fence-keeps-l2", "an acquire fence at system scope does not move the clocks of L2's banks"},
    Fault{"entry-forgotten", "a block whose TSU entry was dropped starts at time 0 again"},
    Fault{"overflow-forgets-leases", "a timestamp that overflows becomes 0, and copies stay (3.2.6)"},
    Fault{"lease-not-recorded", "the TSU does not note the lease of a read"},
    Fault{"expired-copy-read", "an L1 does not compare its clock with the lease"},
    Fault{"write-not-locked", "a block stays readable while its write is on the way"},
    Fault{"merged-by-address", "a read takes the answer to one that was on its way, whatever time it is"},
};

template <class K>
struct Protocol : MemorySystem<K, faults, variants> {
  using Base = MemorySystem<K, faults, variants>;
  using Base::agent, Base::cu, Base::on_cpu, Base::on_gpu, Base::put, Base::same, Base::word_of;
  using Base::Base, Base::k, Base::machine, Base::fault, Base::is;
  using typename Base::Block, typename Base::Word, typename Base::FaultName;
  using typename Base::Bool, typename Base::Number, typename Base::Value, typename Base::Data;
  using typename Base::ThreadIx, typename Base::Cu, typename Base::Agent;
  using Bank = typename K::template Ix<BankTag>;
  using Time = typename K::template Int<0, K::Sizes::template capacity<TimestampTag>() - 1>;
  using Link = typename K::template Fifo<ThreadIx, LinkSlot>;

  struct Line {
    Bool present;
    Bool locked;
    Data data;
    Time wts;
    Time rts;
    BOOST_DESCRIBE_CLASS(Line, (), (present, locked, data, wts, rts), (), ())
  };
  struct Transit {
    typename K::template Enum<Stage> stage;
    Bool hit1;    // a write that has L1's copy locked
    Bool hit2;    // a write that has L2's copy locked
    Bool joined;  // a read that takes another's answer
    Data data;
    Time wts;  // of a response; of a request, the time that it carries
    Time rts;  // 0: without a lease
    BOOST_DESCRIBE_CLASS(Transit, (), (stage, hit1, hit2, joined, data, wts, rts), (), ())
  };
  struct Entry {
    Bool present;
    Time memts;
    BOOST_DESCRIBE_CLASS(Entry, (), (present, memts), (), ())
  };
  struct Times {
    Time forgotten;  // no entry that the TSU has dropped was later
    Time latest;     // of the leases that the TSU has given
    Time cpu_clock;
    BOOST_DESCRIBE_CLASS(Times, (), (forgotten, latest, cpu_clock), (), ())
  };
  struct State {
    typename K::template Table<Port<K>, ThreadTag> port;
    typename K::template Table<Transit, ThreadTag> transit;
    typename K::template Table<Time, CuTag> clock1;
    typename K::template Table<Line, CuTag, BlockTag> l1;
    typename K::template Table<Time, AgentTag, BankTag> clock2;
    typename K::template Table<Line, AgentTag, BlockTag> l2;
    typename K::template Table<Entry, BlockTag> tsu;
    typename K::template Table<Times, MmTag> mm;
    typename K::template Table<Data, BlockTag> memory;
    typename K::template Table<Link, CuTag> up1;
    typename K::template Table<Link, CuTag> down1;
    typename K::template Table<Link, AgentTag> up2;
    typename K::template Table<Link, AgentTag> down2;
    BOOST_DESCRIBE_CLASS(State, (),
                         (port, transit, clock1, l1, clock2, l2, tsu, mm, memory, up1, down1, up2, down2), (),
                         ())
  };
  using Rules = RuleList<K, State>;
  using Invariants = InvariantList<K, State>;

  void initialise(State& s, Block b, Word w, Value v) const { s.memory(b)(w) = v; }
  [[nodiscard]] Value final_value(const State& s, Block b, Word w) const { return s.memory(b)(w); }
  [[nodiscard]] Bool drained(const State&) const { return true; }
  // An atomic that asks MM: one that hits a lease in L2 is not seen there.
  [[nodiscard]] Bool to_be_performed(const State& s, ThreadIx t) const {
    return asks_memory(s, t) && (machine.is_host(t) || atomic_beyond_group(s, t));
  }
  [[nodiscard]] Value found(const State& s, ThreadIx t) const {
    return K::select(asks(s, t, Operation::rmw) || machine.is_host(t), Value(s.port(t).result),
                     word_of(s.transit(t).data, s.port(t).request.word));
  }

  void rules(Rules& r) const {
    read_request_to_l1(r);   // Algorithm 1
    read_request_to_l2(r);   // Algorithm 2
    write_request_to_l1(r);  // Algorithm 4
    write_request_to_l2(r);  // Algorithm 5
    response_rules(r);       // the ends of all four
    request_to_mm(r);        // Algorithm 3
    synchronization_rules(r);
    replacement_rules(r);
    cpu_rules(r);
  }

  void invariants(Invariants& v) const {
    v.invariant("no lease of a copy ends after memory's time", [=, this](const State& s) {
      return k.forall(blocks, [&](Block b) {
        const Number now = memory_time(s, b);
        return k.forall(cus, [&](Cu c) { return !readable1(s, c, b) || s.l1(c, b).rts <= now; }) &&
               k.forall(agents, [&](Agent a) { return !readable2(s, a, b) || s.l2(a, b).rts <= now; }) &&
               k.forall(threads, [&](ThreadIx t) { return !brings(s, t, b) || s.transit(t).rts <= now; });
      });
    });
    v.invariant("copies that may be read at one time are the same", [=, this](const State& s) {
      return k.forall(blocks, [&](Block b) {
        return k.forall(cus, [&](Cu c) {
          return !readable1(s, c, b) || (k.forall(cus, [&](Cu d) {
            return !readable1(s, d, b) || agree(s.l1(c, b), s.clock1(c), s.l1(d, b), s.clock1(d));
          }) && k.forall(agents, [&](Agent a) {
            return !readable2(s, a, b) || agree(s.l1(c, b), s.clock1(c), s.l2(a, b), clock2(s, a, b));
          }));
        });
      });
    });
    v.invariant("a copy with the newest lease is what memory holds", [=, this](const State& s) {
      return k.forall(blocks, [&](Block b) {
        const Number now = memory_time(s, b);
        const auto newest = [&](const Line& copy) { return copy.rts < now || same(copy.data, s.memory(b)); };
        return k.forall(cus, [&](Cu c) { return !readable1(s, c, b) || newest(s.l1(c, b)); }) &&
               k.forall(agents, [&](Agent a) { return !readable2(s, a, b) || newest(s.l2(a, b)); });
      });
    });
    v.invariant("a locked block waits for a write that is on its way", [=, this](const State& s) {
      return k.forall(blocks, [&](Block b) {
        return k.forall(cus, [&](Cu c) {
          return !s.l1(c, b).locked || k.exists(threads, [&](ThreadIx t) {
            return in_flight(s, t) && s.transit(t).hit1 && cu(t) == c && block(s, t) == b;
          });
        }) && k.forall(agents, [&](Agent a) {
          return !s.l2(a, b).locked || k.exists(threads, [&](ThreadIx t) {
            return in_flight(s, t) && s.transit(t).hit2 && agent(t) == a && block(s, t) == b;
          });
        });
      });
    });
  }

  // ---- what rules, invariants and lemmas ask -------------------------------------------------------------

  [[nodiscard]] bool printed() const {
    return is("as-printed") || is("as-printed-block-wts") || is("as-printed-ordered");
  }
  [[nodiscard]] bool ordered() const { return is("ordered") || is("as-printed-ordered"); }
  // A part of the print that the default repairs, or that a fault breaks again.
  [[nodiscard]] bool prints(FaultName name) const { return printed() || fault(name); }
  [[nodiscard]] bool carries_time() const { return is("time-carried"); }
  [[nodiscard]] bool knows_scopes() const { return !printed() && !carries_time(); }

  [[nodiscard]] static Block block(const State& s, ThreadIx t) { return s.port(t).request.block; }
  [[nodiscard]] static Bool in_flight(const State& s, ThreadIx t) {
    return s.transit(t).stage != Stage::none;
  }

  [[nodiscard]] Number read_lease(Block b) const {
    return K::select(b == K::template constant<BlockTag>(0), Number(k.template extent<ReadLease>()),
                     Number(k.template extent<OtherReadLease>()));
  }
  // MM is to serve the thread's request next.
  [[nodiscard]] Bool asks_memory(const State& s, ThreadIx t) const {
    return at_memory(s, t) || (on_cpu(s, t) && !asks(s, t, Operation::fence));
  }

  // There is no timestamp for the lease that it will be given.
  [[nodiscard]] Bool overflows(const State& s, ThreadIx t) const {
    return !only_looks(s, t) && lease_end(s, t) > Number(last_timestamp());
  }

  static Number later(const Number& a, const Number& b) { return K::select(a < b, b, a); }
  static Number earlier(const Number& a, const Number& b) { return K::select(a < b, a, b); }
  [[nodiscard]] int last_timestamp() const { return k.template extent<TimestampTag>() - 1; }

  // Of the bank that the block is in.
  template <class S>
  [[nodiscard]] auto& clock2(S& s, Agent a, Block b) const {
    return s.clock2(a, folded<BankTag, BlockTag>(k, b));
  }
  // "The data in the cache block is valid only if cts [...] is within the lease" (Table 1).
  [[nodiscard]] static Bool valid(const Line& line, const Time& clock) {
    return line.present && clock <= line.rts;
  }
  [[nodiscard]] Bool readable1(const State& s, Cu c, Block b) const {
    const Line& line = s.l1(c, b);
    return valid(line, s.clock1(c)) && !line.locked;
  }
  [[nodiscard]] Bool readable2(const State& s, Agent a, Block b) const {
    const Line& line = s.l2(a, b);
    return valid(line, clock2(s, a, b)) && !line.locked;
  }
  // A response that brings a lease of the block.
  [[nodiscard]] Bool brings(const State& s, ThreadIx t, Block b) const {
    const auto& stage = s.transit(t).stage;
    return (stage == Stage::from_memory || stage == Stage::from_l2) && block(s, t) == b;
  }
  // The times at which both may be read from now on, if any, see the same data.
  [[nodiscard]] Bool agree(const Line& a, const Time& clock_a, const Line& b, const Time& clock_b) const {
    const Number from = later(later(a.wts, clock_a), later(b.wts, clock_b));
    return earlier(a.rts, b.rts) < from || same(a.data, b.data);
  }

  [[nodiscard]] static const Times& mm(const State& s) { return s.mm(K::template constant<MmTag>(0)); }
  [[nodiscard]] static Times& mm(State& s) { return s.mm(K::template constant<MmTag>(0)); }
  // "Initialization: Memts = 0"; an entry that comes back must not begin before leases it once gave.
  [[nodiscard]] Number memory_time(const State& s, Block b) const {
    const Number fresh = prints("entry-forgotten") ? Number(0) : Number(mm(s).forgotten);
    return K::select(s.tsu(b).present, Number(s.tsu(b).memts), fresh);
  }

 private:
  // ---- messages -----------------------------------------------------------------------------------------

  [[nodiscard]] Bool first(const Link& link, ThreadIx t) const {
    if (!ordered()) return true;
    return !link.empty() && link.head() == t;
  }
  void send(Link& link, ThreadIx t) const {
    if (ordered()) k.push(link, t);
  }
  void receive(Link& link) const {
    if (ordered()) k.pop(link);
  }
  [[nodiscard]] Bool at_l2(const State& s, ThreadIx t) const {
    return s.transit(t).stage == Stage::to_l2 && first(s.up1(cu(t)), t);
  }
  [[nodiscard]] Bool at_memory(const State& s, ThreadIx t) const {
    return s.transit(t).stage == Stage::to_memory && first(s.up2(agent(t)), t);
  }
  [[nodiscard]] Bool back_at_l2(const State& s, ThreadIx t) const {
    return s.transit(t).stage == Stage::from_memory && first(s.down2(agent(t)), t);
  }
  [[nodiscard]] Bool back_at_l1(const State& s, ThreadIx t) const {
    return s.transit(t).stage == Stage::from_l2 && first(s.down1(cu(t)), t);
  }
  [[nodiscard]] Bool may_send(const State& s) const {
    if (!is("atomic")) return true;
    return k.forall(threads, [&](ThreadIx t) { return !in_flight(s, t); });
  }
  void send_to_l2(State& s, ThreadIx t) const {
    s.transit(t).stage = Stage::to_l2;
    const Bool carries = Bool(carries_time()) || (atomic_beyond_group(s, t) && writes(s, t) &&
                                                  Bool(knows_scopes()) && Bool(!fault("store-without-time")));
    k.when(carries, [&] { s.transit(t).wts = s.clock1(cu(t)); });
    send(s.up1(cu(t)), t);
  }
  void send_to_memory(State& s, ThreadIx t) const {
    receive(s.up1(cu(t)));
    s.transit(t).stage = Stage::to_memory;
    send(s.up2(agent(t)), t);
  }
  void respond_to_l1(State& s, ThreadIx t) const {
    s.transit(t).stage = Stage::from_l2;
    send(s.down1(cu(t)), t);
  }

  // Another read of the block has gone from the thread's L1, or from its L2, and is not back.
  [[nodiscard]] Bool merges1(const State& s, ThreadIx t) const {
    return !passes_l1(s, t) && exists_asking(k, s.port, block(s, t), [&](ThreadIx u) {
      return asks(s, u, Operation::load) && in_flight(s, u) && cu(u) == cu(t) && !passes_l1(s, u);
    });
  }
  [[nodiscard]] Bool merges2(const State& s, ThreadIx t) const {
    return !passes_l2(s, t) && exists_asking(k, s.port, block(s, t), [&](ThreadIx u) {
      const auto& stage = s.transit(u).stage;
      return asks(s, u, Operation::load) && (stage == Stage::to_memory || stage == Stage::from_memory) &&
             agent(u) == agent(t) && !passes_l2(s, u);
    });
  }
  [[nodiscard]] bool waits_for_others() const { return is("merged"); }

  // ---- Algorithm 1: read request to L1 -------------------------------------------------------------------
  //
  // "if Block(Addr) == nil or cts > rts(Block) then Send RdReqToL2{Addr}; Fetch RspFromL2{Data, rts, wts};
  // Bwts = max[cts, wts]; Brts = max[wts + 1, rts]; Send RspToCU{Block{Data}};
  // else if cts <= rts(Block) then Send RspToCU{Block{Data}};"

  [[nodiscard]] const Line& copy1(const State& s, ThreadIx t) const { return s.l1(cu(t), block(s, t)); }
  [[nodiscard]] Bool hits1(const State& s, ThreadIx t) const {
    if (fault("expired-copy-read")) return copy1(s, t).present;
    return valid(copy1(s, t), s.clock1(cu(t)));
  }
  // Ours: an atomic load beyond the work-group is for L2 or MM to answer.
  [[nodiscard]] Bool passes_l1(const State& s, ThreadIx t) const {
    return Bool(knows_scopes() && !is("polls-leases")) && atomic_beyond_group(s, t);
  }
  [[nodiscard]] Bool loads(const State& s, ThreadIx t) const {
    const Bool waits = on_gpu(s, t) && asks(s, t, Operation::load) && !in_flight(s, t);
    return fault("merged-by-address") ? waits && !s.transit(t).joined : waits;
  }

  void read_request_to_l1(Rules& r) const {
    r.rule(
        {.name = "load hits L1", .unit = "L1", .source = "Alg. 1, l. 9"}, over(threads),
        [=, this](const State& s, ThreadIx t) {
          return loads(s, t) && !passes_l1(s, t) && hits1(s, t) && !copy1(s, t).locked;
        },
        [=, this](State& s, ThreadIx t) {
          complete<K>(s.port(t), word_of(copy1(s, t).data, s.port(t).request.word));
        });
    r.rule(
        {.name = "load misses L1", .unit = "L1", .source = "Alg. 1, l. 3"}, over(threads),
        [=, this](const State& s, ThreadIx t) {
          return loads(s, t) && (passes_l1(s, t) || !hits1(s, t)) && !copy1(s, t).locked && may_send(s) &&
                 !(waits_for_others() && merges1(s, t));
        },
        [=, this](State& s, ThreadIx t) { send_to_l2(s, t); });
    if (!fault("merged-by-address")) return;
    r.rule(
        {.name = "load joins another", .unit = "L1", .source = "ours"}, over(threads),
        [=, this](const State& s, ThreadIx t) {
          return loads(s, t) && !hits1(s, t) && !copy1(s, t).locked && merges1(s, t);
        },
        [](State& s, ThreadIx t) { s.transit(t).joined = true; });
  }

  // ---- Algorithm 2: read request to L2 -------------------------------------------------------------------
  //
  // The same at L2, whose misses go to MM.

  [[nodiscard]] const Line& copy2(const State& s, ThreadIx t) const { return s.l2(agent(t), block(s, t)); }
  [[nodiscard]] Bool hits2(const State& s, ThreadIx t) const {
    return valid(copy2(s, t), clock2(s, agent(t), block(s, t)));
  }

  // With the time that the request carries, where it carries one.
  [[nodiscard]] Bool hits_in_time(const State& s, ThreadIx t) const {
    if (!carries_time()) return hits2(s, t);
    return hits2(s, t) && s.transit(t).wts <= copy2(s, t).rts;
  }
  [[nodiscard]] Bool passes_l2(const State& s, ThreadIx t) const {
    return Bool(knows_scopes() && !is("polls-leases")) && atomic_to_system(s, t);
  }
  void arrive_at_l2(State& s, ThreadIx t) const {
    if (carries_time()) advance_bank(s, t, s.transit(t).wts);
  }
  void advance_bank(State& s, ThreadIx t, const Number& time) const {
    Time& clock = clock2(s, agent(t), block(s, t));
    clock = later(clock, time);
  }
  void advance_banks(State& s, Agent a, const Number& time) const {
    k.for_each(banks, [&](Bank b) { s.clock2(a, b) = later(s.clock2(a, b), time); });
  }

  void read_request_to_l2(Rules& r) const {
    r.rule(
        {.name = "read hits L2", .unit = "L2", .source = "Alg. 2, l. 9"}, over(threads),
        [=, this](const State& s, ThreadIx t) {
          return at_l2(s, t) && asks(s, t, Operation::load) && !passes_l2(s, t) && hits_in_time(s, t) &&
                 !copy2(s, t).locked;
        },
        [=, this](State& s, ThreadIx t) {
          arrive_at_l2(s, t);
          receive(s.up1(cu(t)));
          const Line& line = copy2(s, t);
          Transit& transit = s.transit(t);
          transit.data = line.data;
          transit.wts = line.wts;
          transit.rts = line.rts;
          respond_to_l1(s, t);
        });
    r.rule(
        {.name = "read misses L2", .unit = "L2", .source = "Alg. 2, l. 3"}, over(threads),
        [=, this](const State& s, ThreadIx t) {
          return at_l2(s, t) && asks(s, t, Operation::load) && (passes_l2(s, t) || !hits_in_time(s, t)) &&
                 !copy2(s, t).locked && !(waits_for_others() && merges2(s, t));
        },
        [=, this](State& s, ThreadIx t) {
          arrive_at_l2(s, t);
          send_to_memory(s, t);
        });
  }

  // ---- Algorithm 3: read or write request to MM ----------------------------------------------------------
  //
  // "if TSU(Addr) == nil then AddEntryToTSU;
  // if Req == ReadReq then MemtsEntry = memts + RdLease; Mrts = MemtsEntry; Mwts = Mrts - RdLease;
  // else if Req == WriteReq then MemtsEntry = memts + WrLease; Mrts = MemtsEntry; Mwts = Mrts - WrLease;
  // Send RspToL2{Block{Data, rts, wts}};"

  [[nodiscard]] int write_lease() const { return k.template extent<WriteLease>(); }
  [[nodiscard]] Number carried_time(const State& s, ThreadIx t) const {
    return K::select(machine.is_host(t), Number(mm(s).cpu_clock), Number(s.transit(t).wts));
  }
  // A write's lease counts its first time, which is behind all leases before; a read's goes on from them.
  [[nodiscard]] int write_gap() const { return prints("write-joins-lease") ? 0 : 1; }
  [[nodiscard]] Number lease_length(const State& s, ThreadIx t) const {
    return K::select(writes(s, t), Number(write_lease() - write_gap()), read_lease(block(s, t)));
  }
  // The end of the lease that the thread's access will be given.
  [[nodiscard]] Number lease_end(const State& s, ThreadIx t) const {
    const Number now = memory_time(s, block(s, t));
    const Number carried = carried_time(s, t);
    return K::select(writes(s, t), later(now + write_gap(), carried), later(now, carried)) +
           lease_length(s, t);
  }
  // A load that synchronizes looks and is given no lease.
  [[nodiscard]] Bool only_looks(const State& s, ThreadIx t) const {
    return asks(s, t, Operation::load) && (machine.is_host(t) || passes_l2(s, t));
  }
  [[nodiscard]] bool overflow_is_local() const { return prints("overflow-forgets-leases"); }
  // MM may serve the thread's request: its lease is a timestamp.
  [[nodiscard]] Bool served(const State& s, ThreadIx t) const {
    return !overflows(s, t) || Bool(overflow_is_local());
  }

  // Algorithm 3; the response's timestamps are left in wts and rts.
  void lease(State& s, ThreadIx t, Time& wts, Time& rts) const {
    const Block b = block(s, t);
    const Number end = lease_end(s, t);
    const Number length = lease_length(s, t);
    const Bool overflow = end > Number(last_timestamp());
    rts = K::select(overflow, Number(0), end);
    wts = K::select(overflow, Number(0), end - length);
    const Bool noted = writes(s, t) || Bool(!fault("lease-not-recorded"));
    note_time(s, b, K::select(noted, Number(rts), memory_time(s, b)));
  }
  void note_time(State& s, Block b, const Number& memts) const {
    if (knows_scopes()) mm(s).latest = later(mm(s).latest, memts);
    s.tsu(b).memts = memts;
    s.tsu(b).present = true;
  }
  // What MM does to data.
  void perform(State& s, ThreadIx t) const {
    auto& port = s.port(t);
    const auto& q = port.request;
    const Value old = word_of(s.memory(q.block), q.word);
    k.when(q.operation == Operation::rmw, [&] { port.result = old; });
    k.when(writes(s, t), [&] {
      put(s.memory(q.block), q.word,
          K::select(q.operation == Operation::rmw, rmw_result(k, q, old), Value(q.a)));
    });
  }

  void request_to_mm(Rules& r) const {
    r.rule(
        {.name = "MM answers a read", .unit = "MM", .source = "Alg. 3"}, over(threads),
        [=, this](const State& s, ThreadIx t) {
          return at_memory(s, t) && asks(s, t, Operation::load) && served(s, t);
        },
        [=, this](State& s, ThreadIx t) {
          receive(s.up2(agent(t)));
          Transit& transit = s.transit(t);
          transit.data = s.memory(block(s, t));
          k.when(
              only_looks(s, t), [&] { transit.wts = memory_time(s, block(s, t)); },
              [&] { lease(s, t, transit.wts, transit.rts); });
          transit.stage = Stage::from_memory;
          send(s.down2(agent(t)), t);
        });
    r.rule(
        {.name = "MM performs a write", .unit = "MM", .source = "Alg. 3"}, over(threads),
        [=, this](const State& s, ThreadIx t) { return at_memory(s, t) && writes(s, t) && served(s, t); },
        [=, this](State& s, ThreadIx t) {
          receive(s.up2(agent(t)));
          Transit& transit = s.transit(t);
          lease(s, t, transit.wts, transit.rts);
          perform(s, t);
          transit.data = s.memory(block(s, t));
          transit.stage = Stage::from_memory;
          send(s.down2(agent(t)), t);
        });
    r.rule(
        {.name = "TSU drops an entry", .unit = "TSU", .source = "3.2.5", .fairness = Fairness::optional},
        over(blocks),
        [=, this](const State& s, Block b) {
          return s.tsu(b).present && (Number(s.tsu(b).memts) > read_lease(b) ||
                                      (k.exists(threads, [&](ThreadIx t) { return needs_entry(s, t); }) &&
                                       has_lowest_time(s, b)));
        },
        [=, this](State& s, Block b) { drop_entry(s, b); });
    if (overflow_is_local()) return;
    r.rule(
        {.name = "time begins again", .unit = "TSU", .source = "3.2.6"}, over(threads),
        [=, this](const State& s, ThreadIx t) { return asks_memory(s, t) && overflows(s, t); },
        [=, this](State& s, ThreadIx) { restart_time(s); });
  }
  // A TSU of any size may be full when a block comes that it does not know.
  [[nodiscard]] Bool needs_entry(const State& s, ThreadIx t) const {
    return asks_memory(s, t) && !only_looks(s, t) && !s.tsu(block(s, t)).present;
  }
  [[nodiscard]] Bool has_lowest_time(const State& s, Block b) const {
    return k.forall(blocks, [&](Block i) { return !s.tsu(i).present || s.tsu(b).memts <= s.tsu(i).memts; });
  }
  void drop_entry(State& s, Block b) const {
    if (!prints("entry-forgotten")) mm(s).forgotten = later(mm(s).forgotten, s.tsu(b).memts);
    s.tsu(b) = Entry{};
  }
  // All that was before is before time 1: no copy is left, and what is on its way is not kept.
  void restart_time(State& s) const {
    k.for_each(cus, [&](Cu c) {
      s.clock1(c) = 1;
      k.for_each(blocks, [&](Block b) { s.l1(c, b) = Line{}; });
    });
    k.for_each(agents, [&](Agent a) {
      k.for_each(banks, [&](Bank b) { s.clock2(a, b) = 1; });
      k.for_each(blocks, [&](Block b) { s.l2(a, b) = Line{}; });
    });
    k.for_each(blocks, [&](Block b) { s.tsu(b) = Entry{}; });
    k.for_each(threads, [&](ThreadIx t) {
      k.when(in_flight(s, t), [&] {
        s.transit(t).hit1 = false;
        s.transit(t).hit2 = false;
        s.transit(t).wts = 1;
        s.transit(t).rts = 0;
      });
    });
    mm(s).forgotten = 1;
    if (knows_scopes()) mm(s).latest = 1;
    mm(s).cpu_clock = 1;
  }

  // ---- Algorithm 4: write request to L1 ------------------------------------------------------------------
  //
  // "if cts <= rts(Block) then WriteToBlock; LockAccesstoBlock; Send WrReqToL2{Addr}", and on the right, for
  // a miss, "Send WrReqToL2{Addr}". What an RMW will write is not known here, so it misses.

  void write_request_to_l1(Rules& r) const {
    const auto stores = [=, this](const State& s, ThreadIx t) {
      return on_gpu(s, t) && writes(s, t) && !in_flight(s, t) && !copy1(s, t).locked && may_send(s);
    };
    r.rule(
        {.name = "write hits L1", .unit = "L1", .source = "Alg. 4, l. 3"}, over(threads),
        [=, this](const State& s, ThreadIx t) {
          return stores(s, t) && asks(s, t, Operation::store) && hits1(s, t);
        },
        [=, this](State& s, ThreadIx t) {
          Line& line = s.l1(cu(t), block(s, t));
          put(line.data, s.port(t).request.word, s.port(t).request.a);
          if (!fault("write-not-locked")) line.locked = true;
          s.transit(t).hit1 = true;
          send_to_l2(s, t);
        });
    r.rule(
        {.name = "write misses L1", .unit = "L1", .source = "Alg. 4, right"}, over(threads),
        [=, this](const State& s, ThreadIx t) {
          return stores(s, t) && !(asks(s, t, Operation::store) && hits1(s, t));
        },
        [=, this](State& s, ThreadIx t) { send_to_l2(s, t); });
  }

  // ---- Algorithm 5: write request to L2 ------------------------------------------------------------------
  //
  // The same at L2, whose writes go to MM.

  void write_request_to_l2(Rules& r) const {
    r.rule(
        {.name = "write hits L2", .unit = "L2", .source = "Alg. 5, l. 3"}, over(threads),
        [=, this](const State& s, ThreadIx t) {
          return at_l2(s, t) && asks(s, t, Operation::store) && hits2(s, t) && !copy2(s, t).locked;
        },
        [=, this](State& s, ThreadIx t) {
          arrive_at_l2(s, t);
          Line& line = s.l2(agent(t), block(s, t));
          put(line.data, s.port(t).request.word, s.port(t).request.a);
          if (!fault("write-not-locked")) line.locked = true;
          s.transit(t).hit2 = true;
          send_to_memory(s, t);
        });
    r.rule(
        {.name = "write misses L2", .unit = "L2", .source = "Alg. 5, right"}, over(threads),
        [=, this](const State& s, ThreadIx t) {
          return at_l2(s, t) && writes(s, t) && !(asks(s, t, Operation::store) && hits2(s, t)) &&
                 !copy2(s, t).locked;
        },
        [=, this](State& s, ThreadIx t) {
          arrive_at_l2(s, t);
          send_to_memory(s, t);
        });
  }

  // ---- responses: the ends of Algorithms 1, 2, 4 and 5 ---------------------------------------------------
  //
  // "Fetch RspFromL2{rts, wts}; Bwts = max[cts, wts]; Brts = max[wts + 1, rts]; cts = max[cts, Bwts];
  // UnlockAccessToBlock; Send RspToCU{Block{Data}};"

  // "Brts = max[wts + 1, rts]" beside "Bwts = max[cts, wts]".
  [[nodiscard]] Number block_rts(const Number& block_wts, const Transit& response) const {
    if (is("as-printed-block-wts") || fault("lease-prolonged")) {
      return earlier(later(block_wts + 1, response.rts), Number(last_timestamp()));
    }
    if (prints("lease-prolonged-by-answer"))
      return later(earlier(response.wts + 1, Number(last_timestamp())), response.rts);
    return response.rts;
  }
  // Takes a response in: the write that has locked the block ends the lock; anyone else leaves a locked block
  // alone. One that comes late may replace a later copy, which is safe: where its own lease has not run out
  // by then, both hold the same. The response goes on with what the block was given.
  void install(Line& line, const Time& clock, Transit& response, Bool& holds_lock) const {
    const Number wts = later(clock, response.wts);
    const Number rts = block_rts(wts, response);
    const Bool leased = response.rts != 0 || Bool(printed());
    k.when(leased && (holds_lock || !line.locked), [&] {
      k.when(
          holds_lock && Bool(prints("hit-keeps-words")), [&] { response.data = line.data; },
          [&] { line.data = response.data; });
      line.present = true;
      line.wts = wts;
      line.rts = rts;
    });
    k.when(holds_lock, [&] { line.locked = false; });
    holds_lock = false;
    response.rts = K::select(leased, rts, Number(0));
    response.wts = wts;
  }
  // Alg. 4 and 5, "LockAccesstoBlock", read as: also for what somebody else has fetched.
  [[nodiscard]] Bool may_install(const Line& line, const Bool& holds_lock) const {
    if (!printed()) return true;
    return holds_lock || !line.locked;
  }

  void response_rules(Rules& r) const {
    r.rule(
        {.name = "response reaches L2", .unit = "L2", .source = "Alg. 2, l. 4; Alg. 5, l. 6"}, over(threads),
        [=, this](const State& s, ThreadIx t) {
          return back_at_l2(s, t) && may_install(copy2(s, t), s.transit(t).hit2);
        },
        [=, this](State& s, ThreadIx t) {
          receive(s.down2(agent(t)));
          Transit& transit = s.transit(t);
          const Time answered = transit.wts;
          install(s.l2(agent(t), block(s, t)), clock2(s, agent(t), block(s, t)), transit, transit.hit2);
          k.when(writes(s, t) || Bool(!prints("read-keeps-clock")), [&] { advance_bank(s, t, answered); });
          if (knows_scopes() && !fault("acquire-keeps-bank-clocks")) {
            k.when(atomic_to_system(s, t) && acquires(s.port(t).request.order),
                   [&] { advance_banks(s, agent(t), answered); });
          }
          respond_to_l1(s, t);
        });
    r.rule(
        {.name = "response reaches L1", .unit = "L1", .source = "Alg. 1, l. 4; Alg. 4, l. 6"}, over(threads),
        [=, this](const State& s, ThreadIx t) {
          return back_at_l1(s, t) && may_install(copy1(s, t), s.transit(t).hit1);
        },
        [=, this](State& s, ThreadIx t) {
          receive(s.down1(cu(t)));
          Transit& transit = s.transit(t);
          const Time answered = transit.wts;
          install(s.l1(cu(t), block(s, t)), s.clock1(cu(t)), transit, transit.hit1);
          k.when(moves_l1_clock(s, t), [&] { s.clock1(cu(t)) = later(s.clock1(cu(t)), answered); });
          k.when(
              asks(s, t, Operation::load),
              [&] { complete<K>(s.port(t), word_of(transit.data, s.port(t).request.word)); },
              [&] { complete<K>(s.port(t)); });
          if (fault("merged-by-address")) answer_joined(s, t);
          s.transit(t) = Transit{};
        });
  }
  // Those who have joined a read are answered with it.
  void answer_joined(State& s, ThreadIx t) const {
    k.when(asks(s, t, Operation::load) && !passes_l1(s, t), [&] {
      for_each_asking(k, s.port, block(s, t), [&](ThreadIx u) {
        k.when(s.transit(u).joined && cu(u) == cu(t), [&] {
          complete<K>(s.port(u), word_of(s.transit(t).data, s.port(u).request.word));
          s.transit(u) = Transit{};
        });
      });
    });
  }
  [[nodiscard]] Bool moves_l1_clock(const State& s, ThreadIx t) const {
    const Bool as_atomic = atomic_beyond_group(s, t) && Bool(knows_scopes());
    return (as_atomic && Bool(!fault("acquire-keeps-l1-clock"))) ||
           (!as_atomic && (writes(s, t) || Bool(!prints("read-keeps-clock"))));
  }

  // ---- fences: ours -------------------------------------------------------------------------------------

  // What an acquire fence follows has no time of its own, so it takes the newest that the TSU knows.
  void synchronization_rules(Rules& r) const {
    const auto acquires_beyond = [=, this](const State& s, ThreadIx t) {
      return Bool(knows_scopes()) && acquires(s.port(t).request.order) && atomic_beyond_group(s, t);
    };
    r.rule(
        {.name = "fence passes", .unit = "L1", .source = "ours"}, over(threads),
        [=, this](const State& s, ThreadIx t) {
          return on_gpu(s, t) && asks(s, t, Operation::fence) && !acquires_beyond(s, t);
        },
        [](State& s, ThreadIx t) { complete<K>(s.port(t)); });
    if (!knows_scopes()) return;
    r.rule(
        {.name = "fence takes the newest time", .unit = "L1", .source = "ours"}, over(threads),
        [=, this](const State& s, ThreadIx t) {
          return on_gpu(s, t) && asks(s, t, Operation::fence) && acquires_beyond(s, t);
        },
        [=, this](State& s, ThreadIx t) {
          const Number newest = mm(s).latest;
          if (!fault("fence-keeps-l1")) s.clock1(cu(t)) = later(s.clock1(cu(t)), newest);
          if (!fault("fence-keeps-l2")) {
            k.when(atomic_to_system(s, t), [&] { advance_banks(s, agent(t), newest); });
          }
          complete<K>(s.port(t));
        });
  }

  // ---- replacement: 3.2.5 -------------------------------------------------------------------------------

  void replacement_rules(Rules& r) const {
    r.rule(
        {.name = "L1 replaces a block", .unit = "L1", .source = "3.1", .fairness = Fairness::optional},
        over(cus, blocks),
        [](const State& s, Cu c, Block b) { return s.l1(c, b).present && !s.l1(c, b).locked; },
        [](State& s, Cu c, Block b) { s.l1(c, b) = Line{}; });
    r.rule(
        {.name = "L2 replaces a block", .unit = "L2", .source = "3.2.5", .fairness = Fairness::optional},
        over(agents, blocks),
        [](const State& s, Agent a, Block b) { return s.l2(a, b).present && !s.l2(a, b).locked; },
        [](State& s, Agent a, Block b) { s.l2(a, b) = Line{}; });
  }

  // ---- the CPUs: ours -----------------------------------------------------------------------------------

  void cpu_rules(Rules& r) const {
    r.rule(
        {.name = "CPU loads", .unit = "CPU", .source = "ours"}, over(threads),
        [=, this](const State& s, ThreadIx t) { return on_cpu(s, t) && asks(s, t, Operation::load); },
        [=, this](State& s, ThreadIx t) {
          mm(s).cpu_clock = later(mm(s).cpu_clock, memory_time(s, block(s, t)));
          if (carries_time()) note_time(s, block(s, t), mm(s).cpu_clock);
          complete<K>(s.port(t), word_of(s.memory(block(s, t)), s.port(t).request.word));
        });
    r.rule(
        {.name = "CPU writes", .unit = "CPU", .source = "ours"}, over(threads),
        [=, this](const State& s, ThreadIx t) { return on_cpu(s, t) && writes(s, t) && served(s, t); },
        [=, this](State& s, ThreadIx t) {
          Transit& transit = s.transit(t);
          lease(s, t, transit.wts, transit.rts);
          mm(s).cpu_clock = later(mm(s).cpu_clock, transit.wts);
          transit = Transit{};
          perform(s, t);
          complete<K>(s.port(t));
        });
    r.rule(
        {.name = "CPU passes a fence", .unit = "CPU", .source = "ours"}, over(threads),
        [=, this](const State& s, ThreadIx t) { return on_cpu(s, t) && asks(s, t, Operation::fence); },
        [=, this](State& s, ThreadIx t) {
          if (knows_scopes()) {
            k.when(acquires(s.port(t).request.order),
                   [&] { mm(s).cpu_clock = later(mm(s).cpu_clock, mm(s).latest); });
          }
          complete<K>(s.port(t));
        });
  }
};

struct Info : MemoryInfo<faults, variants, TimestampTag, ReadLease, OtherReadLease, WriteLease, BankTag,
                         MmTag, LinkSlot> {
  static constexpr std::string_view name = "halcone";
  static constexpr std::string_view what =
      "leases in logical time across GPUs (HALCONE, Mojumder et al. 2020)";
  static constexpr std::string_view monitor = "MM";
  static constexpr int place = 30;  // among the systems, where people read of them
  // Fields that no rule reads: l1's wts is for the invariants and Fig. 5.
  static constexpr bool is_unread(std::string_view field, std::string_view variant, std::string_view fault) {
    const bool printed = variant.starts_with("as-printed");
    const bool is_link = field.starts_with("up") || field.starts_with("down");
    return field == "l1(cu, block).wts" || (is_link && !variant.ends_with("ordered")) ||
           (field == "transit(thread).joined" && fault != "merged-by-address") ||
           (field == "mm(mm).forgotten" && (printed || fault == "entry-forgotten")) ||
           (field == "mm(mm).latest" && (printed || variant == "time-carried")) ||
           (field == "l1(cu, block).rts" && fault == "expired-copy-read");
  }
  template <class S>
  static constexpr void default_sizes(S& sizes, int variant) {
    sizes.template set<TimestampTag>(16);
    sizes.template set<ReadLease>(2);
    sizes.template set<OtherReadLease>(2);
    sizes.template set<WriteLease>(1);
    const int banks_there = std::min(BankTag::capacity, sizes.template extent<BlockTag>());
    sizes.template set<BankTag>(is(variant, "one-clock") ? 1 : banks_there);
    sizes.template set<MmTag>(1);
    const bool in_order = is(variant, "ordered") || is(variant, "as-printed-ordered");
    sizes.template set<LinkSlot>(in_order ? LinkSlot::capacity : 1);
  }
  template <class K>
  using Memory = Protocol<K>;
};

}  // namespace lockstep::halcone
