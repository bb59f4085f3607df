#include "refimpl/workloads/kernel_workload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "checker/support/diagnostic.hpp"
#include "refimpl/kernels/wave_source.hpp"
#include "refimpl/workloads/builder.hpp"

namespace lockstep {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t most_waves = 1 << 16;  // of all launches: each has threads of its own
constexpr int largest_size = 1 << 28;
constexpr std::uint64_t most_steps = 2'000'000'000;

using kernels::PlacedWaves;

// A launch's work-groups share the machine's places for waves.
void place(kernels::Plan& plan, const WorkloadShape& shape) {
  std::int64_t waves = 0;
  for (kernels::Launch& launch : plan.launches) {
    const int per_cu = shape.waves_per_cu / launch.waves_per_group;
    if (per_cu == 0) {
      const kernels::KernelFile& file = *plan.file;
      throw BadInput(fmt::format("{}: a work-group of {} has {} waves, and a CU of this machine {}",
                                 file.name, plan.kernels[static_cast<std::size_t>(launch.kernel)].name,
                                 launch.waves_per_group, shape.waves_per_cu),
                     "launch smaller work-groups");
    }
    launch.places = std::min(launch.groups, per_cu * shape.cus);
    waves += std::int64_t{launch.places} * launch.waves_per_group;
    if (waves > most_waves)
      throw BadInput(
          fmt::format("{}: its launches have more than {} waves on this machine, which takes too much memory",
                      plan.file->name, most_waves),
          "fewer launches, or smaller ones");
  }
}

std::string race_text(const kernels::Plan& plan, const kernels::FlatRun& run) {
  if (!run.race)
    return run.watched ? ""
                       : fmt::format("not looked for where more than {} elements are written",
                                     kernels::RaceMonitor::most_elements);
  const kernels::Race& race = *run.race;
  const kernels::Launch& launch = plan.launches[static_cast<std::size_t>(run.raced)];
  return fmt::format(
      "work-items {} and {} of {} access {}[{}], at {}:{} and {}:{}, and nothing orders them; results may be "
      "any",
      race.first_item, race.second_item, plan.kernels[static_cast<std::size_t>(launch.kernel)].name,
      plan.arrays[static_cast<std::size_t>(race.array)].name.name, race.element, race.first.line,
      race.first.column, race.second.line, race.second.column);
}

Workload build(const std::shared_ptr<const kernels::KernelFile>& file, const WorkloadShape& shape) {
  const auto placed = std::make_shared<PlacedWaves>();
  placed->plan = kernels::plan_of(file, shape.sizes, shape.graphs, shape.seed);
  kernels::Plan& plan = placed->plan;
  place(plan, shape);
  WorkloadBuilder build(fs::path(file->name).stem().string(), shape);
  placed->slots = build.slots_of_waves();
  placed->waves_end_kernels = shape.waves_end_kernels;

  const auto lanes_of = [&](const kernels::Array& array, const std::vector<std::int32_t>& elements,
                            int word) {
    Lanes lanes{};
    if (array.name.padded) {
      lanes.fill(elements[static_cast<std::size_t>(word)]);
      return lanes;
    }
    const auto first = static_cast<std::size_t>(word) * lanes.size();
    for (std::size_t i = 0; i < lanes.size() && first + i < elements.size(); ++i)
      lanes[i] = elements[first + i];
    return lanes;
  };
  for (kernels::Array& array : plan.arrays) {
    if (array.name.local) continue;
    const ArrayOfWords words = build.array(array.name.name, plan.words(array));
    array.first_location = words.first;
    for (int word = 0; word < words.size; ++word)
      build.initial(words[word]) = lanes_of(array, array.initial, word);
  }

  const kernels::FlatRun run = kernels::final_contents(plan, most_steps, shape.interrupted);
  for (std::size_t a = 0; a < plan.arrays.size(); ++a) {
    const kernels::Array& array = plan.arrays[a];
    if (!array.checked) continue;
    for (int word = 0; word < plan.words(array); ++word)
      build.expect(array.first_location + word, lanes_of(array, run.contents[a], word));
  }

  const std::vector<Instruction> to_come = kernels::code_to_come(*placed);
  for (std::size_t l = 0; l < plan.launches.size(); ++l) {
    const kernels::Launch& launch = plan.launches[l];
    const int waves = launch.places * launch.waves_per_group;
    const std::string& name = plan.kernels[static_cast<std::size_t>(launch.kernel)].name;
    build.kernel_in_turns(name, waves, launch.waves_per_group, [&](std::deque<WaveCode>& codes) {
      for (int w = 0; w < waves; ++w) {
        WaveCode& code = codes[static_cast<std::size_t>(w)];
        code.append(to_come);
        placed->waves.push_back({static_cast<std::uint32_t>(code.number()), static_cast<int>(l),
                                 w / launch.waves_per_group, w % launch.waves_per_group});
      }
    });
  }
  placed->threads = build.threads();
  build.write_code_by([placed] { return kernels::wave_source(placed); });
  Workload workload = build.take();
  workload.race = race_text(plan, run);
  return workload;
}

}  // namespace

WorkloadEntry kernel_workload(std::string_view name) {
  const auto file = kernels::read_kernel_file(kernels::kernel_file_of(name));
  WorkloadEntry entry;
  entry.name = name;
  entry.what = file->what;
  for (const auto& size : file->sizes)
    entry.sizes.push_back({size.name.text, size.standard, size.what, 0, largest_size});
  entry.build = [file](const WorkloadShape& shape) { return build(file, shape); };
  return entry;
}

}  // namespace lockstep
