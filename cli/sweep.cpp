// `lockstep sweep`: does a comparison of systems hold for all that the machine's values might be?
#include "refimpl/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>

#include "checker/support/diagnostic.hpp"
#include "checker/support/json_text.hpp"
#include "checker/support/process.hpp"
#include "cli/command.hpp"
#include "cli/common.hpp"
#include "cli/simulation.hpp"

namespace lockstep::cli {

namespace {

struct Options {
  SimulationChoice choice;
  SweepChoice sweep;
  std::vector<std::string> varied;
  std::string figure = "cycles";
  double within = 2;  // per cent
  int seeds = 3;
  bool grid = false;
  bool json = false;
};

constexpr const char* vary_hint = "say PATH=V,V,V or PATH=LEAST..MOST, as memory.queue=8..256";

// "memory.queue=8..256", "memory.channels=1,2,4"
Assumption varied(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    throw BadInput(fmt::format("--vary {} says no values", text), vary_hint);
  Assumption a;
  a.name = text.substr(0, equals);
  a.entries.push_back({a.name, "", {}});
  if (a.name == "name" || a.name.starts_with("assumed"))
    throw BadInput(fmt::format("--vary {}: no simulation depends on it", text), vary_hint);
  const std::string values = text.substr(equals + 1);
  if (const std::size_t dots = values.find(".."); dots != std::string::npos) {
    const std::string least = values.substr(0, dots);
    const std::string most = values.substr(dots + 2);
    std::size_t read_least = 0;
    std::size_t read_most = 0;
    try {
      a.least = std::stod(least, &read_least);
      a.most = std::stod(most, &read_most);
    } catch (const std::logic_error&) {  // no number, or none that fits
    }
    if (read_least == 0 || read_least != least.size() || read_most != most.size() || !(a.least >= 0) ||
        !(a.least < a.most))
      throw BadInput(fmt::format("--vary {}: '{}' is no range", text, values), vary_hint);
    a.kind = Assumption::Kind::range;
    a.whole = (least + most).find_first_not_of("0123456789") == std::string::npos;
    return a;
  }
  for (std::size_t from = 0; from <= values.size();) {
    const std::size_t comma = std::min(values.find(',', from), values.size());
    if (comma == from) throw BadInput(fmt::format("--vary {}: a value is missing", text), vary_hint);
    a.values.push_back(values.substr(from, comma - from));
    from = comma + 1;
  }
  return a;
}

std::vector<Assumption> assumptions_of(const Options& options, const Simulation& simulation) {
  std::vector<Assumption> all;
  for (const std::string& text : options.varied) {
    all.push_back(varied(text));
    const auto same = [&](const Assumption& a) { return a.name == all.back().name; };
    if (std::count_if(all.begin(), all.end(), same) > 1)
      throw BadInput(fmt::format("--vary {} twice", all.back().name), "say all of its values at once");
  }
  if (options.varied.empty()) {
    all = simulation.assumed();
    if (all.empty())
      throw BadInput(fmt::format("{} says of nothing that it is assumed", simulation.machine_file()),
                     "name what to vary: --vary memory.queue=8..256, or say it there: [[assumed]]");
  }
  const bool of_seeds = std::any_of(all.begin(), all.end(), [](const Assumption& a) {
    return std::any_of(a.entries.begin(), a.entries.end(),
                       [](const auto& entry) { return entry.path == "seed"; });
  });
  if (options.seeds > 1 && !of_seeds && !options.grid) {
    all.push_back(seeds_from(options.choice.seed, options.seeds));
  }
  return all;
}

void write_plot(const Sweep& sweep, const std::string& file) {
  if (const Conclusion c = conclusion(sweep, 1); c.points == 0 || !std::isfinite(c.most))
    throw BadInput("there is nothing to draw: no ratio, or one to nothing");
  draw([&](const std::string& picture) { return sweep_plot(sweep, picture); }, file);
}

void check_outputs(const Options& options, const Simulation& simulation) {
  if (options.grid && options.varied.empty())
    throw BadInput("--grid of what?", "say --vary PATH=V,V for each that is to be combined");
  if (!options.sweep.plot.empty() &&
      (simulation.systems().size() != 2 || simulation.workloads().size() != 1 || options.grid))
    throw BadInput("--plot is for one workload on two systems", "and without --grid");
  if (!(options.within >= 0)) throw BadInput("--within is no number of per cent");
  options.sweep.check_files();
}

int run(const Options& options) {
  const Simulation simulation = simulation_of(options.choice);
  check_outputs(options, simulation);
  SweepRequest request = options.sweep.request(simulation);
  request.assumptions = assumptions_of(options, simulation);
  request.grid = options.grid;
  request.figure = options.figure;
  request.within = options.within / 100;
  ProgressLine progress;
  std::vector<Sweep> sweeps;
  for (const std::string& workload : simulation.workloads()) {
    request.workload = workload;
    request.run = [&](const MachineSettings& settings) {
      return simulation.run(workload, interrupted(), settings);
    };
    const auto start = std::chrono::steady_clock::now();
    request.on_progress = [&](std::size_t done, std::size_t all) {
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      const double left =
          seconds / static_cast<double>(std::max<std::size_t>(1, done)) * static_cast<double>(all - done);
      progress.show(fmt::format("{}: {} of {} points, {:.0f} s, {:.0f} s to go or more", workload, done, all,
                                seconds, left));
    };
    sweeps.push_back(sweep(request));
    progress.erase();
    if (!options.json) print_now(sweep_text(sweeps.back()));
    if (interrupted()) break;
  }
  if (options.json) {
    nlohmann::ordered_json json{{"schema", "lockstep.sweep/1"}, {"machine", simulation.machine_name()}};
    json["settings"] = options.choice.settings;
    json["sweeps"] = nlohmann::ordered_json::array();
    for (const Sweep& one : sweeps) json["sweeps"].push_back(sweep_json(one));
    print_now(json_text(json, 1) + "\n");
  }
  if (!options.sweep.csv.empty()) write_whole(options.sweep.csv, sweep_csv(sweeps));
  if (!options.sweep.plot.empty() && !interrupted()) write_plot(sweeps.front(), options.sweep.plot);
  return sweeps.size() < simulation.workloads().size() ? 130 : exit_status_of(sweeps);
}

}  // namespace

Command add_sweep(CLI::App& lockstep) {
  auto options = std::make_shared<Options>();
  CLI::App* app = lockstep.add_subcommand("sweep", sweep_what);
  add_to(*app, options->choice);
  app->add_option(
         "--vary", options->varied,
         "What is moved, in place of what the machine file says is assumed: an entry of it, seed, or "
         "size.NAME; may be given many times")
      ->allow_extra_args(false)
      ->type_name("PATH=V,V|A..B");
  app->add_flag("--grid", options->grid, "All combinations of what is varied");
  app->add_option("--seeds", options->seeds, "Seeds that are tried besides, from --seed on; 1: none")
      ->check(CLI::Range(1, 1000).description(""))
      ->type_name("N")
      ->capture_default_str();
  app->add_option("--figure", options->figure, "What is compared: a figure of `lockstep sim`")
      ->type_name("NAME")
      ->capture_default_str();
  app->add_option("--within", options->within, "Two figures are equal that differ by no more per cent")
      ->check(CLI::Range(0.0, 50.0).description(""))
      ->type_name("P")
      ->capture_default_str();
  options->sweep.add_to(*app, "Keep a journal in this file, and go on from what is in it",
                        "Write the range of each as SVG, by gnuplot");
  app->add_flag("--json", options->json, "Print JSON, schema lockstep.sweep/1");
  app->footer(
      "A machine file says what it assumes, and how far that might be off. Each assumed value\n"
      "is moved over its range alone, then all at once, with other seeds besides. That one\n"
      "system has fewer cycles than another stands if it has at every point that was tried.\n"
      "\n"
      "Examples:\n"
      "  lockstep sweep stencil --on write-through,quick-release\n"
      "  lockstep sweep all --on write-through,quick-release --resume qr.journal --csv qr.csv\n"
      "  lockstep sweep copy --on quick-release --vary memory.queue=4..1024 --together 0\n"
      "  lockstep sweep histogram --on write-through,lab --grid --vary size.bins=8,64,512 \\\n"
      "      --vary memory.channels=1,4 --machine refimpl/machines/titan-v.toml\n"
      "\n"
      "Exit status: 0 all ran to their ends with the right results, 1 something got stuck or\n"
      "had wrong results, 2 bad input, 130 interrupted (what was run is printed).");
  return {app, [options] { return run(*options); }};
}

}  // namespace lockstep::cli
