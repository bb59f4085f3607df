// Breadth-first search in rounds.
//
// A round takes the next states of a depth, in the order in which they were found, a chunk at a time: whoever
// is free expands the next chunks, makes keys of the successors and sorts them by the part of the visited set
// that they belong to. Then whoever is free takes a part and puts into it, chunk after chunk, the keys that
// belong there. What was new is then numbered, chunk after chunk. So states are found in the order in which
// one thread finds them, whatever the number of threads; so are counterexamples. Rounds never straddle two
// depths: the first bad state found is at the least depth.
#include "checker/explore/explorer.hpp"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <thread>

#include "checker/explore/checkpoint.hpp"
#include "checker/explore/discoveries.hpp"
#include "checker/explore/disk_set.hpp"
#include "checker/explore/frontier.hpp"
#include "checker/explore/judge.hpp"
#include "checker/explore/kept_guards.hpp"
#include "checker/explore/key_set.hpp"
#include "checker/explore/model_view.hpp"
#include "checker/explore/recent_states.hpp"
#include "checker/explore/state_tree.hpp"
#include "checker/support/diagnostic.hpp"

namespace lockstep {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t chunk_states = 64;
// Chunks of a round that several threads share: as many as take about this long, and no more than so many a
// thread, so that what is made of them stays in its cache.
constexpr std::size_t most_chunks_a_thread = 128;
constexpr double round_seconds = 0.02;
// Parts of the visited set that threads take at a time: so many a thread.
constexpr std::size_t parts_a_thread = 2;
// Lines of the visited set are asked for so many keys ahead.
constexpr std::size_t prefetch_distance = 32;

// How a successor was found within a chunk: numbers grow in the order in which one thread finds them.
class FoundInChunk {
 public:
  FoundInChunk() = default;
  FoundInChunk(std::uint64_t state, std::uint64_t successor)
      : number_(static_cast<std::uint32_t>(state << successor_bits | successor)) {
    if (successor >> successor_bits != 0)
      throw std::length_error("more successors of a state than are numbered");
  }
  [[nodiscard]] Discovery in(std::uint64_t first) const {
    return {first + (number_ >> successor_bits), number_ & ((1U << successor_bits) - 1)};
  }
  friend bool operator<(FoundInChunk a, FoundInChunk b) { return a.number_ < b.number_; }

 private:
  static constexpr unsigned successor_bits = 26;
  static_assert(chunk_states <= std::size_t{1} << (32 - successor_bits));
  std::uint32_t number_ = 0;
};

// Consecutive states, and what one thread made of them.
struct Chunk {
  explicit Chunk(const Discoveries& discoveries) : cursor(discoveries) {}

  std::uint64_t first = 0;
  std::uint64_t count = 0;
  Discoveries::Cursor cursor;  // at the first
  std::uint64_t transitions = 0;
  // Of successors, but those that were found a moment ago, where they belong and how they were found: sorted
  // by the part of the visited set, and within one as they were found. Of each part there remain, at its
  // front, those that are new.
  std::vector<KeySet::Spot> spots;
  std::vector<FoundInChunk> found;
  std::vector<std::uint32_t> part_begins;  // and the last one's end
  // Keys, as they were found: of all that was, while these do not fit into the visited set; at last of what
  // is new.
  std::vector<StateKey> keys;
  std::vector<FoundInChunk> how_found;
  std::atomic<std::uint32_t> parts_left = 0;  // to be put into
  std::vector<std::vector<std::uint64_t>> proper_ends;
  std::vector<std::uint64_t> fired;  // by rule
  std::optional<BadState> bad;       // nothing behind it was expanded
  std::exception_ptr error;
};

// Where some of a chunk's keys lie.
struct Stretch {
  std::size_t begin;
  std::size_t end;
};

// What a thread expands states with.
struct Worker {
  Worker(const StateTree& tree, unsigned words) : states(tree), parent(tree), recent(words) {}
  Successors successors;
  StateTree::Batch states;
  StateTree::Batch parent;
  std::uint64_t parent_number = ~std::uint64_t{0};
  RecentStates recent;
  // Of successors, but those that were found a moment ago:
  std::vector<StateTree::Near> states_found;
  std::vector<FoundInChunk> found;
  std::vector<StateKey> keys;
  std::vector<KeySet::Spot> spots;  // where keys belong
  std::vector<std::uint32_t> part_ends;
  std::vector<Stretch> to_merge;
};

class Search {
 public:
  Search(const Model& model, const ExploreOptions& options)
      : model_(model),
        options_(options),
        words_(std::max(1U, model.words())),
        threads_(std::max(1U, options.threads)),
        tree_(model.state_bits()),
        cursor_(discoveries_),
        kept_(model.enabled_words()) {
    for (unsigned i = 0; i < threads_; ++i) workers_.push_back(std::make_unique<Worker>(tree_, words_));
  }

  ExploreResult run() {
    start_ = Clock::now();
    open_checkpoint();
    if (checkpoint_ && checkpoint_->begun()) {
      go_on();
    } else {
      seed();
    }
    if (threads_ == 1) {
      while (next_round()) alone();
    } else {
      run_threads();
    }
    return result();
  }

  [[nodiscard]] Trace trace_to(std::uint64_t state) const {
    std::vector<std::uint64_t> successors;
    for (;;) {
      const Discovery found = discoveries_.of(state);
      successors.push_back(found.successor);
      if (state < initial_) break;
      state = found.parent;
    }
    std::reverse(successors.begin(), successors.end());
    return trace_along(model_, successors);
  }

 private:
  void seed() {
    Successors& successors = workers_[0]->successors;
    successors.clear(words_);
    model_.initial(successors);
    for (std::size_t i = 0; i < successors.size(); ++i) {
      const StateKey key = tree_.key_of(successors.state(i));
      keys_.admit(tree_.first_halves(), tree_.second_halves());
      if (keys_.insert(key)) add_state(key, {0, static_cast<std::uint32_t>(i)});
    }
    initial_ = depth_end_ = frontier_.size();
    kept_.begin_depth(0, depth_end_, room_to_keep());
  }

  void add_state(StateKey key, const Discovery& discovery) {
    frontier_.add(key);
    discoveries_.add(discovery);
    if (checkpoint_) {
      keep_checkpoint([&] { checkpoint_->add(key); });
    }
  }

  // ---- checkpoints ----

  void open_checkpoint() {
    const CheckpointOptions& asked = options_.checkpoint;
    if (asked.folder.empty()) return;
    checkpoint_ = std::make_unique<Checkpoint>(asked.folder, asked.about);
    saved_ = start_;
  }

  // Where one cannot be written the search goes on without.
  template <class F>
  void keep_checkpoint(F&& f) {
    try {
      f();
    } catch (const BadInput& failed) {
      checkpoint_failed_ = failed.what();
      checkpoint_.reset();
    }
  }

  void save_checkpoint() {
    if (!checkpoint_) return;
    find_new();
    const Progress now = progress();
    const SearchPosition position{frontier_.size(), initial_,     next_,  depth_end_,
                                  depth_,           transitions_, fired_, now.seconds};
    keep_checkpoint([&] { checkpoint_->save(position, tree_, discoveries_); });
    saved_ = Clock::now();
  }

  void go_on() {
    const SearchPosition& position = checkpoint_->position();
    checkpoint_->read_parts(tree_);
    checkpoint_->read_discoveries(discoveries_);
    keys_.admit(tree_.first_halves(), tree_.second_halves());
    initial_ = position.initial;
    next_ = position.next;
    depth_end_ = position.depth_end;
    depth_ = position.depth;
    transitions_ = position.transitions;
    fired_ = position.fired;
    seconds_before_ = position.seconds;
    resumed_from_ = position.states;
    cursor_.skip(next_);
    const std::uint64_t kept = next_ < position.states ? oldest_kept() : next_;
    std::vector<KeySet::Spot> spots;
    const auto insert_spots = [&] {
      for (const KeySet::Spot spot : spots) keys_.prefetch(spot);
      for (const KeySet::Spot spot : spots) keys_.insert(spot);
      spots.clear();
      if (keys_.wants_shards()) keys_.cut_into_shards();
      if (++rounds_ % 1024 == 0 && options_.memory_limit != 0 && progress().memory > options_.memory_limit)
        move_to_disk();
    };
    checkpoint_->for_each_key([&](StateKey key) {
      spots.push_back(keys_.spot_of(key));
      if (spots.size() == chunk_states) insert_spots();
      frontier_.add(key);
      frontier_.drop_below(std::min(frontier_.size() - 1, kept));
    });
    insert_spots();
    kept_.begin_depth(next_, depth_end_ - next_, room_to_keep());
  }

  // The state that the next one was found from, or the first: none before it is looked at again.
  [[nodiscard]] std::uint64_t oldest_kept() const {
    return next_ < initial_ ? 0 : Discoveries::Cursor(cursor_).next().parent;
  }

  // What guards say is kept in half the memory of states where that is little, and in an eighth where it is
  // much.
  [[nodiscard]] std::size_t room_to_keep() const {
    constexpr std::size_t least = std::size_t{1} << 20;
    constexpr std::size_t little = std::size_t{64} << 20;
    if (disk_) return 0;
    const std::size_t states = tree_.memory() + keys_.memory();
    return std::clamp(states / 2, least, std::max(little, states / 8));
  }

  // ---- between rounds, one thread ----

  // Whether there is another round; if so, of which chunks.
  bool next_round() {
    if (bad_.verdict != Verdict::holds || at_limit()) return false;
    if (next_ == depth_end_) {
      find_new();
      if (frontier_.size() == depth_end_) return false;
      depth_end_ = frontier_.size();
      kept_.begin_depth(next_, depth_end_ - next_, room_to_keep());
      ++depth_;
    }
    if (keys_.wants_shards()) keys_.cut_into_shards();
    if (checkpoint_ && Clock::now() - saved_ > options_.checkpoint.every) save_checkpoint();
    frontier_.drop_below(oldest_kept());
    const std::uint64_t left = depth_end_ - next_;
    chunks_in_round_ = std::min<std::uint64_t>((left + chunk_states - 1) / chunk_states, chunks_a_round_);
    while (chunks_.size() < chunks_in_round_) chunks_.push_back(std::make_unique<Chunk>(discoveries_));
    for (std::size_t i = 0; i < chunks_in_round_; ++i) {
      Chunk& chunk = *chunks_[i];
      chunk.first = next_;
      chunk.count = std::min<std::uint64_t>(chunk_states, depth_end_ - next_);
      chunk.cursor = cursor_;
      next_ += chunk.count;
      cursor_.skip(chunk.count);
    }
    return true;
  }

  bool stop(Verdict verdict) {
    bad_.verdict = verdict;
    return true;
  }

  bool at_limit() {
    if (options_.interrupted != nullptr && options_.interrupted->load(std::memory_order_relaxed))
      return stop(Verdict::interrupted);
    if (options_.state_limit != 0 && frontier_.size() > options_.state_limit)
      return stop(Verdict::out_of_memory);
    if (++rounds_ % (threads_ == 1 ? 64 : 1) != 0) return false;
    const Progress now = progress();
    const bool parts_numbered_up = std::max(tree_.first_halves(), tree_.second_halves()) > most_halves;
    // Each time this is asked of the disk, all of it is read.
    if (maybe_new_.size() * (sizeof(StateKey) + sizeof(Discovery)) > options_.memory_limit / 8) find_new();
    const bool memory_is_full = options_.memory_limit != 0 && now.memory > options_.memory_limit;
    if (parts_numbered_up || (memory_is_full && !move_to_disk())) return stop(Verdict::out_of_memory);
    if (options_.time_limit.count() != 0 &&
        (now.seconds - seconds_before_) * 1000 > static_cast<double>(options_.time_limit.count()))
      return stop(Verdict::out_of_time);
    if (options_.progress && now.seconds - reported_ > 0.2) {
      reported_ = now.seconds;
      options_.progress(now);
    }
    return false;
  }
  static constexpr std::uint32_t most_halves = NumberedValues::most / 8 * 7;

  [[nodiscard]] Progress progress() const {
    Progress p;
    p.states = frontier_.size();
    p.waiting = frontier_.size() - next_;
    p.transitions = transitions_;
    p.memory = maybe_new_.size() * (sizeof(StateKey) + sizeof(Discovery)) + tree_.memory() + keys_.memory() +
               discoveries_.memory() + frontier_.memory() + kept_.memory();
    p.depth = depth_;
    p.seconds = seconds_before_ + std::chrono::duration<double>(Clock::now() - start_).count();
    return p;
  }

  // ---- a chunk ----

  // Leaves keys and how they were found with the worker.
  void expand(Chunk& chunk, Worker& worker) {
    chunk.transitions = 0;
    chunk.proper_ends.clear();
    chunk.bad.reset();
    chunk.error = nullptr;
    worker.states.clear();
    worker.states_found.clear();
    worker.found.clear();
    worker.keys.clear();
    Successors& successors = worker.successors;
    successors.clear(words_);
    std::fill(successors.fired.begin(), successors.fired.end(), 0);
    try {
      for (std::uint64_t i = 0; i < chunk.count; ++i) tree_.prefetch(frontier_[chunk.first + i]);
      for (std::uint64_t i = 0; i < chunk.count; ++i) tree_.open(frontier_[chunk.first + i], worker.states);
      Discoveries::Cursor cursor = chunk.cursor;
      for (std::uint64_t i = 0; i < chunk.count && !chunk.bad; ++i) expand(i, cursor.next(), chunk, worker);
      chunk.transitions = successors.size();
      tree_.keys_of(successors.state(0), worker.states_found, worker.states, worker.keys);
    } catch (...) {
      chunk.error = std::current_exception();
      worker.found.clear();
      worker.keys.clear();
    }
    chunk.fired = successors.fired;
  }

  void expand(std::uint64_t i, const Discovery& discovery, Chunk& chunk, Worker& worker) {
    Successors& successors = worker.successors;
    const std::uint64_t number = chunk.first + i;
    const std::uint64_t* const state = worker.states.state(i);
    const std::size_t before = successors.size();
    successors.known = number < initial_ ? Successors::Known{} : known_of(discovery.parent, worker);
    try {
      model_.expand(state, successors);
      kept_.keep(number, successors);
      judge_state(number, state, chunk, successors);
    } catch (const BrokenRule& broken) {
      successors.keep(before);
      chunk.bad = BadState{Verdict::broken, -1, number, broken.what()};
    }
    for (std::size_t at = before; at < successors.size(); ++at) {
      if (worker.recent.again(successors.state(at))) continue;
      worker.states_found.push_back({static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(i)});
      worker.found.emplace_back(i, at - before);
    }
  }

  Successors::Known known_of(std::uint64_t parent, Worker& worker) {
    const std::uint64_t* const enabled = kept_.of(parent);
    if (enabled == nullptr) return {};
    if (parent != worker.parent_number) {
      worker.parent.clear();
      tree_.open(frontier_[parent], worker.parent);
    }
    worker.parent_number = parent;
    return {worker.parent.state(0), enabled};
  }

  void judge_state(std::uint64_t number, const std::uint64_t* state, Chunk& chunk,
                   const Successors& successors) {
    switch (judge(model_, state, successors, options_.invariants, options_.deadlocks)) {
      case Judgement::good:
        break;
      case Judgement::proper_end:
        if (options_.on_end) chunk.proper_ends.emplace_back(state, state + words_);
        break;
      case Judgement::invariant:
        chunk.bad = BadState{Verdict::invariant, successors.violated, number};
        break;
      case Judgement::deadlock:
        chunk.bad = BadState{Verdict::deadlock, -1, number};
        break;
    }
  }

  // ---- keys, and where they belong ----

  [[nodiscard]] std::size_t parts() const { return std::min(keys_.shards(), parts_a_thread * threads_); }
  // Each part has shards that lie side by side.
  [[nodiscard]] std::size_t part_of(KeySet::Spot spot, std::size_t parts) const {
    return keys_.shard_of(spot) * parts / keys_.shards();
  }

  void find_spots(Worker& worker) const {
    worker.spots.resize(worker.keys.size());
    for (std::size_t i = 0; i < worker.keys.size(); ++i) worker.spots[i] = keys_.spot_of(worker.keys[i]);
  }
  // Calls f(number, spot), when the spot's line is on its way.
  template <class F>
  void for_each_spot(const Worker& worker, F&& f) const {
    const std::vector<KeySet::Spot>& spots = worker.spots;
    const std::size_t n = spots.size();
    for (std::size_t at = 0; at < std::min(prefetch_distance, n); ++at) keys_.prefetch(spots[at]);
    for (std::size_t at = 0; at < n; ++at) {
      if (at + prefetch_distance < n) keys_.prefetch(spots[at + prefetch_distance]);
      f(at, spots[at]);
    }
  }

  // Hands what a worker has found over to the chunk, but what is in the visited set.
  void sort_by_part(Chunk& chunk, Worker& worker) const {
    const std::size_t parts = this->parts();
    chunk.keys.clear();
    chunk.found.clear();
    if (!keys_.admits_all(worker.keys)) {
      chunk.keys = worker.keys;
      chunk.how_found = worker.found;
      return;
    }
    chunk.parts_left.store(static_cast<std::uint32_t>(parts), std::memory_order_relaxed);
    chunk.part_begins.assign(parts + 1, 0);
    find_spots(worker);
    std::size_t n = 0;
    for_each_spot(worker, [&](std::size_t i, KeySet::Spot spot) {
      if (keys_.holds(spot)) return;
      ++chunk.part_begins[part_of(spot, parts) + 1];
      worker.spots[n] = spot;
      worker.found[n++] = worker.found[i];
    });
    chunk.spots.resize(n);
    chunk.found.resize(n);
    for (std::size_t part = 0; part < parts; ++part) chunk.part_begins[part + 1] += chunk.part_begins[part];
    worker.part_ends.assign(chunk.part_begins.begin(), chunk.part_begins.end() - 1);
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint32_t to = worker.part_ends[part_of(worker.spots[i], parts)]++;
      chunk.spots[to] = worker.spots[i];
      chunk.found[to] = worker.found[i];
    }
  }

  // Makes room for all keys of the round's chunks. While that moves the visited set, nothing is sorted.
  void admit_all() {
    const auto chunks = std::span(chunks_).first(chunks_in_round_);
    if (std::all_of(chunks.begin(), chunks.end(), [](const auto& chunk) { return chunk->keys.empty(); }))
      return;
    Worker& worker = *workers_[0];
    std::vector<std::vector<std::pair<FoundInChunk, StateKey>>> all(chunks.size());
    for (std::size_t c = 0; c < chunks.size(); ++c) {
      const Chunk& chunk = *chunks[c];
      for (std::size_t i = 0; i < chunk.found.size(); ++i)
        all[c].emplace_back(chunk.found[i], keys_.key_of(chunk.spots[i]));
      for (std::size_t i = 0; i < chunk.keys.size(); ++i)
        all[c].emplace_back(chunk.how_found[i], chunk.keys[i]);
      std::sort(all[c].begin(), all[c].end());
    }
    keys_.admit(tree_.first_halves(), tree_.second_halves());
    for (std::size_t c = 0; c < chunks.size(); ++c) {
      worker.keys.clear();
      worker.found.clear();
      for (const auto& [found, key] : all[c]) {
        worker.keys.push_back(key);
        worker.found.push_back(found);
      }
      sort_by_part(*chunks[c], worker);
    }
  }

  [[nodiscard]] Stretch stretch_of(std::size_t chunk, std::size_t part) const {
    if (chunk >= chunks_in_round_) return {0, 0};
    const Chunk& of = *chunks_[chunk];
    return {of.part_begins[part], of.part_begins[part + 1]};
  }

  // Puts into a part what the round's chunks have for it; leaves what was new. Lines of the next chunk are
  // asked for meanwhile. Who puts a chunk's last keys in merges what was new.
  void insert_part(std::size_t part, Worker& worker) {
    std::vector<std::uint32_t>& new_in = new_in_part_[part];
    new_in.resize(chunks_in_round_);
    Stretch here = stretch_of(0, part);
    for (std::size_t i = here.begin; i < here.end; ++i) keys_.prefetch(chunks_[0]->spots[i]);
    for (std::size_t c = 0; c < chunks_in_round_; ++c) {
      const Stretch next = stretch_of(c + 1, part);
      std::span<const KeySet::Spot> ahead;
      if (next.begin != next.end)
        ahead = std::span(chunks_[c + 1]->spots).subspan(next.begin, next.end - next.begin);
      Chunk& chunk = *chunks_[c];
      new_in[c] = insert(chunk, here, ahead);
      here = next;
      if (chunk.parts_left.fetch_sub(1, std::memory_order_acq_rel) == 1) merge(c, worker.to_merge);
    }
  }

  // How many keys of a stretch were new.
  std::uint32_t insert(Chunk& chunk, Stretch here, std::span<const KeySet::Spot> ahead) {
    std::size_t to = here.begin;
    std::size_t asked = 0;
    for (std::size_t i = here.begin; i < here.end; ++i) {
      if (asked < ahead.size()) keys_.prefetch(ahead[asked++]);
      const KeySet::Spot spot = chunk.spots[i];
      if (!keys_.insert(spot)) continue;
      chunk.spots[to] = spot;
      chunk.found[to++] = chunk.found[i];
    }
    while (asked < ahead.size()) keys_.prefetch(ahead[asked++]);
    return static_cast<std::uint32_t>(to - here.begin);
  }

  // Leaves of a chunk what was new in any part, in the order in which it was found.
  void merge(std::size_t c, std::vector<Stretch>& left) const {
    Chunk& chunk = *chunks_[c];
    left.clear();
    for (std::size_t part = 0; part + 1 < chunk.part_begins.size(); ++part) {
      const std::size_t begin = chunk.part_begins[part];
      if (const std::size_t n = new_in_part_[part][c]; n != 0) left.push_back({begin, begin + n});
    }
    chunk.keys.clear();
    chunk.how_found.clear();
    while (!left.empty()) {
      const auto least = std::min_element(left.begin(), left.end(), [&](const Stretch& a, const Stretch& b) {
        return chunk.found[a.begin] < chunk.found[b.begin];
      });
      chunk.keys.push_back(keys_.key_of(chunk.spots[least->begin]));
      chunk.how_found.push_back(chunk.found[least->begin]);
      if (++least->begin == least->end) left.erase(least);
    }
  }

  // Numbers a state that was new.
  void number(StateKey key, const Discovery& discovery) {
    if (disk_) {
      maybe_new_.push_back(key);
      how_found_.push_back(discovery);
    } else {
      add_state(key, discovery);
    }
  }

  // ---- more than memory ----

  // What memory has no room for goes to the disk; false where that frees too little, or cannot be.
  bool move_to_disk() {
    if (options_.checkpoint.folder.empty() || keys_.memory() < options_.memory_limit / 16) return false;
    try {
      find_new();
      if (!disk_) disk_ = std::make_unique<DiskSet>(options_.checkpoint.folder);
      disk_->add(keys_);
    } catch (const BadInput& failed) {
      checkpoint_failed_ = failed.what();
      return false;
    }
    keys_.clear();
    kept_ = KeptGuards(model_.enabled_words());
    return true;
  }

  // Numbers those of what may be new that the disk does not know.
  void find_new() {
    if (maybe_new_.empty()) return;
    const std::vector<bool> known = disk_->holds(maybe_new_);
    for (std::size_t i = 0; i < maybe_new_.size(); ++i) {
      if (!known[i]) add_state(maybe_new_[i], how_found_[i]);
    }
    maybe_new_.clear();
    how_found_.clear();
  }

  // What is to be said of a chunk when everything before it has been said.
  void account(const Chunk& chunk) {
    if (chunk.error) std::rethrow_exception(chunk.error);
    transitions_ += chunk.transitions;
    if (fired_.size() < chunk.fired.size()) fired_.resize(chunk.fired.size());
    for (std::size_t rule = 0; rule < chunk.fired.size(); ++rule) fired_[rule] += chunk.fired[rule];
    for (const auto& end : chunk.proper_ends) options_.on_end(end.data());
    if (chunk.bad) {
      bad_ = *chunk.bad;
      next_ = bad_.state + 1;
    }
  }

  // ---- one thread ----

  void alone() {
    for (std::size_t i = 0; i < chunks_in_round_ && bad_.verdict == Verdict::holds; ++i) {
      Chunk& chunk = *chunks_[i];
      Worker& worker = *workers_[0];
      expand(chunk, worker);
      keys_.admit(tree_.first_halves(), tree_.second_halves());
      find_spots(worker);
      std::size_t to = 0;
      for_each_spot(worker, [&](std::size_t i, KeySet::Spot spot) {
        worker.keys[to] = worker.keys[i];
        worker.found[to] = worker.found[i];
        to += keys_.insert(spot) ? 1 : 0;
      });
      account(chunk);
      for (std::size_t at = 0; at < to; ++at) number(worker.keys[at], worker.found[at].in(chunk.first));
    }
    tree_.release();
  }

  // ---- several ----

  void run_threads() {
    bool more = next_round();
    std::atomic<std::size_t> next_chunk = 0;
    std::atomic<std::size_t> next_part = 0;
    std::exception_ptr error;
    const auto guarded = [&](auto&& work) noexcept {
      try {
        if (!error) work();
      } catch (...) {
        error = std::current_exception();
        more = false;
      }
    };
    // Rounds of a few chunks are not worth waiting for anybody.
    const auto small_rounds = [&] {
      while (more && chunks_in_round_ < 2 * std::size_t{threads_}) {
        alone();
        more = next_round();
      }
    };
    const auto after_expanding = [&]() noexcept {
      guarded([&] {
        const auto first_bad =
            std::find_if(chunks_.begin(), chunks_.begin() + static_cast<std::ptrdiff_t>(chunks_in_round_),
                         [](const auto& chunk) { return chunk->bad || chunk->error; });
        if (first_bad != chunks_.begin() + static_cast<std::ptrdiff_t>(chunks_in_round_))
          chunks_in_round_ = static_cast<std::size_t>(first_bad - chunks_.begin()) + 1;
        admit_all();
        tree_.release();
        new_in_part_.resize(parts());
        next_part = 0;
      });
    };
    const auto after_inserting = [&]() noexcept {
      guarded([&] {
        for (std::size_t c = 0; c < chunks_in_round_; ++c) {
          const Chunk& chunk = *chunks_[c];
          account(chunk);
          for (std::size_t i = 0; i < chunk.keys.size(); ++i)
            number(chunk.keys[i], chunk.how_found[i].in(chunk.first));
        }
        tune_rounds();
        more = next_round();
        small_rounds();
        next_chunk = 0;
      });
    };
    guarded(small_rounds);
    std::barrier expanded(static_cast<std::ptrdiff_t>(threads_), after_expanding);
    std::barrier inserted(static_cast<std::ptrdiff_t>(threads_), after_inserting);
    // The next chunks for one thread: side by side, since their states have successors in common; and few
    // when few are left.
    const auto take_chunks = [&] {
      std::size_t first = next_chunk.load(std::memory_order_relaxed);
      for (;;) {
        const std::size_t left = chunks_in_round_ - std::min(first, chunks_in_round_);
        const std::size_t last = first + std::min(left, left / (2 * std::size_t{threads_}) + 1);
        if (first >= last || next_chunk.compare_exchange_weak(first, last)) return Stretch{first, last};
      }
    };
    const auto work = [&](Worker& worker) {
      while (more) {
        for (Stretch taken = take_chunks(); taken.begin < taken.end; taken = take_chunks()) {
          for (std::size_t c = taken.begin; c < taken.end; ++c) {
            expand(*chunks_[c], worker);
            sort_by_part(*chunks_[c], worker);
          }
        }
        expanded.arrive_and_wait();
        for (std::size_t part = next_part++; part < parts(); part = next_part++) insert_part(part, worker);
        inserted.arrive_and_wait();
      }
    };
    {
      std::vector<std::jthread> others;
      for (unsigned i = 1; i < threads_; ++i) others.emplace_back([&, i] { work(*workers_[i]); });
      work(*workers_[0]);
    }
    if (error) std::rethrow_exception(error);
  }

  void tune_rounds() {
    const auto now = Clock::now();
    const double seconds = std::chrono::duration<double>(now - round_began_).count();
    round_began_ = now;
    if (chunks_in_round_ < chunks_a_round_) return;
    if (seconds < round_seconds / 2)
      chunks_a_round_ = std::min(2 * chunks_a_round_, most_chunks_a_thread * threads_);
    if (seconds > round_seconds * 2)
      chunks_a_round_ = std::max(chunks_a_round_ / 2, 4 * std::size_t{threads_});
  }

  ExploreResult result() {
    find_new();
    // A state that is bad has been taken for expanded; who goes on has to find it again.
    if (bad_.verdict == Verdict::holds || inconclusive(bad_.verdict)) save_checkpoint();
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
    r.fired = fired_;
    r.fired.resize(model_.rules().size());
    r.resumed_from = resumed_from_;
    r.checkpoint_failed = checkpoint_failed_;
    r.on_disk = disk_ ? disk_->size() : 0;
    if (r.verdict != Verdict::holds && !inconclusive(r.verdict)) r.trace = trace_to(bad_.state);
    return r;
  }

  const Model& model_;
  const ExploreOptions& options_;
  unsigned words_;
  unsigned threads_;

  StateTree tree_;
  KeySet keys_;
  Frontier frontier_;
  Discoveries discoveries_;
  Discoveries::Cursor cursor_;  // at next_
  KeptGuards kept_;
  std::uint64_t initial_ = 0;    // states that runs start from
  std::uint64_t next_ = 0;       // the first state not yet taken into a round
  std::uint64_t depth_end_ = 0;  // the first state of the next depth

  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::unique_ptr<Chunk>> chunks_;
  std::vector<std::vector<std::uint32_t>> new_in_part_;  // of each chunk
  std::size_t chunks_in_round_ = 0;
  std::size_t chunks_a_round_ = threads_ == 1 ? 1 : 8 * std::size_t{threads_};
  Clock::time_point start_;
  Clock::time_point round_began_ = Clock::now();
  unsigned depth_ = 0;
  std::uint64_t rounds_ = 0;
  std::uint64_t transitions_ = 0;
  std::vector<std::uint64_t> fired_;
  double reported_ = 0;
  BadState bad_;

  // Once memory was full: what has been visited before, and what has been found since and may be new.
  std::unique_ptr<DiskSet> disk_;
  std::vector<StateKey> maybe_new_;
  std::vector<Discovery> how_found_;

  std::unique_ptr<Checkpoint> checkpoint_;
  Clock::time_point saved_;
  double seconds_before_ = 0;
  std::uint64_t resumed_from_ = 0;
  std::string checkpoint_failed_;
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
