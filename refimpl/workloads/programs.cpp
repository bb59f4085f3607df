// Placing programs in the memory of a machine.
#include "refimpl/workloads/programs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "checker/support/diagnostic.hpp"
#include "spec/program/lower_for_systems.hpp"
#include "spec/sync/catalogue.hpp"

namespace lockstep {

namespace {

Lanes in_all_lanes(std::int32_t value) {
  Lanes lanes{};
  lanes.fill(value);
  return lanes;
}

// For each block of the program the machine's first. Block 0 is what a port names before its first request.
std::vector<int> blocks_of_machine(const Program& program, int words_per_block) {
  std::vector<int> words;
  for (const Location& location : program.locations) {
    const auto block = static_cast<std::size_t>(location.block);
    if (words.size() <= block) words.resize(block + 1, 1);
    words[block] = std::max(words[block], location.word + 1);
  }
  std::vector<int> first{1};
  for (const int n : words) first.push_back(first.back() + (n + words_per_block - 1) / words_per_block);
  return first;
}

}  // namespace

Workload workload_of(const Program& program, int words_per_block) {
  Workload workload;
  workload.program = needs_lowering(program) ? lowered_for_systems(program) : program;
  const std::vector<int> first = blocks_of_machine(workload.program, words_per_block);
  for (Location& location : workload.program.locations) {
    location.block = first[static_cast<std::size_t>(location.block)] + location.word / words_per_block;
    location.word %= words_per_block;
    workload.initial.push_back(in_all_lanes(location.initial_value));
  }
  for (const FinalValue& final_value : workload.program.final_values) {
    workload.outputs.push_back(final_value.location);
    workload.expected.push_back(in_all_lanes(final_value.value));
  }
  return workload;
}

std::optional<WorkloadEntry> sync_workload(std::string_view name) {
  const auto slash = name.find('/');
  const std::string_view plain = name.substr(0, slash);
  const auto programs = sync_programs();
  const auto program = std::find_if(programs.begin(), programs.end(),
                                    [&](const SyncProgram& one) { return one.name == plain; });
  if (program == programs.end()) return std::nullopt;
  SyncParameters asked;
  if (slash != std::string_view::npos) {
    asked.variant = std::string(name.substr(slash + 1));
    std::vector<std::string> variants;
    for (const Variant& variant : program->variants) variants.emplace_back(variant.name);
    if (std::find(variants.begin(), variants.end(), asked.variant) == variants.end())
      throw BadInput(fmt::format("{} has no variant '{}'", plain, asked.variant),
                     suggestion(asked.variant, variants));
  }
  WorkloadEntry entry;
  entry.name = program->name;
  entry.what = program->what;
  for (const SyncParameter& parameter : program->parameters)
    entry.sizes.push_back({parameter.name, parameter.standard, parameter.what, parameter.low});
  entry.build = [program = *program, asked](const WorkloadShape& shape) {
    SyncParameters parameters = asked;
    for (const auto& [size, value] : shape.sizes) parameters.values[size] = value;
    try {
      return workload_of(program.build(parameters), shape.words_per_block);
    } catch (const std::invalid_argument& error) {
      throw BadInput(error.what());
    }
  };
  return entry;
}

std::vector<std::string> sync_workload_names() {
  std::vector<std::string> names;
  for (const SyncProgram& program : sync_programs()) names.emplace_back(program.name);
  return names;
}

}  // namespace lockstep
