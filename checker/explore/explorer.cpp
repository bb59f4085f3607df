// Breadth-first search in rounds.
//
// States are shared out to workers by their hash: a worker owns its shard of the visited set, expands the
// states in it and sends each successor to its owner's inbox; between rounds the owners take in what arrived.
// No state is touched by two workers, so there are no locks, and the order in which a shard takes in its
// inboxes is fixed, so a run with a given number of threads always finds the same counterexample. Rounds
// never straddle two depths: the first bad state found is at the least depth.
#include "checker/explore/explorer.hpp"

#include <algorithm>
#include <barrier>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <thread>

#include "checker/explore/kept_guards.hpp"
#include "checker/explore/model_view.hpp"
#include "checker/explore/visited.hpp"

namespace lockstep {

namespace {

using Clock = std::chrono::steady_clock;

// States expanded by a worker between two exchanges: small enough for successors to stay in cache.
constexpr std::size_t round_states_alone = 64;
constexpr std::size_t round_states_shared = 4096;

struct Arrival {
  std::uint64_t hash;
  std::uint32_t parent;
};
// Visiting order of a batch: slots are prefetched this many arrivals ahead of the states they name, and those
// as many ahead of the insertion.
constexpr std::size_t prefetch_distance = 12;

struct Inbox {
  std::vector<Arrival> arrivals;
  std::vector<std::uint64_t> words;
  void clear() {
    arrivals.clear();
    words.clear();
  }
};

struct Bad {
  Verdict verdict = Verdict::holds;
  int violated = -1;
  std::uint32_t state = 0;
  std::string broken{};
};

struct Worker {
  Worker(const Model& model, unsigned shards)
      : visited(model.state_bits()), outbox(shards), kept(model.enabled_words()) {}
  Visited visited;
  std::vector<Inbox> outbox;      // by destination shard, where there are several
  std::vector<Arrival> arrivals;  // of this round, one for each successor; never shrinks
  Successors successors;
  std::size_t next = 0;       // the first state of the shard not yet expanded
  std::size_t level_end = 0;  // the first state of the next depth
  KeptGuards kept;
  std::uint64_t transitions = 0;
  std::optional<Bad> bad;
  std::vector<std::vector<std::uint64_t>> ends;
  std::exception_ptr error;
};

class Search {
 public:
  Search(const Model& model, const ExploreOptions& options)
      : model_(model),
        options_(options),
        words_(std::max(1U, model.words())),
        shards_(std::max(1U, options.threads)) {
    for (unsigned i = 0; i < shards_; ++i) workers_.push_back(std::make_unique<Worker>(model, shards_));
  }

  ExploreResult run() {
    start_ = Clock::now();
    seed();
    if (shards_ == 1) {
      while (control()) {
        expand_round(0);
        take_in(0);
      }
    } else {
      run_threads();
    }
    for (auto& worker : workers_) {
      if (worker->error) std::rethrow_exception(worker->error);
    }
    return result();
  }

  [[nodiscard]] Trace trace_to(std::uint32_t reference) const {
    std::vector<std::uint32_t> path;
    for (std::uint32_t at = reference; at != Visited::no_parent; at = parent(at)) path.push_back(at);
    std::reverse(path.begin(), path.end());
    Trace trace;
    Successors successors;
    successors.clear(words_);
    model_.initial(successors);
    std::vector<std::uint64_t> state = packed(path.front());
    const std::size_t first = find(successors, state);
    trace.initial = first;
    trace.steps.push_back({successors.firing(first), model_.narrate_initial(first), state});
    for (std::size_t i = 1; i < path.size(); ++i) {
      successors.clear(words_);
      model_.expand(state.data(), successors);
      const std::vector<std::uint64_t> after = packed(path[i]);
      const Firing firing = successors.firing(find(successors, after));
      trace.steps.push_back({firing, model_.narrate(state.data(), firing), after});
      state = after;
    }
    return trace;
  }

 private:
  [[nodiscard]] std::size_t find(const Successors& successors,
                                 const std::vector<std::uint64_t>& state) const {
    for (std::size_t i = 0; i < successors.size(); ++i) {
      if (std::equal(state.begin(), state.end(), successors.state(i))) return i;
    }
    throw std::logic_error("a stored state is not a successor of its parent");
  }
  [[nodiscard]] std::uint32_t reference(std::size_t number, unsigned shard) const {
    return static_cast<std::uint32_t>(number * shards_ + shard);
  }
  [[nodiscard]] std::uint32_t parent(std::uint32_t at) const {
    return workers_[at % shards_]->visited.parent(at / shards_);
  }
  [[nodiscard]] std::vector<std::uint64_t> packed(std::uint32_t at) const {
    std::vector<std::uint64_t> state(words_, 0);
    workers_[at % shards_]->visited.copy(at / shards_, state.data());
    return state;
  }
  [[nodiscard]] unsigned owner(std::uint64_t hash) const {
    return shards_ == 1 ? 0 : static_cast<unsigned>((hash >> 32) % shards_);
  }

  void seed() {
    Worker& first = *workers_[0];
    first.successors.clear(words_);
    model_.initial(first.successors);
    for (std::size_t i = 0; i < first.successors.size(); ++i) {
      const std::uint64_t* state = first.successors.state(i);
      const std::uint64_t hash = Visited::hash(state, words_);
      workers_[owner(hash)]->visited.insert(state, hash, Visited::no_parent);
    }
    for (auto& worker : workers_) worker->level_end = worker->visited.size();
  }

  // Between rounds, by one thread: whether there is another, and of which depth.
  bool control() {
    for (const auto& worker : workers_) {
      if (worker->error) return false;
    }
    std::optional<Bad> bad;
    for (const auto& worker : workers_) {
      if (worker->bad && !bad) bad = worker->bad;
    }
    if (bad) {
      bad_ = *bad;
      return false;
    }
    deliver_ends();
    if (at_limit()) return false;
    const auto expanded = [](const auto& w) { return w->next == w->level_end; };
    if (std::all_of(workers_.begin(), workers_.end(), expanded)) {
      bool more = false;
      for (auto& worker : workers_) {
        more |= worker->visited.size() > worker->level_end;
        worker->level_end = worker->visited.size();
        worker->kept.begin_depth(worker->next);
      }
      if (!more) return false;
      ++depth_;
    }
    return true;
  }

  void deliver_ends() {
    for (auto& worker : workers_) {
      for (const auto& end : worker->ends) options_.on_end(end.data());
      worker->ends.clear();
    }
  }

  bool at_limit() {
    if (options_.interrupted != nullptr && options_.interrupted->load(std::memory_order_relaxed)) {
      bad_.verdict = Verdict::interrupted;
      return true;
    }
    if (shards_ == 1 && options_.state_limit != 0 && workers_[0]->visited.size() > options_.state_limit) {
      bad_.verdict = Verdict::out_of_memory;
      return true;
    }
    if (++rounds_ % (shards_ == 1 ? 64 : 1) != 0) return false;
    const Progress now = progress();
    if (options_.memory_limit != 0 && now.memory > options_.memory_limit) {
      bad_.verdict = Verdict::out_of_memory;
      return true;
    }
    if (now.states > Visited::max_states / 2 ||
        (options_.state_limit != 0 && now.states > options_.state_limit)) {
      bad_.verdict = Verdict::out_of_memory;
      return true;
    }
    if (options_.time_limit.count() != 0 &&
        now.seconds * 1000 > static_cast<double>(options_.time_limit.count())) {
      bad_.verdict = Verdict::out_of_time;
      return true;
    }
    if (options_.progress && now.seconds - reported_ > 0.2) {
      reported_ = now.seconds;
      options_.progress(now);
    }
    return false;
  }

  [[nodiscard]] Progress progress() const {
    Progress p;
    for (const auto& worker : workers_) {
      p.states += worker->visited.size();
      p.waiting += worker->visited.size() - worker->next;
      p.transitions += worker->transitions;
      p.memory += worker->visited.memory() + worker->kept.memory();
    }
    p.depth = depth_;
    p.seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    return p;
  }

  void expand_round(unsigned shard) {
    Worker& worker = *workers_[shard];
    std::vector<std::uint64_t> state(words_, 0);
    ParentInHand parent(words_);
    const std::size_t round = shards_ == 1 ? round_states_alone : round_states_shared;
    const std::size_t end = std::min(worker.level_end, worker.next + round);
    worker.successors.clear(words_);
    for (; worker.next < end && !worker.bad; ++worker.next) {
      worker.visited.copy(worker.next, state.data());
      const std::size_t before = worker.successors.size();
      const std::uint32_t self = reference(worker.next, shard);
      const std::uint32_t from = worker.visited.parent(worker.next);
      const Worker& owner = *workers_[from % shards_];
      parent.tell(worker.successors, from, from / shards_, owner.visited, owner.kept);
      try {
        model_.expand(state.data(), worker.successors);
      } catch (const BrokenRule& broken) {
        worker.successors.keep(before);
        worker.bad = Bad{Verdict::broken, -1, self, broken.what()};
        break;
      }
      worker.kept.keep(worker.next, worker.successors, worker.visited);
      worker.transitions += worker.successors.size() - before;
      judge(worker, state, self);
      const std::size_t after = worker.successors.size();
      if (worker.arrivals.size() < after) worker.arrivals.resize(2 * after);
      for (std::size_t i = before; i < after; ++i) {
        worker.arrivals[i] = {Visited::hash(worker.successors.state(i), words_), self};
      }
    }
    if (shards_ > 1) send(worker);
  }

  void judge(Worker& worker, const std::vector<std::uint64_t>& state, std::uint32_t at) {
    const Successors& successors = worker.successors;
    if (options_.invariants && successors.violated >= 0) {
      worker.bad = Bad{Verdict::invariant, successors.violated, at};
    } else if (!successors.live) {
      if (model_.proper_end(state.data())) {
        if (options_.on_end) worker.ends.push_back(state);
      } else if (options_.deadlocks) {
        worker.bad = Bad{Verdict::deadlock, -1, at};
      }
    }
  }

  void send(Worker& worker) {
    for (std::size_t i = 0; i < worker.successors.size(); ++i) {
      const std::uint64_t* after = worker.successors.state(i);
      Inbox& box = worker.outbox[owner(worker.arrivals[i].hash)];
      box.arrivals.push_back(worker.arrivals[i]);
      box.words.insert(box.words.end(), after, after + words_);
    }
  }

  void take_in(unsigned shard) {
    Worker& self = *workers_[shard];
    if (shards_ == 1) {
      insert_all(self.visited, {self.arrivals.data(), self.successors.size()}, self.successors.state(0));
      return;
    }
    for (auto& sender : workers_) {
      Inbox& box = sender->outbox[shard];
      insert_all(self.visited, box.arrivals, box.words.data());
      box.clear();
    }
  }

  void insert_all(Visited& visited, std::span<const Arrival> arrivals, const std::uint64_t* state) const {
    const std::size_t n = arrivals.size();
    for (std::size_t i = 0; i < std::min(2 * prefetch_distance, n); ++i)
      visited.prefetch_slot(arrivals[i].hash);
    for (std::size_t i = 0; i < std::min(prefetch_distance, n); ++i) visited.prefetch_state(arrivals[i].hash);
    for (std::size_t i = 0; i < n; ++i, state += words_) {
      if (i + 2 * prefetch_distance < n) visited.prefetch_slot(arrivals[i + 2 * prefetch_distance].hash);
      if (i + prefetch_distance < n) visited.prefetch_state(arrivals[i + prefetch_distance].hash);
      visited.insert(state, arrivals[i].hash, arrivals[i].parent);
    }
  }

  void run_threads() {
    bool more = control();
    std::barrier expanded(shards_);
    std::barrier taken_in(shards_, [&]() noexcept {
      try {
        more = control();
      } catch (...) {
        workers_[0]->error = std::current_exception();
        more = false;
      }
    });
    std::vector<std::jthread> threads;
    threads.reserve(shards_);
    for (unsigned shard = 0; shard < shards_; ++shard) {
      threads.emplace_back([&, shard] {
        while (more) {
          guarded(shard, [&] { expand_round(shard); });
          expanded.arrive_and_wait();
          guarded(shard, [&] { take_in(shard); });
          taken_in.arrive_and_wait();
        }
      });
    }
  }

  template <class F>
  void guarded(unsigned shard, F&& work) {
    try {
      work();
    } catch (...) {
      workers_[shard]->error = std::current_exception();
    }
  }

  ExploreResult result() {
    ExploreResult r;
    const Progress end = progress();
    r.verdict = bad_.verdict;
    r.violated = bad_.violated;
    r.broken = bad_.broken;
    r.states = end.states;
    r.transitions = end.transitions;
    r.depth = depth_;
    r.seconds = end.seconds;
    r.memory = end.memory;
    r.state_bits = model_.state_bits();
    r.fired.assign(model_.rules().size(), 0);
    for (const auto& worker : workers_) {
      for (std::size_t i = 0; i < worker->successors.fired.size(); ++i)
        r.fired[i] += worker->successors.fired[i];
    }
    if (r.verdict != Verdict::holds && !inconclusive(r.verdict)) r.trace = trace_to(bad_.state);
    return r;
  }

  const Model& model_;
  const ExploreOptions& options_;
  unsigned words_;
  unsigned shards_;
  std::vector<std::unique_ptr<Worker>> workers_;
  Clock::time_point start_;
  unsigned depth_ = 0;
  std::uint64_t rounds_ = 0;
  double reported_ = 0;
  Bad bad_;
};

// A model whose proper ends that satisfy a goal count as violations of one more invariant.
class WithGoal final : public ModelView {
 public:
  WithGoal(const Model& model, const std::function<bool(const std::uint64_t*)>& goal)
      : ModelView(model), goal_(goal) {}
  void expand(const std::uint64_t* state, Successors& out) const override {
    model_.expand(state, out);
    out.violated = !out.live && model_.proper_end(state) && goal_(state) ? 0 : -1;
  }

 private:
  const std::function<bool(const std::uint64_t*)>& goal_;
};

}  // namespace

ExploreResult explore(const Model& model, const ExploreOptions& options) {
  return Search(model, options).run();
}

Trace find_end(const Model& model, const ExploreOptions& options,
               const std::function<bool(const std::uint64_t* state)>& goal) {
  const WithGoal with_goal(model, goal);
  ExploreOptions quiet = options;
  quiet.invariants = true;
  quiet.deadlocks = false;
  quiet.on_end = nullptr;
  ExploreResult result = explore(with_goal, quiet);
  return result.verdict == Verdict::invariant ? std::move(result.trace) : Trace{};
}

}  // namespace lockstep
