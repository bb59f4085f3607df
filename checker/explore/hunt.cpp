// Each search keeps what it has visited, exactly or by bits, in its share of memory; when that is used up, or
// there is nothing left within its depth, the next begins in another order. Depths differ from search to
// search: most mistakes are near, and some are not.
//
// A run that was found is made shorter by leaving out ever smaller stretches of what fired: what can then not
// fire is left out as well, and the rest is kept if it still ends badly (Zeller and Hildebrandt, "Simplifying
// and isolating failure-inducing input", 2002).
#include "checker/explore/hunt.hpp"

#include <algorithm>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <vector>

#include "checker/explore/bit_table.hpp"
#include "checker/explore/judge.hpp"
#include "checker/explore/key_set.hpp"
#include "checker/explore/state_tree.hpp"

namespace lockstep {

namespace {

using Clock = std::chrono::steady_clock;
using Packed = std::vector<std::uint64_t>;

struct BadEnd {
  Verdict verdict = Verdict::holds;
  int violated = -1;
  std::string broken{};
};

// From one of the initial states.
struct Run {
  std::size_t initial = 0;
  std::vector<Firing> firings;
  BadEnd end;
};

// Expands states, and says how they end.
class Expander {
 public:
  Expander(const Model& model, const HuntOptions& options)
      : model_(model), options_(options), words_(std::max(1U, model.words())) {}

  // The successors of a state are in `successors` afterwards.
  std::optional<BadEnd> expand(const std::uint64_t* state) {
    successors.clear(words_);
    try {
      model_.expand(state, successors);
    } catch (const BrokenRule& broken) {
      successors.clear(words_);
      return BadEnd{Verdict::broken, -1, broken.what()};
    }
    switch (judge(model_, state, successors, options_.invariants, options_.deadlocks)) {
      case Judgement::invariant:
        return BadEnd{Verdict::invariant, successors.violated};
      case Judgement::deadlock:
        return BadEnd{Verdict::deadlock, -1};
      case Judgement::good:
      case Judgement::proper_end:
        return std::nullopt;
    }
    return std::nullopt;
  }
  std::vector<Packed> initial() {
    successors.clear(words_);
    model_.initial(successors);
    std::vector<Packed> states;
    for (std::size_t i = 0; i < successors.size(); ++i) states.push_back(successor(i));
    return states;
  }
  [[nodiscard]] Packed successor(std::size_t i) const {
    return {successors.state(i), successors.state(i) + words_};
  }
  [[nodiscard]] std::optional<std::size_t> find(const Firing& firing) const {
    for (std::size_t i = 0; i < successors.size(); ++i) {
      if (successors.firing(i) == firing) return i;
    }
    return std::nullopt;
  }

  Successors successors;

 private:
  const Model& model_;
  const HuntOptions& options_;
  unsigned words_;
};

// What a search has visited, exactly.
class ExactSet {
 public:
  ExactSet(unsigned bits, std::size_t share) : tree_(bits), share_(share) {}
  bool insert(const Packed& state) {
    const StateKey key = tree_.key_of(state.data());
    visited_.admit(tree_.first_halves(), tree_.second_halves());
    if (visited_.wants_shards()) visited_.cut_into_shards();
    return visited_.insert(key);
  }
  [[nodiscard]] bool is_full() const { return tree_.memory() + visited_.memory() > share_; }
  [[nodiscard]] std::size_t size() const { return visited_.size(); }
  [[nodiscard]] static double omission() { return 0; }

 private:
  StateTree tree_;
  KeySet visited_;
  std::size_t share_;
};

// By some bits of each.
class BitSet {
 public:
  explicit BitSet(std::size_t share) : table_(share) {}
  bool insert(const Packed& state) {
    return table_.insert(state.data(), static_cast<unsigned>(state.size()));
  }
  [[nodiscard]] bool is_full() const { return table_.is_full(); }
  [[nodiscard]] std::size_t size() const { return table_.size(); }
  [[nodiscard]] double omission() const { return table_.omission(); }

 private:
  BitTable table_;
};

class Hunt {
 public:
  Hunt(const Model& model, const HuntOptions& options) : model_(model), options_(options) {}

  HuntResult run() {
    start_ = Clock::now();
    const unsigned threads = std::max(1U, options_.threads);
    std::vector<std::jthread> others;
    for (unsigned i = 1; i < threads; ++i) others.emplace_back([this, i] { hunt_guarded(i); });
    hunt_guarded(0);
    others.clear();
    if (error_) std::rethrow_exception(error_);
    HuntResult result;
    result.searches = searches_;
    result.omission = omission_;
    ExploreResult& found = result.found;
    found.states = states_;
    found.transitions = transitions_;
    found.depth = deepest_;
    found.state_bits = model_.state_bits();
    found.fired = fired_;
    found.fired.resize(model_.rules().size());
    if (run_) {
      result.steps_at_first = run_->firings.size();
      shorten(*run_);
      found.verdict = run_->end.verdict;
      found.violated = run_->end.violated;
      found.broken = run_->end.broken;
      found.trace = told(*run_);
    } else {
      found.verdict = interrupted() ? Verdict::interrupted : Verdict::out_of_time;
    }
    found.seconds = seconds();
    return result;
  }

 private:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(Clock::now() - start_).count();
  }
  [[nodiscard]] bool interrupted() const {
    return options_.interrupted != nullptr && options_.interrupted->load(std::memory_order_relaxed);
  }
  [[nodiscard]] bool out_of_time() const {
    return options_.time_limit.count() != 0 &&
           seconds() * 1000 > static_cast<double>(options_.time_limit.count());
  }

  void hunt_guarded(unsigned hunter) {
    try {
      hunt(hunter);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      error_ = std::current_exception();
      done_ = true;
    }
  }

  void hunt(unsigned hunter) {
    std::mt19937_64 random(options_.seed * 1'000'003 + hunter);
    Expander expander(model_, options_);
    const std::vector<Packed> initial = expander.initial();
    for (std::uint64_t n = 0; !done_; ++n) {
      if (options_.bit_state) {
        BitSet visited(std::min<std::size_t>(share(), bytes_a_step * most_steps(depth_of(n, hunter))));
        search(n, hunter, random, expander, initial, visited);
      } else {
        ExactSet visited(model_.state_bits(), share());
        search(n, hunter, random, expander, initial, visited);
      }
      look(hunter);
    }
    const std::lock_guard lock(mutex_);
    const std::vector<std::uint64_t>& fired = expander.successors.fired;
    if (fired_.size() < fired.size()) fired_.resize(fired.size());
    for (std::size_t rule = 0; rule < fired.size(); ++rule) fired_[rule] += fired[rule];
  }

  // A state on the way, and those of its successors that are yet to be tried, the next one last.
  struct Level {
    std::vector<std::pair<Firing, Packed>> left;
    Firing taken;  // that led to it
  };

  // A search that goes nowhere is left for another.
  static std::uint64_t most_steps(std::size_t depth) { return depth * 20'000; }
  static std::size_t depth_of(std::uint64_t n, unsigned hunter) {
    constexpr std::size_t least_depth = 32;
    constexpr std::uint64_t depths = 8;
    return least_depth << (n + hunter) % depths;
  }
  // A table of bits that is larger than this for each step would stay empty.
  static constexpr std::size_t bytes_a_step = 16;

  // Of memory, in bytes, a search's.
  [[nodiscard]] std::size_t share() const {
    return std::max<std::size_t>((options_.memory_limit == 0 ? std::size_t{1} << 30 : options_.memory_limit) /
                                     std::max(1U, options_.threads),
                                 std::size_t{1} << 20);
  }

  template <class Visited>
  void search(std::uint64_t n, unsigned hunter, std::mt19937_64& random, Expander& expander,
              const std::vector<Packed>& initial, Visited& visited) {
    const std::size_t depth = depth_of(n, hunter);
    ++searches_;
    const std::size_t begin = static_cast<std::size_t>(random() % initial.size());
    std::vector<Level> path;
    // Expands a state that was come to, and goes on from it unless it is bad.
    const auto enter = [&](const Packed& state, const Firing& taken) {
      const std::optional<BadEnd> bad = expander.expand(state.data());
      path.emplace_back();
      path.back().taken = taken;
      if (bad) {
        keep(begin, path, *bad);
        return;
      }
      transitions_ += expander.successors.size();
      for (const std::size_t i : order(expander.successors, random))
        path.back().left.emplace_back(expander.successors.firing(i), expander.successor(i));
    };
    visited.insert(initial[begin]);
    enter(initial[begin], {});
    for (std::uint64_t steps = 1; !path.empty() && !done_; ++steps) {
      if (steps % 1024 == 0) {
        look(hunter);
        if (visited.is_full() || steps > most_steps(depth)) break;
      }
      Level& level = path.back();
      if (level.left.empty() || path.size() > depth) {
        path.pop_back();
        continue;
      }
      const auto [firing, state] = std::move(level.left.back());
      level.left.pop_back();
      if (!visited.insert(state)) continue;
      enter(state, firing);
      if (path.size() > deepest_) deepest_ = static_cast<unsigned>(path.size());
    }
    states_ += visited.size();
    const std::lock_guard lock(mutex_);
    omission_ = std::max(omission_, visited.omission());
  }
  // Successors by chance, the one to take first last: the more often a rule has fired, the less likely one of
  // its; once in a while all alike.
  static std::vector<std::size_t> order(const Successors& successors, std::mt19937_64& random) {
    std::vector<std::pair<double, std::size_t>> weighed;
    weighed.reserve(successors.size());
    const bool any = random() % 4 == 0;
    for (std::size_t i = 0; i < successors.size(); ++i) {
      const double chance = static_cast<double>(random() >> 11) + 1;
      const auto fired = static_cast<double>(successors.fired[successors.firing(i).rule]);
      weighed.emplace_back(any ? chance : chance / fired, i);
    }
    std::sort(weighed.begin(), weighed.end());
    std::vector<std::size_t> ordered;
    ordered.reserve(weighed.size());
    for (const auto& [weight, i] : weighed) ordered.push_back(i);
    return ordered;
  }

  void keep(std::size_t initial, const std::vector<Level>& path, const BadEnd& end) {
    const std::lock_guard lock(mutex_);
    if (done_) return;
    done_ = true;
    run_.emplace();
    run_->initial = initial;
    for (std::size_t i = 1; i < path.size(); ++i) run_->firings.push_back(path[i].taken);
    run_->end = end;
  }

  void look(unsigned hunter) {
    if (interrupted() || out_of_time()) done_ = true;
    if (hunter != 0 || !options_.progress) return;
    const double now = seconds();
    if (now - reported_ < 0.2) return;
    reported_ = now;
    options_.progress({states_, 0, transitions_, deepest_, now, 0});
  }

  // ---- what was found ----

  // Fires what can be fired of it, in order, until it is bad: the run up to there.
  std::optional<Run> replayed(const Run& run, Expander& expander, const std::vector<Packed>& initial) const {
    Run now{run.initial, {}, {}};
    Packed state = initial[run.initial];
    auto next = run.firings.begin();
    for (;;) {
      if (const auto bad = expander.expand(state.data())) {
        now.end = *bad;
        return now;
      }
      std::optional<std::size_t> at;
      for (; next != run.firings.end() && !(at = expander.find(*next)); ++next) {
      }
      if (!at) return std::nullopt;
      now.firings.push_back(*next++);
      state = expander.successor(*at);
    }
  }

  void shorten(Run& run) {
    constexpr double most_seconds = 10;
    Expander expander(model_, options_);
    const std::vector<Packed> initial = expander.initial();
    const auto begin = Clock::now();
    const auto in_time = [&] {
      return !interrupted() && std::chrono::duration<double>(Clock::now() - begin).count() < most_seconds;
    };
    bool shorter = true;
    while (shorter && in_time()) {
      shorter = false;
      for (std::size_t stretch = std::max<std::size_t>(run.firings.size() / 2, 1); stretch > 0 && in_time();
           stretch /= 2) {
        for (std::size_t at = 0; at < run.firings.size() && in_time();) {
          Run less = run;
          const auto from = less.firings.begin() + static_cast<std::ptrdiff_t>(at);
          const std::size_t n = std::min(stretch, less.firings.size() - at);
          less.firings.erase(from, from + static_cast<std::ptrdiff_t>(n));
          auto still = replayed(less, expander, initial);
          if (still && still->firings.size() < run.firings.size()) {
            run = std::move(*still);
            shorter = true;
          } else {
            at += stretch;
          }
        }
      }
    }
  }

  [[nodiscard]] Trace told(const Run& run) const {
    Expander expander(model_, options_);
    Trace trace;
    trace.initial = run.initial;
    Packed state = expander.initial()[run.initial];
    trace.steps.push_back(
        {expander.successors.firing(run.initial), model_.narrate_initial(run.initial), state});
    for (const Firing& firing : run.firings) {
      expander.expand(state.data());
      std::vector<NarratedStep> narration = model_.narrate(state.data(), firing);
      state = expander.successor(expander.find(firing).value());
      trace.steps.push_back({firing, std::move(narration), state});
    }
    return trace;
  }

  const Model& model_;
  const HuntOptions& options_;
  Clock::time_point start_;
  std::atomic<bool> done_ = false;
  std::atomic<std::uint64_t> searches_ = 0;
  std::atomic<std::uint64_t> states_ = 0;
  std::atomic<std::uint64_t> transitions_ = 0;
  std::atomic<unsigned> deepest_ = 0;
  double reported_ = 0;
  std::mutex mutex_;
  double omission_ = 0;
  std::vector<std::uint64_t> fired_;
  std::optional<Run> run_;
  std::exception_ptr error_;
};

}  // namespace

HuntResult hunt(const Model& model, const HuntOptions& options) {
  return Hunt(model, options).run();
}

}  // namespace lockstep
