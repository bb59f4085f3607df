#include "checker/liveness/state_graph.hpp"

#include <algorithm>
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

constexpr std::size_t chunk_states = 64;
// Of successors, so many are asked for ahead of being placed.
constexpr std::size_t prefetch_distance = 16;

}  // namespace

// Consecutive states, and what one thread made of them.
struct StateGraph::Chunk {
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
  std::vector<std::uint64_t> hashes;  // of the successors
  std::vector<Expanded> states;
  std::string broken;        // what the state behind the last of these did
  std::exception_ptr error;  // likewise
  std::vector<std::uint64_t> state;
  std::vector<std::uint64_t> parent;
};

StateGraph::StateGraph(const Model& model, const ExploreOptions& options)
    : model_(model), visited_(model.state_bits()), words_(std::max(1U, model.words())) {
  refuse_reductions(model.reductions());
  explore(options);
}

// In rounds: whoever is free expands the next chunk of a depth; then the successors are numbered, chunk after
// chunk. So numbers are those that one thread gives.
void StateGraph::explore(const ExploreOptions& options) {
  const auto start = Clock::now();
  Successors initial;
  initial.clear(words_);
  model_.initial(initial);
  for (std::size_t i = 0; i < initial.size(); ++i) {
    const std::uint64_t* state = initial.state(i);
    visited_.place(state, Visited::hash(state, words_), Visited::no_parent);
  }
  initial_ = visited_.size();
  KeptGuards kept(model_.enabled_words());
  const auto room_to_keep = [&] { return std::max(std::size_t{1} << 20, visited_.memory() / 8); };
  std::size_t next = 0;
  std::size_t level_end = visited_.size();
  kept.begin_depth(0, level_end, room_to_keep());
  const unsigned threads = std::max(1U, options.threads);
  std::vector<std::unique_ptr<Chunk>> chunks;
  for (unsigned i = 0; i < (threads == 1 ? 1 : 8 * threads); ++i) chunks.push_back(std::make_unique<Chunk>());
  std::size_t chunks_in_round = 0;
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
  const auto next_round = [&] {
    if (verdict_ != Verdict::holds || at_limit()) return false;
    if (next == level_end) {
      if (next == visited_.size()) return false;
      level_end = visited_.size();
      kept.begin_depth(next, level_end - next, room_to_keep());
      ++depth_;
    }
    chunks_in_round = 0;
    for (; chunks_in_round < chunks.size() && next < level_end; ++chunks_in_round) {
      Chunk& chunk = *chunks[chunks_in_round];
      chunk.first = next;
      chunk.count = std::min(chunk_states, level_end - next);
      next += chunk.count;
    }
    return true;
  };
  const auto take_in_all = [&] {
    for (std::size_t i = 0; i < chunks_in_round && verdict_ == Verdict::holds; ++i)
      take_in(*chunks[i], options.invariants);
  };
  if (threads == 1) {
    while (next_round()) {
      expand(*chunks[0], kept);
      take_in_all();
    }
  } else {
    bool more = next_round();
    std::atomic<std::size_t> next_chunk = 0;
    std::exception_ptr error;
    const auto after_expanding = [&]() noexcept {
      try {
        take_in_all();
        more = next_round();
      } catch (...) {
        error = std::current_exception();
        more = false;
      }
      next_chunk = 0;
    };
    std::barrier expanded(static_cast<std::ptrdiff_t>(threads), after_expanding);
    const auto work = [&] {
      while (more) {
        for (std::size_t i = next_chunk++; i < chunks_in_round; i = next_chunk++) expand(*chunks[i], kept);
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
  for (const auto& chunk : chunks) {
    fired_.resize(std::max(fired_.size(), chunk->successors.fired.size()));
    for (std::size_t rule = 0; rule < chunk->successors.fired.size(); ++rule)
      fired_[rule] += chunk->successors.fired[rule];
  }
}

void StateGraph::expand(Chunk& chunk, KeptGuards& kept) const {
  Successors& successors = chunk.successors;
  successors.clear(words_);
  chunk.states.clear();
  chunk.broken.clear();
  chunk.error = nullptr;
  chunk.state.resize(words_);
  chunk.parent.resize(words_);
  std::uint32_t in_hand = Visited::no_parent;
  for (std::size_t i = 0; i < chunk.count; ++i) {
    const std::size_t number = chunk.first + i;
    visited_.copy(number, chunk.state.data());
    successors.known = {};
    const std::uint32_t parent = visited_.parent(number);
    const std::uint64_t* const enabled = parent == Visited::no_parent ? nullptr : kept.of(parent);
    if (enabled != nullptr) {
      if (parent != in_hand) visited_.copy(parent, chunk.parent.data());
      in_hand = parent;
      successors.known = {chunk.parent.data(), enabled};
    }
    const std::size_t before = successors.size();
    try {
      model_.expand(chunk.state.data(), successors);
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
    now.facts = model_.facts(chunk.state.data());
    now.violated = successors.violated;
    now.live = successors.live;
    now.proper_end = !now.live && model_.proper_end(chunk.state.data());
  }
  chunk.hashes.resize(successors.size());
  for (std::size_t i = 0; i < successors.size(); ++i)
    chunk.hashes[i] = Visited::hash(successors.state(i), words_);
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
      targets_.push_back(visited_.place(chunk.successors.state(begin), chunk.hashes[begin], number).number);
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
  obligations_.push_back(of_thread ? Obligation{rule.thread, {}} : Obligation{-1, firing});
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
  return visited_.memory() + first_edge_.capacity() * sizeof(std::size_t) +
         targets_.capacity() * sizeof(StateNumber) + labels_.capacity() * sizeof(ObligationNumber) +
         (enabled_.capacity() + fact_.capacity()) * sizeof(std::uint32_t) + kind_.capacity();
}

std::vector<std::uint64_t> StateGraph::packed(StateNumber s) const {
  std::vector<std::uint64_t> state(words_, 0);
  visited_.copy(s, state.data());
  return state;
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
