// hLRC: lazy release consistency for GPUs. An L1 obtains ownership of the block of a synchronization variable
// and performs atomics there; what it has written besides leaves it no sooner than somebody else asks for
// such a block. Scopes are not needed: where the owner is tells whether CUs synchronize.
//
// Source: Alsop, Orr, Beckmann and Wood, "Lazy release consistency for GPUs", MICRO 2016, of which the
// abstract was at hand; its protocol as told by Nagarajan, Sorin, Hill and Wood, "A Primer on Memory
// Consistency and Cache Coherence", 2nd ed. 2020, 10.1.4 (LRCC; prose without the tables of its controllers),
// and as Dalmia, thesis 2023, 3.3.2 and 3.4.3, compares LAB with it: it "obtains ownership for atomics,
// enabling it to cache them locally", a whole line each.
//
// The caches are those of write_back_l1.hpp.
// An L1 keeps stores ("write-back/write-allocate", with a dirty bit for each byte: here each word) and needs
// no copy for them. When another asks for a block that an L1 owns, that L1 first writes back all that is
// dirty and not owned, then yields the block. Who obtains ownership drops what is clean and not owned.
// Requests, answers and write-backs overtake each other freely; what is written back is acknowledged.
//
// What is ours, since those texts are silent:
//  - an L1 that gives up a block of its own accord writes back all, too (`given-up-unflushed` does not);
//  - a block that a relaxed atomic brought is marked: the first acquire that hits it drops what is clean
//    (`move-unseen` has no mark);
//  - words written back to a block that somebody owns go on to the owner, who takes them in
//    (`write-back-past-owner` leaves them at L2). Such a message passes L2 in one step;
//  - fences wider than a work-group, and so kernels' edges, have no variable: a release fence writes back all
//    that is dirty, an acquire fence drops all that is clean, less what is owned;
//  - an L1 has one request for a block under way, and siblings wait for it; a store waits while its block is
//    being yielded; an atomic that obtains ownership is performed as that arrives, so that the block does not
//    leave in between;
//  - the CPUs have no caches here: their requests go to L2, which recalls what they ask for.
// Variant as-told has none of the first three.
//
// There is one L2, whatever agents CUs are said to be of.
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

namespace lockstep::hlrc {

using write_back::Stage;

// What an L1 sends to L2 of a block: words, or the block that it owned, which waits until words are there.
enum class Sends : std::uint8_t { nothing, words, yield_later, yield };
BOOST_DESCRIBE_ENUM(Sends, nothing, words, yield_later, yield)

inline constexpr std::array variants{
    Variant{"default", "every atomic obtains ownership, whatever its scope, with what is ours"},
    Variant{"as-told", "what the texts tell, and nothing where they are silent"},
    Variant{"lrcc", "Primer 10.1.4: loads read at L2 without ownership, work-groups synchronize in L1"},
};

inline constexpr std::array faults{
    Fault{"given-up-unflushed", "an L1 gives up a block of its own accord, and keeps what else is dirty"},
    Fault{"move-unseen", "an acquire that hits what a relaxed atomic has brought keeps its L1"},
    Fault{"write-back-past-owner", "what is written back to a block that somebody owns stays at L2"},
    Fault{"recall-unflushed", "an L1 yields a block to others and keeps what else is dirty"},
    Fault{"yield-overtakes-writes", "an L1 yields a block while what it wrote back is on its way"},
    Fault{"acquire-keeps-l1", "an acquire that obtains ownership drops nothing"},
    Fault{"acquire-drops-dirty-words", "an acquire drops what was not written back"},
    Fault{"acquire-drops-owned", "an acquire drops what its L1 owns"},
    Fault{"acquire-fence-keeps-l1", "an acquire fence drops nothing"},
    Fault{"release-fence-keeps-dirty", "a release fence writes nothing back"},
    Fault{"fill-survives-acquire", "a fill in flight while its L1 is emptied is kept after it"},
    Fault{"fill-survives-write", "a fill in flight while its block is written back is kept after it"},
    Fault{"fill-covers-dirty-words", "a fill replaces words that are dirty"},
    Fault{"whole-block-written-back", "a block that an L1 has as a whole is written back as a whole"},
    Fault{"owned-block-read", "L2 answers a read with what it has of a block that an L1 owns"},
    Fault{"ownership-shared", "L2 grants ownership of a block that an L1 owns"},
    Fault{"owner-forgotten", "L2 replaces a block that an L1 owns, and forgets who does"},
    Fault{"dirty-block-dropped", "L2 replaces a block that was written without telling memory"},
};

template <class K>
struct Protocol : write_back::Caches<K, faults, variants, Protocol<K>> {
  using Base = write_back::Caches<K, faults, variants, Protocol<K>>;
  using Base::any, Base::block, Base::in_flight;
  using Base::Base, Base::k, Base::machine, Base::fault, Base::is;
  using Base::cu, Base::on_gpu, Base::every, Base::word_of;
  using typename Base::Block, typename Base::Word, typename Base::FaultName;
  using typename Base::Bool, typename Base::Value, typename Base::Data, typename Base::Mask;
  using typename Base::Miss, typename Base::ThreadIx, typename Base::Transit, typename Base::Cu;
  static constexpr std::string_view source = "Primer 10.1.4";

  // Of the words that are dirty the data are right whether or not the block is present.
  struct Line {
    Bool present;
    Bool owned;
    Bool moved;  // owned, and no acquire has dropped what is clean since it came
    Mask dirty;
    Data data;
    BOOST_DESCRIBE_CLASS(Line, (), (present, owned, moved, dirty, data), (), ())
  };
  // Until it is acknowledged.
  struct WriteBack {
    typename K::template Enum<Sends> sends;
    Mask mask;
    Data data;
    BOOST_DESCRIBE_CLASS(WriteBack, (), (sends, mask, data), (), ())
  };
  struct Line2 {
    Bool present;
    Bool fetching;
    Bool dirty;
    Bool owned;
    Bool recalling;
    Cu owner;
    Data data;
    BOOST_DESCRIBE_CLASS(Line2, (), (present, fetching, dirty, owned, recalling, owner, data), (), ())
  };
  struct State {
    typename K::template Table<Port<K>, ThreadTag> port;
    typename K::template Table<Transit, ThreadTag> transit;
    typename K::template Table<Line, CuTag, BlockTag> l1;
    typename K::template Table<Miss, CuTag, BlockTag> miss;
    // To be written back for somebody who synchronizes.
    typename K::template Table<Bool, CuTag, BlockTag> due;
    typename K::template Table<WriteBack, CuTag, BlockTag> out;
    typename K::template Table<Line2, BlockTag> l2;
    typename K::template Table<Data, BlockTag> memory;
    BOOST_DESCRIBE_CLASS(State, (), (port, transit, l1, miss, due, out, l2, memory), (), ())
  };
  using Rules = RuleList<K, State>;
  using Invariants = InvariantList<K, State>;

  [[nodiscard]] Bool drained(const State& s) const {
    return every(cus, blocks, [&](Cu c, Block b) {
      return !s.l1(c, b).owned && !any(s.l1(c, b).dirty) && is_free(s, c, b);
    });
  }

  void rules(Rules& r) const {
    // In LRCC "CTA-scoped" accesses "behave like normal loads and stores".
    Base::access_rules(r, is("lrcc"));
    synchronization_rules(r);
    Base::fetch_rules(r, [](const State&, ThreadIx) { return Bool(true); });
    l2_rules(r);
    answer_rules(r);
    yielding_rules(r);
    Base::fence_rules(r);
    replacement_rules(r);
    Base::cpu_rules(r);
  }

  void invariants(Invariants& v) const {
    v.invariant("a block has one owner, whom L2 knows", [=, this](const State& s) {
      return every(cus, blocks, [&](Cu c, Block b) {
        return !s.l1(c, b).owned || (s.l2(b).present && s.l2(b).owned && s.l2(b).owner == c);
      });
    });
    v.invariant("who yields a block was its owner", [=, this](const State& s) {
      return every(cus, blocks, [&](Cu c, Block b) {
        return (!s.l1(c, b).moved || s.l1(c, b).owned) &&
               (!yields(s, c, b) || (!s.l1(c, b).owned && s.l2(b).owned && s.l2(b).owner == c));
      });
    });
    v.invariant("an owner that L2 knows has the block, or it is on its way", [=, this](const State& s) {
      return k.forall(blocks, [&](Block b) {
        return !s.l2(b).owned || k.exists(cus, [&](Cu c) {
          return s.l2(b).owner == c && (s.l1(c, b).owned || yields(s, c, b) || granted(s, c, b));
        });
      });
    });
    Base::miss_invariant(v);
    v.invariant("what is to be written back is dirty, and not owned", [=, this](const State& s) {
      return every(cus, blocks, [&](Cu c, Block b) {
        return !s.due(c, b) || (any(s.l1(c, b).dirty) && !s.l1(c, b).owned);
      });
    });
  }

  // ---- what rules, invariants and lemmas ask --------------------------------------------------------------

  // A silence that the default fills, or that a fault leaves open.
  [[nodiscard]] bool tells(FaultName name) const { return is("as-told") || fault(name); }

  [[nodiscard]] static Bool is_free(const State& s, Cu c, Block b) {
    return s.out(c, b).sends == Sends::nothing;
  }
  [[nodiscard]] static Bool yields(const State& s, Cu c, Block b) {
    return s.out(c, b).sends == Sends::yield_later || s.out(c, b).sends == Sends::yield;
  }
  // An access that synchronizes beyond its L1, and whether it obtains ownership for that.
  [[nodiscard]] Bool synchronizes(const State& s, ThreadIx t) const {
    return s.port(t).request.order != Order::plain && (Bool(!is("lrcc")) || beyond_group(s, t));
  }
  [[nodiscard]] Bool owns(const State& s, ThreadIx t) const {
    return synchronizes(s, t) && (Bool(!is("lrcc")) || writes(s, t));
  }
  [[nodiscard]] Bool granted(const State& s, Cu c, Block b) const {
    return exists_asking(k, s.port, b, [&](ThreadIx t) {
      return !machine.is_host(t) && cu(t) == c && s.transit(t).stage == Stage::from_l2 && owns(s, t);
    });
  }

  // ---- what caches that write back ask ------------------------------------------------------------------

  [[nodiscard]] static Bool has_word(const Line& line, Word w) { return line.present || line.dirty(w); }
  [[nodiscard]] Bool may_ask(const State& s, ThreadIx t) const { return Base::nothing_under_way(s, t); }
  [[nodiscard]] static Bool takes_stores(const State& s, Cu c, Block b) { return !yields(s, c, b); }
  void write_word(Line& line, Word word, const Value& value) const {
    k.at(words, word, [&](Word w) {
      line.data(w) = value;
      line.dirty(w) = true;
    });
  }
  [[nodiscard]] static Bool holds_words(const WriteBack& out) { return out.sends == Sends::words; }
  [[nodiscard]] static Bool sends(const WriteBack& out, Word w) { return holds_words(out) && out.mask(w); }
  [[nodiscard]] static Bool undisturbed(const State& s, Block b) { return !s.l2(b).owned; }
  static void answers(State&, Block) {}
  // All that is dirty and not owned is to be written back.
  void flush(State& s, Cu c) const {
    for_each_present(k, slice(s.l1, c, blocks), [&](Block b) {
      k.when(!s.l1(c, b).owned && any(s.l1(c, b).dirty), [&] { s.due(c, b) = true; });
    });
  }
  [[nodiscard]] Bool flushed(const State& s, Cu c) const {
    return Base::all_is_in(s, c, !fault("yield-overtakes-writes"));
  }
  // "all valid non-owned L1 blocks [...] are self-invalidated".
  void drop_clean(State& s, Cu c) const {
    for_each_present(k, slice(s.l1, c, blocks), [&](Block b) {
      Line& line = s.l1(c, b);
      line.moved = false;
      k.when(!line.owned || Bool(fault("acquire-drops-owned")), [&] {
        line.present = false;
        k.for_each(words, [&](Word w) {
          k.when(!line.dirty(w) || Bool(fault("acquire-drops-dirty-words")), [&] { line.data(w) = 0; });
          if (fault("acquire-drops-dirty-words")) line.dirty(w) = false;
        });
        if (fault("acquire-drops-dirty-words")) s.due(c, b) = false;
      });
    });
    if (!fault("fill-survives-acquire")) Base::misses_are_stale(s, c);
  }

 private:
  using Base::answer, Base::answered, Base::arriving, Base::ask, Base::at_l2, Base::complete_with, Base::copy,
      Base::served, Base::synchronizes_now, Base::written;

  // ---- synchronization: "a DeNovo-like mechanism to track ownership of synchronization variables" ---------

  void synchronization_rules(Rules& r) const {
    r.rule(
        {.name = "atomic asks for ownership", .unit = "L1", .source = "MICRO 2016; thesis 3.3.2"},
        over(threads),
        [=, this](const State& s, ThreadIx t) {
          return synchronizes_now(s, t) && owns(s, t) && !copy(s, t).owned && may_ask(s, t);
        },
        [=, this](State& s, ThreadIx t) { ask(s, t); });
    // "If the block is owned by the L1 of the acquiring thread", no coherence action is needed.
    r.rule(
        {.name = "atomic hits its block", .unit = "L1", .source = "Primer 10.1.4"}, over(threads),
        [=, this](const State& s, ThreadIx t) { return synchronizes_now(s, t) && copy(s, t).owned; },
        [=, this](State& s, ThreadIx t) {
          if (!tells("move-unseen")) {
            k.when(acquires(s.port(t).request.order) && copy(s, t).moved, [&] { drop_clean(s, cu(t)); });
          }
          perform(s, t);
        });
    if (!is("lrcc")) return;
    r.rule(
        {.name = "synchronizing load asks L2", .unit = "L1", .source = "Primer 10.1.4"}, over(threads),
        [=, this](const State& s, ThreadIx t) {
          return synchronizes_now(s, t) && !owns(s, t) && !copy(s, t).owned && !any(copy(s, t).dirty) &&
                 may_ask(s, t);
        },
        [=, this](State& s, ThreadIx t) { ask(s, t); });
    // Else it might be answered with less than its own L1 has shown.
    r.rule(
        {.name = "synchronizing load finds dirty words", .unit = "L1", .source = "ours"}, over(threads),
        [=, this](const State& s, ThreadIx t) {
          return synchronizes_now(s, t) && !owns(s, t) && !copy(s, t).owned && any(copy(s, t).dirty) &&
                 !s.due(cu(t), block(s, t));
        },
        [=, this](State& s, ThreadIx t) { s.due(cu(t), block(s, t)) = true; });
  }
  // In L1, which owns the block.
  void perform(State& s, ThreadIx t) const {
    const auto& q = s.port(t).request;
    Line& line = s.l1(cu(t), q.block);
    const Value old = word_of(line.data, q.word);
    const Value result = written(s, t, old);
    k.when(writes(s, t), [&] { write_word(line, q.word, result); });
    complete_with(s, t, old);
  }

  // ---- L2 -------------------------------------------------------------------------------------------------

  [[nodiscard]] Bool wanted(const State& s, Block b) const {
    return exists_asking(k, s.port, b, [&](ThreadIx t) { return at_l2(s, t); }) ||
           exists_present(k, slice(s.out, cus, b), [&](Cu c) { return !is_free(s, c, b); });
  }
  void merge(Line2& line, const WriteBack& out) const {
    k.for_each(words, [&](Word w) { k.when(out.mask(w), [&] { line.data(w) = out.data(w); }); });
    line.dirty = true;
  }
  void take_in(Data& data, Mask& dirty, const WriteBack& out) const {
    k.for_each(words, [&](Word w) {
      k.when(out.mask(w), [&] {
        data(w) = out.data(w);
        dirty(w) = true;
      });
    });
  }

  void l2_rules(Rules& r) const {
    r.rule(
        {.name = "L2 recalls a block", .unit = "L2", .source = "Primer 10.1.4"}, over(threads),
        [=, this](const State& s, ThreadIx t) {
          return served(s, t) && s.l2(block(s, t)).owned && !s.l2(block(s, t)).recalling;
        },
        [](State& s, ThreadIx t) { s.l2(block(s, t)).recalling = true; });
    r.rule(
        {.name = "L2 answers a read", .unit = "L2", .source = "Primer 10.1.4"}, over(threads),
        [=, this](const State& s, ThreadIx t) {
          return on_gpu(s, t) && served(s, t) && !owns(s, t) &&
                 (!s.l2(block(s, t)).owned || Bool(fault("owned-block-read")));
        },
        [=, this](State& s, ThreadIx t) { answer(s, t); });
    r.rule(
        {.name = "L2 grants ownership", .unit = "L2", .source = "Primer 10.1.4"}, over(threads),
        [=, this](const State& s, ThreadIx t) {
          return on_gpu(s, t) && served(s, t) && owns(s, t) &&
                 (!s.l2(block(s, t)).owned || Bool(fault("ownership-shared")));
        },
        [=, this](State& s, ThreadIx t) {
          Line2& line = s.l2(block(s, t));
          line.owned = true;
          line.owner = cu(t);
          answer(s, t);
        });
    // A registry of its own takes in what L1s send back, whatever L2 waits for.
    const auto arrives = [](const State& s, Cu c, Block b) {
      return s.out(c, b).sends == Sends::words && s.l2(b).present;
    };
    r.rule(
        {.name = "write-back reaches L2", .unit = "registry", .source = "Primer 10.1.4"}, over(cus, blocks),
        [=, this](const State& s, Cu c, Block b) {
          // What an owner has sent earlier joins what it was granted before it has that.
          return arrives(s, c, b) && (!s.l2(b).owned || (s.l2(b).owner == c && s.l1(c, b).owned) ||
                                      (Bool(tells("write-back-past-owner")) && !(s.l2(b).owner == c)));
        },
        [=, this](State& s, Cu c, Block b) {
          merge(s.l2(b), s.out(c, b));
          s.out(c, b) = WriteBack{};
        });
    if (!tells("write-back-past-owner")) {
      r.rule(
          {.name = "write-back reaches the owner", .unit = "L1", .source = "ours"}, over(cus, blocks),
          [=](const State& s, Cu c, Block b) {
            const Cu owner = s.l2(b).owner;
            return arrives(s, c, b) && s.l2(b).owned && !(owner == c) &&
                   (s.l1(owner, b).owned || s.out(owner, b).sends == Sends::yield_later);
          },
          [=, this](State& s, Cu c, Block b) {
            const Cu owner = s.l2(b).owner;
            k.when(
                s.l1(owner, b).owned,
                [&] { take_in(s.l1(owner, b).data, s.l1(owner, b).dirty, s.out(c, b)); },
                [&] { take_in(s.out(owner, b).data, s.out(owner, b).mask, s.out(c, b)); });
            s.out(c, b) = WriteBack{};
          });
    }
    r.rule(
        {.name = "yielded block reaches L2", .unit = "registry", .source = "Primer 10.1.4"},
        over(cus, blocks),
        [](const State& s, Cu c, Block b) { return s.out(c, b).sends == Sends::yield && s.l2(b).present; },
        [=, this](State& s, Cu c, Block b) {
          Line2& line = s.l2(b);
          merge(line, s.out(c, b));
          line.owned = false;
          line.owner = Cu{};
          line.recalling = false;
          s.out(c, b) = WriteBack{};
        });
  }

  // ---- answers --------------------------------------------------------------------------------------------

  void install(State& s, ThreadIx t) const {
    Line& line = s.l1(cu(t), block(s, t));
    k.for_each(words, [&](Word w) { line.data(w) = arriving(s, t, w); });
    line.present = true;
  }
  void answer_rules(Rules& r) const {
    r.rule(
        {.name = "data reach L1", .unit = "L1", .source = "Primer 10.1.4"}, over(threads),
        [=, this](const State& s, ThreadIx t) { return answered(s, t) && !owns(s, t); },
        [=, this](State& s, ThreadIx t) {
          s.miss(cu(t), block(s, t)).busy = false;
          if (is("lrcc") && !fault("acquire-keeps-l1")) {
            k.when(synchronizes(s, t) && acquires(s.port(t).request.order), [&] { drop_clean(s, cu(t)); });
          }
          k.when(!s.miss(cu(t), block(s, t)).stale, [&] { install(s, t); });
          s.miss(cu(t), block(s, t)) = Miss{};
          Base::complete_load(s, t);
          s.transit(t) = Transit{};
        });
    r.rule(
        {.name = "ownership reaches L1", .unit = "L1", .source = "Primer 10.1.4"}, over(threads),
        [=, this](const State& s, ThreadIx t) { return answered(s, t) && owns(s, t); },
        [=, this](State& s, ThreadIx t) {
          const Bool drops = Bool(!fault("acquire-keeps-l1")) && acquires(s.port(t).request.order);
          install(s, t);
          Line& line = s.l1(cu(t), block(s, t));
          line.owned = true;
          s.due(cu(t), block(s, t)) = false;
          line.moved = Bool(!tells("move-unseen"));
          k.when(drops, [&] { drop_clean(s, cu(t)); });
          perform(s, t);
          s.miss(cu(t), block(s, t)) = Miss{};
          s.transit(t) = Transit{};
        });
  }

  // ---- yielding: "coherence actions only when a synchronization variable changes locations" ---------------

  void write_back(State& s, Cu c, Block b, Sends sends) const {
    const Line& line = s.l1(c, b);
    WriteBack& out = s.out(c, b);
    out.sends = sends;
    k.for_each(words, [&](Word w) {
      out.mask(w) = line.dirty(w) || (Bool(fault("whole-block-written-back")) && line.present);
      k.when(out.mask(w), [&] { out.data(w) = line.data(w); });
    });
    if (!fault("fill-survives-write")) Base::miss_is_stale(s, c, b);
  }
  void yielding_rules(Rules& r) const {
    r.rule(
        {.name = "recall reaches the owner", .unit = "L1", .source = "Primer 10.1.4"}, over(cus, blocks),
        [](const State& s, Cu c, Block b) {
          return s.l1(c, b).owned && s.l2(b).recalling && s.l2(b).owner == c && is_free(s, c, b);
        },
        [=, this](State& s, Cu c, Block b) { give_up(s, c, b, !fault("recall-unflushed")); });
    r.rule(
        {.name = "L1 writes a block back", .unit = "L1", .source = "Primer 10.1.4"}, over(cus, blocks),
        [](const State& s, Cu c, Block b) { return s.due(c, b) && is_free(s, c, b); },
        [=, this](State& s, Cu c, Block b) {
          write_back(s, c, b, Sends::words);
          Line& line = s.l1(c, b);
          s.due(c, b) = false;
          k.for_each(words, [&](Word w) { line.dirty(w) = false; });
          k.when(!line.present, [&] { line = Line{}; });
        });
    r.rule(
        {.name = "L1 yields a block", .unit = "L1", .source = "Primer 10.1.4"}, over(cus, blocks),
        [=, this](const State& s, Cu c, Block b) {
          return s.out(c, b).sends == Sends::yield_later && flushed(s, c);
        },
        [](State& s, Cu c, Block b) { s.out(c, b).sends = Sends::yield; });
    // Nobody is left to ask for it.
    r.rule(
        {.name = "the end empties L1", .unit = "L1", .source = "ours"}, over(cus, blocks),
        [=, this](const State& s, Cu c, Block b) {
          const Line& line = s.l1(c, b);
          return ((line.owned && is_free(s, c, b)) || (!line.owned && any(line.dirty) && !s.due(c, b))) &&
                 all_ended(k, s.port);
        },
        [=, this](State& s, Cu c, Block b) {
          k.when(
              s.l1(c, b).owned, [&] { give_up(s, c, b, false); }, [&] { s.due(c, b) = true; });
        });
  }
  // The block leaves L1, and is sent when what else is dirty has been written back.
  void give_up(State& s, Cu c, Block b, bool flushes) const {
    write_back(s, c, b, Sends::yield_later);
    s.l1(c, b) = Line{};
    if (flushes) flush(s, c);
  }

  // ---- replacement ----------------------------------------------------------------------------------------

  void replacement_rules(Rules& r) const {
    r.rule(
        {.name = "L1 replaces a block",
         .unit = "L1",
         .source = "Primer 10.1.4",
         .fairness = Fairness::optional},
        over(cus, blocks),
        [=, this](const State& s, Cu c, Block b) {
          const Line& line = s.l1(c, b);
          return (line.present && !line.owned && !any(line.dirty)) ||
                 ((line.owned || any(line.dirty)) && is_free(s, c, b));
        },
        [=, this](State& s, Cu c, Block b) {
          k.when(
              s.l1(c, b).owned, [&] { give_up(s, c, b, !tells("given-up-unflushed")); },
              [&] {
                k.when(any(s.l1(c, b).dirty), [&] { write_back(s, c, b, Sends::words); });
                s.due(c, b) = false;
                s.l1(c, b) = Line{};
              });
        });
    // "L2 blocks in state O cannot be silently evicted": the owner is asked first, and writes back all. A
    // block that somebody waits for stays.
    r.rule(
        {.name = "L2 replaces a block",
         .unit = "L2",
         .source = "Primer 10.1.4",
         .fairness = Fairness::optional},
        over(blocks),
        [=, this](const State& s, Block b) {
          return (s.l2(b).owned && !s.l2(b).recalling) ||
                 (s.l2(b).present && !s.l2(b).owned && !wanted(s, b));
        },
        [=, this](State& s, Block b) {
          k.when(
              s.l2(b).owned && Bool(!fault("owner-forgotten")), [&] { s.l2(b).recalling = true; },
              [&] {
                if (!fault("dirty-block-dropped")) k.when(s.l2(b).dirty, [&] { s.memory(b) = s.l2(b).data; });
                s.l2(b) = Line2{};
              });
        });
  }
};

struct Info : MemoryInfo<faults, variants> {
  static constexpr std::string_view name = "hlrc";
  static constexpr std::string_view what =
      "L1s own synchronization variables, and release when they yield them (Alsop et al. 2016)";
  static constexpr int place = 16;  // among the systems, where people read of them
  // Fields that no rule reads.
  static constexpr bool is_unread(std::string_view field, std::string_view variant, std::string_view fault) {
    return (field == "l1(cu, block).moved" && (variant == "as-told" || fault == "move-unseen")) ||
           (field == "l2(block).dirty" && fault == "dirty-block-dropped");
  }
  template <class S>
  static constexpr void default_sizes(S&, int) {}
  template <class K>
  using Memory = Protocol<K>;
};

}  // namespace lockstep::hlrc
