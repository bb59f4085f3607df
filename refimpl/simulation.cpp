// Choosing what is simulated.
#include "refimpl/simulation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "checker/language/kernel_file.hpp"
#include "checker/language/read_tests.hpp"
#include "checker/runs/subject.hpp"
#include "checker/support/diagnostic.hpp"
#include "checker/support/digest.hpp"
#include "checker/support/home.hpp"
#include "checker/support/process.hpp"
#include "refimpl/sweep.hpp"
#include "refimpl/workloads/access_list.hpp"
#include "refimpl/workloads/kernel_trace.hpp"
#include "refimpl/workloads/programs.hpp"

namespace lockstep {

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

constexpr const char* launches_elsewhere = "say --on cpcoh, with a workload of launches";

// Null where the name is a workload's. A name that nothing has is taken for the nearest of either.
std::shared_ptr<const LitmusTest> test_named(const std::string& name, const std::string& litmus_home) {
  const std::vector<std::string> names = workload_names();
  if (names_kernel_trace(name) || names_access_list(name) || kernels::names_kernel_file(name)) return nullptr;
  if (std::find(names.begin(), names.end(), name.substr(0, name.find('/'))) != names.end()) return nullptr;
  try {
    return read_test(name, litmus_home, launches_elsewhere);
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

// "g=road.gr".
std::map<std::string, std::string> graph_files(const std::vector<std::string>& said) {
  std::map<std::string, std::string> files;
  for (const std::string& text : said) {
    const auto equals = text.find('=');
    if (equals == 0 || equals == std::string::npos || equals + 1 == text.size())
      throw BadInput(fmt::format("graph '{}' is no name and file", text), "such as g=road.gr");
    if (!files.emplace(text.substr(0, equals), text.substr(equals + 1)).second)
      throw BadInput(fmt::format("graph '{}' is given twice", text.substr(0, equals)));
  }
  return files;
}

}  // namespace

Simulation::Simulation(SimulationChoice choice, const std::string& litmus_home)
    : choice_(std::move(choice)), systems_(choice_.systems) {
  constexpr int most_cus = 4096;
  const auto launched = std::count_if(systems_.begin(), systems_.end(), takes_launches);
  if (launched > 0 && static_cast<std::size_t>(launched) < systems_.size())
    throw BadInput("systems that run programs and systems that take launches cannot be compared",
                   "name those of one kind with --on");
  if (choice_.cus < 0 || choice_.cus > most_cus)
    throw BadInput(fmt::format("{} CUs are not between 1 and {}", choice_.cus, most_cus));
  launches_ = launched > 0;
  if (choice_.test != nullptr) {
    refuse_launches(*choice_.test, launches_elsewhere);
    if (launches_) throw BadInput(fmt::format("{} runs no programs", systems_.front()));
    workloads_ = {choice_.test->name};
  } else if (launches_) {
    if (choice_.cus > 0) throw BadInput("--cus is not for machines of chiplets", "say --size chiplets=N");
    if (choice_.profile)
      throw BadInput("launches on chiplets have no profile and no epochs", "leave --profile or --epochs out");
    if (systems_.size() == 1 && systems_.front().find('/') == std::string::npos)
      systems_.insert(systems_.begin(), systems_.front() + "/baseline");
    workloads_ = chosen(choice_.workload, launch_workloads());
  } else {
    const auto bears_name = [&](const auto& entry) { return entry.name == choice_.workload; };
    if (std::any_of(launch_workloads().begin(), launch_workloads().end(), bears_name) &&
        std::none_of(lockstep::workloads().begin(), lockstep::workloads().end(), bears_name)) {
      throw BadInput(fmt::format("'{}' is a sequence of launches", choice_.workload), "say --on cpcoh");
    }
    workloads_ = chosen(choice_.workload, lockstep::workloads());
    if (choice_.workload != "all") choice_.test = test_named(choice_.workload, litmus_home);
  }
  if (!choice_.graphs.empty() && (choice_.test != nullptr || !kernels::names_kernel_file(choice_.workload)))
    throw BadInput("--graph is for files of kernels");
  static_cast<void>(graph_files(choice_.graphs));
  if (systems_.empty()) systems_ = {"write-through"};
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
  if (test() != nullptr) all += print_program(test()->program);
  if (names_kernel_trace(choice_.workload)) {
    for (const std::string& file : files_of_kernel_trace(choice_.workload)) all += digest(read_file(file));
  }
  if (names_access_list(choice_.workload)) all += digest(read_file(choice_.workload));
  if (test() == nullptr && kernels::names_kernel_file(choice_.workload))
    all += read_file(kernels::kernel_file_of(choice_.workload));
  for (const auto& [name, file] : graph_files(choice_.graphs)) all += name + digest(read_file(file));
  return digest(all);
}

nlohmann::json Simulation::identity() const {
  return {{"systems", systems_},    {"machine", inputs_digest()}, {"settings", choice_.settings},
          {"sizes", choice_.sizes}, {"faults", choice_.faults},   {"cus", choice_.cus},
          {"seed", choice_.seed},   {"cycles", choice_.cycles}};
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
  all.request.options.cycles = choice_.cycles;
  all.request.options.faults = choice_.faults;
  all.request.options.profile = choice_.profile;
  all.request.options.epoch = choice_.epoch;
  all.request.systems = systems_;
  all.request.graphs = graph_files(choice_.graphs);
  for (const std::string& text : choice_.sizes) all.request.sizes.insert(parse_size(text, 0));
  for (const std::string& setting : more) {
    if (setting.starts_with(seed)) {
      all.request.options.seed = seed_of(setting.substr(seed.size()));
    } else if (setting.starts_with(size)) {
      const auto [name, value] = parse_size(setting.substr(size.size()), 0);
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

ComparedRun Simulation::run(const std::string& workload, const std::atomic<bool>& interrupted,
                            const MachineSettings& more,
                            const std::function<void(const std::string&)>& on_progress,
                            SimulationObserver* observer) const {
  Changed all = changed(more);
  all.request.options.observer = observer;
  if (launches_) {
    const ChipletMachine described = chiplets(all.settings);
    all.request.machine.name = described.name;
    return run_launched_workload(described, all.request, workload, interrupted);
  }
  all.request.machine = machine(all.settings);
  if (test() == nullptr) return run_workload(all.request, workload, interrupted, on_progress);
  WorkloadEntry entry;
  entry.name = test()->name;
  entry.build = [this](const WorkloadShape&) { return workload_of(for_memory_systems(*test())); };
  return run_workload(all.request, entry, interrupted, on_progress);
}

TimedTest Simulation::run_test(std::size_t runs, int jitter, const std::atomic<bool>& interrupted) const {
  constexpr std::size_t most_runs = 100'000'000;
  constexpr int most_jitter = 1'000'000;
  if (runs < 1 || runs > most_runs)
    throw BadInput(fmt::format("{} runs are not between 1 and {}", runs, most_runs));
  if (jitter < 0 || jitter > most_jitter)
    throw BadInput(fmt::format("a jitter of {} cycles is not between 0 and {}", jitter, most_jitter));
  const SimulationRequest chosen = request();
  TimedTestRequest request;
  request.test = test();
  request.machine = chosen.machine;
  request.systems = systems_;
  request.options = chosen.options;
  request.options.sizes = chosen.sizes;
  request.options.jitter = jitter;
  request.runs = runs;
  return lockstep::run_test(request, interrupted);
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

}  // namespace lockstep
