// `lockstep prove`: puts a system's lemmas to Z3, and to a second solver.
#include <fmt/format.h>

#include <memory>

#include "checker/check/check.hpp"
#include "checker/support/diagnostic.hpp"
#include "checker/trace/subject.hpp"
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
  bool no_explore = false;
  std::string recheck;
  std::string smt;
  std::vector<std::string> lemmas;
  double seconds_each = 60;
  unsigned threads = 0;
  SystemChoice choice;
};

std::string sizes_text(const ProofSubject& subject) {
  std::string text;
  for (const auto& [name, size] : subject.sizes()) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name, size);
  }
  return text;
}

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
  title.scope = options.any_size ? std::string(entry.any_size) : sizes_text(*subject);
  title.solvers = options.recheck.empty() ? "Z3" : "Z3 and " + options.recheck;

  ProgressLine progress;
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
    print_now(proof_json(title, result).dump(1) + "\n");
  } else {
    print_now(proof_text(title, result, options.all));
  }
  return exit_status(result);
}

}  // namespace

Command add_prove(CLI::App& lockstep) {
  auto options = std::make_shared<Options>();
  CLI::App* app = lockstep.add_subcommand("prove", "Prove a system's lemmas with Z3, at a size or at any");
  app->add_option("SYSTEM", options->system, "A system, or SYSTEM/VARIANT (`lockstep list`)")->required();
  app->add_flag("--any-size", options->any_size, "For any number of members of every index type");
  app->add_option("--recheck", options->recheck, "A second solver that has to agree: cvc5")
      ->type_name("SOLVER");
  add_list(*app, "--lemma", options->lemmas, "Only lemmas with this in their names, given all")
      ->type_name("TEXT");
  app->add_option("--smt", options->smt, "Keep every obligation as SMT-LIB 2 in this folder")
      ->type_name("DIR");
  app->add_option("--timeout", options->seconds_each, "Seconds for one obligation in one solver")
      ->check(CLI::PositiveNumber)
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
