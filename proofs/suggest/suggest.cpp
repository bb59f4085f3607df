#include "proofs/suggest/suggest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <map>
#include <set>

#include "checker/support/diagnostic.hpp"
#include "proofs/solving.hpp"

namespace lockstep::suggest {

namespace {

using symbolic::Arguments;
using symbolic::Cell;
using symbolic::Domain;
using symbolic::Session;
using symbolic::Term;
using Clock = std::chrono::steady_clock;

constexpr std::size_t most_candidates = 400;  // looked for
constexpr std::size_t most_tried = 40;        // whether rules keep them already

// A cell that a rule neither reads nor writes is not in its store, but has a value.
Term untouched(const Cells& shapes, const std::string& cell, const Arguments& row, bool start) {
  const CellShape& shape = shapes.at(cell);
  return start ? symbolic::by_default(shape.values)
               : Session::current().base(cell, shape.indices, shape.values, row);
}

using CellCopies = std::map<std::string, Cell>;
CellReader reader(const Cells& shapes, const CellCopies& cells, bool start, bool after) {
  return [&shapes, &cells, start, after](const std::string& name, const Arguments& row) {
    const auto found = cells.find(name);
    if (found == cells.end()) return untouched(shapes, name, row, start);
    return after ? found->second.at(row) : found->second.before(row);
  };
}
CellCopies copies_of(const symbolic::Store& store) {
  CellCopies copies;
  for (const auto& [name, cell] : store.cells()) copies.emplace(name, *cell);
  return copies;
}

// Everything that a subject's rules read and write, at sizes that are open or not.
class ShapeVisitor final : public RuleVisitor {
 public:
  bool wants_start(std::size_t) override { return true; }
  bool wants_rule(std::size_t) override { return true; }
  void start(const ReadRule& rule) override { take(rule); }
  void rule(const ReadRule& rule) override { take(rule); }
  Cells cells;

 private:
  void take(const ReadRule& rule) {
    for (const auto& [name, cell] : rule.store->cells())
      cells.emplace(name, CellShape{cell->indices, cell->values});
  }
};
Cells shapes_of(const ProofSubject& subject, bool any_size) {
  const Session session(any_size, subject.words());
  ShapeVisitor visitor;
  subject.read(visitor);
  return std::move(visitor.cells);
}

std::vector<std::size_t> numbers_of(const ProofSubject& subject, const std::vector<std::string>& names) {
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < subject.lemmas().size(); ++i) {
    if (std::find(names.begin(), names.end(), subject.lemmas()[i].name) != names.end()) numbers.push_back(i);
  }
  return numbers;
}

// A rule, as long as its session lives.
struct Read {
  ReadRule rule;
  bool start = false;
  CellCopies cells;
};
class RulesVisitor final : public RuleVisitor {
 public:
  bool wants_start(std::size_t) override { return true; }
  bool wants_rule(std::size_t) override { return true; }
  void start(const ReadRule& rule) override { rules.push_back({rule, true, copies_of(*rule.store)}); }
  void rule(const ReadRule& rule) override { rules.push_back({rule, false, copies_of(*rule.store)}); }
  std::vector<Read> rules;
};

class Search {
 public:
  Search(const ProofSubject& subject, const SuggestOptions& options, const Cells& cells,
         const Vocabulary& vocabulary, const Samples& samples)
      : subject_(subject),
        options_(options),
        cells_(cells),
        vocabulary_(vocabulary),
        samples_(samples),
        targets_(numbers_of(subject, options.targets)) {
    RulesVisitor visitor;
    subject.read(visitor);
    rules_ = std::move(visitor.rules);
    begin();
  }

  void run(Suggested& result) {
    while (!goals_.empty() && !result.failed && !stop()) {
      const Goal goal = goals_.front();
      if (options_.on_progress) options_.on_progress(clauses_.size(), goals_.size());
      switch (ask(goal)) {
        case z3::unsat:
          goals_.pop_front();
          break;
        case z3::unknown:
          if (!stop()) result.failed = Unexcluded{text(goal), "Z3 gave up", {}};
          break;
        case z3::sat:
          if (strengthen(goal) || stop()) break;
          if (goal.kind == Goal::Kind::lemma) {
            retract(goal.number);
          } else {
            result.failed = Unexcluded{text(goal), {}, counterexample(goal)};
          }
          break;
      }
    }
    result.interrupted = stop();
    result.found = clauses_.size();
    result.retracted = retracted_.size();
    if (!result.failed && !result.interrupted) leave_out_unneeded();
    result.lemmas = clauses_;
  }

 private:
  // Something that a rule has to leave behind, or to find.
  struct Goal {
    std::size_t rule = 0;
    enum class Kind : std::uint8_t { target, requirement, lemma } kind = Kind::target;
    std::size_t number = 0;
  };

  // From the targets and the lemmas that there are.
  void begin() {
    solvers_.clear();
    goals_.clear();
    for (std::size_t r = 0; r < rules_.size(); ++r) {
      solvers_.push_back(make_solver(options_.seconds_each));
      const Read& read = rules_[r];
      if (!read.start) {
        solvers_.back().add(read.rule.guard);
        for (const std::size_t t : targets_) solvers_.back().add(read.rule.before[t]);
        for (const Clause& clause : clauses_) solvers_.back().add(term(clause, r, false));
      }
      for (const std::size_t t : targets_) goals_.push_back({r, Goal::Kind::target, t});
      for (std::size_t q = 0; q < read.rule.requirements.size(); ++q)
        goals_.push_back({r, Goal::Kind::requirement, q});
      for (std::size_t c = 0; c < clauses_.size(); ++c) goals_.push_back({r, Goal::Kind::lemma, c});
    }
  }
  // A lemma that is false where nobody has looked, or that no clause helps. What was proved with it is to be
  // proved again.
  void retract(std::size_t lemma) {
    retracted_.insert(clauses_[lemma]);
    clauses_.erase(clauses_.begin() + static_cast<std::ptrdiff_t>(lemma));
    begin();
  }

  [[nodiscard]] bool stop() const {
    return options_.interrupted != nullptr && options_.interrupted->load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::string text(const Goal& goal) const {
    const std::string what = goal.kind == Goal::Kind::lemma ? vocabulary_.text(clauses_[goal.number])
                             : goal.kind == Goal::Kind::requirement
                                 ? rules_[goal.rule].rule.requirements[goal.number].text
                                 : subject_.lemmas()[goal.number].name;
    return fmt::format("{}, by the rule \"{}\"", what, rules_[goal.rule].rule.name);
  }
  [[nodiscard]] Term term(const Clause& clause, std::size_t rule, bool after) const {
    const Read& read = rules_[rule];
    return vocabulary_.term(clause, cells_, reader(cells_, read.cells, read.start, after));
  }
  [[nodiscard]] Term term(const Goal& goal) const {
    const ReadRule& rule = rules_[goal.rule].rule;
    if (goal.kind == Goal::Kind::lemma) return term(clauses_[goal.number], goal.rule, true);
    return goal.kind == Goal::Kind::target ? rule.after[goal.number] : rule.requirements[goal.number].holds;
  }
  z3::check_result ask(std::size_t rule, const Term& goal) {
    z3::solver& solver = solvers_[rule];
    if (goal.is_true()) return z3::unsat;
    solver.add(!goal);
    return solver.check();
  }
  z3::check_result ask(const Goal& goal) {
    const SolverScope scope(solvers_[goal.rule]);
    const z3::check_result answer = ask(goal.rule, term(goal));
    if (answer == z3::sat) state_ = codes(solvers_[goal.rule].get_model());
    return answer;
  }

  // The state that a model begins in.
  [[nodiscard]] Codes codes(z3::model model) const {
    const Extents& extents = vocabulary_.proved();
    Codes codes(extents.scalars());
    const auto number = [&](const std::string& name, const Arguments& row) {
      const Term value = model.eval(untouched(cells_, name, row, false), true);
      std::int64_t n = 0;
      if (value.is_bool()) return std::int64_t{value.is_true()};
      if (!value.is_numeral_i64(n)) throw BadInput(fmt::format("Z3 has no number for {}", name));
      return value.is_bv() && value.get_sort().bv_size() == 32 ? std::int64_t{static_cast<std::int32_t>(n)}
                                                               : n;
    };
    for (std::size_t f = 0; f < vocabulary_.fields().size(); ++f) {
      const Field& field = vocabulary_.fields()[f];
      const bool maybe = field.sort == Sort::maybe;
      const CellShape& shape = cells_.at(maybe ? field.name + ".has" : field.name);
      extents.each_row(field, [&](const std::vector<int>& row) {
        Arguments members;
        for (std::size_t i = 0; i < row.size(); ++i)
          members.push_back(Session::current().member(shape.indices[i], row[i]));
        std::int64_t& code = codes[extents.scalar(f, row)];
        if (!maybe) {
          code = number(field.name, members);
        } else if (number(field.name + ".has", members) != 0) {
          code = number(field.name + ".index", members) + 1;
        }
      });
    }
    return codes;
  }

  // Excludes the state in which the goal was broken last; false where no clause does.
  bool strengthen(const Goal& goal) {
    std::set<Bits> different;
    vocabulary_.ask_proved(state_, [&](const Bits& bits) { different.insert(bits); });
    const std::vector<Bits> answers(different.begin(), different.end());
    std::set<Clause> candidates;
    if (!rules_[goal.rule].start && clauses_.size() < options_.lemmas) {
      for (const Clause& clause : samples_.excluding(answers, options_.literals, most_candidates)) {
        Clause one = vocabulary_.canonical(clause);
        if (!retracted_.contains(one)) candidates.insert(std::move(one));
      }
    }
    std::vector<std::pair<double, Clause>> strongest;
    for (const Clause& clause : candidates) {
      const double variables = 0.1 * static_cast<double>(vocabulary_.variables_of(clause).size());
      strongest.emplace_back(variables - vocabulary_.strength(clause), clause);
    }
    std::sort(strongest.begin(), strongest.end());
    const Clause* chosen = nullptr;
    std::size_t tried = 0;
    for (const auto& [strength, clause] : strongest) {
      if (!holds_at_starts(clause)) continue;
      if (chosen == nullptr) chosen = &clause;
      if (stop() || ++tried > most_tried) break;
      if (!kept_already(clause)) continue;
      chosen = &clause;
      break;
    }
    if (chosen == nullptr) return false;
    add(*chosen);
    return true;
  }
  void add(const Clause& clause) {
    clauses_.push_back(clause);
    for (std::size_t r = 0; r < rules_.size(); ++r) {
      if (!rules_[r].start) solvers_[r].add(term(clause, r, false));
      goals_.push_back({r, Goal::Kind::lemma, clauses_.size() - 1});
    }
  }
  bool holds_at_starts(const Clause& clause) {
    for (std::size_t r = 0; r < rules_.size(); ++r) {
      if (!rules_[r].start) continue;
      const SolverScope scope(solvers_[r]);
      if (ask(r, term(clause, r, true)) != z3::unsat) return false;
    }
    return true;
  }
  bool kept_already(const Clause& clause) {
    for (std::size_t r = 0; r < rules_.size(); ++r) {
      if (rules_[r].start) continue;
      const SolverScope scope(solvers_[r]);
      solvers_[r].add(term(clause, r, false));
      if (ask(r, term(clause, r, true)) != z3::unsat) return false;
    }
    return true;
  }

  // One rule, for asking which of the lemmas it keeps given which.
  struct Kept {
    z3::solver solver;
    std::vector<Term> must;   // what it leaves, whatever lemmas there are
    std::vector<Term> after;  // by lemma
  };
  // Leaves out one lemma after the other, with those that only it helped to keep.
  void leave_out_unneeded() {
    const Clock::time_point end =
        Clock::now() + std::chrono::milliseconds(static_cast<long>(1000 * options_.seconds_each));
    Session& session = Session::current();
    std::vector<Term> given;
    std::set<std::size_t> needed;
    for (std::size_t c = 0; c < clauses_.size(); ++c) {
      given.push_back(session.context().bool_const(session.fresh("lemma").c_str()));
      needed.insert(c);
    }
    std::vector<Kept> rules;
    for (std::size_t r = 0; r < rules_.size(); ++r) {
      const Read& read = rules_[r];
      if (read.start) continue;
      Kept& rule = rules.emplace_back(Kept{make_solver(options_.seconds_each), {}, {}});
      rule.solver.add(read.rule.guard);
      for (const std::size_t t : targets_) {
        rule.solver.add(read.rule.before[t]);
        rule.must.push_back(read.rule.after[t]);
      }
      for (const Session::Requirement& requirement : read.rule.requirements)
        rule.must.push_back(requirement.holds);
      for (std::size_t c = 0; c < clauses_.size(); ++c) {
        rule.solver.add(z3::implies(given[c], term(clauses_[c], r, false)));
        rule.after.push_back(term(clauses_[c], r, true));
      }
    }
    for (std::size_t c = clauses_.size(); c > 0 && !stop() && Clock::now() < end; --c) {
      std::set<std::size_t> fewer = needed;
      if (fewer.erase(c - 1) > 0 && prove_with(fewer, given, rules)) needed = std::move(fewer);
    }
    std::vector<Clause> kept;
    for (const std::size_t c : needed) kept.push_back(clauses_[c]);
    clauses_ = std::move(kept);
  }
  // Whether these lemmas prove the targets; less those that they do not keep.
  static bool prove_with(std::set<std::size_t>& lemmas, const std::vector<Term>& given,
                         std::vector<Kept>& rules) {
    for (std::size_t kept_by = 0, r = 0; kept_by < rules.size(); r = (r + 1) % rules.size()) {
      Kept& rule = rules[r];
      z3::expr_vector assumed(rule.solver.ctx());
      Term all = Session::current().truth(true);
      for (const Term& holds : rule.must) all = symbolic::both(all, holds);
      for (const std::size_t c : lemmas) {
        assumed.push_back(given[c]);
        all = symbolic::both(all, rule.after[c]);
      }
      const SolverScope scope(rule.solver);
      rule.solver.add(!all);
      const z3::check_result answer = rule.solver.check(assumed);
      if (answer == z3::unknown) return false;
      if (answer == z3::unsat) {
        ++kept_by;
        continue;
      }
      const z3::model model = rule.solver.get_model();
      for (const Term& holds : rule.must) {
        if (!model.eval(holds, true).is_true()) return false;
      }
      std::erase_if(lemmas, [&](std::size_t c) { return !model.eval(rule.after[c], true).is_true(); });
      kept_by = 0;
    }
    return true;
  }

  // The state that was found last, as people read it.
  [[nodiscard]] CounterexampleToInduction counterexample(const Goal& goal) const {
    CounterexampleToInduction found;
    found.rule = rules_[goal.rule].rule.name;
    const Extents& extents = vocabulary_.proved();
    for (std::size_t f = 0; f < vocabulary_.fields().size(); ++f) {
      const Field& field = vocabulary_.fields()[f];
      extents.each_row(field, [&](const std::vector<int>& row) {
        const std::int64_t code = state_[extents.scalar(f, row)];
        std::string path = field.text.front();
        for (std::size_t i = 0; i < row.size(); ++i) path += std::to_string(row[i]) + field.text[i + 1];
        std::string value = std::to_string(field.sort == Sort::maybe ? code - 1 : code);
        if (field.sort == Sort::truth) value = code != 0 ? "true" : "false";
        if (field.sort == Sort::enumeration) value = field.members.at(static_cast<std::size_t>(code));
        if (field.sort == Sort::maybe && code == 0) value = "none";
        found.fields.push_back({path, value, value, code == 0});
      });
    }
    return found;
  }

  const ProofSubject& subject_;
  const SuggestOptions& options_;
  const Cells& cells_;
  const Vocabulary& vocabulary_;
  const Samples& samples_;
  std::vector<std::size_t> targets_;
  std::vector<Read> rules_;
  std::vector<z3::solver> solvers_;  // with the guard, and what holds before the rule
  std::deque<Goal> goals_;
  std::vector<Clause> clauses_;
  std::set<Clause> retracted_;
  Codes state_;
};

}  // namespace

Suggested suggest(const ProofSubject& subject, const SuggestOptions& options) {
  const Clock::time_point begin = Clock::now();
  Suggested result;
  const std::unique_ptr<Model> model = subject.model();
  if (!model)
    throw BadInput("nothing is explored of this proof, so nothing is known that its lemmas must allow");
  const Cells cells = shapes_of(subject, false);
  Successors first;
  first.clear(std::max(1U, model->words()));
  model->initial(first);
  const std::vector<ScalarBits> scalars = model->packed_scalars();
  std::map<std::string, std::string> texts;
  for (auto& [path, text] : model->fields(first.state(0))) texts.emplace(path, text);
  std::vector<std::string> in_order;
  for (const ScalarBits& scalar : scalars) in_order.push_back(texts.at(scalar.path));
  const auto vocabulary = std::make_shared<Vocabulary>(cells, scalars, in_order, first.state(0));
  result.vocabulary = vocabulary;
  const Samples samples(*model, *vocabulary, options.explore);
  result.states = samples.states();
  result.explored_all = samples.complete();
  const Session session(false, subject.words());
  Search(subject, options, cells, *vocabulary, samples).run(result);
  result.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  return result;
}

// ---- proved with them -------------------------------------------------------------------------------

namespace {

class WithSuggested final : public ProofSubject {
 public:
  WithSuggested(const ProofSubject& subject, const std::vector<std::string>& targets,
                const Suggested& suggested, bool any_size)
      : subject_(subject),
        targets_(numbers_of(subject, targets)),
        vocabulary_(suggested.vocabulary),
        clauses_(suggested.lemmas),
        cells_(shapes_of(subject, any_size)) {
    for (const std::size_t t : targets_) lemmas_.push_back(subject.lemmas()[t]);
    for (const Clause& clause : clauses_) lemmas_.push_back({vocabulary_->text(clause)});
  }

  [[nodiscard]] const std::vector<ProofLemma>& lemmas() const override { return lemmas_; }
  [[nodiscard]] const std::vector<std::string>& rules() const override { return subject_.rules(); }
  [[nodiscard]] const std::vector<std::pair<std::string, int>>& sizes() const override {
    return subject_.sizes();
  }
  [[nodiscard]] const std::vector<std::pair<std::string, int>>& fixed_sizes() const override {
    return subject_.fixed_sizes();
  }
  [[nodiscard]] const std::string& client() const override { return subject_.client(); }
  [[nodiscard]] symbolic::Words words() const override { return subject_.words(); }
  [[nodiscard]] bool judges_overruns() const override { return subject_.judges_overruns(); }
  void read(RuleVisitor& visitor) const override {
    Visitor with(*this, visitor);
    subject_.read(with);
  }

 private:
  class Visitor final : public RuleVisitor {
   public:
    Visitor(const WithSuggested& with, RuleVisitor& visitor) : with_(with), visitor_(visitor) {}
    bool wants_start(std::size_t number) override { return visitor_.wants_start(number); }
    bool wants_rule(std::size_t number) override { return visitor_.wants_rule(number); }
    void start(const ReadRule& rule) override { visitor_.start(changed(rule, true)); }
    void rule(const ReadRule& rule) override { visitor_.rule(changed(rule, false)); }

   private:
    [[nodiscard]] ReadRule changed(const ReadRule& rule, bool start) const {
      const CellCopies cells = copies_of(*rule.store);
      const auto terms = [&](const std::vector<Term>& own, bool after) {
        std::vector<Term> all;
        for (const std::size_t t : with_.targets_) all.push_back(own[t]);
        for (const Clause& clause : with_.clauses_) {
          all.push_back(
              with_.vocabulary_->term(clause, with_.cells_, reader(with_.cells_, cells, start, after)));
        }
        return all;
      };
      ReadRule other = rule;
      other.before = terms(rule.before, false);
      other.after = terms(rule.after, true);
      return other;
    }
    const WithSuggested& with_;
    RuleVisitor& visitor_;
  };

  const ProofSubject& subject_;
  std::vector<std::size_t> targets_;
  std::shared_ptr<const Vocabulary> vocabulary_;
  std::vector<Clause> clauses_;
  Cells cells_;
  std::vector<ProofLemma> lemmas_;
};

}  // namespace

std::unique_ptr<ProofSubject> with_lemmas(const ProofSubject& subject, std::vector<std::string> targets,
                                          const Suggested& suggested, bool any_size) {
  return std::make_unique<WithSuggested>(subject, targets, suggested, any_size);
}

}  // namespace lockstep::suggest
