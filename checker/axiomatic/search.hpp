// The search for the executions of one choice of paths that a model allows: coherence first, then thread by
// thread the values and the writes that they come from, then what else the model chooses. A check that can
// only stay failed ends a branch at once.
#pragma once

#include <algorithm>
#include <functional>

#include "checker/axiomatic/evaluator.hpp"
#include "checker/axiomatic/model.hpp"

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

template <int W>
class Search {
 public:
  using Word = std::uint64_t;

  // Keeps its storage from one execution to the next.
  void run(const cat::Plan& plan, const Execution& execution, bool memory_matters, bool prune,
           SearchVisitor& visitor) {
    plan_ = &plan;
    execution_ = &execution;
    visitor_ = &visitor;
    prune_ = prune;
    stopped_ = false;
    cut_ = std::any_of(execution.paths.begin(), execution.paths.end(),
                       [](const auto* path) { return path->cut; });
    const bool own_coherence = std::any_of(plan.choices.begin(), plan.choices.end(),
                                           [](const cat::Choice& choice) { return choice.is_coherence; });
    need_coherence_ = plan.uses_coherence || (memory_matters && !own_coherence);
    ev_.prepare(plan, execution);
    ev_.evaluate(plan.late[0]);
    if (prune_ && any_fails(cat::Stage::fixed_by_events)) return;
    const auto n = static_cast<std::size_t>(execution.size());
    values_.assign(n, 0);
    required_.assign(n, 0);
    has_requirement_.assign(n, 0);
    source_.assign(n, -1);
    run_of_.assign(execution.paths.size(), 0);
    registers_.assign(execution.paths.size(), nullptr);
    memory_.assign(execution.writes.size(), 0);
    reads_left_ = 0;
    for (int i = 0; i < execution.size(); ++i) {
      const ProgramEvent& e = execution.events[static_cast<std::size_t>(i)];
      if (e.kind == EventKind::read) ++reads_left_;
      if (e.kind == EventKind::initial) {
        values_[static_cast<std::size_t>(i)] =
            execution.program->locations[static_cast<std::size_t>(e.location)].initial_value;
      }
    }
    // What is written first in every coherence order.
    for (std::size_t l = 0; l < execution.writes.size(); ++l) {
      for (const int w : execution.writes[l]) ev_.put(ev_.co(static_cast<int>(l)), w);
    }
    sc_fences_.clear();
    if (plan.uses_fence_order) {
      for (int i = 0; i < execution.size(); ++i) {
        const ProgramEvent& e = execution.events[static_cast<std::size_t>(i)];
        if (e.kind == EventKind::fence && e.order == Order::sc) sc_fences_.push_back(i);
      }
    }
    for (const cat::Stage stage : {cat::Stage::coherence, cat::Stage::reads_from}) {
      auto& pruning = pruning_[static_cast<std::size_t>(stage)];
      pruning.clear();
      for (const cat::Check& check : plan.checks) {
        if (cat::prunes(plan, check, stage)) pruning.push_back(&check);
      }
    }
    if (plan.partial_coherence) find_pairs_to_relate();
    choose_coherence(0);
  }

  [[nodiscard]] std::uint64_t candidates() const { return candidates_; }
  [[nodiscard]] bool stopped() const { return stopped_; }

  // For a visitor that wants to see the whole execution.
  cat::Evaluator<W>& evaluator() { return ev_; }
  [[nodiscard]] const std::vector<std::int32_t>& values() const { return values_; }
  [[nodiscard]] const std::vector<int>& sources() const { return source_; }
  [[nodiscard]] const cat::Plan& plan() const { return *plan_; }
  [[nodiscard]] const Execution& execution() const { return *execution_; }
  Word* final_coherence(int event) {
    for (std::size_t c = 0; c < plan_->choices.size(); ++c) {
      if (plan_->choices[c].is_coherence) return ev_.choice(static_cast<int>(c), event);
    }
    return ev_.co(event);
  }

 private:
  // ---- checks

  // Whether a check that is no flag fails, of those that a stage decides.
  bool any_fails(cat::Stage stage) {
    for (const cat::Check& check : plan_->checks) {
      if (check.flag || plan_->nodes[static_cast<std::size_t>(check.node)].stage != stage) continue;
      // Only what more events cannot mend counts against the beginning of an execution.
      if (cut_ && !cat::prunes(*plan_, check, std::min(stage, cat::Stage::coherence))) continue;
      if (ev_.holds(check) == check.negated) return true;
    }
    return false;
  }
  // Whether what has been chosen of a stage so far is already forbidden.
  bool forbidden_in(cat::Stage stage) {
    const auto& pruning = pruning_[static_cast<std::size_t>(stage)];
    if (!prune_ || pruning.empty()) return false;
    ev_.evaluate(plan_->early[static_cast<std::size_t>(stage)]);
    return std::any_of(pruning.begin(), pruning.end(),
                       [&](const cat::Check* check) { return !ev_.holds(*check); });
  }
  bool stop() {
    if (!stopped_ && (++steps_ & 0xFFFU) == 0 && visitor_->stop()) stopped_ = true;
    return stopped_;
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
      choose_run(0);
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
      if (stopped_) return;
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
      if (stopped_) return;
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
    if (checks.empty() || !prune_ || cut_) return;
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

  // ---- values and reads-from

  void choose_run(std::size_t thread) {
    if (thread == execution_->paths.size()) return complete();
    const ThreadPath& path = *execution_->paths[thread];
    const int first = execution_->first[thread];
    for (std::size_t run = 0; run < path.runs; ++run) {
      bool fits = true;
      for (std::size_t e = 0; e < path.events.size() && fits; ++e) {
        const std::size_t event = static_cast<std::size_t>(first) + e;
        fits = has_requirement_[event] == 0 || required_[event] == path.value(run, e);
      }
      if (!fits) continue;
      for (std::size_t e = 0; e < path.events.size(); ++e) {
        values_[static_cast<std::size_t>(first) + e] = path.value(run, e);
      }
      run_of_[thread] = run;
      choose_source(thread, first);
      if (stop()) return;
    }
  }

  // The write that the next read of a thread, from `event` on, reads.
  void choose_source(std::size_t thread, int event) {
    const int end =
        thread + 1 < execution_->first.size() ? execution_->first[thread + 1] : execution_->size();
    while (event < end && execution_->events[static_cast<std::size_t>(event)].kind != EventKind::read)
      ++event;
    if (event == end) return choose_run(thread + 1);
    const ProgramEvent& e = execution_->events[static_cast<std::size_t>(event)];
    const std::int32_t value = values_[static_cast<std::size_t>(event)];
    --reads_left_;
    if (values_[static_cast<std::size_t>(e.location)] == value) take(thread, event, e.location);
    for (const int write : execution_->writes[static_cast<std::size_t>(e.location)]) {
      if (stopped_) break;
      const auto w = static_cast<std::size_t>(write);
      const bool known = execution_->events[w].thread <= static_cast<int>(thread);
      if (known) {
        if (values_[w] == value) take(thread, event, write);
      } else if (has_requirement_[w] == 0 || required_[w] == value) {
        const std::int32_t before = required_[w];
        ++has_requirement_[w];
        required_[w] = value;
        take(thread, event, write);
        --has_requirement_[w];
        required_[w] = before;
      }
    }
    ++reads_left_;
  }
  void take(std::size_t thread, int read, int write) {
    ev_.put(ev_.rf(write), read);
    source_[static_cast<std::size_t>(read)] = write;
    if (reads_left_ == 0 || !forbidden_in(cat::Stage::reads_from)) choose_source(thread, read + 1);
    ev_.drop(ev_.rf(write), read);
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
      } while (!stopped_ && std::next_permutation(permutation_.begin(), permutation_.end()));
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
        if (execution_->scope_includes(permutation_[a], permutation_[b]) &&
            execution_->scope_includes(permutation_[b], permutation_[a])) {
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
        if (stopped_) break;
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
      if (stopped_) return;
    }
  }

  void leaf() {
    ++candidates_;
    ev_.evaluate(plan_->late[3]);
    if (prune_ && any_fails(cat::Stage::others)) return;
    if (cut_) return visitor_->cut();
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
    bool failed = false;
    for (std::size_t t = 0; t < execution_->paths.size(); ++t) {
      const ThreadPath& path = *execution_->paths[t];
      const std::size_t width = path.runs == 0 ? 0 : path.registers.size() / path.runs;
      registers_[t] = path.registers.data() + run_of_[t] * width;
      failed = failed || path.failed[run_of_[t]];
    }
    end_memory(0, flags, failed);
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
          memory_[location] = values_[static_cast<std::size_t>(w)];
          end_memory(location + 1, flags, failed);
        }
        return;
      }
      memory_[location] = values_[static_cast<std::size_t>(last)];
    }
    visitor_->allowed(registers_, memory_, flags, failed);
  }
  bool is_last(int write, const std::vector<int>& writes) {
    return std::none_of(writes.begin(), writes.end(),
                        [&](int other) { return other != write && ev_.has(final_coherence(write), other); });
  }

  const cat::Plan* plan_ = nullptr;
  const Execution* execution_ = nullptr;
  SearchVisitor* visitor_ = nullptr;
  cat::Evaluator<W> ev_;
  bool prune_ = true;
  bool cut_ = false;
  std::array<std::vector<const cat::Check*>, cat::stage_count> pruning_;  // by stage
  bool need_coherence_ = true;
  bool stopped_ = false;
  std::uint64_t steps_ = 0;
  std::uint64_t candidates_ = 0;
  int reads_left_ = 0;
  std::vector<std::int32_t> values_;
  std::vector<std::int32_t> required_;
  std::vector<int> has_requirement_;
  std::vector<int> source_;  // by read: the write it reads
  std::vector<std::size_t> run_of_;
  std::vector<const std::int32_t*> registers_;
  std::vector<std::int32_t> memory_;
  std::vector<bool> must_relate_;  // by pair of writes, in a partial coherence order
  std::vector<bool> is_total_;     // by location: all pairs must
  std::vector<int> sc_fences_;
  std::vector<int> permutation_;
  std::vector<std::vector<Word>> last_fence_order_;
};

}  // namespace lockstep
