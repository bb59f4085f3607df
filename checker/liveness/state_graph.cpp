#include "checker/liveness/state_graph.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <string>
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

// The parent of the states that are expanded one after the other, unpacked no more often than it changes.
class ParentInHand {
 public:
  explicit ParentInHand(unsigned words) : state_(words, 0) {}

  // Tells `successors` what the state to expand next was found from, and what that has enabled.
  void tell(Successors& successors, std::uint32_t parent, const Visited& visited, const KeptGuards& kept) {
    successors.known = {};
    if (parent == Visited::no_parent) return;
    const std::uint64_t* const enabled = kept.of(parent);
    if (enabled == nullptr) return;
    if (parent != in_hand_) visited.copy(parent, state_.data());
    in_hand_ = parent;
    successors.known = {state_.data(), enabled};
  }

 private:
  std::uint32_t in_hand_ = Visited::no_parent;
  std::vector<std::uint64_t> state_;
};

}  // namespace

StateGraph::StateGraph(const Model& model, const ExploreOptions& options)
    : model_(model), visited_(model.state_bits()), words_(std::max(1U, model.words())) {
  refuse_reductions(model.reductions());
  explore(options);
}

void StateGraph::explore(const ExploreOptions& options) {
  const auto start = Clock::now();
  Successors successors;
  successors.clear(words_);
  model_.initial(successors);
  for (std::size_t i = 0; i < successors.size(); ++i) {
    const std::uint64_t* state = successors.state(i);
    visited_.place(state, Visited::hash(state, words_), Visited::no_parent);
  }
  initial_ = visited_.size();
  std::vector<std::uint64_t> state(words_, 0);
  KeptGuards kept(model_.enabled_words());
  ParentInHand parent(words_);
  const auto room_to_keep = [&] { return std::max(std::size_t{1} << 20, visited_.memory() / 8); };
  std::size_t level_end = visited_.size();
  kept.begin_depth(0, level_end, room_to_keep());
  double reported = 0;
  constexpr std::size_t states_between_looks = 4096;
  for (std::size_t next = 0; next < visited_.size(); ++next) {
    if (next == level_end) {
      level_end = visited_.size();
      kept.begin_depth(next, level_end - next, room_to_keep());
      ++depth_;
    }
    if (next % states_between_looks == 0) {
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
      if (verdict_ != Verdict::holds) return;
      if (options.progress && seconds_ - reported > 0.2) {
        reported = seconds_;
        options.progress({visited_.size(), visited_.size() - next, edges(), depth_, seconds_, memory()});
      }
    }
    visited_.copy(next, state.data());
    successors.clear(words_);
    const std::uint32_t from = visited_.parent(next);
    parent.tell(successors, from, visited_, kept);
    try {
      model_.expand(state.data(), successors);
    } catch (const BrokenRule& broken) {
      verdict_ = Verdict::broken;
      broken_ = broken.what();
      bad_ = static_cast<StateNumber>(next);
      break;
    }
    if (successors.violated >= 0 && options.invariants) {
      verdict_ = Verdict::invariant;
      violated_ = successors.violated;
      bad_ = static_cast<StateNumber>(next);
      break;
    }
    kept.keep(next, successors);
    first_edge_.push_back(targets_.size());
    describe(state.data(), successors);
    for (std::size_t i = 0; i < successors.size(); ++i) {
      const std::uint64_t* after = successors.state(i);
      targets_.push_back(
          visited_.place(after, Visited::hash(after, words_), static_cast<StateNumber>(next)).number);
    }
  }
  first_edge_.push_back(targets_.size());
  seconds_ = std::chrono::duration<double>(Clock::now() - start).count();
  fired_ = successors.fired;
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

// All about a state but where its edges lead.
void StateGraph::describe(const std::uint64_t* state, const Successors& successors) {
  const StateFacts facts = model_.facts(state);
  const auto [fact, is_new] = fact_numbers_.try_emplace({facts.owed, facts.ended, facts.progressing},
                                                        static_cast<std::uint32_t>(facts_.size()));
  if (is_new) facts_.push_back(facts);
  fact_.push_back(fact->second);
  std::fill(scratch_.begin(), scratch_.end(), 0);
  for (std::size_t i = 0; i < successors.size(); ++i) {
    const ObligationNumber n = owed(successors.firing(i), facts);
    labels_.push_back(n);
    if (n != nobody) set_bit(scratch_, n);
  }
  auto set = set_numbers_.find(scratch_);
  if (set == set_numbers_.end()) {
    set = set_numbers_.emplace(scratch_, static_cast<std::uint32_t>(sets_.size())).first;
    sets_.push_back(scratch_);
  }
  enabled_.push_back(set->second);
  if (successors.live) {
    kind_.push_back(Kind::inner);
  } else {
    kind_.push_back(model_.proper_end(state) ? Kind::end : Kind::stuck);
  }
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
