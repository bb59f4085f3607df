#include "checker/cluster/cluster_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>
#include <stdexcept>

#include "checker/explore/checkpoint.hpp"
#include "checker/explore/frontier.hpp"
#include "checker/explore/judge.hpp"
#include "checker/explore/key_set.hpp"
#include "checker/explore/recent_states.hpp"
#include "checker/explore/state_tree.hpp"
#include "checker/explore/visited.hpp"
#include "checker/support/diagnostic.hpp"
#include "checker/support/json_text.hpp"

namespace lockstep::cluster {

namespace {

using Clock = std::chrono::steady_clock;

// States that a rank expands in a step.
constexpr std::uint64_t step_states = 4096;
// States that are taken apart, or put together, at a time.
constexpr std::uint64_t chunk_states = 64;

// How a state was found: whose successor it is, and which.
struct Origin {
  std::uint64_t bits = 0;
  static constexpr unsigned successor_bits = 16;
  static constexpr unsigned rank_bits = 10;
  static constexpr std::uint64_t no_parent = (std::uint64_t{1} << rank_bits) - 1;
  Origin() = default;
  Origin(std::uint64_t rank, std::uint64_t number, std::uint64_t successor)
      : bits(number << (successor_bits + rank_bits) | rank << successor_bits | successor) {}
  [[nodiscard]] std::uint64_t successor() const { return bits & ((1U << successor_bits) - 1); }
  [[nodiscard]] std::uint64_t rank() const { return bits >> successor_bits & no_parent; }
  [[nodiscard]] std::uint64_t number() const { return bits >> (successor_bits + rank_bits); }
};
constexpr const char* schema = "lockstep.cluster/1";
constexpr int most_ranks = (1 << Origin::rank_bits) - 2;

// The origins of all states of a rank, which only get more.
class Origins {
 public:
  void add(Origin origin) {
    if (size_ % chunk == 0) chunks_.push_back(std::make_unique_for_overwrite<Origin[]>(chunk));
    chunks_.back()[size_ % chunk] = origin;
    ++size_;
  }
  [[nodiscard]] Origin operator[](std::uint64_t i) const { return chunks_[i / chunk][i % chunk]; }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] std::size_t memory() const { return chunks_.size() * chunk * sizeof(Origin); }

 private:
  static constexpr std::uint64_t chunk = std::uint64_t{1} << 14;
  std::vector<std::unique_ptr<Origin[]>> chunks_;
  std::uint64_t size_ = 0;
};

class Search {
 public:
  Search(const Model& model, const ExploreOptions& options, Ranks& ranks)
      : model_(model),
        options_(options),
        ranks_(ranks),
        me_(static_cast<std::uint64_t>(ranks.rank())),
        size_(static_cast<std::uint64_t>(ranks.size())),
        words_(std::max(1U, model.words())),
        tree_(model.state_bits()),
        states_(tree_),
        recent_(words_),
        to_(size_),
        states_to_(size_) {
    if (ranks.size() > most_ranks)
      throw BadInput(
          fmt::format("{} ranks are more than the {} that may search together", ranks.size(), most_ranks));
  }

  ExploreResult run() {
    start_ = saved_ = Clock::now();
    open_checkpoint();
    if (checkpoint_ && checkpoint_->begun()) {
      together([&] { go_on(); });
      const Words begun = ranks_.all({checkpoint_->position().states});
      resumed_from_ = static_cast<std::size_t>(std::accumulate(begun.begin(), begun.end(), std::uint64_t{0}));
    } else {
      together([&] { seed(); });
    }
    while (step()) {
    }
    if (checkpoint_ && (verdict_ == Verdict::holds || inconclusive(verdict_))) save();
    return result();
  }

 private:
  template <class F>
  void together(F&& f) {
    cluster::together(ranks_, f);
  }

  [[nodiscard]] std::uint64_t keeper_of(const std::uint64_t* state) const {
    // Not the bits that tables of one rank place states by.
    return (Visited::hash(state, words_) >> 32) * size_ >> 32;
  }

  void insert(const std::uint64_t* state, Origin origin) {
    const StateKey key = tree_.key_of(state);
    keys_.admit(tree_.first_halves(), tree_.second_halves());
    if (!keys_.insert(key)) return;
    add(key, origin);
    if (keys_.wants_shards()) keys_.cut_into_shards();
  }
  void add(StateKey key, Origin origin) {
    frontier_.add(key);
    origins_.add(origin);
    if (!checkpoint_ || cannot_keep_) return;
    try {
      checkpoint_->add(key);
    } catch (const BadInput&) {
      cannot_keep_ = std::current_exception();  // said when all save
    }
  }

  void seed() {
    Successors& out = successors_;
    out.clear(words_);
    model_.initial(out);
    std::fill(out.fired.begin(), out.fired.end(), 0);  // of the initial states nothing has been fired
    refuse_more_than(out.size());
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (keeper_of(out.state(i)) == me_) insert(out.state(i), Origin(Origin::no_parent, 0, i));
    }
    depth_end_ = frontier_.size();
  }

  static void refuse_more_than(std::size_t successors) {
    if (successors > std::size_t{1} << Origin::successor_bits)
      throw BadInput(fmt::format("a state has {} successors, more than ranks can tell apart", successors));
  }

  // ---- a step ----

  // Whether there is another.
  bool step() {
    std::exception_ptr error;
    BadState bad;
    try {
      expand(bad);
    } catch (...) {
      error = std::current_exception();
      for (auto* all : {&to_, &states_to_}) {
        for (Words& words : *all) words.clear();  // the last may lack its end
      }
    }
    ranks_.exchange(to_, from_);
    try {
      if (!error) take_in(bad);
    } catch (...) {
      error = std::current_exception();
    }
    for (Words& words : to_) words.clear();
    return go_on_together(bad, error);
  }

  void expand(BadState& bad) {
    const std::uint64_t end = std::min(depth_end_, next_ + step_states);
    while (next_ < end && bad.verdict == Verdict::holds) {
      const std::uint64_t count = std::min<std::uint64_t>(chunk_states, end - next_);
      states_.clear();
      for (std::uint64_t i = 0; i < count; ++i) tree_.prefetch(frontier_[next_ + i]);
      for (std::uint64_t i = 0; i < count; ++i) tree_.open(frontier_[next_ + i], states_);
      successors_.known = {};
      for (std::uint64_t i = 0; i < count && bad.verdict == Verdict::holds; ++i, ++next_)
        expand(states_.state(i), bad);
    }
    for (std::size_t r = 0; r < to_.size(); ++r)
      to_[r].insert(to_[r].end(), states_to_[r].begin(), states_to_[r].end());
    for (Words& states : states_to_) states.clear();
  }
  void expand(const std::uint64_t* state, BadState& bad) {
    successors_.clear(words_);
    try {
      model_.expand(state, successors_);
    } catch (const BrokenRule& broken) {
      bad = BadState{Verdict::broken, -1, next_, broken.what()};
      return;
    }
    // Who found it is elsewhere, but the one before it in this order is not far from it.
    if (model_.enabled_words() != 0) {
      std::swap(enabled_, successors_.enabled);
      successors_.known = {state, enabled_.data()};
    }
    switch (judge(model_, state, successors_, options_.invariants, options_.deadlocks)) {
      case Judgement::invariant:
        bad = BadState{Verdict::invariant, successors_.violated, next_, {}};
        break;
      case Judgement::deadlock:
        bad = BadState{Verdict::deadlock, -1, next_, {}};
        break;
      case Judgement::good:
      case Judgement::proper_end:
        break;
    }
    refuse_more_than(successors_.size());
    transitions_ += successors_.size();
    for (std::size_t i = 0; i < successors_.size(); ++i) {
      const std::uint64_t* const successor = successors_.state(i);
      if (recent_.again(successor)) continue;
      const std::uint64_t keeper = keeper_of(successor);
      to_[keeper].push_back(Origin(me_, next_, i).bits);
      states_to_[keeper].insert(states_to_[keeper].end(), successor, successor + words_);
    }
  }

  // Messages are the origins of states, then the states.
  void take_in(const BadState& bad) {
    for (const Words& words : from_) {
      const std::size_t all = words.size() / (words_ + 1);
      const std::uint64_t* const states = words.data() + all;
      for (std::size_t first = 0; first < all; first += chunk_states) {
        const std::size_t count = std::min<std::size_t>(chunk_states, all - first);
        near_.clear();
        for (std::size_t i = 0; i < count; ++i) near_.push_back({static_cast<std::uint32_t>(first + i), 0});
        found_.clear();
        // Those of one batch are alike in more than they are unlike.
        states_.clear();
        tree_.open(tree_.key_of(states + first * words_), states_);
        tree_.keys_of(states, near_, states_, found_);
        keys_.admit(tree_.first_halves(), tree_.second_halves());
        spots_.clear();
        for (const StateKey key : found_) {
          spots_.push_back(keys_.spot_of(key));
          keys_.prefetch(spots_.back());
        }
        for (std::size_t i = 0; i < count; ++i) {
          Origin origin;
          origin.bits = words[first + i];
          if (keys_.insert(spots_[i])) add(found_[i], origin);
        }
        if (keys_.wants_shards()) keys_.cut_into_shards();
      }
    }
    const std::uint64_t looked_at = bad.verdict == Verdict::holds ? next_ : bad.state;
    if (frontier_.size() != 0) frontier_.drop_below(std::min(looked_at, frontier_.size() - 1));
    tree_.release();
  }

  enum Told : std::size_t { left, found, is_bad, error, reason, states, transitions, memory, told };

  bool go_on_together(const BadState& bad, const std::exception_ptr& failed) {
    Words mine(told);
    mine[left] = depth_end_ - next_;
    mine[found] = frontier_.size() - depth_end_;
    mine[is_bad] = bad.verdict != Verdict::holds ? 1 : 0;
    mine[error] = failed ? 1 : 0;
    mine[reason] = static_cast<std::uint64_t>(at_limit());
    mine[states] = frontier_.size();
    mine[transitions] = transitions_;
    mine[memory] = used();
    const Words said = ranks_.all(mine);
    const auto sum = [&](Told what) {
      std::uint64_t all = 0;
      for (std::uint64_t r = 0; r < size_; ++r) all += said[r * told + what];
      return all;
    };
    if (sum(error) != 0) agree(ranks_, failed);
    all_states_ = sum(states);
    all_transitions_ = sum(transitions);
    all_memory_ = sum(memory);
    if (sum(is_bad) != 0) {
      settle_bad(bad);
      return false;
    }
    std::uint64_t why = 0;
    for (std::uint64_t r = 0; r < size_; ++r) why = std::max(why, said[r * told + reason]);
    if (options_.state_limit != 0 && all_states_ > options_.state_limit)
      why = std::max(why, static_cast<std::uint64_t>(Verdict::out_of_memory));
    if (why != 0) {
      verdict_ = static_cast<Verdict>(why);
      return false;
    }
    waiting_ = sum(left) + sum(found);
    if (waiting_ == 0) return false;
    if (sum(left) == 0) {
      depth_end_ = frontier_.size();
      ++depth_;
    }
    report();
    if (checkpoint_ && due()) save();
    return true;
  }

  // A limit that this rank has come to, or 0.
  [[nodiscard]] Verdict at_limit() const {
    if (options_.interrupted != nullptr && options_.interrupted->load(std::memory_order_relaxed))
      return Verdict::interrupted;
    if (options_.memory_limit != 0 && used() > options_.memory_limit) return Verdict::out_of_memory;
    if (std::max(tree_.first_halves(), tree_.second_halves()) > NumberedValues::most / 8 * 7)
      return Verdict::out_of_memory;
    if (options_.time_limit.count() != 0 &&
        std::chrono::duration<double, std::milli>(Clock::now() - start_).count() >
            static_cast<double>(options_.time_limit.count()))
      return Verdict::out_of_time;
    return Verdict::holds;
  }
  [[nodiscard]] std::size_t used() const {
    std::size_t messages = 0;
    for (const auto* all : {&to_, &from_}) {
      for (const Words& words : *all) messages += words.capacity() * sizeof(std::uint64_t);
    }
    return tree_.memory() + keys_.memory() + frontier_.memory() + origins_.memory() + messages;
  }
  [[nodiscard]] double seconds() const {
    return seconds_before_ + std::chrono::duration<double>(Clock::now() - start_).count();
  }
  void report() {
    if (!options_.progress || seconds() - reported_ < 0.2) return;
    reported_ = seconds();
    options_.progress({all_states_, waiting_, all_transitions_, depth_, seconds(), all_memory_});
  }

  // Of the bad states that ranks have found in this step, which are at one depth, the least.
  void settle_bad(const BadState& bad) {
    Words mine(words_ + 1, ~std::uint64_t{0});
    if (bad.verdict != Verdict::holds) {
      states_.clear();
      tree_.open(frontier_[bad.state], states_);
      mine[0] = 0;
      std::copy(states_.state(0), states_.state(0) + words_, mine.begin() + 1);
    }
    const Words all = ranks_.all(mine);
    std::uint64_t least = 0;
    const auto of = [&](std::uint64_t r) {
      const auto at = all.begin() + static_cast<std::ptrdiff_t>(r * mine.size());
      return std::vector(at, at + static_cast<std::ptrdiff_t>(mine.size()));
    };
    for (std::uint64_t r = 1; r < size_; ++r) {
      if (of(r) < of(least)) least = r;
    }
    const Words about = from_rank(least, {static_cast<std::uint64_t>(bad.verdict),
                                          static_cast<std::uint64_t>(bad.violated), bad.state});
    verdict_ = static_cast<Verdict>(about[0]);
    violated_ = static_cast<int>(about[1]);
    broken_ = all_texts(ranks_, bad.broken)[least];
    find_path(least, about[2]);
  }
  Words from_rank(std::uint64_t rank, const Words& mine) { return words_of(ranks_, rank, mine); }

  // From state to parent, asking whoever keeps it.
  void find_path(std::uint64_t rank, std::uint64_t number) {
    std::vector<std::uint64_t> successors;
    for (;;) {
      const Words told = from_rank(rank, {rank == me_ ? origins_[number].bits : 0});
      Origin origin;
      origin.bits = told[0];
      successors.push_back(origin.successor());
      if (origin.rank() == Origin::no_parent) break;
      rank = origin.rank();
      number = origin.number();
    }
    std::reverse(successors.begin(), successors.end());
    path_ = std::move(successors);
  }

  ExploreResult result() {
    ExploreResult r;
    r.verdict = verdict_;
    r.violated = violated_;
    r.broken = broken_;
    r.states = all_states_;
    r.transitions = all_transitions_;
    r.depth = depth_;
    r.seconds = seconds();
    r.memory = all_memory_;
    r.state_bits = model_.state_bits();
    r.resumed_from = resumed_from_;
    r.checkpoint_failed = checkpoint_failed_;
    Words fired = fired_;
    fired.resize(model_.rules().size());
    for (std::size_t rule = 0; rule < std::min(fired.size(), successors_.fired.size()); ++rule)
      fired[rule] += successors_.fired[rule];
    const Words all = ranks_.all(fired);
    r.fired.resize(fired.size());
    for (std::size_t i = 0; i < all.size(); ++i) r.fired[i % fired.size()] += all[i];
    if (!path_.empty()) r.trace = trace_along(model_, path_);
    return r;
  }

  // ---- checkpoints ----
  //
  // Each rank has a folder of its own. One of theirs counts once all have theirs: `cluster.json` says which.

  [[nodiscard]] std::string manifest(std::uint64_t generation) const {
    return fmt::format("checkpoint-{}.json", generation);
  }
  [[nodiscard]] std::string own_folder() const {
    return fmt::format("{}/rank-{}", options_.checkpoint.folder, me_);
  }
  [[nodiscard]] std::string common_file() const { return options_.checkpoint.folder + "/cluster.json"; }

  // What the first rank has read; none where there is none yet.
  std::uint64_t read_common() {
    if (const std::string alone = options_.checkpoint.folder + "/" + Checkpoint::usual_manifest;
        std::filesystem::exists(alone))
      throw BadInput(fmt::format("{}: the checkpoint is of one process", alone),
                     "go on without mpirun, or begin anew in another folder");
    std::ifstream in(common_file());
    if (!in) return 0;
    std::stringstream text;
    text << in.rdbuf();
    const auto kept = nlohmann::json::parse(text.str(), nullptr, false);
    if (!kept.is_object() || kept.value("schema", "") != schema || !kept.contains("ranks") ||
        !kept["ranks"].is_number_unsigned() || !kept.contains("generation") ||
        !kept["generation"].is_number_unsigned())
      throw BadInput(fmt::format("{}: this is no checkpoint of several ranks", common_file()),
                     "begin anew in another folder");
    if (kept["ranks"] != size_)
      throw BadInput(fmt::format("{}: the checkpoint is of {} ranks, and these are {}", common_file(),
                                 kept["ranks"].dump(), size_),
                     "go on with as many as began, or begin anew in another folder");
    return kept["generation"].get<std::uint64_t>();
  }

  void open_checkpoint() {
    const CheckpointOptions& asked = options_.checkpoint;
    if (asked.folder.empty()) return;
    together([&] {
      if (me_ != 0) return;
      lock_ = std::make_unique<FolderLock>(asked.folder);
      generation_ = read_common();
    });
    generation_ = from_rank(0, {generation_})[0];
    together([&] {
      const std::string name = own_folder() + "/" + manifest(generation_);
      // Looked for before anything behind it is cut off.
      if (generation_ != 0 && !std::filesystem::exists(name))
        throw BadInput(fmt::format("{}: the checkpoint of this rank is missing", name),
                       "begin anew in another folder");
      checkpoint_ = std::make_unique<Checkpoint>(own_folder(), asked.about, manifest(generation_));
    });
  }

  void go_on() {
    const SearchPosition& position = checkpoint_->position();
    checkpoint_->read_parts(tree_);
    checkpoint_->for_each_origin([&](std::uint64_t bits) {
      Origin origin;
      origin.bits = bits;
      origins_.add(origin);
    });
    origins_saved_ = origins_.size();
    keys_.admit(tree_.first_halves(), tree_.second_halves());
    next_ = position.next;
    depth_end_ = position.depth_end;
    depth_ = position.depth;
    transitions_ = position.transitions;
    fired_ = position.fired;
    seconds_before_ = position.seconds;
    checkpoint_->for_each_key([&](StateKey key) {
      keys_.insert(key);
      if (keys_.wants_shards()) keys_.cut_into_shards();
      frontier_.add(key);
      frontier_.drop_below(std::min(frontier_.size() - 1, next_));
    });
  }

  // Whether it is time, by the clock of the first rank.
  bool due() {
    const bool mine = Clock::now() - saved_ > options_.checkpoint.every;
    return from_rank(0, {mine ? 1U : 0U})[0] != 0;
  }

  // Where one cannot be written all go on without.
  void save() {
    try {
      save_all();
    } catch (const BadInput& failed) {
      checkpoint_failed_ = failed.what();
      checkpoint_.reset();
    }
  }
  void save_all() {
    const std::uint64_t next = generation_ + 1;
    together([&] {
      if (cannot_keep_) std::rethrow_exception(cannot_keep_);
      std::vector<std::uint64_t> fired = fired_;
      fired.resize(std::max(fired.size(), successors_.fired.size()));
      for (std::size_t rule = 0; rule < successors_.fired.size(); ++rule)
        fired[rule] += successors_.fired[rule];
      const SearchPosition position{frontier_.size(), 0,     next_,    depth_end_, depth_,
                                    transitions_,     fired, seconds()};
      Words origins;
      for (; origins_saved_ < origins_.size(); ++origins_saved_)
        origins.push_back(origins_[origins_saved_].bits);
      checkpoint_->add_discoveries(origins.data(), origins.size() * sizeof(std::uint64_t));
      checkpoint_->save(position, tree_, manifest(next));
    });
    together([&] {
      if (me_ != 0) return;
      const nlohmann::json out{{"schema", schema}, {"ranks", size_}, {"generation", next}};
      replace_file(common_file(), json_text(out) + "\n");
    });
    std::error_code ignored;
    std::filesystem::remove(own_folder() + "/" + manifest(generation_), ignored);
    generation_ = next;
    saved_ = Clock::now();
  }

  const Model& model_;
  const ExploreOptions& options_;
  Ranks& ranks_;
  std::uint64_t me_;
  std::uint64_t size_;
  unsigned words_;

  StateTree tree_;
  KeySet keys_;
  Frontier frontier_;
  Origins origins_;
  std::uint64_t next_ = 0;
  std::uint64_t depth_end_ = 0;

  StateTree::Batch states_;
  Successors successors_;
  RecentStates recent_;
  std::vector<std::uint64_t> enabled_;  // in the state that was expanded last
  std::vector<StateTree::Near> near_;
  std::vector<StateKey> found_;
  std::vector<KeySet::Spot> spots_;
  std::vector<Words> to_;         // by rank: origins of states, and then the states
  std::vector<Words> states_to_;  // what is still to be put behind them
  std::vector<Words> from_;

  Clock::time_point start_;
  Clock::time_point saved_;
  double seconds_before_ = 0;
  double reported_ = 0;
  unsigned depth_ = 0;
  std::uint64_t transitions_ = 0;
  std::vector<std::uint64_t> fired_;  // before the checkpoint that it went on from
  std::uint64_t all_states_ = 0;
  std::uint64_t all_transitions_ = 0;
  std::uint64_t all_memory_ = 0;
  std::uint64_t waiting_ = 0;
  std::size_t resumed_from_ = 0;

  Verdict verdict_ = Verdict::holds;
  int violated_ = -1;
  std::string broken_;
  std::vector<std::uint64_t> path_;

  std::unique_ptr<FolderLock> lock_;  // the first rank's, of the folder of all
  std::unique_ptr<Checkpoint> checkpoint_;
  std::exception_ptr cannot_keep_;  // why this rank's has a gap
  std::string checkpoint_failed_;
  std::uint64_t generation_ = 0;
  std::uint64_t origins_saved_ = 0;
};

}  // namespace

ExploreResult explore(const Model& model, const ExploreOptions& options, Ranks& ranks) {
  return Search(model, options, ranks).run();
}

}  // namespace lockstep::cluster
