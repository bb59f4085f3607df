#include "checker/liveness/state_graph.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <chrono>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "checker/explore/kept_guards.hpp"
#include "checker/support/diagnostic.hpp"

namespace lockstep {

namespace {

using Clock = std::chrono::steady_clock;

void refuse_reductions(const Reductions& reductions) {
  std::string unsound;
  if (reductions.stubborn) unsound += ", stubborn";
  if (reductions.dead) unsound += ", dead";
  if (reductions.at_once) unsound += ", at-once";
  if (unsound.empty()) return;
  throw BadInput("liveness is not kept by the reductions " + unsound.substr(2),
                 "build the model without them; `moves` may stay");
}

std::uint64_t key_of(const Firing& firing) {
  std::uint64_t key = firing.rule;
  for (std::size_t i = 0; i < firing.parameter_count; ++i)
    key |= std::uint64_t{firing.parameters[i]} << (16 + 8 * i);
  return key | std::uint64_t{firing.parameter_count} << 56;
}

constexpr unsigned key_bits = 8 * sizeof(StateKey);
constexpr std::size_t chunk_states = 64;
// Of successors, so many are asked for ahead of being placed.
constexpr std::size_t prefetch_distance = 16;

}  // namespace

// Consecutive states, and what one thread made of them.
struct StateGraph::Chunk {
  explicit Chunk(const StateTree& tree) : opened(tree), parent(tree) {}

  struct Expanded {
    std::size_t end = 0;  // of its successors
    StateFacts facts;
    int violated = -1;
    bool live = false;
    bool proper_end = false;
  };
  std::size_t first = 0;
  std::size_t count = 0;
  Successors successors;
  std::vector<StateTree::Near> wanted;
  std::vector<StateKey> keys;         // of the successors
  std::vector<std::uint64_t> hashes;  // of these
  std::vector<Expanded> states;
  std::string broken;        // what the state behind the last of these did
  std::exception_ptr error;  // likewise
  StateTree::Batch opened;   // the states
  StateTree::Batch parent;
};

StateGraph::StateGraph(const Model& model, const ExploreOptions& options)
    : model_(model), words_(std::max(1U, model.words())), tree_(model.state_bits()), visited_(key_bits) {
  refuse_reductions(model.reductions());
  explore(options);
}

// In rounds: whoever is free expands the next chunk of a depth, while one thread numbers the successors of
// the round before, chunk after chunk. So numbers are those that one thread gives.
void StateGraph::explore(const ExploreOptions& options) {
  const auto start = Clock::now();
  Successors initial;
  initial.clear(words_);
  model_.initial(initial);
  for (std::size_t i = 0; i < initial.size(); ++i) {
    const StateKey key = tree_.key_of(initial.state(i));
    visited_.place(&key, Visited::hash(&key, 1), Visited::no_parent);
  }
  initial_ = visited_.size();
  KeptGuards kept(model_.enabled_words());
  const auto room_to_keep = [&] { return std::max(std::size_t{1} << 20, visited_.memory() / 8); };
  std::size_t next = 0;
  std::size_t level_end = visited_.size();
  kept.begin_depth(0, level_end, room_to_keep());
  const unsigned threads = std::max(1U, options.threads);
  struct Round {
    std::vector<std::unique_ptr<Chunk>> chunks;
    std::size_t count = 0;  // of them in use
  };
  std::array<Round, 2> both;
  Round* now = &both[0];     // is expanded
  Round* before = &both[1];  // has been, and waits to be numbered
  for (Round& round : both) {
    for (unsigned i = 0; i < (threads == 1 ? 1 : 8 * threads); ++i)
      round.chunks.push_back(std::make_unique<Chunk>(tree_));
  }
  std::uint64_t rounds = 0;
  double reported = 0;

  const auto at_limit = [&] {
    if (++rounds % (threads == 1 ? 64 : 4) != 0) return false;
    seconds_ = std::chrono::duration<double>(Clock::now() - start).count();
    if (options.interrupted != nullptr && options.interrupted->load(std::memory_order_relaxed)) {
      verdict_ = Verdict::interrupted;
    } else if ((options.memory_limit != 0 && memory() > options.memory_limit) ||
               visited_.size() > Visited::max_states / 2) {
      verdict_ = Verdict::out_of_memory;
    } else if (options.time_limit.count() != 0 &&
               seconds_ * 1000 > static_cast<double>(options.time_limit.count())) {
      verdict_ = Verdict::out_of_time;
    }
    if (options.progress && seconds_ - reported > 0.2) {
      reported = seconds_;
      options.progress({visited_.size(), visited_.size() - next, edges(), depth_, seconds_, memory()});
    }
    return verdict_ != Verdict::holds;
  };
  const auto take_in_all = [&](Round& round) {
    for (std::size_t i = 0; i < round.count && verdict_ == Verdict::holds; ++i)
      take_in(*round.chunks[i], options.invariants);
    round.count = 0;
  };
  const auto next_chunks = [&](Round& round) {
    for (; round.count < round.chunks.size() && next < level_end; ++round.count) {
      Chunk& chunk = *round.chunks[round.count];
      chunk.first = next;
      chunk.count = std::min(chunk_states, level_end - next);
      next += chunk.count;
    }
    return round.count > 0;
  };
  // Once all of the states before are expanded and numbered.
  const auto next_depth = [&] {
    if (verdict_ != Verdict::holds || next == visited_.size()) return false;
    level_end = visited_.size();
    kept.begin_depth(next, level_end - next, room_to_keep());
    ++depth_;
    return next_chunks(*now);
  };
  if (threads == 1) {
    for (bool more = next_chunks(*now); more; more = next_chunks(*now) || next_depth()) {
      expand(*now->chunks[0], kept);
      take_in_all(*now);
      tree_.release();
      if (verdict_ != Verdict::holds || at_limit()) break;
    }
  } else {
    visited_.keep_in_place();
    bool more = next_chunks(*now);
    std::atomic<std::size_t> next_chunk = 0;
    std::atomic<bool> numbered = false;
    std::exception_ptr error;
    const auto guarded = [&](auto&& work) noexcept {
      try {
        if (!error) work();
      } catch (...) {
        error = std::current_exception();
      }
    };
    const auto next_round = [&]() noexcept {
      guarded([&] {
        more = false;
        std::swap(now, before);
        tree_.release();
        if (verdict_ != Verdict::holds || at_limit()) return;
        more = next_chunks(*now);
        if (!more) {
          take_in_all(*before);
          more = next_depth();
        }
      });
      more = more && !error;
      next_chunk = 0;
      numbered = false;
    };
    std::barrier expanded(static_cast<std::ptrdiff_t>(threads), next_round);
    const auto work = [&] {
      while (more) {
        if (!numbered.exchange(true)) guarded([&] { take_in_all(*before); });
        for (std::size_t i = next_chunk++; i < now->count; i = next_chunk++) expand(*now->chunks[i], kept);
        expanded.arrive_and_wait();
      }
    };
    {
      std::vector<std::jthread> others;
      for (unsigned i = 1; i < threads; ++i) others.emplace_back(work);
      work();
    }
    if (error) std::rethrow_exception(error);
  }
  first_edge_.push_back(targets_.size());
  seconds_ = std::chrono::duration<double>(Clock::now() - start).count();
  for (const Round& round : both) {
    for (const auto& chunk : round.chunks) {
      fired_.resize(std::max(fired_.size(), chunk->successors.fired.size()));
      for (std::size_t rule = 0; rule < chunk->successors.fired.size(); ++rule)
        fired_[rule] += chunk->successors.fired[rule];
    }
  }
}

void StateGraph::expand(Chunk& chunk, KeptGuards& kept) {
  Successors& successors = chunk.successors;
  successors.clear(words_);
  chunk.states.clear();
  chunk.broken.clear();
  chunk.error = nullptr;
  chunk.opened.clear();
  chunk.wanted.clear();
  chunk.keys.clear();
  for (std::size_t i = 0; i < chunk.count; ++i) tree_.open(key(chunk.first + i), chunk.opened);
  std::uint32_t in_hand = Visited::no_parent;
  for (std::size_t i = 0; i < chunk.count; ++i) {
    const std::size_t number = chunk.first + i;
    const std::uint64_t* const state = chunk.opened.state(i);
    successors.known = {};
    const std::uint32_t parent = visited_.parent(number);
    const std::uint64_t* const enabled = parent == Visited::no_parent ? nullptr : kept.of(parent);
    if (enabled != nullptr) {
      if (parent != in_hand) {
        chunk.parent.clear();
        tree_.open(key(parent), chunk.parent);
      }
      in_hand = parent;
      successors.known = {chunk.parent.state(0), enabled};
    }
    const std::size_t before = successors.size();
    try {
      model_.expand(state, successors);
    } catch (const BrokenRule& broken) {
      successors.keep(before);
      chunk.broken = broken.what();
      break;
    } catch (...) {
      successors.keep(before);
      chunk.error = std::current_exception();
      break;
    }
    kept.keep(number, successors);
    Chunk::Expanded& now = chunk.states.emplace_back();
    now.end = successors.size();
    now.facts = model_.facts(state);
    now.violated = successors.violated;
    now.live = successors.live;
    now.proper_end = !now.live && model_.proper_end(state);
    for (std::size_t at = before; at < now.end; ++at)
      chunk.wanted.push_back({static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(i)});
  }
  try {
    tree_.keys_of(successors.state(0), chunk.wanted, chunk.opened, chunk.keys);
  } catch (...) {
    chunk.states.clear();
    chunk.error = std::current_exception();
  }
  chunk.hashes.resize(chunk.keys.size());
  for (std::size_t i = 0; i < chunk.keys.size(); ++i) chunk.hashes[i] = Visited::hash(&chunk.keys[i], 1);
}

// Numbers the successors, until one of the states is bad.
void StateGraph::take_in(const Chunk& chunk, bool invariants) {
  const std::size_t all = chunk.hashes.size();
  for (std::size_t at = 0; at < std::min(prefetch_distance, all); ++at)
    visited_.prefetch_slot(chunk.hashes[at]);
  std::size_t begin = 0;
  for (std::size_t i = 0; i < chunk.states.size(); ++i) {
    const Chunk::Expanded& state = chunk.states[i];
    const auto number = static_cast<StateNumber>(chunk.first + i);
    if (state.violated >= 0 && violated_ < 0) {
      violated_ = state.violated;
      bad_ = number;
    }
    if (state.violated >= 0 && invariants) {
      verdict_ = Verdict::invariant;
      return;
    }
    first_edge_.push_back(targets_.size());
    note_facts(state.facts);
    std::fill(scratch_.begin(), scratch_.end(), 0);
    for (std::size_t at = begin; at < state.end; ++at) {
      const ObligationNumber n = owed(chunk.successors.firing(at), state.facts);
      labels_.push_back(n);
      if (n != nobody) set_bit(scratch_, n);
    }
    note_enabled();
    kind_.push_back(state.live ? Kind::inner : state.proper_end ? Kind::end : Kind::stuck);
    for (; begin < state.end; ++begin) {
      if (begin + prefetch_distance < all) visited_.prefetch_slot(chunk.hashes[begin + prefetch_distance]);
      targets_.push_back(visited_.place(&chunk.keys[begin], chunk.hashes[begin], number).number);
    }
  }
  if (chunk.error) std::rethrow_exception(chunk.error);
  if (chunk.states.size() < chunk.count) {
    verdict_ = Verdict::broken;
    broken_ = chunk.broken;
    bad_ = static_cast<StateNumber>(chunk.first + chunk.states.size());
  }
}

// The obligation of a rule's instance; nobody's where the rule is optional.
ObligationNumber StateGraph::obligation_of(const Firing& firing) {
  const RuleDescription& rule = model_.rules()[firing.rule];
  if (rule.fairness == Fairness::optional) return nobody;
  const bool of_thread = rule.thread >= 0;
  const std::uint64_t key =
      of_thread ? std::uint64_t{1} << 63 | static_cast<std::uint64_t>(rule.thread) : key_of(firing);
  const auto found = obligation_numbers_.find(key);
  if (found != obligation_numbers_.end()) return found->second;
  if (obligations_.size() >= nobody) throw std::length_error("more fair rules than liveness can tell apart");
  const auto number = static_cast<ObligationNumber>(obligations_.size());
  obligations_.push_back(of_thread ? FairnessObligation{rule.thread, {}} : FairnessObligation{-1, firing});
  obligation_numbers_.emplace(key, number);
  return number;
}

// The same; nobody's also where the thread is not owed its execution.
ObligationNumber StateGraph::owed(const Firing& firing, const StateFacts& facts) {
  const ObligationNumber n = obligation_of(firing);
  if (n == nobody || obligations_[n].thread < 0) return n;
  return ((facts.owed >> static_cast<unsigned>(obligations_[n].thread)) & 1U) != 0 ? n : nobody;
}

void StateGraph::note_facts(const StateFacts& facts) {
  const auto [fact, is_new] = fact_numbers_.try_emplace({facts.owed, facts.ended, facts.progressing},
                                                        static_cast<std::uint32_t>(facts_.size()));
  if (is_new) facts_.push_back(facts);
  fact_.push_back(fact->second);
}

// What is owed and enabled, as scratch_ says.
void StateGraph::note_enabled() {
  auto set = set_numbers_.find(scratch_);
  if (set == set_numbers_.end()) {
    set = set_numbers_.emplace(scratch_, static_cast<std::uint32_t>(sets_.size())).first;
    sets_.push_back(scratch_);
  }
  enabled_.push_back(set->second);
}

std::size_t StateGraph::memory() const {
  return tree_.memory() + visited_.memory() + first_edge_.capacity() * sizeof(std::size_t) +
         targets_.capacity() * sizeof(StateNumber) + labels_.capacity() * sizeof(ObligationNumber) +
         (enabled_.capacity() + fact_.capacity()) * sizeof(std::uint32_t) + kind_.capacity();
}

std::vector<std::uint64_t> StateGraph::packed(StateNumber s) const {
  StateTree::Batch batch(tree_);
  tree_.open(key(s), batch);
  return {batch.state(0), batch.state(0) + words_};
}

std::vector<StateNumber> StateGraph::path_to(StateNumber s) const {
  std::vector<StateNumber> path;
  for (StateNumber at = s; at != Visited::no_parent; at = visited_.parent(at)) path.push_back(at);
  std::reverse(path.begin(), path.end());
  return path;
}

Trace StateGraph::trace(const std::vector<StateNumber>& path, const std::vector<std::size_t>& edges) const {
  Trace trace;
  Successors successors;
  successors.clear(words_);
  model_.initial(successors);
  std::vector<std::uint64_t> state = packed(path.front());
  while (!std::equal(state.begin(), state.end(), successors.state(trace.initial))) ++trace.initial;
  trace.steps.push_back({successors.firing(trace.initial), model_.narrate_initial(trace.initial), state});
  // Edges lie in the order in which a state's successors are listed.
  const auto take = [&](StateNumber from, std::size_t edge) {
    successors.clear(words_);
    model_.expand(state.data(), successors);
    const Firing firing = successors.firing(edge - first_edge(from));
    std::vector<std::uint64_t> after = packed(target(edge));
    trace.steps.push_back({firing, model_.narrate(state.data(), firing), after});
    state = std::move(after);
  };
  for (std::size_t i = 1; i < path.size(); ++i) {
    std::size_t edge = first_edge(path[i - 1]);
    while (target(edge) != path[i]) ++edge;
    take(path[i - 1], edge);
  }
  StateNumber at = path.back();
  for (const std::size_t edge : edges) {
    take(at, edge);
    at = target(edge);
  }
  return trace;
}

}  // namespace lockstep
