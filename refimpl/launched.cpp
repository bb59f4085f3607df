// Workloads that are sequences of launches, and running them on systems side by side.
#include "refimpl/launched.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>

#include "checker/support/diagnostic.hpp"

namespace lockstep {

namespace {

// ---- workloads -------------------------------------------------------------------------------------------

std::uint32_t datum(std::uint64_t seed, int page) {
  std::uint64_t x = seed * 0x9E3779B97F4A7C15ULL + static_cast<std::uint64_t>(page) * 0xBF58476D1CE4E5B9ULL;
  x ^= x >> 31U;
  return static_cast<std::uint32_t>(x * 0x94D049BB133111EBULL >> 32U);
}

// A workload as it is written down: kernels over arrays of equal size, each chiplet a part of every array.
// What is expected is computed along the way, one kernel after the other.
class Builder {
 public:
  Builder(std::vector<std::string> arrays, int pages, int chiplets, std::uint64_t seed)
      : chiplets_(chiplets) {
    Launches& l = workload_.launches;
    l.structures = std::move(arrays);
    l.words = pages;
    l.chiplets = chiplets;
    if (pages < chiplets) {
      throw BadInput(fmt::format("{} pages cannot be shared out among {} chiplets", pages, chiplets),
                     "ask for more with --size pages=N");
    }
    const int all = static_cast<int>(l.structures.size()) * pages;
    for (int page = 0; page < all; ++page) workload_.initial.push_back(datum(seed, page));
    workload_.expected = workload_.initial;
  }

  // The array is read where each chiplet's part lies, and `reach` pages beyond it.
  void reads(int array, int reach = 0) { label(array, false, reach); }
  void writes(int array) { label(array, true, 0); }
  // A page of the array that is written: the sum of pages at the same place, or beside it, times factors.
  // What lies outside of an array counts as nothing.
  struct Term {
    int array;
    int beside;
    std::uint32_t factor;
  };
  void computes(int written, const std::vector<Term>& terms) {
    for (int c = 0; c < chiplets_; ++c) {
      for (int i = first(c); i < first(c + 1); ++i) {
        PageTask task{c, page(written, i), {}};
        for (const Term& term : terms) {
          if (i + term.beside >= 0 && i + term.beside < pages())
            task.terms.emplace_back(page(term.array, i + term.beside), term.factor);
        }
        tasks_.push_back(std::move(task));
      }
    }
  }
  void launch() {
    const std::vector<std::uint32_t> before = workload_.expected;
    for (const PageTask& task : tasks_) {
      std::uint32_t sum = 0;
      for (const auto& [page, factor] : task.terms) sum += factor * before[static_cast<std::size_t>(page)];
      workload_.expected[static_cast<std::size_t>(task.page)] = sum;
    }
    launch_.name = fmt::format("K{}", workload_.launches.launches.size());
    workload_.launches.launches.push_back(std::exchange(launch_, {}));
    workload_.tasks.push_back(std::exchange(tasks_, {}));
  }
  LaunchWorkload take() { return std::move(workload_); }

 private:
  [[nodiscard]] int pages() const { return workload_.launches.words; }
  [[nodiscard]] int page(int array, int i) const { return array * pages() + i; }
  // Static kernel-wide partitioning (thesis, 5.4.3.1).
  [[nodiscard]] int first(int chiplet) const { return pages() * chiplet / chiplets_; }
  void label(int array, bool write, int reach) {
    for (int c = 0; c < chiplets_; ++c) {
      const int last = std::min(pages(), first(c + 1) + reach);
      for (int i = std::max(0, first(c) - reach); i < last; ++i)
        launch_.labels.push_back({array, write, c, page(array, i)});
    }
  }

  int chiplets_;
  LaunchWorkload workload_;
  Launch launch_;
  std::vector<PageTask> tasks_;
};

// BabelStream: copy, multiply, add and triad over three arrays, again and again. Each chiplet stays with its
// part.
LaunchWorkload babelstream(int chiplets, std::uint64_t seed, const std::map<std::string, int>& sizes) {
  constexpr int a = 0, b = 1, c = 2;
  constexpr std::uint32_t scalar = 3;
  Builder build({"A", "B", "C"}, sizes.at("pages"), chiplets, seed);
  const auto kernel = [&](int written, const std::vector<Builder::Term>& terms) {
    for (const Builder::Term& term : terms) build.reads(term.array);
    build.writes(written);
    build.computes(written, terms);
    build.launch();
  };
  for (int round = 0; round < sizes.at("rounds"); ++round) {
    kernel(c, {{a, 0, 1}});
    kernel(b, {{c, 0, scalar}});
    kernel(c, {{a, 0, 1}, {b, 0, 1}});
    kernel(a, {{b, 0, 1}, {c, 0, scalar}});
  }
  return build.take();
}

// An iterative stencil of rows of a page each, from one grid to another and back, with a power grid that
// nobody writes. A chiplet reads one row of each neighbour.
LaunchWorkload stencil(int chiplets, std::uint64_t seed, const std::map<std::string, int>& sizes) {
  constexpr int power = 2;
  Builder build({"A", "B", "P"}, sizes.at("pages"), chiplets, seed);
  for (int round = 0; round < sizes.at("rounds"); ++round) {
    const int from = round % 2;
    const int to = 1 - from;
    build.reads(from, 1);
    build.reads(power);
    build.writes(to);
    build.computes(to, {{from, -1, 1}, {from, 0, 2}, {from, 1, 1}, {power, 0, 1}});
    build.launch();
  }
  return build.take();
}

// ---- systems ---------------------------------------------------------------------------------------------

Registrations<LaunchedSystem>& registered_launched() {
  static Registrations<LaunchedSystem> all;
  return all;
}
const std::vector<std::pair<std::string_view, LaunchedSystem>>& launched_systems() {
  static const auto systems = registered_launched().in_order();
  return systems;
}

const LaunchWorkloadEntry& find_launch_workload(std::string_view name) {
  std::vector<std::string> names;
  for (const LaunchWorkloadEntry& entry : launch_workloads()) {
    if (entry.name == name) return entry;
    names.emplace_back(entry.name);
  }
  throw BadInput(fmt::format("unknown workload of launches '{}'", name), suggestion(name, names));
}

LaunchWorkload build_launch_workload(const LaunchWorkloadEntry& entry, const ChipletMachine& machine,
                                     const SimulationRequest& request) {
  constexpr int most = 1 << 16;
  std::map<std::string, int> sizes{{"chiplets", machine.chiplets}};
  std::vector<std::string> names{"chiplets"};
  for (const WorkloadSize& size : entry.sizes) {
    sizes[std::string(size.name)] = size.standard;
    names.emplace_back(size.name);
  }
  for (const auto& [name, value] : request.sizes) {
    if (!sizes.contains(name)) {
      throw BadInput(fmt::format("{} has no size '{}'", entry.name, name), suggestion(name, names));
    }
    if (value < 1 || value > most) {
      throw BadInput(fmt::format("size {}={} is not between 1 and {}", name, value, most));
    }
    sizes[name] = value;
  }
  LaunchWorkload workload = entry.build(sizes.at("chiplets"), request.options.seed, sizes);
  if (workload.initial.size() * machine.page_bytes > machine.l3.bytes) {
    throw BadInput(fmt::format("{} pages of {} bytes are more than the L3 of '{}' holds",
                               workload.initial.size(), machine.page_bytes, machine.name),
                   "ask for fewer with --size pages=N");
  }
  return workload;
}

}  // namespace

const std::vector<LaunchWorkloadEntry>& launch_workloads() {
  static const std::vector<LaunchWorkloadEntry> entries{
      {"babelstream",
       "copy, multiply, add and triad: each chiplet stays with its part",
       {{"pages", 64, "pages of an array"}, {"rounds", 4, "rounds of four kernels"}},
       babelstream},
      {"stencil",
       "an iterative stencil: each chiplet reads a row of its neighbours",
       {{"pages", 64, "rows of a grid, a page each"}, {"rounds", 8, "kernels, one after the other"}},
       stencil},
  };
  return entries;
}

void register_launched(const Origin& origin, LaunchedSystem system) {
  registered_launched().add(origin, system);
}

const LaunchedSystem* find_launched_system(std::string_view name, SimulationOptions& options) {
  const auto slash = name.find('/');
  for (const auto& [system_name, system] : launched_systems()) {
    if (system_name != name.substr(0, slash)) continue;
    if (slash != std::string_view::npos) options.variant = std::string(name.substr(slash + 1));
    return &system;
  }
  return nullptr;
}

ComparedRun run_launched_workload(const ChipletMachine& machine, const SimulationRequest& request,
                                  const std::string& name, const std::atomic<bool>& interrupted) {
  const LaunchWorkload workload = build_launch_workload(find_launch_workload(name), machine, request);
  const int chiplets = workload.launches.chiplets;
  ComparedRun run{name,
                  chiplets * machine.cus_per_chiplet,
                  request.options.seed,
                  static_cast<int>(workload.expected.size()),
                  {}};
  run.where = fmt::format("{} chiplet{} of {} CUs, seed {}", chiplets, chiplets == 1 ? "" : "s",
                          machine.cus_per_chiplet, request.options.seed);
  for (const std::string& system : request.systems) {
    SimulationOptions options = request.options;
    const LaunchedSystem* const found = find_launched_system(system, options);
    if (found == nullptr) throw BadInput(fmt::format("'{}' takes no sequence of launches", system));
    const auto start = std::chrono::steady_clock::now();
    SystemResult result = found->run(workload, machine, options, interrupted);
    result.system = result.statistics.system = system;
    result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    run.results.push_back(std::move(result));
    if (run.results.back().end == SimulationEnd::interrupted) break;
  }
  return run;
}

}  // namespace lockstep
