// `lockstep prove`: puts a system's lemmas to Z3, and to a second solver.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "checker/check/check.hpp"
#include "checker/explore/explorer.hpp"
#include "checker/runs/subject.hpp"
#include "checker/support/diagnostic.hpp"
#include "checker/trace/trace.hpp"
#include "cli/command.hpp"
#include "cli/common.hpp"
#include "proofs/prover.hpp"
#include "proofs/report.hpp"

namespace lockstep::cli {

namespace {

struct Options {
  std::string system;
  bool any_size = false;
  bool json = false;
  bool all = false;
  std::string recheck;
  std::string smt;
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

Explored explore_lemmas(const Subject& named, const ProofSubject& subject, const Options& options,
                        ProgressLine& progress) {
  Explored explored;
  const std::unique_ptr<Model> model = subject.model();
  ExploreOptions explore_options;
  explore_options.threads =
      options.threads == 0 ? std::max(1U, std::thread::hardware_concurrency()) : options.threads;
  explore_options.time_limit = std::chrono::milliseconds(static_cast<long>(options.seconds_explored * 1000));
  explore_options.memory_limit = std::size_t{4} << 30;
  explore_options.deadlocks = false;
  explore_options.interrupted = &interrupted();
  explore_options.progress = [&](const Progress& now) { progress.show(progress_text("exploring", now)); };
  const ExploreResult result = explore(*model, explore_options);
  progress.erase();
  const std::string where = sizes_text(subject.explored_sizes());
  explored.json = {{"states", result.states}, {"sizes", where}, {"seconds", result.seconds}};
  if (result.verdict == Verdict::invariant) {
    const RecordedTrace trace = record(named, *model, result.trace, TraceEnd::invariant,
                                       model->invariants().at(static_cast<std::size_t>(result.violated)));
    explored.holds = false;
    explored.json["violated"] = trace.what;
    explored.text = fmt::format("Explored at {}: a lemma is false in a reachable state.\n{}\n", where,
                                trace_text(trace) + trace_end_text(trace));
  } else if (result.verdict == Verdict::broken) {
    const RecordedTrace trace = record(named, *model, result.trace, TraceEnd::broken, result.broken);
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

int run(const Options& options) {
  Subject named = subject_named(options.system);
  apply_shared(options.choice.shared(), std::span(&named, 1));
  const ProofEntry& entry = find_proof(named.system->name);
  if (options.any_size && entry.any_size.empty())
    throw BadInput(fmt::format("{} has no proof for any size", entry.system), "leave out --any-size");
  const std::unique_ptr<ProofSubject> subject = entry.build(named.options, options.any_size);

  ProofTitle title;
  title.system = named.description();
  title.theorem = entry.theorem;
  title.scope = options.any_size ? std::string(entry.any_size) : sizes_text(subject->sizes());
  title.solvers = options.recheck.empty() ? "Z3" : "Z3 and " + options.recheck;
  title.fixed = subject->fixed_sizes();
  title.client = subject->client();

  ProgressLine progress;
  Explored explored;
  if (options.seconds_explored > 0) {
    explored = explore_lemmas(named, *subject, options, progress);
    if (!options.json) print_now(explored.text + "\n");
  }
  ProveOptions prove_options;
  prove_options.any_size = options.any_size;
  prove_options.threads = options.threads;
  prove_options.seconds_each = options.seconds_each;
  prove_options.recheck = options.recheck;
  prove_options.smt_directory = options.smt;
  prove_options.only = chosen_lemmas(options, *subject);
  prove_options.interrupted = &interrupted();
  prove_options.on_progress = [&](std::size_t done, std::size_t planned) {
    progress.show(fmt::format("{}: {} of about {} obligations", named.name(), done, planned));
  };
  const ProofResult result = prove(*subject, prove_options);
  progress.erase();
  if (options.json) {
    nlohmann::json json = proof_json(title, result);
    if (!explored.json.is_null()) json["explored"] = explored.json;
    print_now(json.dump(1) + "\n");
  } else {
    print_now(proof_text(title, result, options.all));
  }
  const int status = exit_status(result);
  return status == 0 && !explored.holds ? 1 : status;
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
  app->add_option("--smt", options->smt, "Keep every obligation as SMT-LIB 2 in this folder")
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
      "\n"
      "A lemma is proved when it holds at the start and every rule keeps it, given all lemmas.\n"
      "Exit status: 0 proved, 1 refuted, vacuous or disagreed about, 2 bad input or a solver\n"
      "failed, 3 a solver gave up or ran out of time, 130 interrupted.");
  return {app, [options] { return run(*options); }};
}

}  // namespace lockstep::cli
