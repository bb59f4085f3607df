// LAB: a local atomic buffer for each SM (CU here), which gathers updates that commute and sends what they
// come to, in front of the write-through hierarchy (write_through.hpp).
//
// Source: Dalmia, "Reducing Synchronization and Communication Overheads in GPUs", thesis, UW-Madison 2023,
// ch. 3 (hardware in 3.2; sections named at each rule).
//
// An update is an RMW whose order is `comm` (memory_order_comm, 3.2.2) and whose function commutes with
// itself; only device scope is buffered ("performs all commutative, device-scope atomics locally", 3.2.1.6),
// every other request passes by. A line holds one function, and for each of its words what the updates so far
// come to. Flushed, it is one message that keeps its place among the CU's writes, reads and markers on the
// links, and is performed on the word that it meets in L2 and in memory ("it updates the appropriate
// addresses' value", 3.2.1.1). An ordering point flushes line by line and is taken up by the hierarchy when
// the LAB is empty; the hierarchy then waits for the flushed updates as it waits for writes. Which line is
// replaced, and when, is the reader's ("LRU", 3.2.1.1): any line at any time.
//
// What is ours, since the thesis is silent:
//
//   A mask tells the words of a line that hold updates (the print has neither masks nor sectors' valid bits
//   nor identities; `unmasked` is a LAB without). An identity in every other word would do the same, where
//   the function has one: inc and dec have none.
//
//   Ordering points are all fences, barriers (arrival and departure), kernel begins and ends, and all
//   acquires and releases; `flush-on-release` leaves out those that only acquire. When the threads of a CU
//   have ended, its LAB is flushed as at a kernel's end. Updates of siblings may enter the LAB while an
//   ordering point empties it, and put it off.
//
//   The host has no LAB. Its updates, and those at other scopes, are relaxed RMWs.
//
// The default differs from `as-printed` in the first four faults below, which are what the print lacks;
// docs/findings.md has a shortest counterexample for each. What a program must do for the LAB not to be
// noticed is in docs/systems/lab.md.
#pragma once

#include <array>
#include <boost/describe.hpp>
#include <cstdint>
#include <string_view>

#include "spec/kernel/loops.hpp"
#include "spec/kernel/rules.hpp"
#include "spec/memory/memory_system.hpp"
#include "spec/memory/write_through.hpp"
#include "spec/program/values.hpp"

namespace lockstep::lab {

inline constexpr std::array variants{
    Variant{"default", "the thesis with the repairs that docs/findings.md shows to be needed"},
    Variant{"as-printed", "thesis 3.2 as it is printed, with our readings where it is silent"},
    Variant{"unmasked", "a line is flushed whole, words that no update touched as zeros"},
    Variant{"flush-on-release", "what only acquires is no ordering point"},
    Variant{"checked", "a thread's other accesses look into the LAB and flush the line they hit"},
    Variant{"any-scope", "updates of every scope are buffered, not only those at device scope"},
};

// The first four take out, one at a time, what the default adds to the print.
inline constexpr std::array own_faults{
    Fault{"runs-by-own-function", "sub, inc and dec are buffered by performing them on what is buffered"},
    Fault{"sign-ignored", "a line's operation does not tell signed from unsigned min and max"},
    Fault{"result-buffered", "an update whose result is wanted is buffered, and returns what the LAB held"},
    Fault{"l1-copy-kept", "a flush leaves the old copy in its own L1"},
    Fault{"operation-ignored", "a hit combines with what is there, whatever the line's operation"},
    Fault{"mismatch-overwrites", "a hit with another operation takes the line over without flushing it"},
    Fault{"flush-keeps-line", "a replaced line stays in the LAB after it has been sent"},
    Fault{"release-keeps-lab", "releases and acquires do not flush the LAB"},
    Fault{"barrier-keeps-lab", "what orders a work-group only does not flush the LAB"},
    Fault{"one-line-left", "an ordering point is over when the LAB still holds one line"},
    Fault{"first-update-lost", "a line is allocated with zero instead of the first update"},
    Fault{"hit-overwrites", "a hit replaces what is buffered instead of adding to it"},
    Fault{"mask-ignored", "a flush changes the words that no update touched"},
    Fault{"flush-overwrites", "memory takes what is flushed for the word's new value"},
    Fault{"flush-overtakes-writes", "a flushed line is sent ahead of the writes on its link"},
};
constexpr unsigned printed_faults = 4;

inline constexpr auto faults = faults_with(own_faults, write_through::faults);

// The buffers, as a front of the write-through hierarchy.
template <class K>
struct Buffers : MemorySystem<K, lab::own_faults, variants> {
  using Base = MemorySystem<K, lab::own_faults, variants>;
  using Base::Base, Base::k, Base::machine, Base::cu, Base::is, Base::on_gpu;
  using typename Base::Bool, typename Base::Value, typename Base::Data, typename Base::Mask;
  using typename Base::ThreadIx, typename Base::Cu, typename Base::Block, typename Base::Word;
  using Function = typename K::template Enum<RmwFunction>;

  struct Line {
    Function function;  // exchange: the line is empty
    Value bound;        // of inc and dec
    Mask updated;
    Data run;  // what the updates of a word come to (values.hpp)
    BOOST_DESCRIBE_CLASS(Line, (), (function, bound, updated, run), (), ())
  };
  struct State {
    typename K::template Table<Line, CuTag, BlockTag> lab;
    typename K::template Table<Bool, CuTag> flushing;  // until the LAB is empty
    BOOST_DESCRIBE_CLASS(State, (), (lab, flushing), (), ())
  };
  // Of a flushed line; a write that is none exchanges.
  struct Payload {
    Function function;
    Value bound;
    BOOST_DESCRIBE_CLASS(Payload, (), (function, bound), (), ())
  };
  static constexpr unsigned own_faults = lab::own_faults.size();
  static constexpr bool computes_words = true;
  static constexpr bool performs_atomics = false;

  [[nodiscard]] bool fault(typename Base::FaultName name) const {
    return (is("as-printed") && name.position < printed_faults) || Base::fault(name);
  }

  // ---- What the hierarchy asks ----

  // "Programmers or compilers can instrument software to use this new memory ordering to indicate commutative
  // atomics to the hardware" (3.2.2); "non-commutative atomics bypass LAB".
  template <class S>
  [[nodiscard]] Bool takes(const S& s, ThreadIx t) const {
    const auto& q = s.port(t).request;
    const Bool scope = Bool(is("any-scope")) || q.scope == Scope::agent;
    const Bool updates =
        on_gpu(s, t) && asks(s, t, Operation::rmw) && q.order == Order::comm && scope && commutes(q.function);
    // A negative bound is a very large one: such a run can't be counted.
    const Bool countable = !is_bounded(q.function) || Value(q.a) >= Value(0);
    return updates && (Bool(fault("runs-by-own-function")) || countable) &&
           (Bool(fault("result-buffered")) || !q.returns);
  }

  template <class S>
  [[nodiscard]] Bool admits(const S& s, ThreadIx t) const {
    const Bool waits = at_ordering_point(s, t) && !emptied(s, cu(t));
    const Bool checks = Bool(is("checked")) && hits(s, t);
    return !takes(s, t) && !waits && !checks;
  }
  template <class Up>
  [[nodiscard]] Value word(const Up& m, Word w, const Value& old) const {
    const Value updated =
        fault("runs-by-own-function")
            ? rmw_result(k, Update<Function, Value>{m.payload.function, Value(m.data(w)), Value(0)}, old)
            : run_result(k, m.payload.function, Value(m.payload.bound), Value(m.data(w)), old);
    return fault("flush-overwrites") ? Value(m.data(w)) : updated;
  }
  template <class Up>
  [[nodiscard]] Bool overwrites(const Up& m) const {
    return m.payload.function == RmwFunction::exchange;
  }
  template <class S>
  [[nodiscard]] Bool drained(const S& s) const {
    return k.forall(cus, [&](Cu c) { return empty(s, c); });
  }

  template <class Rules, class Hierarchy>
  void rules(Rules& r, const Hierarchy& hierarchy) const {
    using S = typename Hierarchy::State;
    update_rules<S>(r, hierarchy);
    flush_rules<S>(r, hierarchy);
  }

  template <class Invariants>
  void invariants(Invariants& v) const {
    v.invariant("a line of the LAB has an operation if and only if it holds updates",
                [=, this](const auto& s) {
                  return k.forall(cus, [&](Cu c) {
                    return k.forall(blocks, [&](Block b) {
                      const Line& line = s.front.lab(c, b);
                      return present(line) == k.exists(words, [&](Word w) { return Bool(line.updated(w)); });
                    });
                  });
                });
    v.invariant("a LAB that is being flushed holds a line", [=, this](const auto& s) {
      return k.forall(cus, [&](Cu c) { return !s.front.flushing(c) || !empty(s, c); });
    });
    v.invariant("only operations that commute are buffered", [=, this](const auto& s) {
      return k.forall(cus, [&](Cu c) {
        return k.forall(blocks, [&](Block b) {
          const Line& line = s.front.lab(c, b);
          return !present(line) || commutes(line.function);
        });
      });
    });
  }

 private:
  [[nodiscard]] static Bool present(const Line& line) { return line.function != RmwFunction::exchange; }
  template <class S>
  [[nodiscard]] const Line& line_of(const S& s, ThreadIx t) const {
    return s.front.lab(cu(t), s.port(t).request.block);
  }
  template <class S>
  [[nodiscard]] Bool empty(const S& s, Cu c) const {
    return !exists_present(k, slice(s.front.lab, c, blocks),
                           [&](Block b) { return present(s.front.lab(c, b)); });
  }

  // "At all kernel boundaries or at software enforced ordering points [...] all LAB entries are evicted"
  // (3.2.1.4); "whenever a fence instruction is issued by the program" (3.2.3.2).
  template <class S>
  [[nodiscard]] Bool at_ordering_point(const S& s, ThreadIx t) const {
    const auto& q = s.port(t).request;
    const Bool orders = releases(q.order) || (Bool(!is("flush-on-release")) && acquires(q.order));
    const Bool wide = Bool(!fault("barrier-keeps-lab")) || !within_work_group(q.scope);
    return Bool(!fault("release-keeps-lab")) && on_gpu(s, t) && orders && wide &&
           s.stage(t) == write_through::Stage::idle;
  }
  template <class S>
  [[nodiscard]] Bool emptied(const S& s, Cu c) const {
    if (!fault("one-line-left")) return empty(s, c);
    return !k.exists(blocks, [&](Block b) {
      return present(s.front.lab(c, b)) &&
             k.forall(blocks, [&](Block other) { return other == b || !present(s.front.lab(c, other)); });
    });
  }
  // In `checked`: an access of another sort to a block that the LAB has a line of.
  template <class S>
  [[nodiscard]] Bool hits(const S& s, ThreadIx t) const {
    return on_gpu(s, t) && s.port(t).request.operation != Operation::fence && !takes(s, t) &&
           present(line_of(s, t));
  }

  // The line's operation (and bound) is the update's, so that it can be combined with what is there.
  template <class Request>
  [[nodiscard]] Bool matches(const Line& line, const Request& q) const {
    if (fault("operation-ignored")) return true;
    const Bool same = line.function == q.function;
    const Bool signs =
        (line.function == RmwFunction::minimum && q.function == RmwFunction::minimum_unsigned) ||
        (line.function == RmwFunction::minimum_unsigned && q.function == RmwFunction::minimum) ||
        (line.function == RmwFunction::maximum && q.function == RmwFunction::maximum_unsigned) ||
        (line.function == RmwFunction::maximum_unsigned && q.function == RmwFunction::maximum);
    if (fault("runs-by-own-function")) return same || (Bool(fault("sign-ignored")) && signs);
    const Bool bound = !is_bounded(q.function) || line.bound == Value(q.a);
    return (same && bound) || (Bool(fault("sign-ignored")) && signs);
  }

  // "the variable is allocated the initialized with the value of the first update to that address" (3.2.1).
  template <class Request>
  [[nodiscard]] Value first(const Request& q) const {
    if (fault("first-update-lost")) return 0;
    return fault("runs-by-own-function") ? Value(q.a) : first_of_run(k, q);
  }
  template <class Request>
  [[nodiscard]] Value next(const Request& q, const Value& run) const {
    if (fault("hit-overwrites")) return first(q);
    return fault("runs-by-own-function") ? rmw_result(k, q, run) : longer_run(k, q, run);
  }

  template <class S, class Rules, class Hierarchy>
  void update_rules(Rules& r, const Hierarchy& hierarchy) const {
    // "we use an allocate on fill write miss policy" (3.2.1); "instructions complete upon reaching the LAB"
    // (3.2.1.8).
    const auto allocate = [=, this](S& s, ThreadIx t) {
      const auto& q = s.port(t).request;
      Line& line = s.front.lab(cu(t), q.block);
      line = Line{};
      line.function = q.function;
      k.when(is_bounded(q.function), [&] { line.bound = q.a; });
      k.at(words, q.word, [&](Word w) {
        line.updated(w) = true;
        line.run(w) = first(q);
      });
      complete<K>(s.port(t));
    };
    r.rule(
        {.name = "update allocates its line", .unit = "LAB", .source = "3.2.1"}, over(threads),
        [=, this](const S& s, ThreadIx t) { return takes(s, t) && !present(line_of(s, t)); }, allocate);
    r.rule(
        {.name = "update hits its line", .unit = "LAB", .source = "3.2.1"}, over(threads),
        [=, this](const S& s, ThreadIx t) {
          return takes(s, t) && present(line_of(s, t)) && matches(line_of(s, t), s.port(t).request);
        },
        [=, this](S& s, ThreadIx t) {
          const auto& q = s.port(t).request;
          Line& line = s.front.lab(cu(t), q.block);
          const Value held = k.pick(words, q.word, [&](Word w) { return line.run(w); });
          k.at(words, q.word, [&](Word w) {
            const Value run = line.run(w);
            line.run(w) = K::select(line.updated(w), next(q, run), first(q));
            line.updated(w) = true;
          });
          complete<K>(s.port(t), fault("result-buffered") ? held : Value(0));
        });
    // "If a LAB hit occurs but the atomic function does not match, we flush the entry" (3.2.1.7).
    const auto differs = [=, this](const S& s, ThreadIx t) {
      return takes(s, t) && present(line_of(s, t)) && !matches(line_of(s, t), s.port(t).request);
    };
    if (fault("mismatch-overwrites")) {
      r.rule({.name = "update finds another operation", .unit = "LAB", .source = "3.2.1.7"}, over(threads),
             differs, allocate);
    } else {
      r.rule(
          {.name = "update finds another operation", .unit = "LAB", .source = "3.2.1.7"}, over(threads),
          [=, this](const S& s, ThreadIx t) { return differs(s, t) && hierarchy.can_send(s, cu(t)); },
          [=, this](S& s, ThreadIx t) { flush(hierarchy, s, cu(t), s.port(t).request.block); });
    }
  }

  template <class S, class Rules, class Hierarchy>
  void flush_rules(Rules& r, const Hierarchy& hierarchy) const {
    const auto flushes = [=, this](S& s, Cu c, Block b) { flush(hierarchy, s, c, b); };
    const auto can_flush = [=](const S& s, Cu c, Block b) {
      return present(s.front.lab(c, b)) && hierarchy.can_send(s, c);
    };
    // "When the LAB is full, we use an LRU replacement policy to determine which entry to evict. [...] as
    // soon as the message is sent to the L2, we reuse the entry" (3.2.1.1).
    r.rule(
        {.name = "LAB replaces a line", .unit = "LAB", .source = "3.2.1.1", .fairness = Fairness::optional},
        over(cus, blocks), can_flush, [=, this](S& s, Cu c, Block b) {
          const Line line = s.front.lab(c, b);
          flush(hierarchy, s, c, b);
          if (fault("flush-keeps-line")) s.front.lab(c, b) = line;
        });
    const auto begins = [=, this](S& s, ThreadIx t) { s.front.flushing(cu(t)) = true; };
    const auto may_begin = [=, this](const S& s, ThreadIx t) {
      return !s.front.flushing(cu(t)) && !empty(s, cu(t));
    };
    if (!fault("release-keeps-lab")) {
      r.rule(
          {.name = "ordering point flushes the LAB", .unit = "LAB", .source = "3.2.1.4"}, over(threads),
          [=, this](const S& s, ThreadIx t) { return at_ordering_point(s, t) && may_begin(s, t); }, begins);
    }
    r.rule(
        {.name = "the end flushes the LAB", .unit = "LAB", .source = "3.2.1.4"}, over(threads),
        [=, this](const S& s, ThreadIx t) {
          // Asked of every thread, so that one answer ends the search where this thread has none.
          const Bool mine = s.port(t).ended && !machine.is_host(t) && may_begin(s, t);
          return s.port(t).ended && k.forall(threads, [&](ThreadIx u) {
            return mine && (machine.is_host(u) || cu(u) != cu(t) || s.port(u).ended);
          });
        },
        begins);
    r.rule(
        {.name = "LAB flushes a line", .unit = "LAB", .source = "3.2.1.4"}, over(cus, blocks),
        [=](const S& s, Cu c, Block b) { return can_flush(s, c, b) && s.front.flushing(c); }, flushes);
    if (is("checked")) {
      r.rule(
          {.name = "access flushes the line it hits", .unit = "LAB", .source = "ours"}, over(threads),
          [=, this](const S& s, ThreadIx t) { return hits(s, t) && hierarchy.can_send(s, cu(t)); },
          [=, this](S& s, ThreadIx t) { flush(hierarchy, s, cu(t), s.port(t).request.block); });
    }
  }

  // The line goes to L2 as one message. Its own L1 must not go on serving the words as they were.
  template <class Hierarchy, class S>
  void flush(const Hierarchy& hierarchy, S& s, Cu c, Block b) const {
    const Line line = s.front.lab(c, b);
    typename Hierarchy::Up m;
    m.kind = write_through::UpKind::write;
    m.block = b;
    m.payload.function = line.function;
    m.payload.bound = line.bound;
    k.for_each(words, [&](Word w) {
      m.mask(w) = line.updated(w) || Bool(is("unmasked") || fault("mask-ignored"));
      m.data(w) = line.run(w);
    });
    if (!fault("l1-copy-kept")) hierarchy.drop_from_l1(s, c, b);
    if (fault("flush-overtakes-writes")) {
      k.push_front(s.link1(c), m);
    } else {
      hierarchy.send(s, c, m);
    }
    s.front.lab(c, b) = Line{};
    k.when(empty(s, c), [&] { s.front.flushing(c) = false; });
  }
};

struct Info : MemoryInfo<faults, variants, write_through::Link1Slot, write_through::Link2Slot> {
  static constexpr std::string_view name = "lab";
  static constexpr std::string_view what =
      "write-through caches with a buffer of commutative atomics for each CU (Dalmia, thesis 2023, ch. 3)";
  static constexpr int place = 15;  // among the systems, where people read of them
  template <class S>
  static constexpr void default_sizes(S& sizes, int variant) {
    write_through::Info::default_sizes(sizes, variant);
  }
  template <class K>
  using Memory = write_through::Protocol<K, Buffers>;
};

}  // namespace lockstep::lab
