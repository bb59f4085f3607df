// Choosing what is simulated.
#include "cli/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <thread>

#include "checker/support/diagnostic.hpp"
#include "checker/support/process.hpp"
#include "cli/common.hpp"

namespace lockstep::cli {

void add_to(CLI::App& app, SimulationChoice& choice) {
  app.add_option("WORKLOAD", choice.workload,
                 "copy, vector-add, reduction, histogram, stencil, message-passing, or all of them: all; "
                 "a file of kernels (FILE.cl, or one that is shipped: lockstep list kernels); a "
                 "synchronization program; a litmus test, by name or file; a kernel trace (kernelslist.g, "
                 "FILE.traceg); a list of accesses (FILE.csv); of launches: babelstream, stencil")
      ->required();
  add_list(app, "--on", choice.systems,
           "Systems to run on (default: write-through); sc/awg: under a waiting policy")
      ->type_name("S,S");
  app.add_option("--machine", choice.machine,
                 "Machine file (default: refimpl/machines/apu.toml, or chiplets.toml)")
      ->type_name("FILE");
  app.add_option("--set", choice.settings,
                 "An entry of the machine file, said otherwise: memory.queue=64; without a value it is "
                 "taken away; * stands for each key")
      ->allow_extra_args(false)
      ->type_name("PATH=VALUE");
  add_list(app, "--size", choice.sizes, "A size of the workload or of the protocol, such as words=4096")
      ->type_name("K=N");
  add_list(app, "--graph", choice.graphs,
           "A file in place of a graph that a file of kernels makes: Matrix Market or DIMACS")
      ->type_name("NAME=FILE");
  add_list(app, "--fault", choice.faults, "A deliberate mistake of the systems; may be given many times")
      ->type_name("NAME");
  app.add_option("--cus", choice.cus, "CUs (default: as the machine has)")
      ->check(CLI::Range(1, 4096).description(""))
      ->type_name("N");
  app.add_option("--cycles", choice.cycles, "Give a run up after so many (default: never)")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 50).description(""))
      ->type_name("N");
  app.add_option("--seed", choice.seed, "Of the data and of the order in which waves start (default: 1)")
      ->type_name("N");
}

Simulation simulation_of(const SimulationChoice& choice) {
  return Simulation(choice, litmus_home());
}

void SweepChoice::add_to(CLI::App& app, const std::string& journal_what, const std::string& plot_what) {
  app.add_option("--points", points, "Of a range")
      ->check(CLI::Range(2, 1000).description(""))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--together", together, "Points at which everything is moved at once")
      ->check(CLI::Range(0, 100000).description(""))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--resume", journal, journal_what)->type_name("FILE");
  app.add_option("--csv", csv, "Write each point, with all figures")->type_name("FILE");
  app.add_option("--plot", plot, plot_what)->type_name("FILE");
  app.add_option("--threads", threads, "Simulations at a time (default: as many as the machine runs)")
      ->check(CLI::Range(1, 1024).description(""))
      ->type_name("N");
}

void SweepChoice::check_files() const {
  if (!plot.empty()) ask_for_gnuplot();
  const std::array files{csv, plot, journal};
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (!files[i].empty() &&
        std::find(files.begin() + static_cast<std::ptrdiff_t>(i) + 1, files.end(), files[i]) != files.end())
      throw BadInput(fmt::format("'{}' is to hold two things", files[i]));
  }
  for (const std::string& file : {csv, plot}) {
    if (!file.empty()) ensure_writable(file);
  }
}

SweepRequest SweepChoice::request(const Simulation& simulation) const {
  SweepRequest request;
  request.systems = simulation.systems();
  request.check = [&](const MachineSettings& settings) { simulation.check(settings); };
  request.points = points;
  request.together = together;
  request.threads = threads > 0 ? threads : std::max(1U, std::thread::hardware_concurrency());
  request.journal = journal;
  if (!journal.empty()) {
    request.identity = simulation.identity();
    request.identity["build"] = build_identity();
  }
  request.interrupted = &interrupted();
  return request;
}

namespace {

ProcessResult gnuplot(const std::string& argument, const TemporaryFolder& folder) {
  Process process;
  process.command = {"gnuplot", argument};
  process.folder = folder.path();
  process.interrupted = &interrupted();
  return run_process(process);
}

}  // namespace

void ask_for_gnuplot(std::string_view option) {
  if (gnuplot("--version", TemporaryFolder()).end == ProcessResult::End::missing)
    throw BadInput(fmt::format("{} needs gnuplot, which is not installed", option),
                   "apt-get install gnuplot-nox");
}

void draw(const std::function<std::string(const std::string& picture)>& program, const std::string& file) {
  const TemporaryFolder folder;
  const std::string text = (folder.path() / "plot.gp").string();
  const std::string picture = (folder.path() / "plot.svg").string();
  write_file(text, program(picture));
  const ProcessResult result = gnuplot(text, folder);
  if (result.end != ProcessResult::End::exited || result.status != 0)
    throw BadInput(fmt::format("gnuplot failed: {}", result.output));
  write_whole(file, read_file(picture));
}

}  // namespace lockstep::cli
