// Choosing what is simulated.
#include "cli/simulation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <thread>

#include "checker/language/read_tests.hpp"
#include "checker/language/test.hpp"
#include "checker/runs/subject.hpp"
#include "checker/support/diagnostic.hpp"
#include "checker/support/digest.hpp"
#include "checker/support/home.hpp"
#include "checker/support/process.hpp"
#include "cli/common.hpp"
#include "refimpl/workloads/kernel_trace.hpp"
#include "refimpl/workloads/programs.hpp"

namespace lockstep::cli {

namespace {

std::string shipped_machine(const std::string& name) {
  return shipped("refimpl/machines/" + name).string();
}

bool takes_launches(const std::string& system) {
  SimulationOptions options;
  return find_launched_system(system, options) != nullptr;
}

// The workloads asked for, of those that there are.
template <class Entries>
std::vector<std::string> chosen(const std::string& workload, const Entries& entries) {
  if (workload != "all") return {workload};
  std::vector<std::string> all;
  for (const auto& entry : entries) all.emplace_back(entry.name);
  return all;
}

// Null where the name is a workload's. A name that nothing has is taken for the nearest of either.
std::shared_ptr<const LitmusTest> test_named(const std::string& name) {
  const std::vector<std::string> names = workload_names();
  if (names_kernel_trace(name)) return nullptr;
  if (std::find(names.begin(), names.end(), name.substr(0, name.find('/'))) != names.end()) return nullptr;
  try {
    return read_test(name, litmus_home(), "say --on cpcoh, with a workload of launches");
  } catch (const BadInput&) {
    if (std::filesystem::exists(name) || nearest(name, names).empty()) throw;
    throw BadInput(fmt::format("unknown workload '{}'", name), suggestion(name, names));
  }
}

std::uint64_t seed_of(const std::string& text) {
  std::uint64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error != std::errc() || end != text.data() + text.size())
    throw BadInput(fmt::format("seed '{}' is not a whole number", text));
  return seed;
}

}  // namespace

void SimulationChoice::add_to(CLI::App& app) {
  app.add_option("WORKLOAD", workload,
                 "copy, vector-add, reduction, histogram, stencil, message-passing, or all of them: all; "
                 "a synchronization program; a litmus test, by name or file; a kernel trace "
                 "(kernelslist.g, FILE.traceg); of launches: babelstream, stencil")
      ->required();
  add_list(app, "--on", systems, "Systems to run on (default: write-through)")->type_name("S,S");
  app.add_option("--machine", machine, "Machine file (default: refimpl/machines/apu.toml, or chiplets.toml)")
      ->type_name("FILE");
  app.add_option("--set", settings,
                 "An entry of the machine file, said otherwise: memory.queue=64; without a value it is "
                 "taken away; * stands for each key")
      ->allow_extra_args(false)
      ->type_name("PATH=VALUE");
  add_list(app, "--size", sizes, "A size of the workload or of the protocol, such as words=4096")
      ->type_name("K=N");
  add_list(app, "--fault", faults, "A deliberate mistake of the systems; may be given many times")
      ->type_name("NAME");
  app.add_option("--cus", cus, "CUs (default: as the machine has)")
      ->check(CLI::Range(1, 4096).description(""))
      ->type_name("N");
  app.add_option("--seed", seed, "Of the data and of the order in which waves start (default: 1)")
      ->type_name("N");
}

Simulation::Simulation(SimulationChoice choice) : choice_(std::move(choice)), systems_(choice_.systems) {
  const auto launched = std::count_if(systems_.begin(), systems_.end(), takes_launches);
  if (launched > 0 && static_cast<std::size_t>(launched) < systems_.size())
    throw BadInput("systems that run programs and systems that take launches cannot be compared",
                   "name those of one kind with --on");
  launches_ = launched > 0;
  if (launches_) {
    if (choice_.cus > 0) throw BadInput("--cus is not for machines of chiplets", "say --size chiplets=N");
    if (systems_.size() == 1 && systems_.front().find('/') == std::string::npos)
      systems_.insert(systems_.begin(), systems_.front() + "/baseline");
    workloads_ = chosen(choice_.workload, launch_workloads());
  } else {
    const auto bears_name = [&](const auto& entry) { return entry.name == choice_.workload; };
    if (std::any_of(launch_workloads().begin(), launch_workloads().end(), bears_name) &&
        std::none_of(lockstep::workloads().begin(), lockstep::workloads().end(), bears_name)) {
      throw BadInput(fmt::format("'{}' is a sequence of launches", choice_.workload), "say --on cpcoh");
    }
    if (systems_.empty()) systems_ = {"write-through"};
    workloads_ = chosen(choice_.workload, lockstep::workloads());
    if (choice_.workload != "all") test_ = test_named(choice_.workload);
  }
  std::ifstream stream(machine_file());
  text_.assign(std::istreambuf_iterator<char>(stream), {});
  if (!stream || stream.bad()) throw BadInput(fmt::format("cannot read machine file '{}'", machine_file()));
}

std::string Simulation::machine_file() const {
  if (!choice_.machine.empty()) return choice_.machine;
  return shipped_machine(launches_ ? "chiplets.toml" : "apu.toml");
}

MachineDescription Simulation::machine(const MachineSettings& settings) const {
  return parse_machine(text_, machine_file(), shipped_machine(""), settings);
}

ChipletMachine Simulation::chiplets(const MachineSettings& settings) const {
  return parse_chiplet_machine(text_, machine_file(), settings);
}

std::string Simulation::machine_name() const {
  return launches_ ? chiplets(choice_.settings).name : machine(usual_settings()).name;
}

std::vector<std::string> Simulation::borrowed() const {
  std::vector<std::string> systems;
  if (launches_) return systems;
  for (const auto& [name, system] : machine(usual_settings()).systems) {
    if (!system.borrowed.empty()) systems.push_back(name);
  }
  return systems;
}

std::string Simulation::inputs_digest() const {
  namespace fs = std::filesystem;
  std::string all = text_;
  if (!launches_) all = fmt::format("{}", fmt::join(machine(usual_settings()).lines, "\n"));
  std::vector<fs::path> files;
  std::error_code none;
  for (const fs::path& folder :
       {fs::path(machine_file()).parent_path() / "dram", fs::path(shipped_machine("dram"))}) {
    for (const auto& entry : fs::directory_iterator(folder, none)) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) all += read_file(file);
  if (test_ != nullptr) all += print_program(test_->program);
  if (names_kernel_trace(choice_.workload)) {
    for (const std::string& file : files_of_kernel_trace(choice_.workload)) all += digest(read_file(file));
  }
  return digest(all);
}

nlohmann::json Simulation::identity() const {
  return {{"systems", systems_},    {"machine", inputs_digest()}, {"settings", choice_.settings},
          {"sizes", choice_.sizes}, {"faults", choice_.faults},   {"cus", choice_.cus},
          {"seed", choice_.seed},   {"build", build_identity()}};
}

std::vector<Assumption> Simulation::assumptions() const {
  return parse_assumptions(text_, machine_file(), shipped_machine(""), usual_settings());
}

MachineSettings Simulation::usual_settings() const {
  MachineSettings settings = choice_.settings;
  if (choice_.cus > 0) settings.insert(settings.begin(), fmt::format("cus={}", choice_.cus));
  return settings;
}

Simulation::Changed Simulation::changed(const MachineSettings& more) const {
  constexpr std::string_view seed = "seed=";
  constexpr std::string_view size = "size.";
  Changed all;
  all.settings = usual_settings();
  all.request.options.seed = choice_.seed;
  all.request.options.faults = choice_.faults;
  all.request.systems = systems_;
  for (const std::string& text : choice_.sizes) all.request.sizes.insert(parse_size(text));
  for (const std::string& setting : more) {
    if (setting.starts_with(seed)) {
      all.request.options.seed = seed_of(setting.substr(seed.size()));
    } else if (setting.starts_with(size)) {
      const auto [name, value] = parse_size(setting.substr(size.size()));
      all.request.sizes[name] = value;
    } else {
      all.settings.push_back(setting);
    }
  }
  return all;
}

void Simulation::check(const MachineSettings& more) const {
  const Changed all = changed(more);
  if (launches_) {
    static_cast<void>(chiplets(all.settings));
  } else {
    static_cast<void>(machine(all.settings));
  }
}

ComparedRun Simulation::run(const std::string& workload, const MachineSettings& more,
                            const std::function<void(const std::string&)>& on_progress,
                            SimulationObserver* observer) const {
  Changed all = changed(more);
  all.request.options.observer = observer;
  if (launches_) {
    const ChipletMachine described = chiplets(all.settings);
    all.request.machine.name = described.name;
    return run_launched_workload(described, all.request, workload, interrupted());
  }
  all.request.machine = machine(all.settings);
  if (test_ == nullptr) return run_workload(all.request, workload, interrupted(), on_progress);
  WorkloadEntry entry;
  entry.name = test_->name;
  entry.build = [this](const WorkloadShape&) { return workload_of(for_memory_systems(*test_)); };
  return run_workload(all.request, entry, interrupted(), on_progress);
}

SimulationRequest Simulation::request(const MachineSettings& more) const {
  Changed all = changed(more);
  all.request.machine = machine(all.settings);
  return all.request;
}

std::vector<Assumption> Simulation::assumed() const {
  std::vector<std::string> described;
  const std::vector<std::string> others = borrowed();
  for (const std::string& system : systems_) {
    const std::string name = system.substr(0, system.find('/'));
    if (std::find(others.begin(), others.end(), name) == others.end()) described.push_back(name);
  }
  return concerning(assumptions(), described);
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
  if (!journal.empty()) request.identity = simulation.identity();
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

void ask_for_gnuplot() {
  if (gnuplot("--version", TemporaryFolder()).end == ProcessResult::End::missing)
    throw BadInput("--plot needs gnuplot, which is not installed", "apt-get install gnuplot-nox");
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
