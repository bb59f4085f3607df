// The outcomes that a model allows of one choice of paths, one by one and without meeting every execution
// that has them.
//
// Which write a read reads, which of two writes comes first and which one lasts are variables of clauses. A
// choice of all of them gives values to the events, as far as it goes, and an execution to the model's
// checks. Where values contradict the paths, or a check fails, those few of the choices that already do so
// become a clause: for checks they are told by the bounds of relations under these choices alone. An outcome
// that is found becomes a clause, too, unless an execution with it might raise a flag that none has raised
// before.
//
// What reads have read are literals that follow from choices, for many ways may lead to one value.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "checker/axiomatic/bounds.hpp"
#include "checker/axiomatic/clauses.hpp"
#include "checker/axiomatic/valuation.hpp"
#include "checker/language/condition.hpp"

namespace lockstep {

// What is known of a test's outcomes, with bits of flags for each.
class Answers {
 public:
  virtual ~Answers() = default;
  // Whether an execution with the outcome, that may raise these flags and no others, would say something new.
  virtual bool would_be_news(const Outcome& outcome, std::uint64_t flags, bool assertion_failed) = 0;
  virtual void allowed(const Outcome& outcome, std::uint64_t flags, bool assertion_failed) = 0;
  // An execution in which a thread goes on beyond where its path was cut.
  virtual void cut() = 0;
  // Asked from time to time; true ends the search.
  virtual bool stop() = 0;
};

template <int W>
class Solver {
 public:
  // Finds what `answers` does not know yet. False: it was stopped. The plan has bounds.
  bool run(const cat::Plan& plan, const Execution& execution, const std::vector<ConditionTerm>& observed,
           bool memory_matters, Answers& answers) {
    plan_ = &plan;
    execution_ = &execution;
    observed_ = &observed;
    answers_ = &answers;
    cut_ = execution.any_path(PathEnd::cut);
    failed_ = execution.any_path(PathEnd::failed);
    bounds_.prepare(plan, execution);
    choose_checks();
    clauses_.clear();
    settled_ = std::numeric_limits<std::size_t>::max();
    create_variables(plan.uses_coherence || memory_matters);
    valuation_.begin(execution);
    guessed_.assign(static_cast<std::size_t>(execution.size()), false);
    marks_.clear();
    return search();
  }

 private:
  using Word = std::uint64_t;
  using Literals = std::vector<Literal>;

  // ---- the checks

  struct Checked {
    const cat::Check* check;
    std::vector<cat::BoundStep> steps;
  };
  void choose_checks() {
    checks_.clear();
    flags_.clear();
    std::vector<const cat::Check*> all;
    for (const cat::Check& check : plan_->checks) {
      const cat::Stage stage = plan_->nodes[static_cast<std::size_t>(check.node)].stage;
      // Only what more events cannot mend counts against the beginning of an execution.
      if (cut_ && (check.flag || !cat::prunes(*plan_, check, std::min(stage, cat::Stage::coherence))))
        continue;
      (check.flag ? flags_ : checks_).push_back({&check, cat::bound_steps(*plan_, {&check})});
      all.push_back(&check);
    }
    steps_ = cat::bound_steps(*plan_, all);
  }

  // ---- the variables

  enum class Kind : std::uint8_t {
    source,       // the read a reads the write b
    order,        // the write a comes before the write b
    fence_order,  // the fence a before the fence b
    last,         // the location a ends as the write b leaves it
    value,        // the read a has read the number b
    observed,     // the observed term a is the number b
  };
  struct Meaning {
    Kind kind;
    int a;
    std::int32_t b;
  };
  [[nodiscard]] const Meaning& meaning(Literal l) const {
    return meaning_[static_cast<std::size_t>(l.variable())];
  }
  static bool relates(Kind kind) {
    return kind == Kind::source || kind == Kind::order || kind == Kind::fence_order;
  }

  Literal variable(Kind kind, int a, std::int32_t b, bool phase) {
    meaning_.push_back({kind, a, b});
    return Literal(clauses_.add_variable(phase));
  }
  void exactly_one(const Literals& literals) {
    clauses_.add(literals);
    for (std::size_t i = 0; i < literals.size(); ++i) {
      for (std::size_t j = i + 1; j < literals.size(); ++j) clauses_.add({!literals[i], !literals[j]});
    }
  }
  void forbid(const Literals& together) {
    Literals clause;
    for (const Literal l : together) clause.push_back(!l);
    clauses_.add(std::move(clause));
  }
  void follows(Literal l, const Literals& because) {
    Literals clause{l};
    for (const Literal one : because) clause.push_back(!one);
    clauses_.add(std::move(clause));
  }

  void create_variables(bool need_coherence) {
    meaning_.clear();
    const auto n = static_cast<std::size_t>(execution_->size());
    sources_.assign(n, {});
    order_.assign(n * n, Literal());
    last_.assign(execution_->writes.size(), {});
    values_.assign(n, {});
    observed_values_.assign(observed_->size(), {});
    reads_ = reads_in_order(*execution_);
    for (const int read : reads_) choose_source(read);
    for (std::size_t l = 0; l < execution_->writes.size() && need_coherence; ++l) {
      order_writes(execution_->writes[l]);
      const bool seen = std::any_of(observed_->begin(), observed_->end(), [&](const ConditionTerm& term) {
        return term.kind == ConditionTerm::Kind::location && term.index == static_cast<int>(l);
      });
      if (seen && execution_->writes[l].size() > 1) choose_last(static_cast<int>(l));
    }
    if (plan_->uses_fence_order) order_totally(execution_->sc_fences(), Kind::fence_order);
    note_what_matters();
  }
  void choose_source(int read) {
    const auto location =
        static_cast<std::size_t>(execution_->events[static_cast<std::size_t>(read)].location);
    Literals one_of;
    const auto add = [&](int write) {
      one_of.push_back(variable(Kind::source, read, write, true));
      sources_[static_cast<std::size_t>(read)].push_back({write, one_of.back()});
    };
    add(static_cast<int>(location));
    for (const int write : execution_->writes[location]) add(write);
    exactly_one(one_of);
  }
  Literal& before(int a, int b) {
    return order_[static_cast<std::size_t>(a) * static_cast<std::size_t>(execution_->size()) +
                  static_cast<std::size_t>(b)];
  }
  void order_writes(const std::vector<int>& writes) {
    if (!plan_->partial_coherence) return order_totally(writes, Kind::order);
    for (const int a : writes) {
      for (const int b : writes) {
        if (a != b) before(a, b) = variable(Kind::order, a, b, false);
      }
    }
    for (const int a : writes) {
      for (const int b : writes) {
        if (a < b) clauses_.add({!before(a, b), !before(b, a)});
        for (const int c : writes) {
          if (a != b && b != c && a != c) clauses_.add({!before(a, b), !before(b, c), before(a, c)});
        }
      }
    }
  }
  void order_totally(const std::vector<int>& events, Kind kind) {
    for (std::size_t i = 0; i < events.size(); ++i) {
      for (std::size_t j = i + 1; j < events.size(); ++j) {
        const Literal l = variable(kind, events[i], events[j], true);
        before(events[i], events[j]) = l;
        before(events[j], events[i]) = !l;
      }
    }
    for (std::size_t i = 0; i < events.size(); ++i) {
      for (std::size_t j = i + 1; j < events.size(); ++j) {
        for (std::size_t k = j + 1; k < events.size(); ++k) {
          const Literal ij = before(events[i], events[j]);
          const Literal jk = before(events[j], events[k]);
          const Literal ik = before(events[i], events[k]);
          clauses_.add({!ij, !jk, ik});
          clauses_.add({ij, jk, !ik});
        }
      }
    }
  }
  // A write that no other follows is what memory may hold at the end.
  void choose_last(int location) {
    const auto& writes = execution_->writes[static_cast<std::size_t>(location)];
    Literals one_of;
    for (const int w : writes) {
      const Literal l = variable(Kind::last, location, w, true);
      one_of.push_back(l);
      last_[static_cast<std::size_t>(location)].push_back({w, l});
      for (const int other : writes) {
        if (other != w) clauses_.add({!l, !before(w, other)});
      }
    }
    exactly_one(one_of);
  }
  // The reads that a write, a condition of a path or something observed depends on.
  void note_what_matters() {
    matters_.assign(static_cast<std::size_t>(execution_->size()), false);
    for (std::size_t t = 0; t < execution_->paths.size(); ++t) {
      const ThreadPath& path = *execution_->paths[t];
      Terms::Bits reads = 0;
      for (std::size_t e = 0; e < path.events.size(); ++e) {
        if (path.events[e].kind == EventKind::write) reads |= path.terms->reads(path.values[e]);
      }
      for (const PathCondition& condition : path.conditions) reads |= condition.reads;
      for (const ConditionTerm& term : *observed_) {
        if (term.kind != ConditionTerm::Kind::location && term.thread == static_cast<int>(t))
          reads |= path.terms->reads(path.registers[static_cast<std::size_t>(term.index)]);
      }
      for (; reads != 0; reads &= reads - 1)
        matters_[static_cast<std::size_t>(execution_->first[t] + std::countr_zero(reads))] = true;
    }
  }

  // ---- the bounds

  // Nothing is chosen.
  void open_all() {
    auto& lower = bounds_.lower();
    auto& upper = bounds_.upper();
    for (auto* const bound : {&lower, &upper}) {
      std::fill(bound->chosen().begin(), bound->chosen().end(), Word{0});
      for (std::size_t l = 0; l < execution_->writes.size(); ++l) {
        for (const int w : execution_->writes[l]) bound->put(bound->co(static_cast<int>(l)), w);
      }
    }
    for (const Meaning& m : meaning_) {
      if (m.kind == Kind::source) upper.put(upper.rf(m.b), m.a);
      if (m.kind == Kind::order) upper.put(upper.co(m.a), m.b);
      if (m.kind == Kind::order && !plan_->partial_coherence) upper.put(upper.co(m.b), m.a);
      if (m.kind == Kind::fence_order && execution_->order_each_other(m.a, m.b)) {
        upper.put(upper.fence_order(m.a), m.b);
        upper.put(upper.fence_order(m.b), m.a);
      }
    }
  }
  // A choice, with what follows for other pairs: one write for a read, and no order both ways.
  void relate(Literal l) {
    auto& lower = bounds_.lower();
    auto& upper = bounds_.upper();
    const Meaning& m = meaning(l);
    const int first = l.positive() ? m.a : m.b;
    const int second = l.positive() ? m.b : m.a;
    switch (m.kind) {
      case Kind::source:
        if (!l.positive()) return upper.drop(upper.rf(m.b), m.a);
        for (const auto& [write, other] : sources_[static_cast<std::size_t>(m.a)])
          upper.drop(upper.rf(write), m.a);
        lower.put(lower.rf(m.b), m.a);
        return upper.put(upper.rf(m.b), m.a);
      case Kind::order:
        if (plan_->partial_coherence && !l.positive()) return upper.drop(upper.co(m.a), m.b);
        lower.put(lower.co(first), second);
        return upper.drop(upper.co(second), first);
      case Kind::fence_order:
        if (!execution_->order_each_other(m.a, m.b)) return;
        lower.put(lower.fence_order(first), second);
        return upper.drop(upper.fence_order(second), first);
      default:
        return;
    }
  }
  // Some choices alone, on top of what is so in any case.
  void relate_only(std::span<const Literal> some) {
    const auto lower = bounds_.lower().chosen();
    const auto upper = bounds_.upper().chosen();
    if (settled_ == clauses_.settled()) {
      std::copy(settled_lower_.begin(), settled_lower_.end(), lower.begin());
      std::copy(settled_upper_.begin(), settled_upper_.end(), upper.begin());
    } else {
      settled_ = clauses_.settled();
      open_all();
      for (std::size_t i = 0; i < settled_; ++i) relate(clauses_.trail()[i]);
      settled_lower_.assign(lower.begin(), lower.end());
      settled_upper_.assign(upper.begin(), upper.end());
    }
    for (const Literal l : some) relate(l);
  }

  // ---- explanations

  // Of the choices made, which together make something fail, few that already do, by halving what is left to
  // look at (Junker, "QuickXplain", AAAI 2004).
  template <class Fails>
  Literals culprits(const Fails& fails) {
    Literals all;
    for (std::size_t i = clauses_.settled(); i < clauses_.trail().size(); ++i) {
      const Literal l = clauses_.trail()[i];
      const Meaning& m = meaning(l);
      if (!relates(m.kind)) continue;
      // What follows from the write that is read.
      if (m.kind == Kind::source && !l.positive() && valuation_.sources()[static_cast<std::size_t>(m.a)] >= 0)
        continue;
      all.push_back(l);
    }
    Literals given;
    return halve(given, true, all, fails);
  }
  template <class Fails>
  Literals halve(Literals& given, bool more_given, std::span<const Literal> all, const Fails& fails) {
    if (all.empty()) return {};
    if (more_given) {
      relate_only(given);
      if (fails()) return {};
    }
    if (all.size() == 1) return {all.front()};
    const std::span<const Literal> early = all.first(all.size() / 2);
    const std::span<const Literal> late = all.subspan(all.size() / 2);
    const std::size_t before = given.size();
    given.insert(given.end(), early.begin(), early.end());
    Literals found = halve(given, true, late, fails);
    given.resize(before);
    given.insert(given.end(), found.begin(), found.end());
    const Literals more = halve(given, !found.empty(), early, fails);
    given.resize(before);
    found.insert(found.end(), more.begin(), more.end());
    return found;
  }

  // What an event's value follows from: choices, and values of reads as far as those are literals that hold;
  // or that are about to, where `later` they do.
  void explain_value(int event, Literals& out, bool later = false) {
    const ProgramEvent& e = execution_->events[static_cast<std::size_t>(event)];
    if (e.kind == EventKind::initial) return;
    if (e.kind == EventKind::write) {
      const auto thread = static_cast<std::size_t>(e.thread);
      const ThreadPath& path = *execution_->paths[thread];
      const auto position = static_cast<std::size_t>(event - execution_->first[thread]);
      return explain_values(thread, path.terms->reads(path.values[position]), out, later);
    }
    const auto& known = values_[static_cast<std::size_t>(event)];
    const auto found = known.find(valuation_.value(event));
    if (found != known.end() && (later || clauses_.is_true(found->second))) {
      out.push_back(found->second);
    } else {
      explain_source(event, out, later);
    }
  }
  void explain_values(std::size_t thread, Terms::Bits reads, Literals& out, bool later = false) {
    for (; reads != 0; reads &= reads - 1)
      explain_value(execution_->first[thread] + std::countr_zero(reads), out, later);
  }
  void explain_source(int read, Literals& out, bool later) {
    const int write = valuation_.sources()[static_cast<std::size_t>(read)];
    for (const auto& [w, l] : sources_[static_cast<std::size_t>(read)]) {
      if (w == write) out.push_back(l);
    }
    explain_value(write, out, later);
  }
  // That a read has read a number.
  Literal value_literal(int read, std::int32_t v) {
    auto& known = values_[static_cast<std::size_t>(read)];
    const auto [found, fresh] = known.try_emplace(v);
    if (!fresh) return found->second;
    found->second = variable(Kind::value, read, v, false);
    for (const auto& [other, l] : known) {
      if (other != v) clauses_.add({!l, !found->second});
    }
    return found->second;
  }

  // ---- the search

  // Each step ends in a new clause, or has nothing to say; what is left to be chosen then is decided.
  bool search() {
    clauses_.kept();
    for (std::uint64_t round = 0;; ++round) {
      if ((round & 0xFFU) == 0 && answers_->stop()) return false;
      if (!clauses_.propagate()) return true;
      take_back(clauses_.kept());
      if (follow_values() || follow_observed()) continue;
      if (clauses_.restart_if_due() || clauses_.decide()) continue;
      if (follow_circles() || follow_checks()) continue;
      if (cut_) {
        answers_->cut();
        return true;
      }
      if (!follow_news()) answers_->allowed(*outcome(), possible_flags(), failed_);
    }
  }

  void take_back(std::size_t kept) {
    for (; marks_.size() > kept; marks_.pop_back()) {
      valuation_.undo(marks_.back().valuation);
      if (marks_.back().guessed >= 0) guessed_[static_cast<std::size_t>(marks_.back().guessed)] = false;
    }
  }

  // What new choices do to values.
  bool follow_values() {
    while (marks_.size() < clauses_.trail().size()) {
      const Literal l = clauses_.trail()[marks_.size()];
      const Meaning& m = meaning(l);
      const bool is_source = m.kind == Kind::source && l.positive();
      const bool is_value = m.kind == Kind::value && l.positive();
      const bool is_guess = is_value && !valuation_.known(m.a);
      marks_.push_back({valuation_.mark(), is_guess ? m.a : -1});
      if (is_guess) guessed_[static_cast<std::size_t>(m.a)] = true;
      if ((is_source && !valuation_.connect(m.a, m.b)) || (is_guess && !valuation_.found(m.a, m.b))) {
        forbid(contradiction());
        return true;
      }
      if (is_value && valuation_.value(m.a) != m.b) {
        Literals together{l};
        explain_value(m.a, together);
        forbid(together);
        return true;
      }
      if (name_values(marks_.back().valuation)) return true;
    }
    return false;
  }
  // Makes literals of what reads have read on which something depends.
  bool name_values(std::size_t since) {
    bool news = false;
    valuation_.each_known_since(since, [&](int event) {
      if (!matters_[static_cast<std::size_t>(event)]) return;
      const Literal l = value_literal(event, valuation_.value(event));
      if (clauses_.is_true(l)) return;
      Literals because;
      explain_source(event, because, true);
      follows(l, because);
      news = true;
    });
    return news;
  }
  Literals contradiction() {
    Literals together;
    const Valuation::Contradiction& about = valuation_.contradicted();
    explain_values(about.thread, about.reads, together);
    if (about.read >= 0) {
      together.push_back(value_literal(about.read, valuation_.value(about.read)));
      explain_source(about.read, together, false);
    }
    return together;
  }

  // What is observed, as far as it is known.
  bool follow_observed() {
    if (cut_) return false;
    bool news = false;
    bool all_seen = true;
    for (std::size_t k = 0; k < observed_->size(); ++k) {
      const std::optional<std::int32_t> v = seen(k);
      all_seen = all_seen && v;
      if (!v) continue;
      const auto [found, fresh] = observed_values_[k].try_emplace(*v);
      if (fresh) found->second = variable(Kind::observed, static_cast<int>(k), *v, false);
      if (clauses_.is_true(found->second)) continue;
      follows(found->second, explain_seen(k));
      news = true;
    }
    if (news || !all_seen || answers_->would_be_news(*outcome(), every_flag(), failed_)) return news;
    forbid(of_outcome());
    return true;
  }
  std::optional<std::int32_t> seen(std::size_t k) {
    const ConditionTerm& term = (*observed_)[k];
    if (term.kind == ConditionTerm::Kind::location) {
      const std::optional<int> write = last_write(term.index);
      if (!write || !valuation_.known(*write)) return std::nullopt;
      return valuation_.value(*write);
    }
    const auto thread = static_cast<std::size_t>(term.thread);
    const ThreadPath& path = *execution_->paths[thread];
    const PathValue v = path.registers[static_cast<std::size_t>(term.index)];
    if ((path.terms->reads(v) & ~valuation_.known_reads(thread)) != 0) return std::nullopt;
    return valuation_.end_value(thread, v);
  }
  [[nodiscard]] std::optional<int> last_write(int location) const {
    const auto& writes = execution_->writes[static_cast<std::size_t>(location)];
    if (writes.size() < 2) return writes.empty() ? location : writes.front();
    for (const auto& [write, l] : last_[static_cast<std::size_t>(location)]) {
      if (clauses_.is_true(l)) return write;
    }
    return std::nullopt;
  }
  Literals explain_seen(std::size_t k) {
    Literals because;
    const ConditionTerm& term = (*observed_)[k];
    if (term.kind == ConditionTerm::Kind::location) {
      for (const auto& [write, l] : last_[static_cast<std::size_t>(term.index)]) {
        if (clauses_.is_true(l)) because.push_back(l);
      }
      explain_value(*last_write(term.index), because);
      return because;
    }
    const auto thread = static_cast<std::size_t>(term.thread);
    const ThreadPath& path = *execution_->paths[thread];
    explain_values(thread, path.terms->reads(path.registers[static_cast<std::size_t>(term.index)]), because);
    return because;
  }
  // Of what has all been seen.
  std::optional<Outcome> outcome() {
    Outcome all;
    for (std::size_t k = 0; k < observed_->size(); ++k) {
      const std::optional<std::int32_t> v = seen(k);
      if (!v) return std::nullopt;
      all.push_back(*v);
    }
    return all;
  }
  Literals of_outcome() {
    Literals literals;
    for (std::size_t k = 0; k < observed_->size(); ++k) literals.push_back(observed_values_[k].at(*seen(k)));
    return literals;
  }

  // What a circle of reads and dependent writes carries is any value that reads may find.
  bool follow_circles() {
    const auto open =
        std::find_if(reads_.begin(), reads_.end(), [&](int read) { return !valuation_.known(read); });
    if (open != reads_.end()) {
      // Said once, it stays: some value is found then.
      Literals one_of;
      for (const std::int32_t v : may_find(*open)) one_of.push_back(value_literal(*open, v));
      clauses_.add(std::move(one_of));
      return true;
    }
    if (std::find(guessed_.begin(), guessed_.end(), true) == guessed_.end()) return false;
    for (const int read : reads_) {
      if (may_find(read).count(valuation_.value(read)) != 0) continue;
      Literals together;
      explain_value(read, together);
      forbid(together);
      return true;
    }
    return false;
  }
  [[nodiscard]] const std::set<std::int32_t>& may_find(int read) const {
    const auto location =
        static_cast<std::size_t>(execution_->events[static_cast<std::size_t>(read)].location);
    return (*execution_->values)[location];
  }

  // All is chosen: the bounds meet.
  bool follow_checks() {
    relate_only(std::span(clauses_.trail()).subspan(clauses_.settled()));
    bounds_.evaluate(steps_);
    for (const Checked& one : checks_) {
      if (!bounds_.surely_fails(*one.check)) continue;
      forbid(culprits([&] {
        bounds_.evaluate(one.steps);
        return bounds_.surely_fails(*one.check);
      }));
      return true;
    }
    return false;
  }

  // Of flags, only those beyond the 63rd share a bit.
  static std::uint64_t bit_of_flag(std::size_t flag) {
    return std::uint64_t{1} << std::min<std::size_t>(flag, 63);
  }
  [[nodiscard]] std::uint64_t every_flag() const {
    std::uint64_t flags = 0;
    for (std::size_t i = 0; i < flags_.size(); ++i) flags |= bit_of_flag(i);
    return flags;
  }
  std::uint64_t possible_flags() {
    std::uint64_t flags = 0;
    for (std::size_t i = 0; i < flags_.size(); ++i) {
      if (!bounds_.surely_fails(*flags_[i].check)) flags |= bit_of_flag(i);
    }
    return flags;
  }
  // Whether an allowed execution says nothing new, and neither does what raises no other flags.
  bool follow_news() {
    const Outcome found = *outcome();
    if (answers_->would_be_news(found, possible_flags(), failed_)) return false;
    Literals together = culprits([&] {
      for (const Checked& flag : flags_) bounds_.evaluate(flag.steps);
      return !answers_->would_be_news(found, possible_flags(), failed_);
    });
    const Literals seen = of_outcome();
    together.insert(together.end(), seen.begin(), seen.end());
    forbid(together);
    return true;
  }

  const cat::Plan* plan_ = nullptr;
  const Execution* execution_ = nullptr;
  const std::vector<ConditionTerm>* observed_ = nullptr;
  Answers* answers_ = nullptr;
  bool cut_ = false;
  bool failed_ = false;

  cat::Bounds<W> bounds_;
  std::vector<Checked> checks_;
  std::vector<Checked> flags_;
  std::vector<cat::BoundStep> steps_;  // of all of them
  std::size_t settled_ = 0;            // so much of the trail is in
  std::vector<Word> settled_lower_;
  std::vector<Word> settled_upper_;

  Clauses clauses_;
  std::vector<Meaning> meaning_;                               // by variable
  std::vector<int> reads_;                                     // in the order in which they are decided
  std::vector<std::vector<std::pair<int, Literal>>> sources_;  // by read: each write
  std::vector<Literal> order_;                                 // by pair of writes or of fences
  std::vector<std::vector<std::pair<int, Literal>>> last_;     // by location: each write
  std::vector<std::map<std::int32_t, Literal>> values_;  // by read: the numbers it was seen to have read
  std::vector<std::map<std::int32_t, Literal>> observed_values_;

  struct Mark {
    std::size_t valuation;
    int guessed;  // a read whose value was said before its write's was known, or -1
  };
  std::vector<Mark> marks_;  // of the trail, as far as values have followed it
  Valuation valuation_;
  std::vector<bool> guessed_;  // by read
  std::vector<bool> matters_;  // by read
};

}  // namespace lockstep
