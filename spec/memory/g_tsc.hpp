// G-TSC: coherence of one GPU by logical time. Every warp has a clock (warpts), which requests carry; a block
// in L1 is on lease from wts to rts, a write is put behind the leases of its block, and a copy that does not
// cover the time of who asks is renewed, or fetched again if somebody has written since.
//
// Source: Tabbakh, Qian and Annavaram, "G-TSC: Timestamp Based Coherence for GPUs", HPCA 2018, as told by
// Mojumder et al. 2020 (HALCONE), 2.2, which places below mean; that paper was not at hand. Where 2.2 is
// silent, this takes what relatives of the protocol do, or is ours:
//  - a renewed or new lease ends the one lease length after the time of who asks, a write begins after its
//    block's rts and no earlier than its warp's time, and its own lease is as long ("the same lease for both
//    reads and writes", 3): so Tardis, on which G-TSC builds;
//  - one time stands for all blocks that L2 does not hold, the latest rts that it has replaced, and a block
//    that comes back begins there: so Ren and Lis (RCC, HPCA 2017), where it is called mts;
//  - L2 writes back, and fetches a block before it writes to it; requests that wait for a block are merged;
//  - a store that hits is told by L2 whether its copy was up to date, as a load is, and gets the data if not;
//  - RMWs are performed by L2 as writes; an atomic load beyond the work-group passes L1, where it could hit
//    one copy for ever (`polls-leases` lets it);
//  - an acquire fence, and so a barrier and a kernel's begin, moves the warp's clock to the latest wts;
//  - a time that would overflow restarts all clocks at once, with empty L1s;
//  - the CPUs have no caches here: their requests go to L2, as those of warps do.
// Variant as-told has none of these where 2.2 does not ask for them.
//
// One GPU has one L2, whatever agents its CUs are said to be of. A warp, here a thread, has one request under
// way, which L1 answers at last; requests and answers overtake each other freely.
#pragma once

#include <array>
#include <boost/describe.hpp>
#include <cstdint>
#include <string_view>

#include "spec/kernel/rules.hpp"
#include "spec/memory/memory_system.hpp"

namespace lockstep::g_tsc {

// Amounts, in units of logical time: how many timestamps there are (0, 1, ...), and the lease.
struct TimestampTag : Amounts<"timestamps", 64> {};
struct Lease : Amounts<"lease", 31> {};
// L2, of which there is one.
struct L2Tag : FixedNumbered<"l2-times", 1> {};

// Where a thread's request, or the answer to it, is.
enum class Stage : std::uint8_t { none, to_l2, from_l2 };
BOOST_DESCRIBE_ENUM(Stage, none, to_l2, from_l2)

inline constexpr std::array variants{
    Variant{"default", "repaired, with synchronization"},
    Variant{"as-told", "what HALCONE 2.2 tells of G-TSC, and nothing else"},
    Variant{"cu-clock", "default, and the warps of a CU have one clock (2.2: \"to each CUs\")"},
    Variant{"polls-leases", "default, and an atomic load may hit a copy on lease: it may wait for ever"},
};

inline constexpr std::array faults{
    Fault{"write-joins-lease", "a write begins at the end of the newest lease"},
    Fault{"write-before-its-warp", "a write begins after the leases of its block, whatever its warp's time"},
    Fault{"read-keeps-clock", "a load leaves its warp's clock alone"},
    Fault{"write-keeps-clock", "a write leaves its warp's clock alone"},
    Fault{"expired-copy-read", "L1 does not compare the time with the lease's end"},
    Fault{"later-copy-read", "L1 answers with a copy of a later time, and the clock stays"},
    Fault{"lease-not-noted", "L2 does not note the lease that a read is given"},
    Fault{"time-forgotten", "a block that comes back to L2 begins at the first time again"},
    Fault{"renewed-unseen", "L2 renews a lease though the block was written since"},
    Fault{"renewal-of-other-copy", "a renewal that comes late is taken for the copy that L1 has by then"},
    Fault{"hit-keeps-words", "a store that hits renews the lease of words that others have written"},
    Fault{"write-not-locked", "a block stays readable while its write is on the way"},
    Fault{"fill-ends-lock", "what a load fetched replaces a block whose write is on the way"},
    Fault{"fence-keeps-clock", "an acquire fence leaves its warp's clock alone"},
    Fault{"overflow-forgets-leases", "a timestamp that overflows becomes the first, and copies stay"},
    Fault{"dirty-block-dropped", "L2 replaces a block that was written without telling memory"},
};

template <class K>
struct Protocol : MemorySystem<K, faults, variants> {
  using Base = MemorySystem<K, faults, variants>;
  using Base::Base, Base::k, Base::machine, Base::fault, Base::is;
  using Base::cu, Base::on_cpu, Base::on_gpu, Base::every, Base::put, Base::same, Base::word_of;
  using typename Base::Block, typename Base::Word, typename Base::FaultName;
  using typename Base::Bool, typename Base::Number, typename Base::Value, typename Base::Data;
  using typename Base::ThreadIx, typename Base::Cu;
  using Time = typename K::template Int<0, K::Sizes::template capacity<TimestampTag>() - 1>;

  struct Line {
    Bool present;
    Bool locked;
    Data data;
    Time wts;
    Time rts;
    BOOST_DESCRIBE_CLASS(Line, (), (present, locked, data, wts, rts), (), ())
  };
  struct Line2 {
    Bool present;
    Bool fetching;
    Bool dirty;
    Data data;
    Time wts;
    Time rts;
    BOOST_DESCRIBE_CLASS(Line2, (), (present, fetching, dirty, data, wts, rts), (), ())
  };
  struct Transit {
    typename K::template Enum<Stage> stage;
    Bool hit;     // a store that has its L1's copy locked
    Bool brings;  // of an answer: it brings data
    Time time;    // of a request: its warp's
    Time wts;     // of a request: of L1's copy, 0 if there is none
    Time rts;     // of an answer; 0: without a lease
    Data data;
    BOOST_DESCRIBE_CLASS(Transit, (), (stage, hit, brings, time, wts, rts, data), (), ())
  };
  struct Times {
    Time replaced;  // no lease of a block that L2 does not hold ends later
    Time latest;    // of the writes
    BOOST_DESCRIBE_CLASS(Times, (), (replaced, latest), (), ())
  };
  struct State {
    typename K::template Table<Port<K>, ThreadTag> port;
    typename K::template Table<Time, ThreadTag> warpts;
    typename K::template Table<Transit, ThreadTag> transit;
    typename K::template Table<Line, CuTag, BlockTag> l1;
    typename K::template Table<Line2, BlockTag> l2;
    typename K::template Table<Times, L2Tag> times;
    typename K::template Table<Data, BlockTag> memory;
    BOOST_DESCRIBE_CLASS(State, (), (port, warpts, transit, l1, l2, times, memory), (), ())
  };
  using Rules = RuleList<K, State>;
  using Invariants = InvariantList<K, State>;

  void initialise(State& s, Block b, Word w, Value v) const { s.memory(b)(w) = v; }
  [[nodiscard]] Value final_value(const State& s, Block b, Word w) const {
    return K::select(s.l2(b).present, s.l2(b).data(w), s.memory(b)(w));
  }
  [[nodiscard]] Bool drained(const State&) const { return true; }
  // An atomic that asks L2: one that hits in L1 is not seen there.
  [[nodiscard]] Bool to_be_performed(const State& s, ThreadIx t) const {
    return at_l2(s, t) && atomic_beyond_group(s, t);
  }
  [[nodiscard]] Value found(const State& s, ThreadIx t) const {
    return K::select(asks(s, t, Operation::rmw), Value(s.port(t).result),
                     word_of(s.l2(block(s, t)).data, s.port(t).request.word));
  }

  void rules(Rules& r) const {
    requests(r);
    l2_rules(r);
    answers(r);
    synchronization_rules(r);
    replacement_rules(r);
    cpu_rules(r);
  }

  void invariants(Invariants& v) const {
    v.invariant("no lease of a copy ends after its block's", [=, this](const State& s) {
      return every(cus, blocks,
                   [&](Cu c, Block b) { return !readable(s, c, b) || s.l1(c, b).rts <= ends(s, b); });
    });
    v.invariant("a copy whose lease reaches the last write is what L2 holds", [=, this](const State& s) {
      return every(cus, blocks, [&](Cu c, Block b) {
        return !readable(s, c, b) || !s.l2(b).present || s.l1(c, b).rts < s.l2(b).wts ||
               same(s.l1(c, b).data, s.l2(b).data);
      });
    });
    v.invariant("copies of one version are the same", [=, this](const State& s) {
      return every(cus, blocks, [&](Cu c, Block b) {
        return k.forall(cus, [&](Cu d) {
          return !readable(s, c, b) || !readable(s, d, b) || s.l1(c, b).wts != s.l1(d, b).wts ||
                 same(s.l1(c, b).data, s.l1(d, b).data);
        });
      });
    });
    v.invariant("a locked block waits for a store that is on its way", [=, this](const State& s) {
      return every(cus, blocks, [&](Cu c, Block b) {
        return !s.l1(c, b).locked || k.exists(threads, [&](ThreadIx t) {
          return in_flight(s, t) && s.transit(t).hit && cu(t) == c && block(s, t) == b;
        });
      });
    });
  }

  // ---- what rules, invariants and lemmas ask --------------------------------------------------------------

  // A part of the telling that the default repairs, or that a fault breaks again.
  [[nodiscard]] bool tells(FaultName name) const { return is("as-told") || fault(name); }

  [[nodiscard]] static Block block(const State& s, ThreadIx t) { return s.port(t).request.block; }
  [[nodiscard]] static Bool in_flight(const State& s, ThreadIx t) {
    return s.transit(t).stage != Stage::none;
  }
  // L2 has no timestamp for the lease that it will be given.
  [[nodiscard]] Bool overflows(const State& s, ThreadIx t) const {
    return lease_end(s, t) > Number(last_timestamp());
  }
  static Number later(const Number& a, const Number& b) { return K::select(a < b, b, a); }
  [[nodiscard]] int last_timestamp() const { return k.template extent<TimestampTag>() - 1; }
  [[nodiscard]] int lease() const { return k.template extent<Lease>(); }

  [[nodiscard]] static Bool readable(const State& s, Cu c, Block b) {
    return s.l1(c, b).present && !s.l1(c, b).locked;
  }
  [[nodiscard]] static const Times& times(const State& s) { return s.times(K::template constant<L2Tag>(0)); }
  [[nodiscard]] static Times& times(State& s) { return s.times(K::template constant<L2Tag>(0)); }
  // A block's versions are told from 0, which is none.
  [[nodiscard]] Number comes_back_at(const State& s) const {
    return tells("time-forgotten") ? Number(1) : later(times(s).replaced, 1);
  }
  [[nodiscard]] Number ends(const State& s, Block b) const {
    return K::select(s.l2(b).present, Number(s.l2(b).rts), comes_back_at(s));
  }

 private:
  // ---- requests: 2.2, "A read request from a CU contains the warpts and the address" ----------------------

  [[nodiscard]] const Line& copy(const State& s, ThreadIx t) const { return s.l1(cu(t), block(s, t)); }
  // "If the block is present and the warpts falls within the range between wts and rts".
  [[nodiscard]] Bool on_lease(const State& s, ThreadIx t) const {
    const Line& line = copy(s, t);
    return line.present && (s.warpts(t) >= line.wts || Bool(fault("later-copy-read"))) &&
           (s.warpts(t) <= line.rts || Bool(fault("expired-copy-read")));
  }
  // Ours.
  [[nodiscard]] Bool passes_l1(const State& s, ThreadIx t) const {
    return atomic_beyond_group(s, t) && Bool(!is("as-told") && !is("polls-leases"));
  }
  [[nodiscard]] Bool asks_now(const State& s, ThreadIx t, Operation operation) const {
    return on_gpu(s, t) && asks(s, t, operation) && !in_flight(s, t) && !copy(s, t).locked;
  }
  void send(State& s, ThreadIx t, const Number& version) const {
    Transit& transit = s.transit(t);
    transit.stage = Stage::to_l2;
    transit.time = s.warpts(t);
    transit.wts = version;
  }
  [[nodiscard]] Number version(const State& s, ThreadIx t) const {
    return K::select(copy(s, t).present, Number(copy(s, t).wts), Number(0));
  }

  void requests(Rules& r) const {
    r.rule(
        {.name = "load hits L1", .unit = "L1", .source = "2.2, Read Operation"}, over(threads),
        [=, this](const State& s, ThreadIx t) {
          return asks_now(s, t, Operation::load) && !passes_l1(s, t) && on_lease(s, t);
        },
        [=, this](State& s, ThreadIx t) {
          complete<K>(s.port(t), word_of(copy(s, t).data, s.port(t).request.word));
        });
    r.rule(
        {.name = "load asks L2", .unit = "L1", .source = "2.2, Read Operation"}, over(threads),
        [=, this](const State& s, ThreadIx t) {
          return asks_now(s, t, Operation::load) && (passes_l1(s, t) || !on_lease(s, t));
        },
        [=, this](State& s, ThreadIx t) { send(s, t, version(s, t)); });
    // "the data is written in the L1$, but the access to the data is locked until L2$ is updated".
    r.rule(
        {.name = "store hits L1", .unit = "L1", .source = "2.2, Write Operation"}, over(threads),
        [=, this](const State& s, ThreadIx t) { return asks_now(s, t, Operation::store) && on_lease(s, t); },
        [=, this](State& s, ThreadIx t) {
          send(s, t, version(s, t));
          s.transit(t).hit = true;
          Line& line = s.l1(cu(t), block(s, t));
          put(line.data, s.port(t).request.word, s.port(t).request.a);
          if (!fault("write-not-locked")) line.locked = true;
        });
    // What an RMW will write is not known here, so it misses.
    r.rule(
        {.name = "write asks L2", .unit = "L1", .source = "2.2, Write Operation"}, over(threads),
        [=, this](const State& s, ThreadIx t) {
          return (asks_now(s, t, Operation::store) && !on_lease(s, t)) || asks_now(s, t, Operation::rmw);
        },
        [=, this](State& s, ThreadIx t) { send(s, t, 0); });
  }

  // ---- L2 -------------------------------------------------------------------------------------------------

  [[nodiscard]] static Bool at_l2(const State& s, ThreadIx t) { return s.transit(t).stage == Stage::to_l2; }
  [[nodiscard]] Bool served(const State& s, ThreadIx t) const {
    return at_l2(s, t) && s.l2(block(s, t)).present && (!overflows(s, t) || Bool(overflow_is_local()));
  }
  [[nodiscard]] bool overflow_is_local() const { return tells("overflow-forgets-leases"); }
  // When the thread's write would begin.
  [[nodiscard]] Number begins(const State& s, ThreadIx t) const {
    const Number behind = Number(s.l2(block(s, t)).rts) + (fault("write-joins-lease") ? 0 : 1);
    return fault("write-before-its-warp") ? behind : later(behind, s.transit(t).time);
  }
  // The end of the lease that the thread's access is given.
  [[nodiscard]] Number lease_end(const State& s, ThreadIx t) const {
    return K::select(writes(s, t), begins(s, t) + lease(),
                     later(s.l2(block(s, t)).rts, Number(s.transit(t).time) + lease()));
  }
  // "both wts values are the same, it means that the data was not modified by another CU".
  [[nodiscard]] Bool same_version(const State& s, ThreadIx t) const {
    if (fault("renewed-unseen")) return s.transit(t).wts != 0;
    return s.transit(t).wts == s.l2(block(s, t)).wts;
  }
  // Lengthens the block's lease for a read, and answers with its timestamps.
  void lease_read(State& s, ThreadIx t) const {
    Transit& transit = s.transit(t);
    Line2& line = s.l2(block(s, t));
    const Number end = lease_end(s, t);
    const Bool overflow = end > Number(last_timestamp());
    transit.rts = K::select(overflow, Number(1), end);
    k.when(overflow, [&] { line.wts = 1; });
    transit.wts = line.wts;
    if (!fault("lease-not-noted")) line.rts = transit.rts;
    transit.time = 0;
    transit.stage = Stage::from_l2;
  }

  void l2_rules(Rules& r) const {
    r.rule(
        {.name = "L2 fetches a block", .unit = "L2", .source = "2.2"}, over(threads),
        [=, this](const State& s, ThreadIx t) {
          return at_l2(s, t) && !s.l2(block(s, t)).present && !s.l2(block(s, t)).fetching;
        },
        [](State& s, ThreadIx t) { s.l2(block(s, t)).fetching = true; });
    r.rule(
        {.name = "memory answers L2", .unit = "memory", .source = "2.2; ours"}, over(blocks),
        [](const State& s, Block b) { return s.l2(b).fetching; },
        [=, this](State& s, Block b) {
          Line2& line = s.l2(b);
          line.fetching = false;
          line.present = true;
          line.data = s.memory(b);
          line.wts = comes_back_at(s);
          line.rts = comes_back_at(s);
        });
    // "the L2$ extends the lease by increasing the rts and sends the new rts and wts values to the L1$".
    r.rule(
        {.name = "L2 renews a lease", .unit = "L2", .source = "2.2, Read Operation"}, over(threads),
        [=, this](const State& s, ThreadIx t) {
          return served(s, t) && asks(s, t, Operation::load) && same_version(s, t);
        },
        [=, this](State& s, ThreadIx t) { lease_read(s, t); });
    r.rule(
        {.name = "L2 answers a read", .unit = "L2", .source = "2.2, Read Operation"}, over(threads),
        [=, this](const State& s, ThreadIx t) {
          return served(s, t) && asks(s, t, Operation::load) && !same_version(s, t);
        },
        [=, this](State& s, ThreadIx t) {
          s.transit(t).data = s.l2(block(s, t)).data;
          s.transit(t).brings = true;
          lease_read(s, t);
        });
    // "L2$ writes the data to the block in the L2$ and updates the timestamps for that block".
    r.rule(
        {.name = "L2 performs a write", .unit = "L2", .source = "2.2, Write Operation"}, over(threads),
        [=, this](const State& s, ThreadIx t) { return served(s, t) && writes(s, t); },
        [=, this](State& s, ThreadIx t) { perform(s, t); });
    if (overflow_is_local()) return;
    r.rule(
        {.name = "time begins again", .unit = "L2", .source = "ours"}, over(threads),
        [=, this](const State& s, ThreadIx t) {
          return at_l2(s, t) && s.l2(block(s, t)).present && overflows(s, t);
        },
        [=, this](State& s, ThreadIx) { restart_time(s); });
  }
  void perform(State& s, ThreadIx t) const {
    auto& port = s.port(t);
    const auto& q = port.request;
    Transit& transit = s.transit(t);
    Line2& line = s.l2(q.block);
    k.when(transit.hit && !(same_version(s, t) || Bool(tells("hit-keeps-words"))),
           [&] { transit.brings = true; });
    const Number end = lease_end(s, t);
    const Bool overflow = end > Number(last_timestamp());
    const Number begin = begins(s, t);
    const Value old = word_of(line.data, q.word);
    k.when(q.operation == Operation::rmw, [&] { port.result = old; });
    put(line.data, q.word, K::select(q.operation == Operation::rmw, rmw_result(k, q, old), Value(q.a)));
    line.dirty = true;
    line.wts = K::select(overflow, Number(1), begin);
    line.rts = K::select(overflow, Number(1), end);
    if (follows_fences()) times(s).latest = later(times(s).latest, line.wts);
    k.when(transit.brings, [&] { transit.data = line.data; });
    transit.wts = line.wts;
    transit.rts = line.rts;
    transit.time = 0;
    transit.stage = Stage::from_l2;
  }
  // All that was before is before time 1: no copy is left, and what is on its way is not kept.
  void restart_time(State& s) const {
    k.for_each(cus, [&](Cu c) { k.for_each(blocks, [&](Block b) { s.l1(c, b) = Line{}; }); });
    k.for_each(blocks, [&](Block b) {
      k.when(s.l2(b).present, [&] {
        s.l2(b).wts = 1;
        s.l2(b).rts = 1;
      });
    });
    k.for_each(threads, [&](ThreadIx t) {
      s.warpts(t) = 1;
      Transit& transit = s.transit(t);
      k.when(at_l2(s, t), [&] {
        transit.time = 1;
        transit.wts = 0;
      });
      k.when(transit.stage == Stage::from_l2, [&] {
        transit.wts = 1;
        transit.rts = 0;
      });
      transit.hit = false;
    });
    times(s).replaced = 1;
    if (follows_fences()) times(s).latest = 1;
  }

  // ---- answers: 2.2, "the responses from L1$ to CU contain the wts value [...] CU updates its warpts" -----

  [[nodiscard]] static Bool answered(const State& s, ThreadIx t) {
    return s.transit(t).stage == Stage::from_l2;
  }
  void advance(State& s, ThreadIx t, const Number& time) const {
    if (is("cu-clock")) {
      const Number now = later(s.warpts(t), time);
      k.for_each(threads, [&](ThreadIx u) {
        k.when(u == t || (!machine.is_host(u) && !machine.is_host(t) && cu(u) == cu(t)),
               [&] { s.warpts(u) = now; });
      });
    } else {
      s.warpts(t) = later(s.warpts(t), time);
    }
  }
  void advance_for_load(State& s, ThreadIx t) const {
    if (!fault("read-keeps-clock")) advance(s, t, s.transit(t).wts);
  }
  void finish(State& s, ThreadIx t) const {
    k.when(
        asks(s, t, Operation::load),
        [&] { complete<K>(s.port(t), word_of(s.transit(t).data, s.port(t).request.word)); },
        [&] { complete<K>(s.port(t)); });
    s.transit(t) = Transit{};
  }
  // A renewal is of the version that was asked about.
  [[nodiscard]] Bool is_of_copy(const State& s, ThreadIx t) const {
    if (fault("renewal-of-other-copy")) return copy(s, t).present;
    return copy(s, t).present && copy(s, t).wts == s.transit(t).wts;
  }

  void answers(Rules& r) const {
    const auto has = [=, this](const State& s, ThreadIx t) {
      return on_gpu(s, t) && answered(s, t) && asks(s, t, Operation::load);
    };
    // What comes late may replace a later version, which is safe: its lease says when it may be read.
    r.rule(
        {.name = "data reach L1", .unit = "L1", .source = "2.2, Read Operation"}, over(threads),
        [=](const State& s, ThreadIx t) { return has(s, t) && s.transit(t).brings; },
        [=, this](State& s, ThreadIx t) {
          Line& line = s.l1(cu(t), block(s, t));
          k.when((!line.locked || Bool(fault("fill-ends-lock"))) && s.transit(t).rts != 0, [&] {
            line.present = true;
            if (fault("fill-ends-lock")) line.locked = false;
            line.data = s.transit(t).data;
            line.wts = s.transit(t).wts;
            line.rts = s.transit(t).rts;
          });
          advance_for_load(s, t);
          finish(s, t);
        });
    r.rule(
        {.name = "renewal reaches L1", .unit = "L1", .source = "2.2, Read Operation"}, over(threads),
        [=, this](const State& s, ThreadIx t) {
          return has(s, t) && !s.transit(t).brings && !copy(s, t).locked && is_of_copy(s, t);
        },
        [=, this](State& s, ThreadIx t) {
          Line& line = s.l1(cu(t), block(s, t));
          line.rts = later(line.rts, s.transit(t).rts);
          s.transit(t).data = line.data;
          advance_for_load(s, t);
          finish(s, t);
        });
    r.rule(
        {.name = "renewal finds another copy", .unit = "L1", .source = "ours"}, over(threads),
        [=, this](const State& s, ThreadIx t) {
          return has(s, t) && !s.transit(t).brings && !copy(s, t).locked && !is_of_copy(s, t);
        },
        [](State& s, ThreadIx t) { s.transit(t) = Transit{}; });
    const auto has_written = [=, this](const State& s, ThreadIx t) {
      return on_gpu(s, t) && answered(s, t) && writes(s, t);
    };
    r.rule(
        {.name = "acknowledgement reaches L1", .unit = "L1", .source = "2.2, Write Operation"}, over(threads),
        [=](const State& s, ThreadIx t) { return has_written(s, t) && !s.transit(t).brings; },
        [=, this](State& s, ThreadIx t) {
          k.when(s.transit(t).hit, [&] { renew_written(s, t); });
          if (!fault("write-keeps-clock")) advance(s, t, s.transit(t).wts);
          finish(s, t);
        });
    // To a store that has hit an old copy.
    r.rule(
        {.name = "acknowledgement brings the block", .unit = "L1", .source = "ours"}, over(threads),
        [=](const State& s, ThreadIx t) { return has_written(s, t) && s.transit(t).brings; },
        [=, this](State& s, ThreadIx t) {
          k.when(s.transit(t).hit, [&] {
            s.l1(cu(t), block(s, t)).data = s.transit(t).data;
            renew_written(s, t);
          });
          if (!fault("write-keeps-clock")) advance(s, t, s.transit(t).wts);
          finish(s, t);
        });
  }
  void renew_written(State& s, ThreadIx t) const {
    Line& line = s.l1(cu(t), block(s, t));
    line.wts = s.transit(t).wts;
    line.rts = s.transit(t).rts;
    line.locked = false;
  }

  // ---- fences: ours ---------------------------------------------------------------------------------------

  [[nodiscard]] bool follows_fences() const { return !tells("fence-keeps-clock"); }
  // What an acquire fence follows has no time of its own that the warp would know.
  void synchronization_rules(Rules& r) const {
    r.rule(
        {.name = "fence passes", .unit = "L1", .source = "ours"}, over(threads),
        [=, this](const State& s, ThreadIx t) { return waits_for(s, t, Operation::fence); },
        [=, this](State& s, ThreadIx t) {
          if (follows_fences()) {
            k.when(acquires(s.port(t).request.order), [&] { advance(s, t, times(s).latest); });
          }
          complete<K>(s.port(t));
        });
  }

  // ---- replacement ----------------------------------------------------------------------------------------

  [[nodiscard]] Bool is_asked_about(const State& s, Cu c, Block b) const {
    return exists_asking(k, s.port, b, [&](ThreadIx t) {
      return !machine.is_host(t) && cu(t) == c && in_flight(s, t) && asks(s, t, Operation::load) &&
             !s.transit(t).brings;
    });
  }
  void replacement_rules(Rules& r) const {
    // A block that is to be renewed stays.
    r.rule(
        {.name = "L1 replaces a block", .unit = "L1", .source = "2.2", .fairness = Fairness::optional},
        over(cus, blocks),
        [=, this](const State& s, Cu c, Block b) { return readable(s, c, b) && !is_asked_about(s, c, b); },
        [](State& s, Cu c, Block b) { s.l1(c, b) = Line{}; });
    // A block that somebody waits for stays.
    r.rule(
        {.name = "L2 replaces a block", .unit = "L2", .source = "ours", .fairness = Fairness::optional},
        over(blocks),
        [=, this](const State& s, Block b) {
          return s.l2(b).present && !exists_asking(k, s.port, b, [&](ThreadIx t) { return at_l2(s, t); });
        },
        [=, this](State& s, Block b) {
          if (!fault("dirty-block-dropped")) k.when(s.l2(b).dirty, [&] { s.memory(b) = s.l2(b).data; });
          if (!tells("time-forgotten")) times(s).replaced = later(times(s).replaced, s.l2(b).rts);
          s.l2(b) = Line2{};
        });
  }

  // ---- the CPUs: ours -------------------------------------------------------------------------------------

  void cpu_rules(Rules& r) const {
    r.rule(
        {.name = "CPU asks L2", .unit = "CPU", .source = "ours"}, over(threads),
        [=, this](const State& s, ThreadIx t) {
          return on_cpu(s, t) && !asks(s, t, Operation::fence) && !in_flight(s, t);
        },
        [=, this](State& s, ThreadIx t) { send(s, t, 0); });
    r.rule(
        {.name = "CPU gets its answer", .unit = "CPU", .source = "ours"}, over(threads),
        [=, this](const State& s, ThreadIx t) { return on_cpu(s, t) && answered(s, t); },
        [=, this](State& s, ThreadIx t) {
          advance(s, t, s.transit(t).wts);
          finish(s, t);
        });
  }
};

struct Info : MemoryInfo<faults, variants, TimestampTag, Lease, L2Tag> {
  static constexpr std::string_view name = "g-tsc";
  static constexpr std::string_view what = "leases in logical time in one GPU (G-TSC, Tabbakh et al. 2018)";
  static constexpr std::string_view monitor = "L2";
  static constexpr int place = 29;  // among the systems, where people read of them
  // Fields that no rule reads.
  static constexpr bool is_unread(std::string_view field, std::string_view variant, std::string_view fault) {
    return (field == "times(l2-times).latest" && (variant == "as-told" || fault == "fence-keeps-clock")) ||
           (field == "times(l2-times).replaced" && (variant == "as-told" || fault == "time-forgotten")) ||
           (field == "l2(block).dirty" && fault == "dirty-block-dropped");
  }
  template <class S>
  static constexpr void default_sizes(S& sizes, int) {
    sizes.template set<TimestampTag>(16);
    sizes.template set<Lease>(2);
    sizes.template set<L2Tag>(1);
  }
  template <class K>
  using Memory = Protocol<K>;
};

}  // namespace lockstep::g_tsc
