// `lockstep mutate`: which small slips in a system's rules would the tests and the proofs notice?
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "checker/litmus/faults.hpp"
#include "checker/litmus/report.hpp"
#include "checker/runs/subject.hpp"
#include "checker/support/diagnostic.hpp"
#include "checker/support/json_text.hpp"
#include "cli/command.hpp"
#include "cli/common.hpp"
#include "proofs/prover.hpp"

namespace lockstep::cli {

namespace {

struct Options {
  std::string system;
  std::vector<std::string> paths;
  std::string rule;
  bool all = false;
  bool killed = false;
  bool json = false;
  std::vector<std::string> by{"tests", "lemmas"};
  std::vector<std::string> proof_sizes;
  double seconds_each = 60;
  std::string journal;
  SystemChoice choice;
  LimitOptions limits;
};

SuiteFiles tests_of(const Options& options) {
  const std::string home = litmus_home();
  if (!options.paths.empty()) return read_tests(options.paths, home);
  SuiteFiles files = read_tests(std::vector{home}, home);
  if (!options.all) {
    for (LitmusTests* tests : {&files.tests, &files.launches})
      std::erase_if(*tests, [](const auto& test) { return !has_tag(*test, "quick"); });
  }
  return files;
}

// Whose lemmas are asked.
enum class Proof : std::uint8_t { lemmas, theorem, progress };

// What proofs say of a mutant. Only its rule is proved again, but where a request that waits needs some rule,
// whichever it is.
class Judge {
 public:
  Judge(const Options& options, Proof proof) : seconds_each_(options.seconds_each), proof_(proof) {
    for (const std::string& size : options.proof_sizes) sizes_.insert(parse_size(size));
  }

  // Whether there is something to prove of it.
  [[nodiscard]] bool knows(const Subject& system) const {
    if (proof_ != Proof::lemmas) return subject(system) != nullptr;
    return std::any_of(proofs().begin(), proofs().end(),
                       [&](const ProofEntry& entry) { return entry.system == system.system->name; });
  }
  ProofVerdict operator()(const Mistake& mutant) {
    ProofVerdict verdict;
    try {
      const auto no_change = prove_rule(*proof_of_trees(subject(mutant.system)), mutant.rule);
      verdict.equivalent = no_change.proved() && !no_change.obligations.empty();
      if (verdict.equivalent) return verdict;
      const std::set<std::string> before = unproved_of(mutant);
      for (const Obligation& o : prove_rule(*subject(mutant.system), touched(mutant)).obligations) {
        if (before.contains(o.lemma)) continue;
        verdict.unknown = verdict.unknown || o.status == ProofStatus::unknown;
        if (o.status == ProofStatus::error) verdict.error = o.message;
        if (o.status != ProofStatus::refuted && o.status != ProofStatus::vacuous) continue;
        verdict.refuted = o.lemma;
        return verdict;
      }
    } catch (const std::exception& e) {
      verdict.error = e.what();
    }
    return verdict;
  }

 private:
  [[nodiscard]] std::unique_ptr<ProofSubject> subject(const Subject& system) const {
    SystemOptions options = system.options;
    for (const auto& [name, size] : sizes_) options.sizes[name] = size;
    switch (proof_) {
      case Proof::theorem:
        return theorem_of(system.system->name, options);
      case Proof::progress:
        return progress_of(system.system->name, options, false);
      case Proof::lemmas:
        break;
    }
    return find_proof(system.system->name).build(options, false);
  }
  // The rule that is proved again; all, where empty.
  [[nodiscard]] std::string touched(const Mistake& mutant) const {
    return proof_ == Proof::progress ? std::string() : mutant.rule;
  }
  [[nodiscard]] ProofResult prove_rule(const ProofSubject& subject, const std::string& rule) const {
    ProveOptions how;
    how.threads = 1;
    how.seconds_each = seconds_each_;
    how.from_scratch = proof_ == Proof::theorem;
    how.rule = rule;
    how.interrupted = &interrupted();
    return prove(subject, how);
  }
  // What is not proved of the rule as it is, which no mutant can be blamed for.
  std::set<std::string> unproved_of(const Mistake& mutant) {
    const std::scoped_lock lock(mutex_);
    const auto [known, fresh] = unproved_.try_emplace(touched(mutant));
    if (!fresh) return known->second;
    Subject as_it_is = mutant.system;
    as_it_is.options.mutation.reset();
    for (const Obligation& o : prove_rule(*subject(as_it_is), touched(mutant)).obligations) {
      if (o.status != ProofStatus::proved) known->second.insert(o.lemma);
    }
    return known->second;
  }

  double seconds_each_;
  Proof proof_;
  std::map<std::string, int> sizes_;
  std::mutex mutex_;
  std::map<std::string, std::set<std::string>> unproved_;  // by rule
};

int run(const Options& options) {
  FaultOptions suite;
  suite.system = subject_named(options.system);
  apply_shared(options.choice.shared(), std::span(&suite.system, 1));
  suite.mistakes = mutants_of(suite.system, options.rule);
  suite.enough = 1;
  suite.limits = options.limits.limits();
  const SystemEntry& system = *suite.system.system;
  const bool own_client = !system.runs_programs && system.build_launched == nullptr;
  const auto asked = [&](std::string_view judge) {
    return std::find(options.by.begin(), options.by.end(), judge) != options.by.end();
  };
  const Proof proof = asked("theorem") ? Proof::theorem : asked("progress") ? Proof::progress : Proof::lemmas;
  if (asked("theorem") && asked("progress"))
    throw BadInput("one kind of proof is asked at a time", "--by theorem, or --by progress");
  Judge judge(options, proof);
  if (proof != Proof::lemmas && !judge.knows(suite.system))
    throw BadInput(fmt::format("{} has no lemmas for {}", system.name,
                               proof == Proof::theorem ? "the theorem at its port" : "a proof of progress"),
                   "--by tests,lemmas");
  if (proof != Proof::lemmas || (asked("lemmas") && judge.knows(suite.system)))
    suite.prove = [&](const Mistake& mutant) { return judge(mutant); };
  suite.tests = asked("tests");
  suite.journal = options.journal;
  if (!options.journal.empty()) {
    suite.identity = {{"by", options.by},
                      {"proof_sizes", options.proof_sizes},
                      {"proof_timeout", options.seconds_each},
                      {"build", build_identity()}};
  }
  SuiteFiles files;
  if (!own_client && suite.tests) files = tests_of(options);
  for (const std::string& error : files.errors) print_error(error);
  const std::size_t unread = files.errors.size();
  if (unread > 0 && files.tests.empty() && files.launches.empty()) return 2;
  const LitmusTests tests = own_client ? LitmusTests{} : tests_for(system, std::move(files));

  ProgressLine progress;
  std::vector<FaultReport> reports;
  suite.on_report = [&](const FaultReport& report) { reports.push_back(report); };
  suite.on_progress = [&](const SuiteProgress& now) {
    progress.show(fmt::format("{} of {} mutants, {:.0f} s", now.done, now.all, now.seconds));
  };
  SuiteTotals totals = run_faults(tests, suite);
  totals.errors += unread;
  progress.erase();
  print_now(options.json ? json_text(mutants_json(reports, suite.system, totals), 1) + "\n"
                         : mutant_table(reports, suite.system.description(), totals, options.killed));
  return exit_status(totals);
}

}  // namespace

Command add_mutate(CLI::App& lockstep) {
  auto options = std::make_shared<Options>();
  CLI::App* app = lockstep.add_subcommand("mutate", mutate_what);
  app->add_option("SYSTEM", options->system, "A system, or SYSTEM/VARIANT (`lockstep list`)")->required();
  app->add_option(
      "TESTS", options->paths,
      "Files, folders, or names of tests that come with Lockstep (default: those tagged `quick`); "
      "none for a system that is its own client");
  app->add_flag("--all", options->all, "All tests that come with Lockstep");
  app->add_option("--rule", options->rule, "Mutants of this rule alone")->type_name("RULE");
  app->add_option(
         "--by", options->by,
         "Who is asked: tests, lemmas (of `lockstep prove`), in their place theorem (`prove --theorem`) or "
         "progress (`prove --progress`)")
      ->delimiter(',')
      ->check(CLI::IsMember({"tests", "lemmas", "theorem", "progress"}))
      ->capture_default_str();
  add_list(*app, "--proof-size", options->proof_sizes, "Set a size of the proofs alone")->type_name("K=N");
  app->add_option("--proof-timeout", options->seconds_each, "Seconds for one obligation")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app->add_option("--resume", options->journal, "Keep a journal in this file, and go on from what is in it")
      ->type_name("FILE");
  options->choice.add_to(*app);
  options->limits.add_to(*app, "each run");
  app->add_flag("--killed", options->killed, "Also list what was killed, and by what");
  app->add_flag("--json", options->json, "Print JSON, schema lockstep.mutants/1");
  app->footer(
      "A mutant is the system with one small change of one rule: an assignment, a push or a\n"
      "condition of its guard left out, a condition taken for its contrary, ... The change is made\n"
      "to the rule's recorded tree, so nothing is compiled. A test kills it, a proof refutes it, or\n"
      "it is proved to do what the rule does; else it is alive.\n"
      "\n"
      "Examples:\n"
      "  lockstep mutate write-through\n"
      "  lockstep mutate quick-release --all --rule \"release queues its marker\"\n"
      "  lockstep mutate german --size node=2 --killed\n"
      "  lockstep mutate write-through --by tests,theorem --proof-size agent=1,block=1,word=1\n"
      "\n"
      "Exit status: 0 none is alive, 1 some are, 2 bad input, 3 a limit was reached,\n"
      "130 interrupted.");
  return {app, [options] { return run(*options); }};
}

}  // namespace lockstep::cli
