#include "proofs/suggest/samples.hpp"

#include <algorithm>
#include <bit>
#include <boost/container_hash/hash.hpp>
#include <random>
#include <set>
#include <unordered_set>

#include "checker/explore/model_view.hpp"

namespace lockstep::suggest {

namespace {

using Clock = std::chrono::steady_clock;

bool is_set(const std::atomic<bool>* flag) {
  return flag != nullptr && flag->load(std::memory_order_relaxed);
}

// A model whose states are looked at when they are expanded.
class Watched final : public ModelView {
 public:
  Watched(const Model& model, std::function<void(const std::uint64_t*)> look)
      : ModelView(model), look_(std::move(look)) {}
  void expand(const std::uint64_t* state, Successors& out) const override {
    look_(state);
    ModelView::expand(state, out);
  }

 private:
  std::function<void(const std::uint64_t*)> look_;
};

// Sets of questions whose answers, taken together, no state gives: each state answers one of them otherwise.
// A state that is most like what is to be excluded leaves the fewest to choose among, so it is hit first.
class Hitting {
 public:
  Hitting(const std::vector<Bits>& states, std::size_t atoms, const Bits& excluded, std::size_t limit,
          const std::atomic<bool>* interrupted)
      : atoms_(atoms), limit_(limit), interrupted_(interrupted) {
    differences_.reserve(states.size());
    for (const Bits& state : states) {
      Bits& difference = differences_.emplace_back(state);
      for (std::size_t w = 0; w < difference.size(); ++w) difference[w] ^= excluded[w];
    }
    std::vector<std::pair<int, std::size_t>> order;
    for (std::size_t i = 0; i < differences_.size(); ++i) {
      int distance = 0;
      for (const std::uint64_t word : differences_[i]) distance += std::popcount(word);
      order.emplace_back(distance, i);
    }
    std::sort(order.begin(), order.end());
    for (const auto& [distance, i] : order) all_.push_back(i);
    tried_.assign((atoms + 63) / 64, 0);
  }

  // All of exactly so many, if none of fewer hits all.
  const std::set<std::vector<std::size_t>>& of(std::size_t size) {
    hit(all_, size);
    return found_;
  }

 private:
  void hit(const std::vector<std::size_t>& missed, std::size_t left) {
    if (missed.empty()) {
      std::vector<std::size_t> set = chosen_;
      std::sort(set.begin(), set.end());
      found_.insert(std::move(set));
      return;
    }
    if (left == 0 || found_.size() >= limit_ || is_set(interrupted_)) return;
    const Bits& nearest = differences_[missed.front()];
    std::vector<std::size_t> here;
    for (std::size_t a = 0; a < atoms_; ++a) {
      if (bit(nearest, a) && !bit(tried_, a)) here.push_back(a);
    }
    std::vector<std::size_t> rest;
    for (const std::size_t a : here) {
      rest.clear();
      for (const std::size_t i : missed) {
        if (!bit(differences_[i], a)) {
          rest.push_back(i);
          if (left == 1) break;
        }
      }
      chosen_.push_back(a);
      if (left > 1 || rest.empty()) hit(std::vector<std::size_t>(rest), left - 1);
      chosen_.pop_back();
      tried_[a / 64] |= std::uint64_t{1} << (a % 64);
    }
    for (const std::size_t a : here) tried_[a / 64] &= ~(std::uint64_t{1} << (a % 64));
  }

  std::size_t atoms_;
  std::size_t limit_;
  const std::atomic<bool>* interrupted_;
  std::vector<Bits> differences_;
  std::vector<std::size_t> all_;
  std::vector<std::size_t> chosen_;
  Bits tried_;  // by those before on the way down, which have been gone through
  std::set<std::vector<std::size_t>> found_;
};

// From the start, by whichever rule: states that are too far for a search of all.
void walk(const Model& model, Clock::time_point end, const std::atomic<bool>* interrupted) {
  constexpr std::size_t far = 1000;  // steps
  std::mt19937 choose(1);            // the same walks each time
  Successors next;
  std::vector<std::uint64_t> state;
  const auto step = [&] {
    const std::uint64_t* const chosen = next.state(choose() % next.size());
    state.assign(chosen, chosen + std::max(1U, model.words()));
  };
  const auto stop = [&] { return Clock::now() >= end || is_set(interrupted); };
  while (!stop()) {
    next.clear(std::max(1U, model.words()));
    model.initial(next);
    for (std::size_t n = 0; n < far && next.size() > 0 && !stop(); ++n) {
      step();
      next.clear(std::max(1U, model.words()));
      next.begin_state();
      try {
        model.expand(state.data(), next);
      } catch (const BrokenRule&) {
        break;  // is for the proof to find
      }
    }
  }
}

constexpr std::size_t most_variables = 4;
constexpr std::size_t most_beside_some = 3;

// Sets of variables, those of one type in order, since states answer alike by whatever names; few first.
std::vector<std::vector<std::size_t>> few(const std::vector<Variable>& variables, std::size_t most) {
  std::vector<std::vector<std::size_t>> all;
  for (std::size_t set = 0; set < std::size_t{1} << variables.size(); ++set) {
    std::vector<std::size_t> some;
    bool in_order = true;
    for (std::size_t v = 0; v < variables.size(); ++v) {
      if ((set >> v & 1U) == 0) continue;
      some.push_back(v);
      in_order &= v == 0 || variables[v - 1].type != variables[v].type || (set >> (v - 1) & 1U) != 0;
    }
    if (in_order && some.size() <= most) all.push_back(std::move(some));
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
  return all;
}

Bits masked(const Bits& bits, const Bits& mask) {
  Bits some = bits;
  for (std::size_t w = 0; w < some.size(); ++w) some[w] &= mask[w];
  return some;
}

// Of the questions those that are answered unlike any before them, and not always alike.
Bits telling(const std::unordered_set<Bits, boost::hash<Bits>>& answers, const Bits& asked,
             std::size_t atoms) {
  std::set<Bits> columns{Bits((answers.size() + 63) / 64)};
  Bits some(asked.size());
  for (std::size_t a = 0; a < atoms; ++a) {
    if (!bit(asked, a)) continue;
    Bits column((answers.size() + 63) / 64);
    std::size_t n = 0, yes = 0;
    for (const Bits& bits : answers) {
      column[n / 64] |= std::uint64_t{bit(bits, a)} << (n % 64);
      yes += static_cast<std::size_t>(bit(bits, a));
      ++n;
    }
    if (yes < n && columns.insert(std::move(column)).second) some[a / 64] |= std::uint64_t{1} << (a % 64);
  }
  return some;
}

}  // namespace

Samples::Samples(const Model& model, const Vocabulary& vocabulary, const SampleLimits& limits)
    : atoms_(vocabulary.atoms().size()), interrupted_(limits.interrupted) {
  std::unordered_set<Bits, boost::hash<Bits>> seen;
  Codes codes;
  const Watched watched(model, [&](const std::uint64_t* state) {
    vocabulary.unpack(state, codes);
    vocabulary.ask_explored(codes, [&](const Bits& bits) { seen.insert(bits); });
  });
  const Clock::time_point begin = Clock::now();
  ExploreOptions options;
  options.invariants = false;
  options.deadlocks = false;
  options.time_limit = limits.time / 2;
  options.state_limit = limits.states;
  options.memory_limit = limits.memory;
  options.interrupted = limits.interrupted;
  options.progress = limits.progress;
  const ExploreResult result = explore(watched, options);
  states_ = result.states;
  complete_ = result.verdict == Verdict::holds;
  if (!complete_) walk(watched, begin + limits.time, limits.interrupted);
  for (const bool of_some : {false, true}) {
    std::vector<View>& views = of_some ? views_of_some_ : views_;
    for (const std::vector<std::size_t>& variables :
         few(vocabulary.variables(), of_some ? most_beside_some : most_variables)) {
      View view{vocabulary.asked_of(variables, of_some), {}};
      std::unordered_set<Bits, boost::hash<Bits>> different;
      for (const Bits& bits : seen) different.insert(masked(bits, view.asked));
      if (of_some) view.asked = telling(different, view.asked, atoms_);
      std::unordered_set<Bits, boost::hash<Bits>> told;
      for (const Bits& bits : different) told.insert(masked(bits, view.asked));
      view.answers.assign(told.begin(), told.end());
      std::sort(view.answers.begin(), view.answers.end());
      views.push_back(std::move(view));
    }
  }
}

std::vector<Clause> Samples::excluding(const std::vector<Bits>& answers, std::size_t most,
                                       std::size_t limit) const {
  std::vector<Clause> found = excluding(views_, answers, most, limit);
  return found.empty() ? excluding(views_of_some_, answers, most, limit) : found;
}

std::vector<Clause> Samples::excluding(const std::vector<View>& views, const std::vector<Bits>& answers,
                                       std::size_t most, std::size_t limit) const {
  std::set<Clause> found;
  for (const View& view : views) {
    std::set<Bits> different;
    for (const Bits& bits : answers) different.insert(masked(bits, view.asked));
    std::size_t shortest = found.empty() ? most : most - 1;  // what has more variables has to be shorter
    std::set<Clause> here;
    for (const Bits& excluded : different) {
      Hitting search(view.answers, atoms_, excluded, limit, interrupted_);
      for (std::size_t size = 1; size <= shortest && here.size() < limit; ++size) {
        const auto& sets = search.of(size);
        if (sets.empty()) continue;
        if (size < shortest) here.clear();
        shortest = size;
        for (const std::vector<std::size_t>& set : sets) {
          Clause clause;
          for (const std::size_t atom : set) clause.push_back({atom, !bit(excluded, atom)});
          here.insert(std::move(clause));
        }
        break;
      }
    }
    if (here.empty()) continue;
    most = shortest;
    found = std::move(here);
    if (most == 1) break;
  }
  return {found.begin(), found.end()};
}

}  // namespace lockstep::suggest
