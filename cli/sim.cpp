// `lockstep sim`: runs a workload on a timed machine, on one system or on several side by side.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <memory>

#include "checker/runs/subject.hpp"
#include "checker/support/diagnostic.hpp"
#include "checker/support/home.hpp"
#include "cli/command.hpp"
#include "cli/common.hpp"
#include "refimpl/comparison.hpp"
#include "refimpl/launched.hpp"
#include "refimpl/simulator.hpp"

namespace lockstep::cli {

namespace {

struct Options {
  std::string workload;
  std::vector<std::string> systems;
  std::string machine;
  std::vector<std::string> sizes;
  std::string plot;
  int cus = 0;
  std::uint64_t seed = 1;
  bool json = false;
  bool rules = false;
};

std::string shipped_machine(const std::string& name) {
  return shipped("refimpl/machines/" + name).string();
}

bool takes_launches(const std::string& system) {
  SimulationOptions options;
  return find_launched_system(system, options) != nullptr;
}

// Systems whose client launches kernels run workloads of their own, beside the baseline where one is named.
int run_launched(const Options& options) {
  const ChipletMachine machine =
      read_chiplet_machine(options.machine.empty() ? shipped_machine("chiplets.toml") : options.machine);
  if (options.cus > 0) {
    throw BadInput("--cus is not for machines of chiplets", "say --size chiplets=N");
  }
  SimulationRequest request;
  request.machine.name = machine.name;
  request.options.seed = options.seed;
  for (const std::string& text : options.sizes) request.sizes.insert(parse_size(text));
  request.systems = options.systems;
  if (request.systems.size() == 1 && request.systems.front().find('/') == std::string::npos)
    request.systems.insert(request.systems.begin(), request.systems.front() + "/baseline");
  if (!options.plot.empty()) throw BadInput("--plot is for programs");
  std::vector<std::string> workloads{options.workload};
  if (options.workload == "all") {
    workloads.clear();
    for (const LaunchWorkloadEntry& entry : launch_workloads()) workloads.emplace_back(entry.name);
  }
  std::vector<ComparedRun> runs;
  for (const std::string& workload : workloads) {
    runs.push_back(run_launched_workload(machine, request, workload, interrupted()));
    if (!options.json) print_now(comparison_text(runs.back(), options.rules));
    if (interrupted()) break;
  }
  if (options.json) print_now(comparison_json(request, runs).dump(1) + "\n");
  return exit_status_of(runs);
}

// Sizes of the workload and those of the protocols' queues are told apart by name.
SimulationRequest request_of(const Options& options) {
  SimulationRequest request;
  request.machine = read_machine(options.machine.empty() ? shipped_machine("apu.toml") : options.machine,
                                 shipped_machine(""));
  request.options.cus = options.cus;
  request.options.seed = options.seed;
  for (const std::string& text : options.sizes) request.sizes.insert(parse_size(text));
  request.systems = options.systems;
  if (request.systems.empty()) request.systems = {"write-through"};
  if (options.workload != "all") {
    request.workloads.push_back(options.workload);
  } else {
    for (const WorkloadEntry& entry : workloads()) request.workloads.emplace_back(entry.name);
  }
  return request;
}

void write_plot(const std::vector<ComparedRun>& runs, const std::string& file) {
  std::ofstream stream(file);
  stream << comparison_svg(runs);
  if (!stream.flush()) throw BadInput(fmt::format("cannot write '{}'", file));
}

int run(const Options& options) {
  const auto launched = std::count_if(options.systems.begin(), options.systems.end(), takes_launches);
  if (launched > 0 && static_cast<std::size_t>(launched) < options.systems.size())
    throw BadInput("systems that run programs and systems that take launches cannot be compared",
                   "name those of one kind with --on");
  if (launched > 0) return run_launched(options);
  const auto bears_name = [&](const auto& entry) { return entry.name == options.workload; };
  if (std::any_of(launch_workloads().begin(), launch_workloads().end(), bears_name) &&
      std::none_of(workloads().begin(), workloads().end(), bears_name)) {
    throw BadInput(fmt::format("'{}' is a sequence of launches", options.workload), "say --on cpcoh");
  }
  SimulationRequest request = request_of(options);
  if (!options.plot.empty() && request.systems.size() != 2) {
    throw BadInput("--plot compares two systems", "say --on write-through,quick-release");
  }
  ProgressLine progress;
  std::vector<ComparedRun> runs;
  for (const std::string& workload : request.workloads) {
    ComparedRun compared =
        run_workload(request, workload, interrupted(), [&](const std::string& now) { progress.show(now); });
    progress.erase();
    if (!options.json) print_now(comparison_text(compared, options.rules));
    runs.push_back(std::move(compared));
    if (interrupted()) break;
  }
  if (options.json) print_now(comparison_json(request, runs).dump(1) + "\n");
  if (!options.plot.empty() && !interrupted()) {
    write_plot(runs, options.plot);
    if (!options.json) print_now(fmt::format("Plot written to {}\n", options.plot));
  }
  return exit_status_of(runs);
}

}  // namespace

Command add_sim(CLI::App& lockstep) {
  auto options = std::make_shared<Options>();
  CLI::App* app = lockstep.add_subcommand("sim", sim_what);
  app->add_option("WORKLOAD", options->workload,
                  "copy, vector-add, reduction, stencil, message-passing, or all of them: all; "
                  "of launches: babelstream, stencil")
      ->required();
  add_list(*app, "--on", options->systems, "Systems to run on (default: write-through)")->type_name("S,S");
  app->add_option("--machine", options->machine,
                  "Machine file (default: refimpl/machines/apu.toml, or chiplets.toml)")
      ->type_name("FILE");
  add_list(*app, "--size", options->sizes, "A size of the workload or of the protocol, such as words=4096")
      ->type_name("K=N");
  app->add_option("--cus", options->cus, "CUs (default: as the machine has)")
      ->check(CLI::Range(1, 4096).description(""))
      ->type_name("N");
  app->add_option("--seed", options->seed, "Of the data and of the order in which waves start (default: 1)")
      ->type_name("N");
  app->add_option("--plot", options->plot, "Write run time and DRAM writes of two systems as SVG")
      ->type_name("FILE");
  app->add_flag("--rules", options->rules, "Also print how often each rule fired");
  app->add_flag("--json", options->json, "Print JSON, schema lockstep.sim/1");
  app->footer(
      "Examples:\n"
      "  lockstep sim copy --on write-through\n"
      "  lockstep sim stencil --on write-through,quick-release --size words=1024\n"
      "  lockstep sim all --on write-through,quick-release --plot qr.svg\n"
      "  lockstep sim babelstream --on cpcoh                    beside cpcoh/baseline\n"
      "\n"
      "Exit status: 0 ran to its end with the right results, 1 stuck, an assertion\n"
      "failed or wrong results, 2 bad input, 130 interrupted (partial figures).");
  return {app, [options] { return run(*options); }};
}

}  // namespace lockstep::cli
