// `lockstep study`: what a paper puts side by side, on its machine, beside what it says.
#include "refimpl/study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "checker/support/diagnostic.hpp"
#include "checker/support/home.hpp"
#include "checker/support/jobs.hpp"
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
    text += fmt::format("{:<20}{}; {}\n", name, study.title, study.source);
  }
  print_now(text);
  return 0;
}

// A simulation of all systems, or one of each program.
std::vector<Simulation> simulations_of(const Study& study, const Study::Bar& bar, const Options& options) {
  SimulationChoice choice;
  choice.workload = bar.workload;
  choice.systems = study.systems;
  choice.machine = file_in(machines, "machine", study.machine);
  choice.sizes = bar.sizes;
  choice.settings = study.settings;
  choice.settings.insert(choice.settings.end(), bar.settings.begin(), bar.settings.end());
  choice.cycles = study.cycles;
  choice.settings.insert(choice.settings.end(), options.settings.begin(), options.settings.end());
  choice.seed = options.seed;
  std::vector<Simulation> all;
  for (const Study::Program& program : study.programs) {
    SimulationChoice own = choice;
    own.workload = program.workload;
    own.systems = {study.on};
    own.sizes.insert(own.sizes.end(), program.sizes.begin(), program.sizes.end());
    all.push_back(simulation_of(own));
  }
  if (all.empty()) all.push_back(simulation_of(choice));
  return all;
}

// The same machine with each program: results are called after programs.
ComparedRun run_programs(const Study& study, const std::vector<Simulation>& simulations, unsigned threads,
                         const MachineSettings& settings) {
  std::vector<ComparedRun> runs(simulations.size());
  run_jobs(
      runs.size(), threads,
      [&](std::size_t i) {
        runs[i] = simulations[i].run(study.programs[i].workload, interrupted(), settings);
      },
      [] {});
  ComparedRun all = std::move(runs.front());
  for (std::size_t i = 1; i < runs.size(); ++i) all.results.push_back(std::move(runs[i].results.front()));
  for (std::size_t i = 0; i < all.results.size(); ++i) all.results[i].system = study.programs[i].name;
  return all;
}

// What is assumed, but what the bar says itself.
std::vector<Assumption> assumed_of(const Simulation& simulation, const Study::Bar& bar) {
  std::vector<Assumption> all = simulation.assumed();
  for (Assumption& a : all) {
    if (a.kind == Assumption::Kind::alternatives) continue;
    std::erase_if(a.entries, [&](const Assumption::Entry& entry) {
      return std::any_of(bar.settings.begin(), bar.settings.end(),
                         [&](const std::string& setting) { return setting.starts_with(entry.path + "="); });
    });
  }
  std::erase_if(
      all, [](const Assumption& a) { return a.kind != Assumption::Kind::alternatives && a.entries.empty(); });
  return all;
}

Sweep sweep_of(const Study& study, std::size_t bar, const Options& options, ProgressLine& progress) {
  const std::vector<Simulation> simulations = simulations_of(study, study.bars[bar], options);
  const Simulation& simulation = simulations.front();
  SweepRequest request = options.sweep.request(simulation);
  request.workload = study.programs.empty() ? study.bars[bar].workload : study.bars[bar].name();
  if (!study.programs.empty()) {
    request.systems = study.systems;
    if (!request.journal.empty()) {
      request.identity["programs"] = nlohmann::json::array();
      for (const Simulation& one : simulations) request.identity["programs"].push_back(one.identity());
    }
  }
  request.figure = study.panels.front().figure;
  if (options.quick) {
    request.together = 0;
  } else {
    request.assumptions = assumed_of(simulation, study.bars[bar]);
    request.assumptions.push_back(seeds_from(options.seed, 3));
  }
  const unsigned threads = options.quick ? request.threads : 1;  // else points are simulated side by side
  request.run = [&study, &simulations, &simulation, bar, threads](const MachineSettings& settings) {
    if (!study.programs.empty()) return run_programs(study, simulations, threads, settings);
    return simulation.run(study.bars[bar].workload, interrupted(), settings);
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
      "A study is a file (refimpl/studies): systems, or programs on one system, the first of which\n"
      "the others are relative to, a machine, workloads, and what the paper's text says. Each bar is\n"
      "run again with what the machine file assumes moved over its range, as `lockstep sweep` does.\n"
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
