// `lockstep study`: what a paper puts side by side, on its machine, beside what it says.
#include "refimpl/study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "checker/support/diagnostic.hpp"
#include "checker/support/home.hpp"
#include "checker/support/json_text.hpp"
#include "checker/support/process.hpp"
#include "cli/command.hpp"
#include "cli/common.hpp"
#include "cli/simulation.hpp"

namespace lockstep::cli {

namespace {

struct Options {
  std::string name;
  SweepChoice sweep;
  MachineSettings settings;
  std::uint64_t seed = 1;
  bool quick = false;
  bool json = false;
};

constexpr const char* studies = "refimpl/studies";
constexpr const char* machines = "refimpl/machines";

// Of the files of a folder that comes with Lockstep.
std::vector<std::string> names_in(const char* folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(shipped(folder))) {
    if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Throws BadInput, of a `what`, where the folder has no such file.
std::string file_in(const char* folder, std::string_view what, const std::string& name) {
  const std::vector<std::string> names = names_in(folder);
  if (std::find(names.begin(), names.end(), name) == names.end())
    throw BadInput(fmt::format("unknown {} '{}'", what, name), suggestion(name, names));
  return (shipped(folder) / (name + ".toml")).string();
}

Study study_named(const std::string& name) {
  const std::string file = name.ends_with(".toml") ? name : file_in(studies, "study", name);
  return parse_study(read_file(file), file);
}

int list_studies() {
  std::string text;
  for (const std::string& name : names_in(studies)) {
    const Study study = study_named(name);
    text += fmt::format("{:<16}{}; {}\n", name, study.title, study.source);
  }
  print_now(text);
  return 0;
}

SimulationChoice choice_of(const Study& study, const Study::Bar& bar, const Options& options) {
  SimulationChoice choice;
  choice.workload = bar.workload;
  choice.systems = study.systems;
  choice.machine = file_in(machines, "machine", study.machine);
  choice.sizes = bar.sizes;
  choice.settings = options.settings;
  choice.seed = options.seed;
  return choice;
}

Sweep sweep_of(const Study& study, std::size_t bar, const Options& options, ProgressLine& progress) {
  const SimulationChoice choice = choice_of(study, study.bars[bar], options);
  const Simulation simulation = simulation_of(choice);
  SweepRequest request = options.sweep.request(simulation);
  request.workload = choice.workload;
  request.figure = study.panels.front().figure;
  if (options.quick) {
    request.together = 0;
  } else {
    request.assumptions = simulation.assumed();
    request.assumptions.push_back(seeds_from(options.seed, 3));
  }
  request.run = [&](const MachineSettings& settings) {
    return simulation.run(choice.workload, interrupted(), settings);
  };
  if (!request.journal.empty()) request.journal = fmt::format("{}.{}", request.journal, bar + 1);
  request.on_progress = [&](std::size_t done, std::size_t all) {
    progress.show(fmt::format("bar {} of {}, {}: {} of {} points", bar + 1, study.bars.size(),
                              study.bars[bar].name(), done, all));
  };
  return sweep(request);
}

int run(const Options& options) {
  if (options.name.empty()) return list_studies();
  const Study study = study_named(options.name);
  options.sweep.check_files();
  ProgressLine progress;
  std::vector<Sweep> sweeps;
  while (sweeps.size() < study.bars.size() && !interrupted())
    sweeps.push_back(sweep_of(study, sweeps.size(), options, progress));
  progress.erase();
  if (options.json) {
    print_now(json_text(study_json(study, sweeps), 1) + "\n");
  } else {
    print_now(study_text(study, sweeps));
  }
  if (!options.sweep.csv.empty()) write_whole(options.sweep.csv, sweep_csv(sweeps));
  if (interrupted()) return 130;
  if (!options.sweep.plot.empty())
    draw([&](const std::string& picture) { return study_plot(study, sweeps, picture); }, options.sweep.plot);
  return exit_status_of(sweeps);
}

}  // namespace

Command add_study(CLI::App& lockstep) {
  auto options = std::make_shared<Options>();
  CLI::App* app = lockstep.add_subcommand("study", study_what);
  app->add_option("NAME", options->name, "A study, or a file of your own; without it, what there is");
  app->add_flag("--quick", options->quick, "The machine as its file stands, without ranges: about a minute");
  app->add_option("--set", options->settings, "An entry of the machine file, said otherwise; as for sim")
      ->allow_extra_args(false)
      ->type_name("PATH=VALUE");
  app->add_option("--seed", options->seed, "Of the data and of the order in which waves start")
      ->type_name("N")
      ->capture_default_str();
  options->sweep.add_to(*app, "Keep journals, FILE.1 for the first bar, and go on from what is in them",
                        "Write the bars with their ranges as SVG, by gnuplot");
  app->add_flag("--json", options->json, "Print JSON, schema lockstep.study/1");
  app->footer(
      "A study is a file (refimpl/studies): systems, the first of which the others are relative\n"
      "to, a machine, workloads, and what the paper's text says. Each bar is run again with what\n"
      "the machine file assumes moved over its range, as `lockstep sweep` does.\n"
      "\n"
      "Examples:\n"
      "  lockstep study\n"
      "  lockstep study quick-release --quick\n"
      "  lockstep study quick-release --resume qr.journal --plot qr.svg --csv qr.csv\n"
      "\n"
      "Exit status: 0 all ran to their ends with the right results, 1 something got stuck or\n"
      "had wrong results, 2 bad input, 130 interrupted (what was run is printed).");
  return {app, [options] { return run(*options); }};
}

}  // namespace lockstep::cli
