// The search for the executions of one choice of paths that a model allows: coherence first, then the writes
// that reads read, then what else the model chooses. A check that can only stay failed ends a branch at once,
// and so do values that contradict the paths.
#pragma once

#include <algorithm>
#include <functional>

#include "checker/axiomatic/evaluator.hpp"
#include "checker/axiomatic/model.hpp"
#include "checker/axiomatic/valuation.hpp"

namespace lockstep {

// What a search meets at its leaves.
class SearchVisitor {
 public:
  virtual ~SearchVisitor() = default;
  // An execution that the model allows. `registers(t)`: of thread t at its end; `memory`: by location.
  virtual void allowed(const std::vector<const std::int32_t*>& registers,
                       const std::vector<std::int32_t>& memory, std::uint64_t flags,
                       bool assertion_failed) = 0;
  // An execution that the model allows up to where some thread waits at a barrier for ever.
  virtual void hung(std::uint64_t flags) = 0;
  // An execution in which a thread goes on beyond where its path was cut.
  virtual void cut() = 0;
  // Asked from time to time; true ends the search.
  virtual bool stop() = 0;
};

// What a search leaves out. `none`: also candidates that a check forbids are met. `late`: checks are asked
// once all is chosen that they look at, which takes longer and must come to the same as `early`.
enum class Pruning : std::uint8_t { none, late, early };

template <int W>
class Search {
 public:
  using Word = std::uint64_t;

  // Keeps its storage from one execution to the next.
  void run(const cat::Plan& plan, const Execution& execution, bool memory_matters, Pruning pruning,
           SearchVisitor& visitor) {
    plan_ = &plan;
    execution_ = &execution;
    visitor_ = &visitor;
    prune_ = pruning != Pruning::none;
    early_ = pruning == Pruning::early;
    ended_ = stopped_ = false;
    cut_ = execution.any_path(PathEnd::cut);
    const bool own_coherence = std::any_of(plan.choices.begin(), plan.choices.end(),
                                           [](const cat::Choice& choice) { return choice.is_coherence; });
    need_coherence_ = plan.uses_coherence || (memory_matters && !own_coherence);
    if (stop(32)) return;
    ev_.prepare(plan, execution);
    ev_.evaluate(plan.late[0]);
    if (prune_ && any_fails(cat::Stage::fixed_by_events)) return;
    valuation_.begin(execution);
    registers_.resize(execution.paths.size());
    ends_.resize(execution.paths.size());
    memory_.assign(execution.writes.size(), 0);
    reads_ = reads_in_order(execution);
    // What is written first in every coherence order.
    for (std::size_t l = 0; l < execution.writes.size(); ++l) {
      for (const int w : execution.writes[l]) ev_.put(ev_.co(static_cast<int>(l)), w);
    }
    sc_fences_ = plan.uses_fence_order ? execution.sc_fences() : std::vector<int>();
    for (const cat::Stage stage : {cat::Stage::coherence, cat::Stage::reads_from}) {
      auto& pruning = pruning_[static_cast<std::size_t>(stage)];
      pruning.clear();
      for (const cat::Check& check : plan.checks) {
        if (cat::prunes(plan, check, stage) && may_fail(check)) pruning.push_back(&check);
      }
    }
    if (plan.partial_coherence) find_pairs_to_relate();
    choose_coherence(0);
  }

  [[nodiscard]] std::uint64_t candidates() const { return candidates_; }
  [[nodiscard]] bool stopped() const { return stopped_; }

  // For a visitor that wants to see the whole execution.
  cat::Evaluator<W>& evaluator() { return ev_; }
  [[nodiscard]] const std::vector<std::int32_t>& values() const { return valuation_.values(); }
  [[nodiscard]] const std::vector<int>& sources() const { return valuation_.sources(); }
  [[nodiscard]] const cat::Plan& plan() const { return *plan_; }
  [[nodiscard]] const Execution& execution() const { return *execution_; }
  Word* final_coherence(int event) {
    for (std::size_t c = 0; c < plan_->choices.size(); ++c) {
      if (plan_->choices[c].is_coherence) return ev_.choice(static_cast<int>(c), event);
    }
    return ev_.co(event);
  }
  // Whether none of the writes comes after that one.
  bool is_last(int write, const std::vector<int>& writes) {
    return std::none_of(writes.begin(), writes.end(),
                        [&](int other) { return other != write && ev_.has(final_coherence(write), other); });
  }

 private:
  // ---- checks

  // Only what more events cannot mend counts against the beginning of an execution.
  bool may_fail(const cat::Check& check) {
    const cat::Stage stage = plan_->nodes[static_cast<std::size_t>(check.node)].stage;
    return !cut_ || cat::prunes(*plan_, check, std::min(stage, cat::Stage::coherence));
  }
  // Whether a check that is no flag fails, of those that a stage decides.
  bool any_fails(cat::Stage stage) {
    for (const cat::Check& check : plan_->checks) {
      if (check.flag || plan_->nodes[static_cast<std::size_t>(check.node)].stage != stage) continue;
      if (may_fail(check) && ev_.holds(check) == check.negated) return true;
    }
    return false;
  }
  // Whether what has been chosen of a stage so far is already forbidden.
  bool forbidden_in(cat::Stage stage) {
    const auto& pruning = pruning_[static_cast<std::size_t>(stage)];
    if (!early_ || pruning.empty()) return false;
    ev_.evaluate(plan_->early[static_cast<std::size_t>(stage)]);
    return std::any_of(pruning.begin(), pruning.end(),
                       [&](const cat::Check* check) { return !ev_.holds(*check); });
  }
  // Asks after about so much work, a unit of which is what one event costs a check.
  bool stop(std::uint64_t steps = 1) {
    work_ += steps * execution_->events.size();
    if (work_ < asks_at_ || ended_) return ended_;
    asks_at_ = work_ + work_between_asking;
    ended_ = stopped_ = visitor_->stop();
    return ended_;
  }

  // ---- coherence

  void choose_coherence(std::size_t location) {
    if (stop()) return;
    const auto& writes = execution_->writes;
    while (location < writes.size() && (writes[location].size() < 2 || !need_coherence_)) ++location;
    if (location == writes.size()) {
      // rf is empty so far: what depends on co alone is decided, for good.
      if (prune_ && !plan_->late[1].empty()) {
        ev_.evaluate(plan_->late[1]);
        if (any_fails(cat::Stage::coherence)) return;
      } else if (!plan_->late[1].empty()) {
        ev_.evaluate(plan_->late[1]);
      }
      choose_source(0);
      return;
    }
    if (plan_->partial_coherence && !is_total_[location]) {
      relate(location, 0, 1);
    } else {
      order(location, writes[location].size(), 0);
    }
  }

  // The next write of a location, `left` of which are not yet placed: bits of `placed`.
  void order(std::size_t location, std::size_t left, std::uint64_t placed) {
    if (left == 0) return choose_coherence(location + 1);
    const auto& writes = execution_->writes[location];
    for (std::size_t i = 0; i < writes.size(); ++i) {
      if (((placed >> i) & 1U) != 0) continue;
      Word* const after = ev_.co(writes[i]);
      for (std::size_t j = 0; j < writes.size(); ++j) {
        if (j != i && ((placed >> j) & 1U) == 0) ev_.put(after, writes[j]);
      }
      if (left == 1 || !forbidden_in(cat::Stage::coherence)) {
        order(location, left - 1, placed | (std::uint64_t{1} << i));
      }
      for (int k = 0; k < W; ++k) after[k] = 0;
      if (ended_) return;
    }
  }

  // A pair of writes in a partial order: before, after, or unrelated.
  void relate(std::size_t location, std::size_t i, std::size_t j) {
    const auto& writes = execution_->writes[location];
    if (j == writes.size()) {
      if (i + 2 >= writes.size()) return choose_coherence(location + 1);
      return relate(location, i + 1, i + 2);
    }
    const int a = writes[i];
    const int b = writes[j];
    for (const auto& [x, y] : {std::pair{a, b}, std::pair{b, a}}) {
      ev_.put(ev_.co(x), y);
      if (is_transitive(writes, i, j) && !forbidden_in(cat::Stage::coherence)) relate(location, i, j + 1);
      ev_.drop(ev_.co(x), y);
      if (ended_) return;
    }
    if (!must_relate_[static_cast<std::size_t>(a) * static_cast<std::size_t>(execution_->size()) +
                      static_cast<std::size_t>(b)] &&
        is_transitive(writes, i, j)) {
      relate(location, i, j + 1);
    }
  }
  // With the writes whose relations to both are already chosen.
  bool is_transitive(const std::vector<int>& writes, std::size_t i, std::size_t j) {
    const auto before = [&](int x, int y) { return ev_.has(ev_.co(x), y); };
    const int a = writes[i];
    const int b = writes[j];
    for (std::size_t k = 0; k < i; ++k) {
      const int c = writes[k];
      const auto broken = [&](int x, int y, int z) { return before(x, y) && before(y, z) && !before(x, z); };
      if (broken(a, b, c) || broken(a, c, b) || broken(b, a, c) || broken(b, c, a) || broken(c, a, b) ||
          broken(c, b, a)) {
        return false;
      }
    }
    return true;
  }

  // The pairs of writes that some check of coherence alone wants related: it fails though all others are,
  // both ways.
  void find_pairs_to_relate() {
    const auto n = static_cast<std::size_t>(execution_->size());
    must_relate_.assign(n * n, false);
    is_total_.assign(execution_->writes.size(), false);
    std::vector<const cat::Check*> checks;
    for (const cat::Check& check : plan_->checks) {
      const cat::Node& node = plan_->nodes[static_cast<std::size_t>(check.node)];
      if (!check.flag && !check.negated && node.antitone && node.stage == cat::Stage::coherence)
        checks.push_back(&check);
    }
    if (checks.empty() || !early_ || cut_) return;
    const auto each_pair = [&](const auto& use) {
      for (const auto& writes : execution_->writes) {
        for (std::size_t i = 0; i < writes.size(); ++i) {
          for (std::size_t j = i + 1; j < writes.size(); ++j) use(writes[i], writes[j]);
        }
      }
    };
    const auto relate_both = [&](int a, int b) {
      ev_.put(ev_.co(a), b);
      ev_.put(ev_.co(b), a);
    };
    const auto separate = [&](int a, int b) {
      ev_.drop(ev_.co(a), b);
      ev_.drop(ev_.co(b), a);
    };
    each_pair(relate_both);
    each_pair([&](int a, int b) {
      separate(a, b);
      ev_.evaluate(plan_->late[1]);
      const bool needed =
          std::any_of(checks.begin(), checks.end(), [&](const auto* check) { return !ev_.holds(*check); });
      must_relate_[static_cast<std::size_t>(a) * n + static_cast<std::size_t>(b)] = needed;
      relate_both(a, b);
    });
    each_pair(separate);
    for (std::size_t l = 0; l < execution_->writes.size(); ++l) {
      const auto& writes = execution_->writes[l];
      bool all = true;
      for (std::size_t i = 0; i < writes.size(); ++i) {
        for (std::size_t j = i + 1; j < writes.size(); ++j) {
          all = all &&
                must_relate_[static_cast<std::size_t>(writes[i]) * n + static_cast<std::size_t>(writes[j])];
        }
      }
      is_total_[l] = all;
    }
  }

  // ---- reads-from

  // The write that the next of the reads reads.
  void choose_source(std::size_t next) {
    if (next == reads_.size()) return choose_values(false);
    const int location = execution_->events[static_cast<std::size_t>(reads_[next])].location;
    take(next, location);
    for (const int write : execution_->writes[static_cast<std::size_t>(location)]) {
      if (stop()) return;
      take(next, write);
    }
  }
  void take(std::size_t next, int write) {
    const int read = reads_[next];
    const std::size_t before = valuation_.mark();
    if (valuation_.connect(read, write)) {
      ev_.put(ev_.rf(write), read);
      if (next + 1 == reads_.size() || !forbidden_in(cat::Stage::reads_from)) choose_source(next + 1);
      ev_.drop(ev_.rf(write), read);
    }
    valuation_.undo(before);
  }

  // What a circle of reads and dependent writes carries is any value that reads may find.
  void choose_values(bool guessed) {
    const auto open =
        std::find_if(reads_.begin(), reads_.end(), [&](int read) { return !valuation_.known(read); });
    if (open == reads_.end()) {
      if (!guessed || std::all_of(reads_.begin(), reads_.end(), [&](int read) {
            return may_find(read).count(valuation_.value(read)) != 0;
          }))
        complete();
      return;
    }
    for (const std::int32_t v : may_find(*open)) {
      const std::size_t before = valuation_.mark();
      if (valuation_.found(*open, v)) choose_values(true);
      valuation_.undo(before);
      if (stop()) return;
    }
  }
  [[nodiscard]] const std::set<std::int32_t>& may_find(int read) const {
    const auto location =
        static_cast<std::size_t>(execution_->events[static_cast<std::size_t>(read)].location);
    return (*execution_->values)[location];
  }

  // ---- all reads have their writes

  void complete() {
    if (stop()) return;
    ev_.evaluate(plan_->late[2]);
    if (prune_ && any_fails(cat::Stage::reads_from)) return;
    order_fences(0);
  }

  void order_fences(std::size_t i) {
    if (i == 0 && sc_fences_.size() > 1) {
      permutation_ = sc_fences_;
      std::sort(permutation_.begin(), permutation_.end());
      last_fence_order_.clear();
      do {
        set_fence_order();
        if (!same_fence_order_seen()) choose_others(0);
      } while (!ended_ && std::next_permutation(permutation_.begin(), permutation_.end()));
      std::fill_n(ev_.fence_order(), ev_.relation_words(), 0);
      return;
    }
    choose_others(0);
  }
  void set_fence_order() {
    for (int e = 0; e < execution_->size(); ++e) {
      for (int k = 0; k < W; ++k) ev_.fence_order(e)[k] = 0;
    }
    for (std::size_t a = 0; a < permutation_.size(); ++a) {
      for (std::size_t b = a + 1; b < permutation_.size(); ++b) {
        if (execution_->order_each_other(permutation_[a], permutation_[b])) {
          ev_.put(ev_.fence_order(permutation_[a]), permutation_[b]);
        }
      }
    }
  }
  // Fences that are not morally strong to each other are not ordered: several permutations give one relation.
  bool same_fence_order_seen() {
    std::vector<Word> now(ev_.fence_order(), ev_.fence_order() + ev_.relation_words());
    for (const auto& before : last_fence_order_) {
      if (before == now) return true;
    }
    last_fence_order_.push_back(std::move(now));
    return false;
  }

  void choose_others(std::size_t choice) {
    if (choice == plan_->choices.size()) return leaf();
    const cat::Choice& c = plan_->choices[choice];
    if (!c.linearisations) {
      for (const int node : c.constants) {
        std::copy_n(ev_.row(node), ev_.relation_words(), ev_.choice(static_cast<int>(choice)));
        choose_others(choice + 1);
        if (ended_) break;
      }
      std::fill_n(ev_.choice(static_cast<int>(choice)), ev_.relation_words(), 0);
      return;
    }
    // The set and the relation may themselves depend on what was chosen before.
    ev_.evaluate(plan_->late[3]);
    std::vector<int> elements;
    for (int e = 0; e < execution_->size(); ++e) {
      if (ev_.has(ev_.row(c.elements), e)) elements.push_back(e);
    }
    std::vector<Word> within(ev_.row(c.within), ev_.row(c.within) + ev_.relation_words());
    std::fill_n(ev_.choice(static_cast<int>(choice)), ev_.relation_words(), 0);
    std::vector<int> order;
    linearise(choice, elements, within, order);
    std::fill_n(ev_.choice(static_cast<int>(choice)), ev_.relation_words(), 0);
  }
  void linearise(std::size_t choice, const std::vector<int>& elements, const std::vector<Word>& within,
                 std::vector<int>& order) {
    if (stop()) return;
    if (order.size() == elements.size()) return choose_others(choice + 1);
    for (const int next : elements) {
      if (std::find(order.begin(), order.end(), next) != order.end()) continue;
      const bool ready = std::all_of(elements.begin(), elements.end(), [&](int before) {
        return before == next || !ev_.has(within.data() + static_cast<std::ptrdiff_t>(before) * W, next) ||
               std::find(order.begin(), order.end(), before) != order.end();
      });
      if (!ready) continue;
      for (const int before : order) ev_.put(ev_.choice(static_cast<int>(choice), before), next);
      order.push_back(next);
      linearise(choice, elements, within, order);
      order.pop_back();
      for (const int before : order) ev_.drop(ev_.choice(static_cast<int>(choice), before), next);
      if (ended_) return;
    }
  }

  void leaf() {
    ++candidates_;
    ev_.evaluate(plan_->late[3]);
    if (prune_ && any_fails(cat::Stage::others)) return;
    if (cut_) {
      ended_ = true;  // others would say the same
      return visitor_->cut();
    }
    std::uint64_t flags = 0;
    std::size_t flag = 0;
    for (const cat::Check& check : plan_->checks) {
      if (!check.flag) continue;
      if (ev_.holds(check) != check.negated) flags |= std::uint64_t{1} << std::min<std::size_t>(flag, 63);
      ++flag;
    }
    // Behind the model's own.
    if (execution_->diverges) flags |= std::uint64_t{1} << std::min<std::size_t>(flag, 63);
    if (execution_->hangs) return visitor_->hung(flags);
    for (std::size_t t = 0; t < execution_->paths.size(); ++t) {
      const ThreadPath& path = *execution_->paths[t];
      ends_[t].clear();
      for (const PathValue v : path.registers) ends_[t].push_back(valuation_.end_value(t, v));
      registers_[t] = ends_[t].data();
    }
    end_memory(0, flags, execution_->any_path(PathEnd::failed));
  }
  // A write that no other follows is what memory may hold at the end; in a partial order there may be
  // several.
  void end_memory(std::size_t location, std::uint64_t flags, bool failed) {
    const auto& writes = execution_->writes;
    for (; location < writes.size(); ++location) {
      std::size_t maximal = 0;
      int last = static_cast<int>(location);
      for (const int w : writes[location]) {
        if (!is_last(w, writes[location])) continue;
        ++maximal;
        last = w;
      }
      if (maximal > 1 && need_coherence_) {
        for (const int w : writes[location]) {
          if (!is_last(w, writes[location])) continue;
          memory_[location] = valuation_.value(w);
          end_memory(location + 1, flags, failed);
        }
        return;
      }
      memory_[location] = valuation_.value(last);
    }
    visitor_->allowed(registers_, memory_, flags, failed);
  }

  const cat::Plan* plan_ = nullptr;
  const Execution* execution_ = nullptr;
  SearchVisitor* visitor_ = nullptr;
  cat::Evaluator<W> ev_;
  bool prune_ = true;
  bool early_ = true;
  bool cut_ = false;
  std::array<std::vector<const cat::Check*>, cat::stage_count> pruning_;  // by stage
  bool need_coherence_ = true;
  bool ended_ = false;    // nothing more is to be met here,
  bool stopped_ = false;  // nor elsewhere
  static constexpr std::uint64_t work_between_asking = 65'536;
  std::uint64_t work_ = 0;
  std::uint64_t asks_at_ = 0;
  std::uint64_t candidates_ = 0;
  Valuation valuation_;
  std::vector<int> reads_;                       // in the order in which their writes are chosen
  std::vector<std::vector<std::int32_t>> ends_;  // by thread: its registers
  std::vector<const std::int32_t*> registers_;
  std::vector<std::int32_t> memory_;
  std::vector<bool> must_relate_;  // by pair of writes, in a partial coherence order
  std::vector<bool> is_total_;     // by location: all pairs must
  std::vector<int> sc_fences_;
  std::vector<int> permutation_;
  std::vector<std::vector<Word>> last_fence_order_;
};

}  // namespace lockstep
