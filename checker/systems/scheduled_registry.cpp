#include "checker/systems/scheduled_registry.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <utility>
#include <vector>

#include "checker/scheduling/setup.hpp"
#include "checker/support/diagnostic.hpp"

namespace lockstep {

namespace {

Registrations<ScheduledBuilder>& registered_builders() {
  static Registrations<ScheduledBuilder> all;
  return all;
}
const std::map<std::string_view, ScheduledBuilder>& builders() {
  static const std::map<std::string_view, ScheduledBuilder> all = [] {
    const auto list = registered_builders().in_order();
    return std::map<std::string_view, ScheduledBuilder>(list.begin(), list.end());
  }();
  return all;
}

}  // namespace

RegisteredScheduled::RegisteredScheduled(const Origin& origin, ScheduledBuilder builder) {
  registered_builders().add(origin, builder);
}

bool has_schedulers(std::string_view system) {
  return builders().contains(system);
}

std::unique_ptr<ProgramModel> build_scheduled(const SystemEntry& system,
                                              std::shared_ptr<const Program> program, SystemOptions options) {
  const auto found = builders().find(system.name);
  if (found != builders().end()) return found->second(std::move(program), options);
  const SchedulerSetup& setup = *options.scheduler;
  if (!setup.is_policy && setup.model == ProgressModel::fair && setup.slots == 0 && !setup.any_slots) {
    options.reductions = options.reductions.only_moves();
    options.scheduler.reset();
    return system.build(std::move(program), options);
  }
  std::vector<std::string_view> names;
  for (const auto& [name, builder] : builders()) names.push_back(name);
  throw BadInput(fmt::format("{} runs under no scheduler but fair", system.name),
                 fmt::format("these run under all: {}", fmt::join(names, ", ")));
}

}  // namespace lockstep
