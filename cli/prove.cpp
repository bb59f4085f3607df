// `lockstep prove`: puts a system's lemmas to Z3, and to a second solver.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "checker/check/check.hpp"
#include "checker/explore/explorer.hpp"
#include "checker/explore/model_view.hpp"
#include "checker/runs/subject.hpp"
#include "checker/support/diagnostic.hpp"
#include "checker/support/json_text.hpp"
#include "checker/support/process.hpp"
#include "checker/trace/trace.hpp"
#include "cli/command.hpp"
#include "cli/common.hpp"
#include "proofs/prover.hpp"
#include "proofs/report.hpp"
#include "proofs/suggest/suggest.hpp"

namespace lockstep::cli {

namespace {

struct Options {
  std::string system;
  bool any_size = false;
  bool json = false;
  bool all = false;
  bool only_claims = false;
  bool theorem = false;
  bool progress = false;
  bool trees = false;
  bool suggest = false;
  std::size_t literals = 5;
  std::string recheck;
  std::string smt;
  std::string certificates;
  std::vector<std::string> lemmas;
  double seconds_each = 60;
  double seconds_explored = 20;
  unsigned threads = 0;
  SystemChoice choice;
};

// The lemmas a user named, by any part of their names.
std::vector<std::string> chosen_lemmas(const Options& options, const ProofSubject& subject) {
  std::vector<std::string> chosen;
  std::vector<std::string> names;
  for (const ProofLemma& lemma : subject.lemmas()) names.push_back(lemma.name);
  for (const std::string& part : options.lemmas) {
    const std::size_t before = chosen.size();
    for (const std::string& name : names) {
      if (name.find(part) != std::string::npos) chosen.push_back(name);
    }
    if (chosen.size() == before)
      throw BadInput(fmt::format("no lemma has '{}' in its name", part), suggestion(part, names));
  }
  return chosen;
}

// What the explorer found of the lemmas at small sizes, where a lemma is either false or worth proving.
struct Explored {
  std::string text;
  nlohmann::json json;
  bool holds = true;  // as far as was looked
};

Explored explore_on(const Subject& named, const ExploredMachine& machine, double seconds,
                    const Options& options, ProgressLine& progress) {
  Explored explored;
  const Model& model = *machine.model;
  ExploreOptions explore_options;
  explore_options.threads =
      options.threads == 0 ? std::max(1U, std::thread::hardware_concurrency()) : options.threads;
  explore_options.time_limit = std::chrono::milliseconds(static_cast<long>(seconds * 1000));
  explore_options.memory_limit = std::size_t{4} << 30;
  explore_options.deadlocks = false;
  explore_options.interrupted = &interrupted();
  explore_options.progress = [&](const Progress& now) { progress.show(progress_text("exploring", now)); };
  const ExploreResult result = explore(model, explore_options);
  progress.erase();
  const std::string& where = machine.where;
  explored.json = {{"states", result.states}, {"sizes", where}, {"seconds", result.seconds}};
  if (result.verdict == Verdict::invariant) {
    const RecordedTrace trace = record(named, model, result.trace, TraceEnd::invariant,
                                       model.invariants().at(static_cast<std::size_t>(result.violated)));
    explored.holds = false;
    explored.json["violated"] = trace.what;
    explored.text = fmt::format("Explored at {}: a lemma is false in a reachable state.\n{}\n", where,
                                trace_text(trace) + trace_end_text(trace));
  } else if (result.verdict == Verdict::broken) {
    const RecordedTrace trace = record(named, model, result.trace, TraceEnd::broken, result.broken);
    explored.holds = false;
    explored.json["broken"] = trace.what;
    explored.text = fmt::format("Explored at {}: a rule does what its types do not allow.\n{}\n", where,
                                trace_text(trace) + trace_end_text(trace));
  } else if (inconclusive(result.verdict)) {
    explored.json["complete"] = false;
    explored.text =
        fmt::format("Explored at {}: {} states, not all; no lemma is false in them.\n", where, result.states);
  } else {
    explored.json["complete"] = true;
    explored.text =
        fmt::format("Explored at {}: every lemma holds in all {} states.\n", where, result.states);
  }
  return explored;
}

// A model of whose invariants only these are asked, as far as those ahead of them hold.
class OnlyThese final : public ModelView {
 public:
  OnlyThese(const Model& model, const std::vector<std::string>& names) : ModelView(model) {
    for (const std::string& name : model.invariants())
      asked_.push_back(std::find(names.begin(), names.end(), name) != names.end());
  }
  void expand(const std::uint64_t* state, Successors& out) const override {
    ModelView::expand(state, out);
    if (out.violated >= 0 && !asked_.at(static_cast<std::size_t>(out.violated))) out.violated = -1;
  }

 private:
  std::vector<bool> asked_;
};

// On one machine after the other, which share the time, until a lemma is false.
Explored explore_lemmas(const Subject& named, const ProofSubject& subject, const Options& options,
                        ProgressLine& progress) {
  Explored explored;
  const std::vector<ExploredMachine> machines = subject.machines();
  for (const ExploredMachine& machine : machines) {
    if (!explored.holds || interrupted().load()) break;
    Explored one = explore_on(named, machine, options.seconds_explored / static_cast<double>(machines.size()),
                              options, progress);
    explored.text += one.text;
    explored.holds = one.holds;
    explored.json.push_back(std::move(one.json));
  }
  return explored;
}

// Looks for each run that must exist.
Explored look_for_runs(const ProofSubject& subject, const Options& options, ProgressLine& progress) {
  Explored found;
  found.json = nlohmann::json::array();
  for (const SoughtRun& run : subject.runs_that_must_exist()) {
    ExploreOptions how;
    how.time_limit = std::chrono::milliseconds(static_cast<long>(options.seconds_explored * 1000));
    how.memory_limit = std::size_t{4} << 30;
    how.deadlocks = false;
    how.interrupted = &interrupted();
    how.progress = [&](const Progress& now) { progress.show(progress_text("looking", now)); };
    const ExploreResult result = explore(*run.model, how);
    progress.erase();
    const bool exists = result.verdict == Verdict::invariant;
    found.holds = found.holds && exists;
    found.json.push_back({{"run", run.name}, {"exists", exists}});
    found.text += exists ? fmt::format("There is a run of {} steps in which {}.\n",
                                       result.trace.steps.size() - 1, run.name)
                         : fmt::format("No run was found in which {}.\n", run.name);
  }
  return found;
}

// Proofs of one command, as they are printed one after the other.
class Proofs {
 public:
  Proofs(const Options& options, Subject named) : options_(options), named_(std::move(named)) {}

  void prove_lemmas() {
    const ProofEntry& entry = proof_entry();
    const std::unique_ptr<ProofSubject> subject = entry.build(named_.options, options_.any_size);
    if (options_.seconds_explored > 0) {
      explored_ = explore_lemmas(named_, *subject, options_, progress_);
      if (!options_.json) print_now(explored_.text + "\n");
      if (!explored_.holds) status_ = 1;
    }
    ProofTitle title = title_of(*subject, named_.description());
    title.theorem = entry.theorem;
    if (options_.any_size) title.scope = entry.any_size;
    ProveOptions how = prove_options();
    how.only = chosen_lemmas(options_, *subject);
    json_ = prove(*subject, title, how);
    if (!explored_.json.is_null()) json_["explored"] = explored_.json;
  }

  // The system's own properties, or the lemmas that were named, from lemmas found by machine.
  void prove_by_suggestion() {
    const ProofEntry& entry = proof_entry();
    const std::unique_ptr<ProofSubject> subject = entry.build(named_.options, options_.any_size);
    suggest::SuggestOptions how;
    how.targets = options_.lemmas.empty() ? own_properties(*subject) : chosen_lemmas(options_, *subject);
    if (options_.seconds_explored == 0)
      throw BadInput("--suggest rests on states that are explored", "give --explore some seconds");
    // What is false in a reachable state needs no lemmas.
    const std::vector<ExploredMachine> machines = subject->machines();
    for (const ExploredMachine& machine : machines) {
      const ExploredMachine asked{machine.where, std::make_unique<OnlyThese>(*machine.model, how.targets)};
      const Explored explored =
          explore_on(named_, asked, options_.seconds_explored / static_cast<double>(machines.size()),
                     options_, progress_);
      if (explored.holds) continue;
      if (!options_.json) print_now(explored.text);
      json_ = failed_json("refuted");
      json_["explored"] = explored.json;
      status_ = 1;
      return;
    }
    how.literals = options_.literals;
    how.seconds_each = options_.seconds_each;
    how.explore.time = std::chrono::milliseconds(static_cast<long>(options_.seconds_explored * 1000));
    how.explore.interrupted = &interrupted();
    how.explore.progress = [&](const Progress& now) { progress_.show(progress_text("exploring", now)); };
    how.interrupted = &interrupted();
    how.on_progress = [&](std::size_t lemmas, std::size_t open) {
      progress_.show(fmt::format("{}: {} lemmas, {} obligations open", named_.name(), lemmas, open));
    };
    const suggest::Suggested suggested = suggest::suggest(*subject, how);
    progress_.erase();
    if (!options_.json) print_now(suggest::text(*subject, how, suggested));
    if (suggested.interrupted || suggested.failed) {
      status_ = suggested.interrupted ? 130 : 3;
      json_ = failed_json(suggested.interrupted ? "interrupted" : "inconclusive");
      json_["suggested"] = suggest::json(suggested);
      return;
    }
    ProofTitle title = title_of(*subject, named_.description());
    title.theorem =
        fmt::format("the {} to be proved above, from the lemmas that were found", how.targets.size());
    if (options_.any_size) title.scope = entry.any_size;
    json_ = prove(*suggest::with_lemmas(*subject, how.targets, suggested, options_.any_size), title,
                  prove_options());
    json_["suggested"] = suggest::json(suggested);
  }

  // What is promised at the port.
  void prove_theorem() {
    const std::unique_ptr<ProofSubject> subject = theorem_of(named_.system->name, named_.options);
    if (!subject)
      throw BadInput(fmt::format("{} has no lemmas for the theorem at its port", named_.system->name),
                     "leave out --theorem");
    Explored runs;
    if (options_.seconds_explored > 0) {
      explored_ = explore_lemmas(named_, *subject, options_, progress_);
      if (!options_.json) print_now(explored_.text);
      runs = look_for_runs(*subject, options_, progress_);
      if (!options_.json) print_now(runs.text + "\n");
      if (!explored_.holds || !runs.holds) status_ = 1;
    }
    ProofTitle title = title_of(*subject, fmt::format("the port of {}", named_.description()));
    title.theorem =
        "until the first race, every completed load and RMW returned the newest write at its point";
    ProveOptions how = prove_options();
    how.only = chosen_lemmas(options_, *subject);
    how.from_scratch = true;
    json_ = prove(*subject, title, how);
    if (!explored_.json.is_null()) json_["explored"] = explored_.json;
    if (!runs.json.is_null()) json_["runs_that_must_exist"] = runs.json;
  }

  // That the system, left alone, answers.
  void prove_progress() {
    const std::unique_ptr<ProofSubject> subject =
        progress_of(named_.system->name, named_.options, options_.any_size);
    if (!subject)
      throw BadInput(fmt::format("what remains to be done on {} is not written down", named_.system->name),
                     "leave out --progress; `lockstep progress` decides at small sizes");
    if (options_.seconds_explored > 0) {
      explored_ = explore_lemmas(named_, *subject, options_, progress_);
      if (!options_.json) print_now(explored_.text + "\n");
      if (!explored_.holds) status_ = 1;
    }
    ProofTitle title = title_of(*subject, fmt::format("the progress of {}", named_.description()));
    title.theorem =
        "once threads ask no more and optional rules fire no more, every request is answered after finitely "
        "many firings, whichever they are, and memory drains";
    if (options_.any_size) title.scope = "any number of members of every index type that is not fixed";
    ProveOptions how = prove_options();
    how.only = chosen_lemmas(options_, *subject);
    json_ = prove(*subject, title, how);
    if (!explored_.json.is_null()) json_["explored"] = explored_.json;
  }

  // What is claimed beside the protocol; nothing where nothing is.
  void prove_claims() {
    const std::unique_ptr<ProofSubject> claims = claims_of(named_.system->name, named_.options);
    if (!claims) {
      if (options_.only_claims)
        throw BadInput(fmt::format("nothing is claimed beside {}", named_.system->name),
                       "leave out --claims");
      return;
    }
    ProofTitle title = title_of(*claims, fmt::format("what is taken at once on {}", named_.description()));
    title.theorem =
        fmt::format("no outcome is left out where these rules are taken as soon as is claimed: {}",
                    fmt::join(claims->taken_at_once(), "; "));
    if (const auto later = claims->left_for_later(); !later.empty())
      title.theorem +=
          fmt::format("; and these are left for later where that is claimed: {}", fmt::join(later, "; "));
    ProveOptions how = prove_options();
    if (!how.smt_directory.empty()) how.smt_directory += "/claims";
    if (!options_.json && !json_.is_null()) print_now("\n");
    nlohmann::json json = prove(*claims, title, how);
    if (json_.is_null()) {
      json_ = std::move(json);
    } else {
      json_["at_once"] = std::move(json);
    }
  }

  // That the trees, which everything else rests on, say what is read here: of what the other options choose.
  void prove_trees() {
    const SystemOptions& chosen = named_.options;
    std::unique_ptr<ProofSubject> subject =
        options_.theorem ? theorem_of(named_.system->name, chosen)
                         : find_proof(named_.system->name).build(chosen, options_.any_size);
    if (!subject)
      throw BadInput(fmt::format("{} has no lemmas for the theorem at its port", named_.system->name),
                     "leave out --theorem");
    subject = proof_of_trees(std::move(subject));
    ProofTitle title = title_of(*subject, fmt::format("the trees of {}", named_.description()));
    title.theorem = "each rule's recorded tree says what the proofs read of the rule, in every state";
    json_ = prove(*subject, title, prove_options());
  }

  int end() const {
    // What the folder's certificates are of; of them, those of this run.
    if (!options_.certificates.empty())
      write_whole(std::filesystem::path(options_.certificates) / "manifest.json", json_text(json_, 1) + "\n");
    if (options_.json) print_now(json_text(json_, 1) + "\n");
    return status_;
  }

 private:
  [[nodiscard]] const ProofEntry& proof_entry() const {
    const ProofEntry& entry = find_proof(named_.system->name);
    if (options_.any_size && entry.any_size.empty())
      throw BadInput(fmt::format("{} has no proof for any size", entry.system), "leave out --any-size");
    return entry;
  }
  // Where no lemmas came to be proved.
  [[nodiscard]] nlohmann::json failed_json(std::string_view verdict) const {
    return {{"schema", "lockstep.prove/1"}, {"system", named_.description()}, {"verdict", verdict}};
  }
  // What the protocol's header says of itself.
  [[nodiscard]] std::vector<std::string> own_properties(const ProofSubject& subject) const {
    std::vector<std::string> own;
    const recorded::Description described = named_.system->describe(named_.options);
    for (const ProofLemma& lemma : subject.lemmas()) {
      const bool is = std::any_of(described.invariants.begin(), described.invariants.end(),
                                  [&](const auto& invariant) { return invariant.name == lemma.name; });
      if (is) own.push_back(lemma.name);
    }
    if (own.empty())
      throw BadInput(fmt::format("{} has no properties of its own", named_.system->name),
                     "name lemmas to prove with --lemma");
    return own;
  }
  [[nodiscard]] ProofTitle title_of(const ProofSubject& subject, std::string system) const {
    ProofTitle title;
    title.system = std::move(system);
    title.scope = sizes_text(subject.sizes());
    title.solvers = options_.recheck.empty() ? "Z3" : "Z3 and " + options_.recheck;
    title.fixed = subject.fixed_sizes();
    title.client = subject.client();
    return title;
  }
  [[nodiscard]] ProveOptions prove_options() {
    ProveOptions how;
    how.any_size = options_.any_size;
    how.threads = options_.threads;
    how.seconds_each = options_.seconds_each;
    how.recheck = options_.recheck;
    how.smt_directory = options_.smt;
    how.certificates = options_.certificates;
    how.interrupted = &interrupted();
    how.on_progress = [this](std::size_t done, std::size_t planned) {
      progress_.show(fmt::format("{}: {} of about {} obligations", named_.name(), done, planned));
    };
    return how;
  }
  // Prints the result, and keeps the worst exit status.
  nlohmann::json prove(const ProofSubject& subject, const ProofTitle& title, const ProveOptions& how) {
    const ProofResult result = lockstep::prove(subject, how);
    progress_.erase();
    if (!options_.json) print_now(proof_text(title, result, options_.all));
    status_ = std::max(status_, exit_status(result));
    return proof_json(title, result);
  }

  const Options& options_;
  Subject named_;
  ProgressLine progress_;
  Explored explored_;
  nlohmann::json json_;
  int status_ = 0;
};

int run(const Options& options) {
  Subject named = subject_named(options.system);
  apply_shared(options.choice.shared(), std::span(&named, 1));
  Proofs proofs(options, std::move(named));
  if (options.trees) {
    proofs.prove_trees();
    return proofs.end();
  }
  if (options.suggest) {
    proofs.prove_by_suggestion();
    return proofs.end();
  }
  if (options.theorem) {
    proofs.prove_theorem();
    return proofs.end();
  }
  if (options.progress) {
    proofs.prove_progress();
    return proofs.end();
  }
  if (!options.only_claims) proofs.prove_lemmas();
  if (options.lemmas.empty() && !options.any_size && !interrupted().load()) proofs.prove_claims();
  return proofs.end();
}

}  // namespace

Command add_prove(CLI::App& lockstep) {
  auto options = std::make_shared<Options>();
  CLI::App* app = lockstep.add_subcommand("prove", prove_what);
  app->add_option("SYSTEM", options->system, "A system, or SYSTEM/VARIANT (`lockstep list`)")->required();
  app->add_flag("--any-size", options->any_size,
                "For any number of members of every index type but those that it prints as fixed");
  app->add_option("--recheck", options->recheck, "A second solver that has to agree: cvc5")
      ->type_name("SOLVER");
  add_list(*app, "--lemma", options->lemmas, "Only lemmas with this in their names, given all")
      ->type_name("TEXT");
  app->add_flag("--claims", options->only_claims,
                "Only what is claimed beside the protocol: that some rules may be taken at once")
      ->excludes("--lemma")
      ->excludes("--any-size");
  app->add_flag("--theorem", options->theorem,
                "What is promised at the port until the first race, for any client, instead of the lemmas")
      ->excludes("--claims")
      ->excludes("--any-size");
  app->add_flag("--progress", options->progress,
                "That each request is answered once threads ask no more and nothing optional happens, "
                "instead of the lemmas")
      ->excludes("--claims")
      ->excludes("--theorem");
  app->add_flag("--trees", options->trees,
                "That each rule's recorded tree, which footprints, exports and mutants rest on, says what is "
                "read of the rule")
      ->excludes("--claims")
      ->excludes("--progress")
      ->excludes("--lemma");
  CLI::Option* const suggest = app->add_flag(
      "--suggest", options->suggest,
      "Find lemmas by machine: prove the system's own properties, or what --lemma names, from these alone");
  suggest->excludes("--claims")->excludes("--theorem")->excludes("--progress")->excludes("--trees");
  app->add_option("--literals", options->literals, "Of a suggested lemma, at most")
      ->needs(suggest)
      ->check(CLI::Range(1, 8))
      ->capture_default_str();
  app->add_option("--smt", options->smt, "Keep every obligation as SMT-LIB 2 in this folder")
      ->type_name("DIR");
  app->add_option("--certify", options->certificates,
                  "Have what is proved refuted once more by CaDiCaL, check each refutation, and keep them in "
                  "this folder")
      ->type_name("DIR");
  app->add_option("--timeout", options->seconds_each, "Seconds for one obligation in one solver")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app->add_option(
         "--explore", options->seconds_explored,
         "Seconds to look for a reachable state, at small sizes, in which a lemma is false; 0 for none")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app->add_option("--threads", options->threads, "Rules at a time (default: as many as the machine runs)");
  options->choice.add_to(*app);
  app->add_flag("--all", options->all, "Print every obligation with its time");
  app->add_flag("--json", options->json, "Print JSON, schema lockstep.prove/1");
  app->footer(
      "Examples:\n"
      "  lockstep prove german --any-size --recheck cvc5\n"
      "  lockstep prove german --fault keep-copy\n"
      "  lockstep prove german --lemma sharer --smt obligations\n"
      "  lockstep prove german --suggest\n"
      "  lockstep prove quick-release --claims\n"
      "  lockstep prove write-through --theorem --certify certificates\n"
      "  lockstep prove write-through --progress --any-size\n"
      "\n"
      "A lemma is proved when it holds at the start and every rule keeps it, given all lemmas.\n"
      "Exit status: 0 proved, 1 refuted, vacuous or disagreed about, 2 bad input or a solver\n"
      "failed, 3 a solver gave up or ran out of time, 130 interrupted.");
  return {app, [options] { return run(*options); }};
}

}  // namespace lockstep::cli
