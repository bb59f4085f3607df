// L1s that keep what is written, with a dirty bit for each word, over one L2 that takes it in whatever it
// waits for: what hlrc.hpp and phi.hpp have in common. How an L1 synchronizes is theirs.
//
// A store needs no copy. What is dirty leaves when it is due, and waits in `out`, one message for each block
// of an L1, until L2 has taken it in. An L1 has one request for a block under way; siblings wait for it.
// Requests, answers and write-backs overtake each other freely.
//
// A system derives from Caches, with State (tables port, transit, l1, miss, due, out, l2, memory) and:
//   synchronizes(s, t)       the access is not one that any cache performs
//   has_word(line, w)        the word can be read in L1
//   is_free(s, c, b)         L1 sends nothing of the block
//   may_ask(s, t)            a request for the block may leave L1
//   takes_stores(s, c, b)    L1 can keep a store
//   write_word(line, word, value)
//   holds_words(write_back)  L2 needs its block to take it in
//   sends(write_back, w)     the word as it was stored is in it
//   drop_clean(s, c), flush(s, c), flushed(s, c)   what fences do; flush marks what is due
//   undisturbed(s, b)        L2 may answer a CPU for the block as it stands
//   answers(s, b)            L2 does so
// and `source`, where its rules are printed.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>

#include "spec/kernel/loops.hpp"
#include "spec/kernel/rules.hpp"
#include "spec/memory/memory_system.hpp"

namespace lockstep::write_back {

// Where a thread's request, or the answer to it, is; who releases waits for its L1.
enum class Stage : std::uint8_t { none, to_l2, from_l2, flushing };
BOOST_DESCRIBE_ENUM(Stage, none, to_l2, from_l2, flushing)

template <class K, const auto& faults, const auto& variants, class System>
struct Caches : MemorySystem<K, faults, variants> {
  using Base = MemorySystem<K, faults, variants>;
  using Base::Base, Base::k, Base::machine, Base::fault;
  using Base::cu, Base::on_cpu, Base::on_gpu, Base::put, Base::word_of;
  using typename Base::Block, typename Base::Word;
  using typename Base::Bool, typename Base::Value, typename Base::Data, typename Base::Mask;
  using typename Base::ThreadIx, typename Base::Cu;

  struct Transit {
    typename K::template Enum<Stage> stage;
    Data data;
    BOOST_DESCRIBE_CLASS(Transit, (), (stage, data), (), ())
  };
  // An L1's request for a block is under way.
  struct Miss {
    Bool busy;
    Bool stale;  // what comes is not to be kept
    BOOST_DESCRIBE_CLASS(Miss, (), (busy, stale), (), ())
  };

  template <class State>
  void initialise(State& s, Block b, Word w, Value v) const {
    s.memory(b)(w) = v;
  }
  template <class State>
  [[nodiscard]] Value final_value(const State& s, Block b, Word w) const {
    return K::select(s.l2(b).present, s.l2(b).data(w), s.memory(b)(w));
  }

  // ---- what rules, invariants and lemmas ask --------------------------------------------------------------

  template <class State>
  [[nodiscard]] static Block block(const State& s, ThreadIx t) {
    return s.port(t).request.block;
  }
  template <class State>
  [[nodiscard]] static Bool in_flight(const State& s, ThreadIx t) {
    return s.transit(t).stage == Stage::to_l2 || s.transit(t).stage == Stage::from_l2;
  }
  [[nodiscard]] Bool any(const Mask& mask) const {
    return k.exists(words, [&](Word w) { return mask(w); });
  }

 protected:
  [[nodiscard]] const System& system() const { return static_cast<const System&>(*this); }

  template <class State>
  [[nodiscard]] const auto& copy(const State& s, ThreadIx t) const {
    return s.l1(cu(t), block(s, t));
  }
  // Something of the word in L1.
  template <class State, class Of>
  [[nodiscard]] Bool of_word(const State& s, ThreadIx t, Of&& of) const {
    const auto& word = s.port(t).request.word;
    const auto& line = copy(s, t);
    return k.exists(words, [&](Word w) { return word == w && of(line, w); });
  }
  // L1 has the word.
  template <class State>
  [[nodiscard]] Bool hits(const State& s, ThreadIx t) const {
    return of_word(s, t, [&](const auto& line, Word w) { return system().has_word(line, w); });
  }
  template <class State>
  [[nodiscard]] Bool asks_now(const State& s, ThreadIx t, Operation operation) const {
    return on_gpu(s, t) && asks(s, t, operation) && s.transit(t).stage == Stage::none;
  }
  template <class State>
  [[nodiscard]] Bool synchronizes_now(const State& s, ThreadIx t) const {
    return on_gpu(s, t) && !asks(s, t, Operation::fence) && s.transit(t).stage == Stage::none &&
           system().synchronizes(s, t);
  }
  template <class State>
  void ask(State& s, ThreadIx t) const {
    s.transit(t).stage = Stage::to_l2;
    s.miss(cu(t), block(s, t)).busy = true;
  }
  template <class State>
  [[nodiscard]] Value written(const State& s, ThreadIx t, const Value& old) const {
    const auto& q = s.port(t).request;
    return K::select(q.operation == Operation::rmw, rmw_result(k, q, old), Value(q.a));
  }
  // With what the access found, where it asks for that.
  template <class State>
  void complete_with(State& s, ThreadIx t, const Value& old) const {
    k.when(
        asks(s, t, Operation::store), [&] { complete<K>(s.port(t)); }, [&] { complete<K>(s.port(t), old); });
  }
  // Nothing of the block is on its way to this L1 or from it.
  template <class State>
  [[nodiscard]] Bool nothing_under_way(const State& s, ThreadIx t) const {
    return system().is_free(s, cu(t), block(s, t)) && !s.miss(cu(t), block(s, t)).busy;
  }
  template <class State>
  void miss_is_stale(State& s, Cu c, Block b) const {
    k.when(s.miss(c, b).busy, [&] { s.miss(c, b).stale = true; });
  }
  template <class State>
  void misses_are_stale(State& s, Cu c) const {
    for_each_present(k, slice(s.miss, c, blocks), [&](Block b) { miss_is_stale(s, c, b); });
  }
  // What was due has left L1, and what has left is taken in, for which a fault does not wait.
  template <class State>
  [[nodiscard]] Bool all_is_in(const State& s, Cu c, bool waits) const {
    const Bool sent = !exists_present(k, slice(s.due, c, blocks), [&](Block b) { return s.due(c, b); });
    if (!waits) return sent;
    return sent && !exists_present(k, slice(s.out, c, blocks),
                                   [&](Block b) { return system().holds_words(s.out(c, b)); });
  }
  template <class State>
  void miss_invariant(InvariantList<K, State>& v) const {
    v.invariant("a miss is on its way for one thread", [this](const State& s) {
      return this->every(cus, blocks, [&](Cu c, Block b) {
        return s.miss(c, b).busy == exists_asking(k, s.port, b, [&](ThreadIx t) {
                 return !machine.is_host(t) && cu(t) == c && in_flight(s, t);
               });
      });
    });
  }

  // ---- accesses that do not synchronize: as in any cache that writes back ---------------------------------

  // `performs_atomics`: RMWs are among them.
  template <class State>
  void access_rules(RuleList<K, State>& r, bool performs_atomics) const {
    const auto now = [this](const State& s, ThreadIx t, Operation operation) {
      return asks_now(s, t, operation) && !system().synchronizes(s, t);
    };
    r.rule(
        {.name = "load hits L1", .unit = "L1", .source = System::source}, over(threads),
        [=, this](const State& s, ThreadIx t) { return now(s, t, Operation::load) && hits(s, t); },
        [this](State& s, ThreadIx t) {
          complete<K>(s.port(t), word_of(copy(s, t).data, s.port(t).request.word));
        });
    r.rule(
        {.name = "load misses L1", .unit = "L1", .source = System::source}, over(threads),
        [=, this](const State& s, ThreadIx t) {
          return now(s, t, Operation::load) && !hits(s, t) && system().may_ask(s, t);
        },
        [this](State& s, ThreadIx t) { ask(s, t); });
    r.rule(
        {.name = "L1 keeps a store", .unit = "L1", .source = System::source}, over(threads),
        [=, this](const State& s, ThreadIx t) {
          return now(s, t, Operation::store) && system().takes_stores(s, cu(t), block(s, t));
        },
        [this](State& s, ThreadIx t) {
          const auto& q = s.port(t).request;
          system().write_word(s.l1(cu(t), q.block), q.word, q.a);
          complete<K>(s.port(t));
        });
    if (!performs_atomics) return;
    r.rule(
        {.name = "RMW misses L1", .unit = "L1", .source = "ours"}, over(threads),
        [=, this](const State& s, ThreadIx t) {
          return now(s, t, Operation::rmw) && !hits(s, t) && system().may_ask(s, t);
        },
        [this](State& s, ThreadIx t) { ask(s, t); });
    r.rule(
        {.name = "L1 performs an RMW", .unit = "L1", .source = "ours"}, over(threads),
        [=, this](const State& s, ThreadIx t) { return now(s, t, Operation::rmw) && hits(s, t); },
        [this](State& s, ThreadIx t) {
          const auto& q = s.port(t).request;
          const Value old = word_of(copy(s, t).data, q.word);
          system().write_word(s.l1(cu(t), q.block), q.word, written(s, t, old));
          complete<K>(s.port(t), old);
        });
  }

  // ---- L2 -------------------------------------------------------------------------------------------------

  template <class State>
  [[nodiscard]] static Bool at_l2(const State& s, ThreadIx t) {
    return s.transit(t).stage == Stage::to_l2;
  }
  template <class State>
  [[nodiscard]] Bool served(const State& s, ThreadIx t) const {
    return at_l2(s, t) && s.l2(block(s, t)).present;
  }
  // `needs_block`: of a thread's request that is at L2.
  template <class State, class Needs>
  void fetch_rules(RuleList<K, State>& r, Needs needs_block) const {
    const auto lacks = [](const State& s, Block b) { return !s.l2(b).present && !s.l2(b).fetching; };
    r.rule(
        {.name = "L2 fetches a block", .unit = "L2", .source = System::source}, over(threads),
        [=](const State& s, ThreadIx t) { return at_l2(s, t) && lacks(s, block(s, t)) && needs_block(s, t); },
        [](State& s, ThreadIx t) { s.l2(block(s, t)).fetching = true; });
    r.rule(
        {.name = "L2 fetches what is written back", .unit = "L2", .source = System::source},
        over(cus, blocks),
        [=, this](const State& s, Cu c, Block b) { return system().holds_words(s.out(c, b)) && lacks(s, b); },
        [](State& s, Cu, Block b) { s.l2(b).fetching = true; });
    r.rule(
        {.name = "memory answers L2", .unit = "memory", .source = System::source}, over(blocks),
        [](const State& s, Block b) { return s.l2(b).fetching; },
        [](State& s, Block b) {
          s.l2(b).fetching = false;
          s.l2(b).data = s.memory(b);
          s.l2(b).present = true;
        });
  }
  // L2 answers with the block.
  template <class State>
  void answer(State& s, ThreadIx t) const {
    s.transit(t).data = s.l2(block(s, t)).data;
    s.transit(t).stage = Stage::from_l2;
  }
  // A thread's access is performed on what L2 has; what it found.
  template <class State>
  [[nodiscard]] Value perform_at_l2(State& s, ThreadIx t) const {
    const auto& q = s.port(t).request;
    auto& line = s.l2(q.block);
    const Value old = word_of(line.data, q.word);
    const Value result = written(s, t, old);
    k.when(writes(s, t), [&] {
      put(line.data, q.word, result);
      line.dirty = true;
    });
    return old;
  }

  // ---- answers --------------------------------------------------------------------------------------------

  template <class State>
  [[nodiscard]] Bool answered(const State& s, ThreadIx t) const {
    return on_gpu(s, t) && s.transit(t).stage == Stage::from_l2;
  }
  // What is dirty is newer than an answer, and so is what is on its way to L2.
  template <class State>
  [[nodiscard]] Value arriving(const State& s, ThreadIx t, Word w) const {
    const auto& line = copy(s, t);
    const auto& out = s.out(cu(t), block(s, t));
    const Value older = K::select(system().sends(out, w), Value(out.data(w)), Value(s.transit(t).data(w)));
    return K::select(line.dirty(w) && Bool(!fault("fill-covers-dirty-words")), Value(line.data(w)), older);
  }
  template <class State>
  void complete_load(State& s, ThreadIx t) const {
    k.when(asks(s, t, Operation::load), [&] {
      complete<K>(s.port(t),
                  k.pick(words, s.port(t).request.word, [&](Word w) { return arriving(s, t, w); }));
    });
  }

  // ---- fences: ours ---------------------------------------------------------------------------------------

  template <class State>
  [[nodiscard]] Bool wide_release(const State& s, ThreadIx t) const {
    return releases(s.port(t).request.order) && beyond_group(s, t);
  }
  template <class State>
  void pass_fence(State& s, ThreadIx t) const {
    if (!fault("acquire-fence-keeps-l1")) {
      k.when(acquires(s.port(t).request.order) && beyond_group(s, t), [&] { system().drop_clean(s, cu(t)); });
    }
    complete<K>(s.port(t));
  }
  template <class State>
  void fence_rules(RuleList<K, State>& r) const {
    r.rule(
        {.name = "fence passes", .unit = "L1", .source = "ours"}, over(threads),
        [this](const State& s, ThreadIx t) {
          return asks_now(s, t, Operation::fence) && !wide_release(s, t);
        },
        [this](State& s, ThreadIx t) { pass_fence(s, t); });
    r.rule(
        {.name = "release fence begins", .unit = "L1", .source = "ours"}, over(threads),
        [this](const State& s, ThreadIx t) { return asks_now(s, t, Operation::fence) && wide_release(s, t); },
        [this](State& s, ThreadIx t) {
          s.transit(t).stage = Stage::flushing;
          if (!fault("release-fence-keeps-dirty")) system().flush(s, cu(t));
        });
    r.rule(
        {.name = "fence has released", .unit = "L1", .source = "ours"}, over(threads),
        [this](const State& s, ThreadIx t) {
          return on_gpu(s, t) && asks(s, t, Operation::fence) && s.transit(t).stage == Stage::flushing &&
                 system().flushed(s, cu(t));
        },
        [this](State& s, ThreadIx t) {
          pass_fence(s, t);
          s.transit(t) = Transit{};
        });
  }

  // ---- the CPUs: ours -------------------------------------------------------------------------------------

  template <class State>
  void cpu_rules(RuleList<K, State>& r) const {
    r.rule(
        {.name = "CPU asks L2", .unit = "CPU", .source = "ours"}, over(threads),
        [this](const State& s, ThreadIx t) {
          return on_cpu(s, t) && !asks(s, t, Operation::fence) && s.transit(t).stage == Stage::none;
        },
        [](State& s, ThreadIx t) { s.transit(t).stage = Stage::to_l2; });
    r.rule(
        {.name = "L2 serves a CPU", .unit = "L2", .source = "ours"}, over(threads),
        [this](const State& s, ThreadIx t) {
          return on_cpu(s, t) && served(s, t) && system().undisturbed(s, block(s, t));
        },
        [this](State& s, ThreadIx t) {
          system().answers(s, block(s, t));
          complete_with(s, t, perform_at_l2(s, t));
          s.transit(t) = Transit{};
        });
    r.rule(
        {.name = "CPU passes a fence", .unit = "CPU", .source = "ours"}, over(threads),
        [this](const State& s, ThreadIx t) { return on_cpu(s, t) && asks(s, t, Operation::fence); },
        [](State& s, ThreadIx t) { complete<K>(s.port(t)); });
  }
};

}  // namespace lockstep::write_back
