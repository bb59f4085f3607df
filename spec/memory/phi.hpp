// PHI for GPUs: L1s buffer updates that commute in their own lines, among the data, and send what they come
// to when a line is replaced or somebody reads it.
//
// Source: Mukkara, Beckmann and Sanchez, "PHI", MICRO 2019, of which the abstract was at hand ("adds simple
// compute logic at each cache level to buffer and coalesce these commutative updates"), extended to GPUs as
// Dalmia, thesis 2023, 3.3.2 tells it: it "buffers atomics in write allocate L1 caches (fetch on write)",
// with "only cache lines with commutative atomics", and in another form with "a lazy fetch on read scheme";
// and 3.4.4. The thesis has nobody told of it: "we optimistically ignore invalidation and downgrade
// overheads" (variant `optimistic`). What those do in a coherent hierarchy is told by the abstract of Zhang,
// Horn and Sanchez, "Coup", MICRO 2015: caches that hold updates "cannot satisfy read requests", and a read
// "reduces the partial updates buffered in private caches to produce the final value". An L1 asks L2 for
// that, then.
//
// The caches are those of write_back_l1.hpp. An update is an RMW whose order is `comm`, whose scope is beyond
// the work-group, whose function commutes with itself and whose result nobody wants; other atomics beyond the
// work-group are performed at L2, after what a release has to write back, and before an acquire drops what
// is neither dirty nor updated.
//
// What is ours, since those texts are silent:
//  - L2 notes which L1s have updates of a block. It asks them for these before it answers a read, performs an
//    atomic or takes in a word that was stored, and grants nothing of the block to others meanwhile. L1s need
//    not agree on the operation, since nobody is told a result;
//  - a mask tells which words of a line are updated, as in lab.hpp: a line may hold data, stored words and
//    updates. An update of a word that was stored changes that;
//  - an L1 that sends updates, for whatever reason, sends all that it has written of the block and gives its
//    right to buffer more of it back; it sends nothing while it waits for that right, since it would have
//    words under way that wait for others' updates while it gets updates of its own that others wait for;
//  - L2 takes updates in at once, and the words beside them when nobody else has updates of the block;
//  - L2 itself and memory buffer no updates, and no batches are formed (the abstract's "selectively
//    deferring updates with poor spatial locality").
// A read of a word that was not updated is answered in L1, beside updates. In `fetch-on-write` that goes
// wrong, see docs/findings.md.
#pragma once

#include <array>
#include <boost/describe.hpp>
#include <cstdint>
#include <string_view>

#include "spec/kernel/loops.hpp"
#include "spec/kernel/rules.hpp"
#include "spec/memory/memory_system.hpp"
#include "spec/memory/write_back_l1.hpp"
#include "spec/program/ended.hpp"
#include "spec/program/values.hpp"

namespace lockstep::phi {

using write_back::Stage;

inline constexpr std::array variants{
    Variant{"default", "L2 notes who has updates and asks for them; a line is fetched when it is read"},
    Variant{"fetch-on-write", "the same, but an update that misses brings its block"},
    Variant{"optimistic", "thesis 3.3.2: an update brings its block, and nobody is told or asked of updates"},
    Variant{"flush-at-release", "nobody is told or asked, nothing is brought: releases send updates as well"},
};

inline constexpr std::array faults{
    Fault{"update-unregistered", "L2 does not note who has updates of a block"},
    Fault{"read-unreduced", "L2 answers a read while others have updates of the block"},
    Fault{"atomic-unreduced", "L2 performs an atomic while others have updates of the block"},
    Fault{"write-back-unreduced", "L2 takes in what was stored while others have updates of the block"},
    Fault{"recall-loses-updates", "an L1 that is asked for its updates drops them"},
    Fault{"replaced-updates-lost", "an L1 that replaces a line drops its updates"},
    Fault{"operation-ignored", "a hit combines with what is there, whatever the line's operation"},
    Fault{"first-update-lost", "a word is first updated with zero instead of the update"},
    Fault{"hit-overwrites", "a hit replaces what is buffered instead of adding to it"},
    Fault{"updates-overwrite", "L2 takes what was buffered for the word's new value"},
    Fault{"mask-ignored", "a line with updates is sent as if each of its words had been updated"},
    Fault{"updates-read", "a load takes what is buffered for its word"},
    Fault{"result-buffered", "an update whose result is wanted is buffered, and returns what the line held"},
    Fault{"fill-covers-updates", "a fill replaces words that are updated"},
    Fault{"acquire-drops-updates", "an acquire drops updates"},
    Fault{"atomic-overtakes-own-words", "an atomic passes what its L1 has written of the word"},
    Fault{"atomic-keeps-l1-copy", "an atomic performed at L2 leaves the old copy in its L1"},
    Fault{"acquire-keeps-l1", "an atomic that acquires drops nothing"},
    Fault{"acquire-drops-dirty-words", "an acquire drops what was not written back"},
    Fault{"acquire-fence-keeps-l1", "an acquire fence drops nothing"},
    Fault{"release-keeps-dirty", "an atomic that releases writes nothing back"},
    Fault{"release-fence-keeps-dirty", "a release fence writes nothing back"},
    Fault{"release-does-not-wait", "a release is over while what it wrote back is on its way"},
    Fault{"fill-survives-acquire", "a fill in flight while its L1 is emptied is kept after it"},
    Fault{"fill-survives-write", "a fill in flight while its block is written back is kept after it"},
    Fault{"fill-covers-dirty-words", "a fill replaces words that are dirty"},
    Fault{"whole-block-written-back", "a block that an L1 has as a whole is written back as a whole"},
    Fault{"dirty-block-dropped", "L2 replaces a block that was written without telling memory"},
};

template <class K>
struct Protocol : write_back::Caches<K, faults, variants, Protocol<K>> {
  using Base = write_back::Caches<K, faults, variants, Protocol<K>>;
  using Base::any, Base::block, Base::in_flight;
  using Base::Base, Base::k, Base::machine, Base::fault, Base::is;
  using Base::cu, Base::on_gpu, Base::every, Base::word_of;
  using typename Base::Block, typename Base::Word;
  using typename Base::Bool, typename Base::Value, typename Base::Data, typename Base::Mask;
  using typename Base::ThreadIx, typename Base::Transit, typename Base::Cu;
  using Function = typename K::template Enum<RmwFunction>;
  static constexpr std::string_view source = "thesis 3.3.2; ours";

  // Data of an updated word are what its updates come to (values.hpp), of a dirty one what was stored, of
  // another what L2 had if the block is present.
  struct Line {
    Bool present;
    Function function;  // of the updates; exchange: it may hold none
    Value bound;        // of inc and dec
    Mask updated;
    Mask dirty;
    Data data;
    BOOST_DESCRIBE_CLASS(Line, (), (present, function, bound, updated, dirty, data), (), ())
  };
  struct Miss {
    Bool busy;
    Bool stale;    // what comes is not to be kept
    Bool updates;  // it asks for the right to buffer updates
    BOOST_DESCRIBE_CLASS(Miss, (), (busy, stale, updates), (), ())
  };
  // Until it is taken in.
  struct WriteBack {
    Bool sent;
    Bool yields;  // updates, and the right to them
    Function function;
    Value bound;
    Mask updated;
    Mask dirty;
    Data data;
    BOOST_DESCRIBE_CLASS(WriteBack, (), (sent, yields, function, bound, updated, dirty, data), (), ())
  };
  struct Line2 {
    Bool present;
    Bool fetching;
    Bool dirty;
    Data data;
    BOOST_DESCRIBE_CLASS(Line2, (), (present, fetching, dirty, data), (), ())
  };
  struct State {
    typename K::template Table<Port<K>, ThreadTag> port;
    typename K::template Table<Transit, ThreadTag> transit;
    typename K::template Table<Line, CuTag, BlockTag> l1;
    typename K::template Table<Miss, CuTag, BlockTag> miss;
    typename K::template Table<Bool, CuTag, BlockTag> due;  // to be sent
    typename K::template Table<WriteBack, CuTag, BlockTag> out;
    typename K::template Table<Line2, BlockTag> l2;
    // What L2 knows: who may have updates, and of what it has asked for them.
    typename K::template Table<Bool, CuTag, BlockTag> updating;
    typename K::template Table<Bool, BlockTag> recalling;
    typename K::template Table<Data, BlockTag> memory;
    BOOST_DESCRIBE_CLASS(State, (), (port, transit, l1, miss, due, out, l2, updating, recalling, memory), (),
                         ())
  };
  using Rules = RuleList<K, State>;
  using Invariants = InvariantList<K, State>;

  [[nodiscard]] Bool drained(const State& s) const {
    return every(cus, blocks, [&](Cu c, Block b) { return !is_written(s.l1(c, b)) && is_free(s, c, b); });
  }

  void rules(Rules& r) const {
    Base::access_rules(r, true);
    update_rules(r);
    atomic_rules(r);
    Base::fetch_rules(r,
                      [this](const State& s, ThreadIx t) { return !wants_right(s, t) || Bool(fetches()); });
    l2_rules(r);
    answer_rules(r);
    sending_rules(r);
    Base::fence_rules(r);
    replacement_rules(r);
    Base::cpu_rules(r);
  }

  void invariants(Invariants& v) const {
    v.invariant("L2 knows who may have updates", [=, this](const State& s) {
      return every(cus, blocks, [&](Cu c, Block b) {
        const Bool may = holds(s.l1(c, b)) || s.out(c, b).yields;
        return registers() ? s.updating(c, b) == (may || granted(s, c, b)) : !s.updating(c, b);
      });
    });
    v.invariant("who may have updates has no words on their way", [=, this](const State& s) {
      return every(cus, blocks, [&](Cu c, Block b) {
        return Bool(!registers()) || !holds(s.l1(c, b)) || is_free(s, c, b);
      });
    });
    v.invariant("updates commute, and a word that was stored has none", [=, this](const State& s) {
      return every(cus, blocks, [&](Cu c, Block b) {
        const Line& line = s.l1(c, b);
        return k.forall(
            words, [&](Word w) { return !line.updated(w) || (commutes(line.function) && !line.dirty(w)); });
      });
    });
    Base::miss_invariant(v);
    v.invariant("what is to be sent was written", [=, this](const State& s) {
      return every(cus, blocks, [&](Cu c, Block b) { return !s.due(c, b) || is_written(s.l1(c, b)); });
    });
  }

  // ---- what rules, invariants and lemmas ask --------------------------------------------------------------

  // L2 is asked for the right to buffer updates; an update that misses brings its block.
  [[nodiscard]] bool registers() const { return !is("optimistic") && !is("flush-at-release"); }
  [[nodiscard]] bool fetches() const { return is("fetch-on-write") || is("optimistic"); }

  [[nodiscard]] static Bool holds(const Line& line) { return line.function != RmwFunction::exchange; }
  [[nodiscard]] Bool is_written(const Line& line) const { return holds(line) || any(line.dirty); }
  [[nodiscard]] static Bool is_free(const State& s, Cu c, Block b) { return !s.out(c, b).sent; }
  // The access is an update that L1 may buffer. It looks at a word's value, so guards ask it last.
  [[nodiscard]] Bool updates(const State& s, ThreadIx t) const {
    const auto& q = s.port(t).request;
    const Bool named = asks(s, t, Operation::rmw) && q.order == Order::comm && beyond_group(s, t) &&
                       commutes(q.function) && (Bool(fault("result-buffered")) || !q.returns);
    // A negative bound is a very large one: such a run can't be counted.
    return named && (!is_bounded(q.function) || Value(q.a) >= Value(0));
  }
  [[nodiscard]] Bool synchronizes(const State& s, ThreadIx t) const { return atomic_beyond_group(s, t); }
  // Of a request at L2: what is asked for.
  [[nodiscard]] Bool wants_right(const State& s, ThreadIx t) const {
    return Bool(registers()) && !machine.is_host(t) && updates(s, t);
  }
  [[nodiscard]] Bool wants_atomic(const State& s, ThreadIx t) const {
    return synchronizes(s, t) && writes(s, t) && !updates(s, t);
  }
  [[nodiscard]] Bool granted(const State& s, Cu c, Block b) const {
    return exists_asking(k, s.port, b, [&](ThreadIx t) {
      return cu(t) == c && s.transit(t).stage == Stage::from_l2 && wants_right(s, t);
    });
  }

  // ---- what caches that write back ask ------------------------------------------------------------------

  [[nodiscard]] Bool has_word(const Line& line, Word w) const {
    if (fault("updates-read")) return line.present || line.dirty(w) || line.updated(w);
    return (line.present || line.dirty(w)) && !line.updated(w);
  }
  [[nodiscard]] Bool may_ask(const State& s, ThreadIx t) const {
    return Base::nothing_under_way(s, t) && !in_the_way(s, t);
  }
  [[nodiscard]] static Bool takes_stores(const State&, Cu, Block) { return true; }
  void write_word(Line& line, Word word, const Value& value) const {
    k.at(words, word, [&](Word w) {
      line.data(w) = value;
      line.dirty(w) = true;
      line.updated(w) = false;
    });
  }
  [[nodiscard]] static Bool holds_words(const WriteBack& out) { return out.sent; }
  [[nodiscard]] static Bool sends(const WriteBack& out, Word w) { return out.dirty(w); }
  [[nodiscard]] Bool undisturbed(const State& s, Block b) const {
    if (!registers()) return true;
    return !exists_present(k, slice(s.updating, cus, b), [&](Cu c) { return s.updating(c, b); });
  }
  static void answers(State& s, Block b) { s.recalling(b) = false; }
  void flush(State& s, Cu c) const {
    for_each_present(k, slice(s.l1, c, blocks), [&](Block b) {
      const Line& line = s.l1(c, b);
      k.when(any(line.dirty) || (Bool(is("flush-at-release")) && holds(line)), [&] { s.due(c, b) = true; });
    });
  }
  [[nodiscard]] Bool flushed(const State& s, Cu c) const {
    return Base::all_is_in(s, c, !fault("release-does-not-wait"));
  }
  void drop_clean(State& s, Cu c) const {
    for_each_present(k, slice(s.l1, c, blocks), [&](Block b) {
      Line& line = s.l1(c, b);
      k.for_each(words, [&](Word w) {
        if (fault("acquire-drops-dirty-words")) line.dirty(w) = false;
        if (fault("acquire-drops-updates")) line.updated(w) = false;
      });
      drop_clean_words(line);
      if (fault("acquire-drops-dirty-words")) k.when(!is_written(line), [&] { s.due(c, b) = false; });
    });
    if (!fault("fill-survives-acquire")) Base::misses_are_stale(s, c);
  }
  void drop_clean_words(Line& line) const {
    line.present = false;
    k.for_each(words, [&](Word w) { k.when(!line.dirty(w) && !line.updated(w), [&] { line.data(w) = 0; }); });
  }

 private:
  using Base::answer, Base::answered, Base::arriving, Base::ask, Base::at_l2, Base::complete_with, Base::copy,
      Base::of_word, Base::served, Base::synchronizes_now, Base::wide_release;

  [[nodiscard]] Bool is_dirty(const State& s, ThreadIx t) const {
    return of_word(s, t, [](const Line& line, Word w) { return line.dirty(w); });
  }
  // What its L1 has written of the word has to be at L2 before the access.
  [[nodiscard]] Bool in_the_way(const State& s, ThreadIx t) const {
    const Bool updated = of_word(s, t, [](const Line& line, Word w) { return line.updated(w); });
    if (fault("atomic-overtakes-own-words")) return !synchronizes(s, t) && updated;
    return (updated || (synchronizes(s, t) && is_dirty(s, t))) && !updates(s, t);
  }

  // ---- updates --------------------------------------------------------------------------------------------

  template <class Request>
  [[nodiscard]] Bool matches(const Line& line, const Request& q) const {
    if (fault("operation-ignored")) return true;
    return line.function == q.function && (!is_bounded(q.function) || line.bound == Value(q.a));
  }
  [[nodiscard]] Bool may_buffer(const State& s, ThreadIx t) const {
    const Line& line = copy(s, t);
    if (registers()) return holds(line) && matches(line, s.port(t).request);
    return (holds(line) && matches(line, s.port(t).request)) ||
           (!holds(line) && (line.present || Bool(!fetches())));
  }
  [[nodiscard]] Bool lacks_line(const State& s, ThreadIx t) const {
    return !holds(copy(s, t)) && (Bool(registers()) || !copy(s, t).present);
  }
  // The line may hold updates, of this one's operation. Where a sibling has stored to the word, the update is
  // left to hit that.
  void buffer(State& s, ThreadIx t) const {
    const auto& q = s.port(t).request;
    Line& line = s.l1(cu(t), q.block);
    k.when(!holds(line), [&] {
      line.function = q.function;
      k.when(is_bounded(q.function), [&] { line.bound = q.a; });
    });
    const Value held = word_of(line.data, q.word);
    const Value first = fault("first-update-lost") ? Value(0) : first_of_run(k, q);
    const Value next = fault("hit-overwrites") ? first : longer_run(k, q, held);
    k.when(!is_dirty(s, t), [&] {
      k.at(words, q.word, [&](Word w) {
        line.data(w) = K::select(line.updated(w), next, first);
        line.updated(w) = true;
      });
      complete<K>(s.port(t), fault("result-buffered") ? held : Value(0));
    });
  }
  void update_rules(Rules& r) const {
    r.rule(
        {.name = "update hits its line", .unit = "L1", .source = "thesis 3.3.2"}, over(threads),
        [=, this](const State& s, ThreadIx t) {
          return synchronizes_now(s, t) && !is_dirty(s, t) && may_buffer(s, t) && updates(s, t);
        },
        [=, this](State& s, ThreadIx t) { buffer(s, t); });
    r.rule(
        {.name = "update hits a dirty word", .unit = "L1", .source = "ours"}, over(threads),
        [=, this](const State& s, ThreadIx t) {
          return synchronizes_now(s, t) && is_dirty(s, t) && updates(s, t);
        },
        [=, this](State& s, ThreadIx t) {
          const auto& q = s.port(t).request;
          k.at(words, q.word, [&](Word w) {
            Value& word = s.l1(cu(t), q.block).data(w);
            word = rmw_result(k, q, Value(word));
          });
          complete<K>(s.port(t));
        });
    r.rule(
        {.name = "update finds another operation", .unit = "L1", .source = "ours"}, over(threads),
        [=, this](const State& s, ThreadIx t) {
          return synchronizes_now(s, t) && holds(copy(s, t)) && !is_dirty(s, t) &&
                 !s.due(cu(t), block(s, t)) && updates(s, t) && !matches(copy(s, t), s.port(t).request);
        },
        [=, this](State& s, ThreadIx t) { s.due(cu(t), block(s, t)) = true; });
    r.rule(
        {.name = "access finds updates", .unit = "L1", .source = "Coup"}, over(threads),
        [=, this](const State& s, ThreadIx t) {
          const auto& stage = s.transit(t).stage;
          const Bool kept = asks(s, t, Operation::store) && !synchronizes(s, t);
          return on_gpu(s, t) && !asks(s, t, Operation::fence) && !kept &&
                 (stage == Stage::none || stage == Stage::flushing) && !s.due(cu(t), block(s, t)) &&
                 in_the_way(s, t);
        },
        [=, this](State& s, ThreadIx t) { s.due(cu(t), block(s, t)) = true; });
    if (!registers() && !fetches()) return;
    r.rule(
        {.name = "update misses L1", .unit = "L1", .source = "thesis 3.3.2"}, over(threads),
        [=, this](const State& s, ThreadIx t) {
          return synchronizes_now(s, t) && lacks_line(s, t) && !is_dirty(s, t) &&
                 Base::nothing_under_way(s, t) && updates(s, t);
        },
        [=, this](State& s, ThreadIx t) {
          ask(s, t);
          if (registers()) s.miss(cu(t), block(s, t)).updates = true;
        });
  }

  // ---- other atomics: at L2 -------------------------------------------------------------------------------

  // An atomic that need not wait for its L1, or has done so.
  [[nodiscard]] Bool has_released(const State& s, ThreadIx t) const {
    return (s.transit(t).stage == Stage::none && !wide_release(s, t)) ||
           (s.transit(t).stage == Stage::flushing && flushed(s, cu(t)));
  }
  void atomic_rules(Rules& r) const {
    const auto goes_beyond = [=, this](const State& s, ThreadIx t) {
      return on_gpu(s, t) && !asks(s, t, Operation::fence) && synchronizes(s, t);
    };
    r.rule(
        {.name = "release begins", .unit = "L1", .source = "ours"}, over(threads),
        [=, this](const State& s, ThreadIx t) {
          return goes_beyond(s, t) && s.transit(t).stage == Stage::none && wide_release(s, t) &&
                 !updates(s, t);
        },
        [=, this](State& s, ThreadIx t) {
          s.transit(t).stage = Stage::flushing;
          if (!fault("release-keeps-dirty")) flush(s, cu(t));
        });
    r.rule(
        {.name = "atomic asks L2", .unit = "L1", .source = "thesis 3.3.2"}, over(threads),
        [=, this](const State& s, ThreadIx t) {
          return goes_beyond(s, t) && !in_flight(s, t) && has_released(s, t) && may_ask(s, t) &&
                 !updates(s, t);
        },
        [=, this](State& s, ThreadIx t) { ask(s, t); });
  }

  // ---- L2 -------------------------------------------------------------------------------------------------

  // Nobody else has updates of the block that the thread asks for.
  [[nodiscard]] Bool reduced(const State& s, ThreadIx t) const {
    if (!registers()) return true;
    const Block b = block(s, t);
    const Cu own = cu(t);
    const Bool host = machine.is_host(t);
    return !exists_present(k, slice(s.updating, cus, b),
                           [&](Cu c) { return s.updating(c, b) && (host || !(own == c)); });
  }
  [[nodiscard]] Bool others_update(const State& s, Cu c, Block b) const {
    if (!registers()) return false;
    return exists_present(k, slice(s.updating, cus, b),
                          [&](Cu other) { return !(other == c) && s.updating(other, b); });
  }
  [[nodiscard]] static Bool words_wait(const State& s, Cu c, Block b) {
    return s.out(c, b).sent && !s.out(c, b).yields && s.l2(b).present;
  }
  void l2_rules(Rules& r) const {
    r.rule(
        {.name = "L2 answers a read", .unit = "L2", .source = source}, over(threads),
        [=, this](const State& s, ThreadIx t) {
          return on_gpu(s, t) && served(s, t) && !wants_right(s, t) && !wants_atomic(s, t) &&
                 (reduced(s, t) || Bool(fault("read-unreduced")));
        },
        [=, this](State& s, ThreadIx t) {
          answers(s, block(s, t));
          answer(s, t);
        });
    r.rule(
        {.name = "L2 performs an atomic", .unit = "L2", .source = "thesis 3.3.2"}, over(threads),
        [=, this](const State& s, ThreadIx t) {
          return on_gpu(s, t) && served(s, t) && wants_atomic(s, t) &&
                 (reduced(s, t) || Bool(fault("atomic-unreduced")));
        },
        [=, this](State& s, ThreadIx t) {
          answers(s, block(s, t));
          answer(s, t);
          static_cast<void>(Base::perform_at_l2(s, t));
        });
    if (registers()) {
      r.rule(
          {.name = "L2 asks for updates", .unit = "L2", .source = "Coup"}, over(threads),
          [=, this](const State& s, ThreadIx t) {
            return served(s, t) && !wants_right(s, t) && !reduced(s, t) && !s.recalling(block(s, t));
          },
          [](State& s, ThreadIx t) { s.recalling(block(s, t)) = true; });
      r.rule(
          {.name = "L2 grants updates", .unit = "L2", .source = "Coup"}, over(threads),
          [=, this](const State& s, ThreadIx t) {
            return on_gpu(s, t) && at_l2(s, t) && wants_right(s, t) && !s.recalling(block(s, t)) &&
                   (s.l2(block(s, t)).present || Bool(!fetches()));
          },
          [=, this](State& s, ThreadIx t) {
            if (!fault("update-unregistered")) s.updating(cu(t), block(s, t)) = true;
            if (fetches()) s.transit(t).data = s.l2(block(s, t)).data;
            s.transit(t).stage = Stage::from_l2;
          });
      r.rule(
          {.name = "L2 asks for updates ahead of words", .unit = "L2", .source = "ours"}, over(cus, blocks),
          [=, this](const State& s, Cu c, Block b) {
            return words_wait(s, c, b) && others_update(s, c, b) && !s.recalling(b);
          },
          [](State& s, Cu, Block b) { s.recalling(b) = true; });
    }
    // A registry of its own takes in what L1s send, whatever L2 waits for.
    r.rule(
        {.name = "updates reach L2", .unit = "registry", .source = "thesis 3.3.2"}, over(cus, blocks),
        [](const State& s, Cu c, Block b) {
          return s.out(c, b).sent && s.out(c, b).yields && s.l2(b).present;
        },
        [=, this](State& s, Cu c, Block b) {
          WriteBack& out = s.out(c, b);
          k.for_each(words, [&](Word w) {
            k.when(out.updated(w), [&] { s.l2(b).data(w) = reduce(out, w, s.l2(b).data(w)); });
          });
          s.l2(b).dirty = true;
          s.updating(c, b) = false;
          k.when(
              any(out.dirty),
              [&] {
                out.yields = false;
                out.function = RmwFunction::exchange;
                out.bound = 0;
                k.for_each(words, [&](Word w) { forget(out, w); });
              },
              [&] { s.out(c, b) = WriteBack{}; });
        });
    r.rule(
        {.name = "words reach L2", .unit = "registry", .source = source}, over(cus, blocks),
        [=, this](const State& s, Cu c, Block b) {
          return words_wait(s, c, b) && (!others_update(s, c, b) || Bool(fault("write-back-unreduced")));
        },
        [=, this](State& s, Cu c, Block b) {
          const WriteBack& out = s.out(c, b);
          k.for_each(words, [&](Word w) { k.when(out.dirty(w), [&] { s.l2(b).data(w) = out.data(w); }); });
          s.l2(b).dirty = true;
          answers(s, b);
          s.out(c, b) = WriteBack{};
        });
  }
  [[nodiscard]] Value reduce(const WriteBack& out, Word w, const Value& old) const {
    if (fault("updates-overwrite")) return out.data(w);
    return run_result(k, out.function, Value(out.bound), Value(out.data(w)), old);
  }
  void forget(WriteBack& out, Word w) const {
    k.when(out.updated(w), [&] {
      out.data(w) = 0;
      out.updated(w) = false;
    });
  }

  // ---- answers --------------------------------------------------------------------------------------------

  void install(State& s, ThreadIx t) const {
    Line& line = s.l1(cu(t), block(s, t));
    k.when(!s.miss(cu(t), block(s, t)).stale, [&] {
      k.for_each(words, [&](Word w) {
        const Bool stays = line.updated(w) && Bool(!fault("fill-covers-updates"));
        line.data(w) = K::select(stays, Value(line.data(w)), arriving(s, t, w));
      });
      line.present = true;
    });
  }
  void ends(State& s, ThreadIx t) const {
    s.miss(cu(t), block(s, t)) = Miss{};
    s.transit(t) = Transit{};
  }
  // The thread's own miss brings what is new.
  void acquire(State& s, ThreadIx t) const {
    s.miss(cu(t), block(s, t)).busy = false;
    if (fault("acquire-keeps-l1")) return;
    k.when(synchronizes(s, t) && acquires(s.port(t).request.order), [&] { drop_clean(s, cu(t)); });
  }
  void answer_rules(Rules& r) const {
    r.rule(
        {.name = "data reach L1", .unit = "L1", .source = source}, over(threads),
        [=, this](const State& s, ThreadIx t) {
          return answered(s, t) && !updates(s, t) && !wants_atomic(s, t);
        },
        [=, this](State& s, ThreadIx t) {
          acquire(s, t);
          install(s, t);
          Base::complete_load(s, t);
          ends(s, t);
        });
    r.rule(
        {.name = "atomic reaches L1", .unit = "L1", .source = source}, over(threads),
        [=, this](const State& s, ThreadIx t) { return answered(s, t) && wants_atomic(s, t); },
        [=, this](State& s, ThreadIx t) {
          acquire(s, t);
          if (!fault("atomic-keeps-l1-copy")) drop_clean_words(s.l1(cu(t), block(s, t)));
          complete_with(s, t, word_of(s.transit(t).data, s.port(t).request.word));
          ends(s, t);
        });
    if (!registers() && !fetches()) return;
    r.rule(
        {.name = "update's line reaches L1", .unit = "L1", .source = "thesis 3.3.2; Coup"}, over(threads),
        [=, this](const State& s, ThreadIx t) { return answered(s, t) && updates(s, t); },
        [=, this](State& s, ThreadIx t) {
          if (fetches()) install(s, t);
          // Else a sibling has begun to buffer others, and it is a hit or a mismatch.
          k.when(!holds(copy(s, t)), [&] { buffer(s, t); });
          ends(s, t);
        });
  }

  // ---- sending --------------------------------------------------------------------------------------------

  [[nodiscard]] static Bool can_send(const State& s, Cu c, Block b) {
    return is_free(s, c, b) && !s.miss(c, b).updates;
  }
  // All that was written of a block.
  void send(State& s, Cu c, Block b, bool loses_updates) const {
    const Line& line = s.l1(c, b);
    WriteBack& out = s.out(c, b);
    out.sent = true;
    out.yields = holds(line);
    out.function = line.function;
    out.bound = line.bound;
    k.for_each(words, [&](Word w) {
      out.updated(w) = Bool(!loses_updates) &&
                       (line.updated(w) || (Bool(fault("mask-ignored")) && holds(line) && !line.dirty(w)));
      out.dirty(w) = line.dirty(w) || (Bool(fault("whole-block-written-back")) && line.present);
      k.when(out.updated(w) || out.dirty(w), [&] { out.data(w) = line.data(w); });
    });
    s.due(c, b) = false;
    if (!fault("fill-survives-write")) Base::miss_is_stale(s, c, b);
  }
  void sending_rules(Rules& r) const {
    r.rule(
        {.name = "L1 sends what is due", .unit = "L1", .source = source}, over(cus, blocks),
        [](const State& s, Cu c, Block b) { return s.due(c, b) && can_send(s, c, b); },
        [=, this](State& s, Cu c, Block b) {
          send(s, c, b, false);
          Line& line = s.l1(c, b);
          k.when(
              line.present && !holds(line),
              [&] { k.for_each(words, [&](Word w) { line.dirty(w) = false; }); }, [&] { line = Line{}; });
        });
    if (registers()) {
      r.rule(
          {.name = "L1 is asked for updates", .unit = "L1", .source = "Coup"}, over(cus, blocks),
          [](const State& s, Cu c, Block b) {
            return holds(s.l1(c, b)) && s.updating(c, b) && s.recalling(b) && can_send(s, c, b);
          },
          [=, this](State& s, Cu c, Block b) {
            send(s, c, b, fault("recall-loses-updates"));
            s.l1(c, b) = Line{};
          });
    }
    // Nobody is left to ask for it.
    r.rule(
        {.name = "the end empties L1", .unit = "L1", .source = "ours"}, over(cus, blocks),
        [=, this](const State& s, Cu c, Block b) {
          return is_written(s.l1(c, b)) && !s.due(c, b) && all_ended(k, s.port);
        },
        [](State& s, Cu c, Block b) { s.due(c, b) = true; });
  }

  // ---- replacement ----------------------------------------------------------------------------------------

  void replacement_rules(Rules& r) const {
    r.rule(
        {.name = "L1 replaces a block",
         .unit = "L1",
         .source = "thesis 3.4.4",
         .fairness = Fairness::optional},
        over(cus, blocks),
        [=, this](const State& s, Cu c, Block b) {
          const Line& line = s.l1(c, b);
          return (line.present && !is_written(line)) || (is_written(line) && can_send(s, c, b));
        },
        [=, this](State& s, Cu c, Block b) {
          k.when(is_written(s.l1(c, b)), [&] { send(s, c, b, fault("replaced-updates-lost")); });
          s.l1(c, b) = Line{};
        });
    // A block that somebody waits for stays.
    r.rule(
        {.name = "L2 replaces a block", .unit = "L2", .source = "ours", .fairness = Fairness::optional},
        over(blocks),
        [=, this](const State& s, Block b) {
          return s.l2(b).present && !exists_asking(k, s.port, b, [&](ThreadIx t) { return at_l2(s, t); }) &&
                 !exists_present(k, slice(s.out, cus, b), [&](Cu c) { return !is_free(s, c, b); });
        },
        [=, this](State& s, Block b) {
          if (!fault("dirty-block-dropped")) k.when(s.l2(b).dirty, [&] { s.memory(b) = s.l2(b).data; });
          s.l2(b) = Line2{};
        });
  }
};

struct Info : MemoryInfo<faults, variants> {
  static constexpr std::string_view name = "phi";
  static constexpr std::string_view what =
      "L1s buffer updates that commute in their lines (Mukkara et al. 2019, for GPUs)";
  static constexpr int place = 17;  // among the systems, where people read of them
  // Fields that no rule reads.
  static constexpr bool is_unread(std::string_view field, std::string_view variant, std::string_view fault) {
    const bool registers = variant != "optimistic" && variant != "flush-at-release";
    return (field == "l2(block).dirty" && fault == "dirty-block-dropped") ||
           ((field == "out(cu, block).function" || field == "out(cu, block).bound") &&
            fault == "updates-overwrite") ||
           (!registers && (field == "updating(cu, block)" || field == "recalling(block)"));
  }
  template <class S>
  static constexpr void default_sizes(S&, int) {}
  template <class K>
  using Memory = Protocol<K>;
};

}  // namespace lockstep::phi
