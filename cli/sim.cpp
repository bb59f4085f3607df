// `lockstep sim`: runs a workload on a timed machine, on one system or on several side by side.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "checker/support/diagnostic.hpp"
#include "checker/support/json_text.hpp"
#include "checker/support/process.hpp"
#include "cli/command.hpp"
#include "cli/common.hpp"
#include "cli/simulation.hpp"
#include "refimpl/outcomes.hpp"
#include "refimpl/roofline.hpp"
#include "refimpl/timeline.hpp"

namespace lockstep::cli {

namespace {

constexpr std::uint64_t usual_epoch = 1000;  // cycles

struct Options {
  SimulationChoice choice;
  std::string plot;
  std::string timeline;
  std::string epochs;
  std::string roofline;
  std::uint64_t epoch = 0;  // cycles; 0: as usual
  int runs = 0;             // 0: as usual
  int jitter = -1;
  bool json = false;
  bool rules = false;
};

// A litmus test is run again and again, and its outcomes are counted.
int run_litmus(const Options& options, const Simulation& simulation) {
  const std::size_t runs =
      options.runs > 0 ? static_cast<std::size_t>(options.runs) : TimedTestRequest{}.runs;
  const TimedTest result = simulation.run_test(runs, std::max(0, options.jitter), interrupted());
  if (options.json) {
    nlohmann::ordered_json json{{"schema", "lockstep.sim/1"}, {"machine", simulation.machine_name()}};
    json["tests"] = {timed_test_json(result)};
    print_now(json_text(json, 1) + "\n");
  } else {
    print_now(timed_test_text(result));
  }
  return exit_status_of(result);
}

int run(const Options& options) {
  const Simulation simulation = simulation_of(options.choice);
  if (simulation.test() != nullptr) {
    for (const auto& [given, name] :
         {std::pair(!options.plot.empty(), "--plot"), std::pair(options.rules, "--rules"),
          std::pair(!options.timeline.empty(), "--timeline"), std::pair(!options.epochs.empty(), "--epochs"),
          std::pair(!options.roofline.empty(), "--roofline"),
          std::pair(options.choice.profile, "--profile")}) {
      if (given) throw BadInput(fmt::format("{} is not for litmus tests", name));
    }
    return run_litmus(options, simulation);
  }
  if (options.runs > 0 || options.jitter >= 0)
    throw BadInput(fmt::format("{} is for litmus tests", options.runs > 0 ? "--runs" : "--jitter"));
  if (!options.plot.empty() && simulation.launches()) throw BadInput("--plot is for programs");
  if (!options.plot.empty() && simulation.systems().size() != 2) {
    throw BadInput("--plot compares two systems", "say --on write-through,quick-release");
  }
  std::optional<Timeline> timeline;
  if (!options.timeline.empty()) {
    if (simulation.launches()) throw BadInput("--timeline is for programs");
    if (simulation.systems().size() != 1 || simulation.workloads().size() != 1)
      throw BadInput("--timeline is of one workload on one system", "--plot compares two");
    timeline.emplace(options.timeline,
                     fmt::format("{} on {}", simulation.workloads().front(), simulation.systems().front()),
                     simulation.request().machine.gigahertz);
  }
  if (!options.roofline.empty() && simulation.launches()) throw BadInput("--roofline is for programs");
  if (!options.roofline.empty()) {
    ask_for_gnuplot("--roofline");
    ensure_writable(options.roofline);
  }
  if (!options.epochs.empty()) ensure_writable(options.epochs);
  ProgressLine progress;
  std::vector<ComparedRun> runs;
  for (const std::string& workload : simulation.workloads()) {
    ComparedRun compared = simulation.run(
        workload, interrupted(), {}, [&](const std::string& now) { progress.show(now); },
        timeline ? &*timeline : nullptr);
    progress.erase();
    if (!options.json) print_now(comparison_text(compared, options.rules));
    runs.push_back(std::move(compared));
    if (interrupted()) break;
  }
  if (options.json) {
    nlohmann::ordered_json json = comparison_json(simulation.machine_name(), runs);
    json["version"] = headers_version;
    json["machine_file"] = simulation.machine_file();
    // What the results depend on, but for the build.
    json["configuration"] = simulation.identity();
    if (!options.roofline.empty()) json["roofline"] = roofline_json(roofline_of(runs));
    print_now(json_text(json, 1) + "\n");
  }
  if (timeline) {
    timeline->close();
    if (!options.json)
      print_now(fmt::format("Timeline written to {}: {} opens it\n", options.timeline,
                            timeline->is_page() ? "a browser" : "ui.perfetto.dev"));
  }
  if (!options.plot.empty() && !interrupted()) {
    write_whole(options.plot, comparison_svg(runs));
    if (!options.json) print_now(fmt::format("Plot written to {}\n", options.plot));
  }
  if (!options.roofline.empty() && !interrupted()) {
    const Roofline roofline = roofline_of(runs);
    if (!options.json) print_now(roofline_text(roofline));
    draw([&](const std::string& picture) { return roofline_plot(roofline, picture); }, options.roofline);
    if (!options.json) print_now(fmt::format("Roofline written to {}\n", options.roofline));
  }
  if (!options.epochs.empty()) {
    write_whole(options.epochs, epochs_csv(runs));
    if (!options.json) print_now(fmt::format("Epochs written to {}\n", options.epochs));
  }
  return runs.size() < simulation.workloads().size() ? 130 : exit_status_of(runs);
}

}  // namespace

Command add_sim(CLI::App& lockstep) {
  auto options = std::make_shared<Options>();
  CLI::App* app = lockstep.add_subcommand("sim", sim_what);
  add_to(*app, options->choice);
  app->add_option("--plot", options->plot, "Write run time and DRAM writes of two systems as SVG")
      ->type_name("FILE");
  app->add_option(
         "--timeline", options->timeline,
         "Write what every wave and unit does when, as a trace that Perfetto opens, or a page: *.html")
      ->type_name("FILE");
  app->add_flag(
      "--profile", options->choice.profile,
      "Also print where the cycles of accesses and waves went, latencies, kernels, units and links");
  app->add_option("--epochs", options->epochs,
                  "Write what was counted in each so many cycles as CSV (implies --profile)")
      ->type_name("FILE");
  app->add_option("--epoch", options->epoch, "Cycles of an epoch (default: 1000)")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40).description(""))
      ->type_name("N");
  app->add_option(
         "--roofline", options->roofline,
         "Write how near each kernel comes to what CUs can issue and DRAM transfer, as SVG, by gnuplot")
      ->type_name("FILE");
  app->add_option("--runs", options->runs, "Of a litmus test, each with another seed (default: 100)")
      ->check(CLI::Range(1, 100'000'000).description(""))
      ->type_name("N");
  app->add_option("--jitter", options->jitter,
                  "Of a litmus test: cycles, at most, that anything may take longer, at random (default: 0)")
      ->check(CLI::Range(0, 1'000'000).description(""))
      ->type_name("N");
  app->add_flag("--rules", options->rules, "Also print how often each rule fired");
  app->add_flag("--json", options->json, "Print JSON, schema lockstep.sim/1");
  app->footer(
      "Examples:\n"
      "  lockstep sim copy --on write-through\n"
      "  lockstep sim stencil --on write-through,quick-release --size words=1024\n"
      "  lockstep sim all --on write-through,quick-release --plot qr.svg\n"
      "  lockstep sim copy --on write-through --set memory.queue=64 --set memory.kind=dram\n"
      "      --set memory.preset=ddr4 --set memory.bytes_per_cycle=\n"
      "  lockstep sim stencil --on write-through,quick-release --profile\n"
      "  lockstep sim mp-agent --on write-through,quick-release --runs 1000 --jitter 200\n"
      "  lockstep sim ticket-lock --on quick-release --size threads=3\n"
      "  lockstep sim tree-barrier --on sc/busy-waiting,sc/awg --machine refimpl/machines/awg.toml\n"
      "      --size cus=8 --size work-groups-per-cu=8 --size waiting=1\n"
      "  lockstep sim babelstream --on cpcoh                    beside cpcoh/baseline\n"
      "\n"
      "Exit status: 0 ran to its end with the right results, 1 stuck, given up, an assertion\n"
      "failed, wrong results or an outcome that is never expected, 2 bad input, 130 interrupted (partial "
      "figures).");
  return {app, [options] {
            if (options->epoch > 0 && options->epochs.empty()) throw BadInput("--epoch is for --epochs FILE");
            if (!options->epochs.empty() || !options->roofline.empty()) options->choice.profile = true;
            if (!options->epochs.empty()) {
              options->choice.epoch = options->epoch > 0 ? options->epoch : usual_epoch;
            }
            return run(*options);
          }};
}

}  // namespace lockstep::cli
