#include "proofs/distinguish/distinguish.hpp"

#include <fmt/format.h>
#include <z3++.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "checker/support/diagnostic.hpp"
#include "checker/support/jobs.hpp"
#include "proofs/distinguish/alphabet.hpp"
#include "proofs/distinguish/relations.hpp"
#include "proofs/distinguish/skeleton.hpp"

namespace lockstep::distinguish {

namespace {

using Clock = std::chrono::steady_clock;

// Programs that are defined under a model in the execution that was found, but not in all.
constexpr int most_dismissed = 400;

struct Question {
  std::size_t allows = 0;  // by this model
  By by = By::outcomes;
};

bool has_flags(const cat::Plan& plan) {
  return std::any_of(plan.checks.begin(), plan.checks.end(), [](const auto& check) { return check.flag; });
}

std::string name_of_test(const Models& models, const Question& question) {
  const std::string& allows = models[question.allows]->name();
  const std::string& other = models[1 - question.allows]->name();
  return question.by == By::flags ? fmt::format("defined-by-{}-flagged-by-{}", allows, other)
                                  : fmt::format("{}-not-{}", allows, other);
}
std::string doc_of_test(const Models& models, const Question& question) {
  const std::string& allows = models[question.allows]->name();
  const std::string& other = models[1 - question.allows]->name();
  return question.by == By::flags ? fmt::format("{} leaves it defined, and {} flags it.", allows, other)
                                  : fmt::format("{} allows it, and {} forbids it.", allows, other);
}

// One question about all executions of a frame.
class Search {
 public:
  enum class Answer : std::uint8_t { none, found, open };

  Search(const Models& models, const Question& question, const Frame& frame, const Tables& tables,
         const std::set<cat::Base>& bases, const RunLimits& limits, z3::context& context)
      : models_(models),
        question_(question),
        limits_(limits),
        context_(context),
        bits_(context),
        skeleton_(bits_, frame, tables, bases),
        defined_(context.bool_const("defined")),
        finder_(context, "QF_FD"),
        other_(context, "QF_FD") {
    z3::params parameters(context);
    parameters.set("ctrl_c", false);  // Z3 would take the signal
    finder_.set(parameters);
    other_.set(parameters);
  }

  Answer run(Difference& difference) {
    pose();
    Answer answer = next(difference);
    // Then the plainest: what is left undecided by the way costs no more than beauty.
    try {
      while (answer == Answer::found && cost_ > 0) {
        finder_.add(cheaper_than(cost_));
        if (next(difference) != Answer::found) break;
      }
    } catch (const z3::exception&) {  // was interrupted
    }
    return answer;
  }

 private:
  enum class Judged : std::uint8_t { differs, same, undefined, open };

  Answer next(Difference& difference) {
    for (;;) {
      z3::check_result found = z3::unsat;
      if (defined_first_) {
        z3::expr_vector wish(context_);
        wish.push_back(defined_);
        found = finder_.check(wish);
        defined_first_ = found != z3::unsat;
      }
      if (!defined_first_) found = finder_.check();
      if (found == z3::unknown) return Answer::open;
      if (found == z3::unsat) return all_exact() ? Answer::none : Answer::open;
      const z3::model model = finder_.get_model();
      if (excused(model)) continue;
      if (stopped_) return Answer::open;
      const Witness witness =
          skeleton_.witness(model, name_of_test(models_, question_), doc_of_test(models_, question_));
      std::vector<z3::expr> dismissed = skeleton_.program();
      switch (judged(witness)) {
        case Judged::differs:
          difference = {witness.test, witness.outcome, question_.allows, 0};
          cost_ = cost_of(model);
          return Answer::found;
        case Judged::undefined:
          break;
        case Judged::same:
          dismissed.insert(dismissed.end(), skeleton_.outcome().begin(), skeleton_.outcome().end());
          break;
        case Judged::open:
          return Answer::open;
      }
      if (++dismissed_ > most_dismissed) return Answer::open;
      finder_.add(!skeleton_equals(model, dismissed));
    }
  }
  int cost_of(const z3::model& model) {
    int cost = 0;
    for (const auto& [what, each] : skeleton_.costs()) cost += model.eval(what, true).is_true() ? each : 0;
    return cost;
  }
  z3::expr cheaper_than(int cost) {
    z3::expr_vector what(context_);
    std::vector<int> each;
    for (const auto& [one, of_it] : skeleton_.costs()) {
      what.push_back(one);
      each.push_back(of_it);
    }
    return z3::pble(what, each.data(), cost - 1);
  }

  [[nodiscard]] const cat::Plan& plan(std::size_t model) const { return *models_[model]->plan(); }
  [[nodiscard]] std::size_t other() const { return 1 - question_.allows; }
  [[nodiscard]] bool by_flags() const { return question_.by == By::flags; }
  // The model that does what is looked for: allows, or flags. The other must not, whatever it chooses.
  [[nodiscard]] std::size_t has() const { return by_flags() ? other() : question_.allows; }
  [[nodiscard]] std::size_t lacks() const { return 1 - has(); }
  z3::expr does(const Judgement& judgement) {
    return by_flags() ? bits_.both(judgement.allowed, judgement.flagged) : judgement.allowed;
  }

  Skeleton::Source variables(const std::string& prefix, std::map<std::string, z3::expr>& made) {
    return [this, prefix, &made](const std::string& name) {
      return made.try_emplace(name, context_.bool_const((prefix + name).c_str())).first->second;
    };
  }
  // What a choice gives to the judgement of a plan.
  Judgement judgement(std::size_t model, const Chosen& chosen) {
    return PlanReader(bits_, plan(model), skeleton_.base(), skeleton_.present()).judge(chosen);
  }

  void pose() {
    finder_.add(skeleton_.possible());
    z3::expr possible = bits_.yes();
    const Chosen chosen = skeleton_.choose(plan(has()), variables("", mine_), false, possible);
    finder_.add(possible);
    premises_ = {skeleton_.possible(), possible};
    const Judgement first = judgement(has(), chosen);
    finder_.add(first.chosen && does(first));
    if (!by_flags()) finder_.add(bits_.neither(first.flagged));
    add_exact(first);
    // By the same choices, as far as both have them, the other one does not do so.
    std::map<std::string, z3::expr> its_own;
    const Chosen same = skeleton_.choose(
        plan(lacks()),
        [&](const std::string& name) {
          const auto known = mine_.find(name);
          if (known != mine_.end()) return known->second;
          if (name.starts_with("related")) return bits_.yes();
          return its_own.try_emplace(name, context_.bool_const(("too " + name).c_str())).first->second;
        },
        false, possible);
    const Judgement second = judgement(lacks(), same);
    finder_.add(!(possible && second.chosen && does(second)));
    // Programs that the other leaves undefined say little: first those that it does not flag here.
    if (!by_flags()) finder_.add(bits_.implies(defined_, bits_.neither(second.flagged)));
    add_exact(second);
  }
  // Whether the other model does so by any choice.
  void pose_other() {
    z3::expr possible = bits_.yes();
    other_.add(skeleton_.possible());
    const Chosen any = skeleton_.choose(plan(lacks()), variables("other ", theirs_), by_flags(), possible);
    const Judgement third = judgement(lacks(), any);
    other_.add(possible && third.chosen && third.exact && does(third));
    other_is_posed_ = true;
  }
  void add_exact(const Judgement& judgement) {
    if (bits_.is_yes(judgement.exact)) return;
    exact_.push_back(judgement.exact);
    finder_.add(judgement.exact);
  }

  z3::expr skeleton_equals(const z3::model& model, const std::vector<z3::expr>& variables) {
    std::vector<z3::expr> equal;
    for (const z3::expr& v : variables) equal.push_back(model.eval(v, true).is_true() ? v : !v);
    return bits_.all(equal);
  }

  // Whether the other model does the same by another choice, which is then one that the next ones must do
  // without.
  bool excused(const z3::model& model) {
    if (!other_is_posed_) pose_other();
    z3::expr_vector given(context_);
    for (const auto* variables : {&skeleton_.program(), &skeleton_.outcome()}) {
      for (const z3::expr& v : *variables) given.push_back(model.eval(v, true).is_true() ? v : !v);
    }
    const z3::check_result answer = other_.check(given);
    stopped_ = answer == z3::unknown;
    if (answer != z3::sat) return false;
    const z3::model choice = other_.get_model();
    z3::expr possible = bits_.yes();
    const Chosen chosen = skeleton_.choose(
        plan(lacks()),
        [&](const std::string& name) {
          return bits_.constant(choice.eval(theirs_.at(name), true).is_true());
        },
        by_flags(), possible);
    const Judgement judged = judgement(lacks(), chosen);
    finder_.add(!(possible && judged.chosen && judged.exact && does(judged)));
    return true;
  }

  // What the models themselves say of the test.
  Judged judged(const Witness& witness) {
    JudgeOptions options;
    options.interrupted = limits_.interrupted;
    options.time = limits_.time;
    const ModelRun allows = judge(*witness.test, *models_[question_.allows], options);
    const ModelRun forbids = judge(*witness.test, *models_[other()], options);
    for (const ModelRun* run : {&allows, &forbids}) {
      if (run->bad_input) throw BadInput(*run->bad_input);
      if (run->status == RunStatus::error) throw std::logic_error(run->message);
      if (run->status != RunStatus::complete || run->cut) return Judged::open;
    }
    if (allows.raised != 0) return Judged::undefined;
    if (by_flags()) {
      if (forbids.raised == 0) return disagree(witness, "flags nothing");
      return Judged::differs;
    }
    if (forbids.raised != 0) return Judged::undefined;
    if (!allows.allows(witness.outcome)) return disagree(witness, "forbids it");
    // Values that are computed may come about in more ways than the one that was looked at.
    return forbids.allows(witness.outcome) ? Judged::same : Judged::differs;
  }
  Judged disagree(const Witness& witness, std::string_view what) const {
    throw std::logic_error(fmt::format("formulas and judge disagree on {}: a model {}\n{}",
                                       witness.test->name, what, print_program(witness.test->program)));
  }

  // Whether recursions were followed to their ends in every execution.
  bool all_exact() {
    if (exact_.empty()) return true;
    z3::solver doubts(context_, "QF_FD");
    for (const z3::expr& e : premises_) doubts.add(e);
    doubts.add(!bits_.all(exact_));
    return doubts.check() == z3::unsat;
  }

  const Models& models_;
  const Question& question_;
  const RunLimits& limits_;
  z3::context& context_;
  Bits bits_;
  Skeleton skeleton_;
  z3::expr defined_;
  z3::solver finder_;
  z3::solver other_;
  std::map<std::string, z3::expr> mine_;
  std::map<std::string, z3::expr> theirs_;
  std::vector<z3::expr> exact_;
  std::vector<z3::expr> premises_;  // of what is exact
  bool defined_first_ = true;
  bool other_is_posed_ = false;
  bool stopped_ = false;
  int dismissed_ = 0;
  int cost_ = 0;  // of what was found
};

// All questions about executions of one size, frame by frame.
class Distinguishing {
 public:
  Distinguishing(const Models& models, const DistinguishOptions& options)
      : models_(models), options_(options) {
    if (models[0]->name() == models[1]->name())
      throw BadInput(fmt::format("there is nothing to tell apart: {} twice", models[0]->name()),
                     "name two models; of two files of one name, rename one");
    report_.up_to = options.up_to;
    for (const std::size_t side : {0U, 1U}) {
      report_.models[side] = models[side]->name();
      if (!models[side]->plan())
        throw BadInput(
            fmt::format("executions of {} cannot be looked for: it looks into sets", models[side]->name()),
            "`lockstep compare` without --events compares it on tests");
      const cat::Plan& plan = *models[side]->plan();
      bases_.merge(bases_of(plan, models[side]->name()));
      if (plan.uses_fence_order) bases_.insert(cat::Base::inclusive);
      // Whether a program is defined depends on what it does when it reads something else.
      if (has_flags(plan)) bases_.insert(cat::Base::ctrl);
    }
    report_.findings.push_back({By::outcomes, 0, {}, 0});
    if (has_flags(*models[0]->plan()) || has_flags(*models[1]->plan()))
      report_.findings.push_back({By::flags, 0, {}, 0});
  }

  DistinguishReport run() {
    for (int events = 1; events <= options_.up_to; ++events) {
      for (Finding& finding : report_.findings) {
        if (finding.difference || ended()) continue;
        run_size(events, finding);
        if (!ended() && finding.open == 0 && !finding.difference) finding.decided = events;
      }
    }
    report_.interrupted = options_.limits.are_interrupted();
    report_.out_of_time = !report_.interrupted && out_of_time() && report_.open();
    report_.seconds = seconds();
    return std::move(report_);
  }

 private:
  struct Framed {
    Frame frame;
    std::shared_ptr<const Tables> tables;
  };

  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(Clock::now() - start_).count();
  }
  [[nodiscard]] bool out_of_time() const {
    return options_.limits.time.count() > 0 && Clock::now() - start_ >= options_.limits.time;
  }
  [[nodiscard]] bool ended() const { return options_.limits.are_interrupted() || out_of_time(); }

  // What a placement lets models see does not depend on how many events threads have.
  std::shared_ptr<const Tables> tables_of(const Frame& frame) {
    std::vector<std::pair<int, int>> seats;
    for (const Placement& p : frame.placements) seats.emplace_back(p.agent, p.wg);
    auto& tables = tables_[seats];
    if (!tables) tables = std::make_shared<const Tables>(frame, bases_);
    return tables;
  }

  void run_size(int events, Finding& finding) {
    const std::array questions{Question{0, finding.by}, Question{1, finding.by}};
    std::vector<Framed> all;
    std::set<std::pair<std::vector<int>, std::vector<std::uint64_t>>> seen;
    for (const Frame& frame : frames(events, most_threads)) {
      if (ended()) return;
      auto tables = tables_of(frame);
      if (seen.emplace(frame.sizes, tables->identity()).second) all.push_back({frame, std::move(tables)});
    }
    const std::size_t jobs = all.size() * questions.size();
    std::atomic<std::size_t> done{0};
    first_ = jobs;
    run_jobs(
        jobs, options_.limits.threads,
        [&](std::size_t job) {
          if (job < first_ && !ended())
            ask(job, all[job / questions.size()], questions[job % questions.size()], events, finding);
          ++done;
        },
        [&] {
          if (ended() || first_ < jobs) interrupt();
          if (options_.on_progress) options_.on_progress({events, done, jobs, seconds()});
        });
  }

  void ask(std::size_t job, const Framed& framed, const Question& question, int events, Finding& finding) {
    z3::context context;
    RunLimits left = options_.limits;
    if (left.time.count() > 0) {
      const auto so_far = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start_);
      left.time = std::max(left.time - so_far, std::chrono::milliseconds(1));
    }
    begin(job, context);
    Search::Answer answer = Search::Answer::open;
    Difference difference;
    try {
      Search search(models_, question, framed.frame, *framed.tables, bases_, left, context);
      answer = search.run(difference);
    } catch (const z3::exception&) {  // was interrupted
    } catch (...) {
      end(job);
      throw;
    }
    end(job);
    const std::scoped_lock lock(mutex_);
    if (answer == Search::Answer::found && job < first_) {
      first_ = job;
      difference.events = events;
      finding.difference = std::move(difference);
    }
    if (answer == Search::Answer::open && !ended() && job < first_) ++finding.open;
  }

  void begin(std::size_t job, z3::context& context) {
    const std::scoped_lock lock(mutex_);
    working_.emplace(job, &context);
  }
  void end(std::size_t job) {
    const std::scoped_lock lock(mutex_);
    working_.erase(job);
  }
  // All of them, or those whose answers are not needed any more.
  void interrupt() {
    const std::scoped_lock lock(mutex_);
    for (const auto& [job, context] : working_) {
      if (ended() || job > first_) context->interrupt();
    }
  }

  const Models& models_;
  const DistinguishOptions& options_;
  std::set<cat::Base> bases_;
  std::map<std::vector<std::pair<int, int>>, std::shared_ptr<const Tables>> tables_;
  std::mutex mutex_;
  std::map<std::size_t, z3::context*> working_;
  std::atomic<std::size_t> first_{0};  // of the jobs that found a difference
  DistinguishReport report_;
  Clock::time_point start_ = Clock::now();
};

}  // namespace

DistinguishReport distinguish_models(const Models& models, const DistinguishOptions& options) {
  return Distinguishing(models, options).run();
}

int exit_status(const DistinguishReport& report) {
  if (report.interrupted) return 130;
  if (report.differ()) return 1;
  return report.open() ? 3 : 0;
}

bool DistinguishReport::differ() const {
  return std::any_of(findings.begin(), findings.end(),
                     [](const Finding& one) { return one.difference.has_value(); });
}
bool DistinguishReport::open() const {
  return std::any_of(findings.begin(), findings.end(),
                     [&](const Finding& one) { return !one.difference && one.decided < up_to; });
}

}  // namespace lockstep::distinguish
