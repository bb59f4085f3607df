#include "proofs/prover.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <thread>

#include "checker/support/diagnostic.hpp"
#include "checker/support/jobs.hpp"
#include "checker/support/process.hpp"
#include "proofs/report.hpp"
#include "proofs/second_solver.hpp"
#include "proofs/solving.hpp"

namespace lockstep {

namespace {

using symbolic::Arguments;
using symbolic::Cell;
using symbolic::Domain;
using symbolic::Session;
using symbolic::Term;
using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// ---- counterexamples -------------------------------------------------------------------------------------

// The members of an index type that a model tells apart.
std::vector<Term> members_of(const Domain& domain, z3::model& model) {
  Session& session = Session::current();
  std::vector<Term> members;
  if (domain.kind != Domain::Kind::any) {
    for (int i = 0; i < domain.size; ++i) members.push_back(session.member(domain, i));
    return members;
  }
  z3::context& c = session.context();
  for (unsigned i = 0; i < Z3_model_get_num_sorts(c, model); ++i) {
    const z3::sort sort(c, Z3_model_get_sort(c, model, i));
    if (sort.name().str() != domain.name) continue;
    const z3::expr_vector universe(c, Z3_model_get_sort_universe(c, model, sort));
    for (unsigned n = 0; n < universe.size(); ++n) members.push_back(universe[static_cast<int>(n)]);
  }
  return members;
}

std::string text_of(const Term& value, const Domain& domain, z3::model& model) {
  const Term v = model.eval(value, true);
  switch (domain.kind) {
    case Domain::Kind::boolean:
      return v.is_true() ? "true" : "false";
    case Domain::Kind::finite: {
      unsigned n = 0;
      if (!v.is_numeral_u(n)) return "?";
      return n < domain.members.size() ? domain.members[n] : std::to_string(n);
    }
    case Domain::Kind::word: {
      if (v.is_int()) return v.to_string();
      unsigned n = 0;
      return v.is_numeral_u(n) ? std::to_string(static_cast<std::int32_t>(n)) : "?";
    }
    case Domain::Kind::integer:
      return v.to_string();
    case Domain::Kind::any: {
      const std::vector<Term> members = members_of(domain, model);
      for (std::size_t i = 0; i < members.size(); ++i) {
        if (z3::eq(members[i], v)) return std::to_string(i);
      }
      return "?";
    }
  }
  return "?";
}

void list_fields(const Cell& cell, z3::model& model, Arguments& arguments, const std::string& indices,
                 std::vector<ProofField>& fields) {
  if (arguments.size() == cell.indices.size()) {
    const std::string path = indices.empty() ? cell.name : fmt::format("{}({})", cell.name, indices);
    const std::string before = text_of(cell.before(arguments), cell.values, model);
    const bool plain = cell.values.kind == Domain::Kind::boolean ? before == "false"
                       : cell.values.kind == Domain::Kind::any   ? false
                       : cell.values.members.empty()             ? before == "0"
                                                                 : before == cell.values.members.front();
    fields.push_back({path, before, text_of(cell.at(arguments), cell.values, model), plain});
    return;
  }
  const std::vector<Term> members = members_of(cell.indices[arguments.size()], model);
  for (std::size_t i = 0; i < members.size(); ++i) {
    arguments.push_back(members[i]);
    list_fields(cell, model, arguments, fmt::format("{}{}{}", indices, indices.empty() ? "" : ",", i),
                fields);
    arguments.pop_back();
  }
}

std::string fired(const std::string& rule, const std::vector<ReadRule::Parameter>& members,
                  z3::model& model) {
  std::string parameters;
  for (const ReadRule::Parameter& p : members) {
    parameters += fmt::format("{}{} {}", parameters.empty() ? "" : ", ", p.domain.name,
                              text_of(p.term, p.domain, model));
  }
  return parameters.empty() ? rule : fmt::format("{} ({})", rule, parameters);
}

CounterexampleToInduction counterexample(const ReadRule& rule, z3::model model) {
  CounterexampleToInduction found;
  found.rule = fired(rule.name, rule.parameters, model);
  for (const auto& [name, cell] : rule.store->cells()) {
    Arguments arguments;
    list_fields(*cell, model, arguments, {}, found.fields);
  }
  return found;
}

// The first state whole, of the others only what may be different there.
CounterexampleToInduction counterexample(const ReadClaim& claim, z3::model model) {
  CounterexampleToInduction found;
  found.rule = fired(claim.rule, claim.parameters, model);
  for (const auto& [title, store] : claim.stores) {
    for (const auto& [name, cell] : store->cells()) {
      if (store != claim.stores.front().second && !store->is_apart(name)) continue;
      const std::size_t first = found.fields.size();
      Arguments arguments;
      list_fields(*cell, model, arguments, {}, found.fields);
      for (std::size_t i = first; i < found.fields.size(); ++i)
        found.fields[i].path = fmt::format("{}: {}", title, found.fields[i].path);
    }
  }
  return found;
}

// For every field of the state before the rule: that it is at its default.
void list_defaults(const Cell& cell, z3::model& model, Arguments& arguments, std::vector<Term>& plain) {
  if (arguments.size() == cell.indices.size()) {
    Session& session = Session::current();
    const Term value = cell.before(arguments);
    if (cell.values.kind != Domain::Kind::any)
      plain.push_back(symbolic::equal(value, session.member(cell.values, 0)));
    return;
  }
  for (const Term& member : members_of(cell.indices[arguments.size()], model)) {
    arguments.push_back(member);
    list_defaults(cell, model, arguments, plain);
    arguments.pop_back();
  }
}
// At any size the rows that a model tells apart are its own, so only fields outside of tables can be asked
// for.
std::vector<Term> defaults(const ReadRule& rule, z3::model& model) {
  std::vector<Term> plain;
  for (const auto& [name, cell] : rule.store->cells()) {
    const bool open = std::any_of(cell->indices.begin(), cell->indices.end(),
                                  [](const Domain& d) { return d.kind == Domain::Kind::any; });
    if (open) continue;
    Arguments arguments;
    list_defaults(*cell, model, arguments, plain);
  }
  return plain;
}

// ---- putting obligations to solvers ----------------------------------------------------------------------

std::string file_name(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (plain) {
      name += c;
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
  }
  while (!name.empty() && name.back() == '-') name.pop_back();
  return name;
}

class Prover {
 public:
  Prover(const ProofSubject& subject, const ProveOptions& options)
      : subject_(subject), options_(options), directory_(options.smt_directory) {
    if (!options_.recheck.empty()) {
      second_.emplace(options_.recheck, options_.seconds_each, options_.interrupted);
      if (directory_.empty()) {
        temporary_.emplace();
        directory_ = temporary_->path().string();
      }
    }
    if (!directory_.empty()) std::filesystem::create_directories(directory_);
    if (!options_.certificates.empty()) certifier_.emplace(options_.certificates, options_.interrupted);
  }

  ProofResult run() {
    const Clock::time_point start = Clock::now();
    ProofResult result;
    result.lemmas = subject_.lemmas();
    // One job for the starts, one for each rule, one for what is claimed of each: each has terms and a solver
    // of its own.
    const std::size_t rules = subject_.rules().size();
    std::vector<std::size_t> jobs;
    for (std::size_t job = 0; job < 1 + rules * (subject_.has_claims() ? 2 : 1); ++job) {
      if (wanted_rule(job)) jobs.push_back(job);
    }
    const auto of_claims =
        static_cast<std::size_t>(std::count_if(jobs.begin(), jobs.end(), [&](auto j) { return j > rules; }));
    std::vector<std::vector<Obligation>> found(jobs.size());
    const unsigned threads =
        options_.threads == 0 ? std::max(1U, std::thread::hardware_concurrency()) : options_.threads;
    run_jobs(
        jobs.size(), threads, [&](std::size_t job) { work_until_stopped(jobs[job], found[job]); },
        [&] {
          if (stop()) interrupt();
          if (options_.on_progress)
            options_.on_progress(done_, (jobs.size() - of_claims) * result.lemmas.size() + of_claims);
        });
    for (std::vector<Obligation>& some : found) {
      std::move(some.begin(), some.end(), std::back_inserter(result.obligations));
    }
    for (auto& [name, certificate] : certificates_) result.certificates.push_back(std::move(certificate));
    if (certifier_) result.certifier = certifier_->solver();
    result.seconds = since(start);
    result.interrupted = stop();
    return result;
  }

 private:
  class Visitor final : public RuleVisitor {
   public:
    Visitor(Prover& prover, std::size_t job, std::vector<Obligation>& found)
        : prover_(prover), job_(job), found_(found) {}
    bool wants_start(std::size_t) override { return job_ == 0; }
    bool wants_rule(std::size_t number) override { return number + 1 == job_; }
    void start(const ReadRule& rule) override { prover_.judge(rule, true, found_); }
    void rule(const ReadRule& rule) override {
      if (job_ == 1) prover_.judge_lemmas(rule, found_);
      prover_.judge(rule, false, found_);
    }

   private:
    Prover& prover_;
    std::size_t job_;
    std::vector<Obligation>& found_;
  };

  class ClaimsOfRule final : public ClaimVisitor {
   public:
    ClaimsOfRule(Prover& prover, std::size_t rule, std::vector<Obligation>& found)
        : prover_(prover), rule_(rule), found_(found) {}
    bool wants_rule(std::size_t number) override { return number == rule_; }
    void claim(const ReadClaim& claim) override {
      found_.push_back(prover_.judge(claim));
      prover_.certify(fmt::format("of the rule \"{}\" holds", claim.rule), claim.given,
                      {{found_.size() - 1, claim.goal}}, found_);
    }

   private:
    Prover& prover_;
    std::size_t rule_;
    std::vector<Obligation>& found_;
  };

  // What Z3 works on meanwhile can be interrupted.
  class Working {
   public:
    Working(Prover& prover, z3::context& context) : prover_(prover), context_(context) {
      const std::lock_guard lock(prover_.mutex_);
      prover_.working_.insert(&context_);
    }
    Working(const Working&) = delete;
    Working& operator=(const Working&) = delete;
    ~Working() {
      const std::lock_guard lock(prover_.mutex_);
      prover_.working_.erase(&context_);
    }

   private:
    Prover& prover_;
    z3::context& context_;
  };
  void interrupt() {
    const std::lock_guard lock(mutex_);
    for (z3::context* const context : working_) context->interrupt();
  }

  [[nodiscard]] bool stop() const {
    return options_.interrupted != nullptr && options_.interrupted->load(std::memory_order_relaxed);
  }
  [[nodiscard]] bool wanted(const std::string& lemma) const {
    return options_.only.empty() ||
           std::find(options_.only.begin(), options_.only.end(), lemma) != options_.only.end();
  }

  [[nodiscard]] bool wanted_rule(std::size_t job) const {
    if (job > subject_.rules().size() && !options_.only.empty()) return false;
    return options_.rule.empty() ||
           (job > 0 && subject_.rules()[(job - 1) % subject_.rules().size()] == options_.rule);
  }

  // An interrupted context refuses whatever is asked of it next; what was found before stands.
  void work_until_stopped(std::size_t job, std::vector<Obligation>& found) {
    try {
      work(job, found);
    } catch (const z3::exception&) {
      if (!stop()) throw;
    }
  }
  void work(std::size_t job, std::vector<Obligation>& found) {
    Session session(options_.any_size, subject_.words());
    const Working working(*this, session.context());
    const std::size_t rules = subject_.rules().size();
    if (job > rules) {
      ClaimsOfRule visitor(*this, job - rules - 1, found);
      subject_.read_claims(visitor);
      ++done_;
    } else {
      Visitor visitor(*this, job, found);
      subject_.read(visitor);
    }
  }

  [[nodiscard]] z3::solver make_solver() const {
    return lockstep::make_solver(options_.seconds_each, options_.from_scratch);
  }

  void judge(const ReadRule& rule, bool start, std::vector<Obligation>& found) {
    z3::solver solver = make_solver();
    std::vector<Term> given;
    if (!start) {
      given = rule.before;
      given.push_back(rule.guard);
    }
    for (const Term& term : given) solver.add(term);
    if (options_.check_vacuity && !start && options_.only.empty()) judge_possible(rule, solver, found);
    const std::vector<ProofLemma>& lemmas = subject_.lemmas();
    std::vector<Asked> asked;
    for (std::size_t i = 0; i < lemmas.size(); ++i) {
      ++done_;
      if (!wanted(lemmas[i].name)) continue;
      // What the rule leaves as it was given needs no solver, and the second has nothing to say to it.
      const bool kept = !start && z3::eq(rule.before[i], rule.after[i]);
      const Term& goal = rule.after[i];
      asked.push_back({found.size(), goal});
      found.push_back(judge(rule, solver, kept ? goal.ctx().bool_val(true) : goal, lemmas[i].name));
    }
    if (options_.only.empty() && subject_.judges_overruns()) {
      for (const Session::Requirement& requirement : rule.requirements) {
        asked.push_back({found.size(), requirement.holds});
        found.push_back(judge(rule, solver, requirement.holds, requirement.text));
      }
    }
    certify(start ? "at the start holds each of"
                  : fmt::format("no step by \"{}\" from where all lemmas hold breaks any of", rule.name),
            given, std::move(asked), found);
  }

  // A goal, and where its obligation stands.
  struct Asked {
    std::size_t at;
    Term goal;
  };
  // One certificate for all that is proved from the same; where there is none, one for each half of them.
  void certify(const std::string& what, const std::vector<Term>& given, std::vector<Asked> asked,
               std::vector<Obligation>& found) {
    if (!certifier_) return;
    std::erase_if(asked, [&](const Asked& one) {
      return found[one.at].status != ProofStatus::proved || found[one.at].by_reading;
    });
    if (!asked.empty()) certify(what, given, std::span<const Asked>(asked), options_.seconds_each, found);
  }
  void certify(const std::string& what, const std::vector<Term>& given, std::span<const Asked> asked,
               double seconds, std::vector<Obligation>& found) {
    std::vector<Term> goals;
    std::vector<std::string> comments{what};
    for (const Asked& one : asked) {
      goals.push_back(one.goal);
      comments.push_back("  " + found[one.at].lemma);
    }
    const Encoded encoded = encode(given, goals);
    const Certificate certificate = certifier_->certify(encoded, comments, seconds);
    using Status = Certificate::Status;
    if (certificate.status == Status::checked) {
      const std::lock_guard lock(mutex_);
      certificates_.emplace(certificate.name, certificate);
    } else if (asked.size() > 1 && certificate.status != Status::failed && !stop()) {
      // The halves together take no longer than the whole has.
      const double each = certificate.status == Status::open ? seconds / 2 : seconds;
      certify(what, given, asked.first(asked.size() / 2), each, found);
      certify(what, given, asked.subspan(asked.size() / 2), each, found);
      return;
    }
    for (const Asked& one : asked) {
      Obligation& o = found[one.at];
      if (certificate.status == Status::checked) {
        o.certificate = certificate.name;
        continue;
      }
      o.why_no_certificate = certificate.message;
      if (certificate.status == Status::failed) o.status = ProofStatus::error;
      if (certificate.status == Status::satisfiable && encoded.exact) {
        o.status = ProofStatus::disagree;
        o.why_no_certificate = fmt::format("Z3 proved it, {} has a counterexample", certifier_->solver());
      }
      if (o.status != ProofStatus::proved) o.message = o.why_no_certificate;
    }
  }

  static Obligation vacuous(const std::string& rule, const std::string& lemma, double seconds) {
    Obligation o;
    o.rule = rule;
    o.lemma = lemma;
    o.status = ProofStatus::vacuous;
    o.seconds = seconds;
    return o;
  }
  // Lemmas that contradict each other, or a guard, would prove anything.
  void judge_possible(const ReadRule& rule, z3::solver& solver, std::vector<Obligation>& found) {
    if (stop()) return;
    const Clock::time_point begin = Clock::now();
    z3::check_result answer = z3::unknown;
    try {
      answer = solver.check();
    } catch (const z3::exception&) {  // the obligations will say so
    }
    if (answer != z3::unsat) return;
    Obligation o = vacuous(rule.name, "can happen where the lemmas hold", since(begin));
    o.message = "the lemmas never let this rule happen, so they are kept by it for no reason";
    found.push_back(std::move(o));
  }
  // A lemma that holds in every state that can be written down says nothing.
  void judge_lemmas(const ReadRule& rule, std::vector<Obligation>& found) {
    for (std::size_t i = 0; i < rule.before.size() && options_.check_vacuity && !stop(); ++i) {
      const std::string& name = subject_.lemmas()[i].name;
      if (!wanted(name)) continue;
      const Clock::time_point begin = Clock::now();
      z3::solver solver = make_solver();
      solver.add(!rule.before[i]);
      if (solver.check() != z3::unsat) continue;
      Obligation o = vacuous("any state", name, since(begin));
      o.message = "it holds in every state, reachable or not, so it says nothing";
      found.push_back(std::move(o));
    }
  }

  Obligation judge(const ReadClaim& claim) {
    z3::solver solver = make_solver();
    for (const Term& given : claim.given) solver.add(given);
    return judge(claim.rule, claim.what, solver, claim.goal,
                 [&] { return counterexample(claim, solver.get_model()); });
  }
  Obligation judge(const ReadRule& rule, z3::solver& solver, const Term& goal, const std::string& lemma) {
    return judge(rule.name, lemma, solver, goal, [&] {
      return counterexample(rule, first_of(lemma) ? plainest(rule, solver) : solver.get_model());
    });
  }
  // `explain` is called while the solver has a model of what is given without the goal.
  template <class Explain>
  Obligation judge(const std::string& rule, const std::string& lemma, z3::solver& solver, const Term& goal,
                   Explain&& explain) {
    Obligation o;
    o.rule = rule;
    o.lemma = lemma;
    if (stop()) return o;
    if (goal.is_true()) {
      o.status = ProofStatus::proved;
      o.by_reading = true;
      return o;
    }
    const Clock::time_point begin = Clock::now();
    try {
      const SolverScope scope(solver);
      solver.add(!goal);
      const z3::check_result answer = solver.check();
      o.seconds = since(begin);
      if (answer == z3::unknown && stop()) return o;
      switch (answer) {
        case z3::unsat:
          o.status = ProofStatus::proved;
          break;
        case z3::sat:
          o.status = ProofStatus::refuted;
          o.counterexample = explain();
          break;
        case z3::unknown:
          o.status = ProofStatus::unknown;
          o.message = "Z3 gave up: " + solver.reason_unknown();
          break;
      }
      if (!directory_.empty()) write(o, solver);
    } catch (const z3::exception& e) {
      if (stop()) return o;
      o.status = ProofStatus::error;
      o.message = fmt::format("Z3 failed: {}", e.msg());
    }
    if (second_ && o.status == ProofStatus::proved && !stop()) recheck(o);
    return o;
  }

  // Whether this is the first counterexample to the lemma, which people will look at.
  bool first_of(const std::string& lemma) {
    const std::lock_guard lock(mutex_);
    return shown_.insert(lemma).second;
  }

  // A counterexample with as many fields at their defaults as come easily.
  z3::model plainest(const ReadRule& rule, z3::solver& solver) const {
    z3::model model = solver.get_model();
    const SolverScope scope(solver);
    for (const Term& plain : defaults(rule, model)) {
      if (stop()) break;
      if (!model.eval(plain, true).is_true()) {
        const SolverScope attempt(solver);
        solver.add(plain);
        if (solver.check() != z3::sat) continue;
        model = solver.get_model();
      }
      solver.add(plain);
    }
    return model;
  }

  void write(Obligation& o, z3::solver& solver) {
    const std::size_t number = written_++;
    o.file = (std::filesystem::path(directory_) /
              fmt::format("{:04}-{}--{}.smt2", number, file_name(o.rule), file_name(o.lemma)))
                 .string();
    std::ofstream out(o.file);
    // A solver that is told of bits alone makes bits of them.
    const std::string_view logic = Session::current().only_bits() ? "QF_BV" : "ALL";
    out << fmt::format("; {}: {}\n; unsat means proved\n(set-logic {})\n", o.rule, o.lemma, logic)
        << solver.to_smt2();
    if (!out.flush()) throw BadInput(fmt::format("cannot write {}", o.file));
  }

  void recheck(Obligation& o) {
    const Clock::time_point begin = Clock::now();
    const SecondOpinion opinion = second_->ask(o.file);
    o.recheck_seconds = since(begin);
    switch (opinion.answer) {
      case SecondOpinion::Answer::unsat:
        break;
      case SecondOpinion::Answer::sat:
        o.status = ProofStatus::disagree;
        o.message = fmt::format("Z3 proved it, {} has a counterexample", options_.recheck);
        break;
      case SecondOpinion::Answer::unknown:
        o.status = ProofStatus::unknown;
        o.message = fmt::format("{} did not confirm it: {}", options_.recheck, opinion.message);
        break;
      case SecondOpinion::Answer::failed:
        o.status = ProofStatus::error;
        o.message = fmt::format("{} failed: {}", options_.recheck, opinion.message);
        break;
    }
    if (temporary_) {
      std::filesystem::remove(o.file);
      o.file.clear();
    }
  }

  const ProofSubject& subject_;
  const ProveOptions& options_;
  std::optional<SecondSolver> second_;
  std::optional<Certifier> certifier_;
  std::map<std::string, Certificate> certificates_;
  std::optional<TemporaryFolder> temporary_;
  std::string directory_;
  std::mutex mutex_;
  std::set<std::string> shown_;  // lemmas with a counterexample
  std::set<z3::context*> working_;
  std::atomic<std::size_t> done_{0};
  std::atomic<std::size_t> written_{0};
};

}  // namespace

std::vector<ExploredMachine> ProofSubject::machines() const {
  std::vector<ExploredMachine> one;
  one.push_back({sizes_text(explored_sizes()), model()});
  return one;
}

namespace {

class ProvedTrees final : public ProofSubject {
 public:
  explicit ProvedTrees(std::unique_ptr<ProofSubject> subject) : subject_(std::move(subject)) {}
  [[nodiscard]] const std::vector<ProofLemma>& lemmas() const override { return none_; }
  [[nodiscard]] symbolic::Words words() const override { return symbolic::computed(subject_->words()); }
  [[nodiscard]] const std::vector<std::string>& rules() const override { return subject_->rules(); }
  [[nodiscard]] const std::vector<std::pair<std::string, int>>& sizes() const override {
    return subject_->sizes();
  }
  [[nodiscard]] const std::vector<std::pair<std::string, int>>& fixed_sizes() const override {
    return subject_->fixed_sizes();
  }
  [[nodiscard]] const std::string& client() const override { return nobody_; }
  void read(RuleVisitor&) const override {}
  [[nodiscard]] bool has_claims() const override { return true; }
  void read_claims(ClaimVisitor& visitor) const override { subject_->read_trees(visitor); }

 private:
  std::unique_ptr<ProofSubject> subject_;
  std::vector<ProofLemma> none_;
  std::string nobody_;
};

}  // namespace

std::unique_ptr<ProofSubject> proof_of_trees(std::unique_ptr<ProofSubject> subject) {
  return std::make_unique<ProvedTrees>(std::move(subject));
}

std::string_view word(ProofStatus status) {
  constexpr std::array<std::string_view, 7> words{"proved",   "refuted", "vacuous", "unknown",
                                                  "disagree", "error",   "skipped"};
  return words.at(static_cast<std::size_t>(status));
}

bool ProofResult::proved() const {
  return !interrupted && count(ProofStatus::proved) == obligations.size();
}
std::size_t ProofResult::count(ProofStatus status) const {
  return static_cast<std::size_t>(std::count_if(obligations.begin(), obligations.end(),
                                                [&](const Obligation& o) { return o.status == status; }));
}

int exit_status(const ProofResult& result) {
  if (result.interrupted) return 130;
  if (result.count(ProofStatus::refuted) + result.count(ProofStatus::vacuous) +
          result.count(ProofStatus::disagree) >
      0)
    return 1;
  if (result.count(ProofStatus::error) > 0) return 2;
  return result.proved() ? 0 : 3;
}

ProofResult prove(const ProofSubject& subject, const ProveOptions& options) {
  return Prover(subject, options).run();
}

}  // namespace lockstep
