#include "checker/systems/scheduled_registry.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "checker/scheduling/setup.hpp"
#include "checker/support/diagnostic.hpp"

namespace lockstep {

namespace {

Registrations<ScheduledEntry>& registered_entries() {
  static Registrations<ScheduledEntry> all;
  return all;
}
const std::map<std::string_view, ScheduledEntry>& entries() {
  static const std::map<std::string_view, ScheduledEntry> all = [] {
    const auto list = registered_entries().in_order();
    return std::map<std::string_view, ScheduledEntry>(list.begin(), list.end());
  }();
  return all;
}

// With a monitor, and where it stands, in the order in which people read of systems.
std::vector<std::string> watched_systems() {
  std::vector<std::string> names;
  for (const SystemEntry& system : systems()) {
    const auto found = entries().find(system.name);
    if (found != entries().end() && !found->second.monitor.empty())
      names.push_back(fmt::format("{} ({})", system.name, found->second.monitor));
  }
  return names;
}

}  // namespace

RegisteredScheduled::RegisteredScheduled(const Origin& origin, const ScheduledEntry& entry) {
  registered_entries().add(origin, entry);
}

const ScheduledEntry& scheduled_entry(const SystemEntry& system) {
  const auto found = entries().find(system.name);
  if (found == entries().end())
    throw BadInput(fmt::format("{} runs no programs, so nobody schedules them", system.name),
                   "`lockstep list systems` says which do");
  return found->second;
}

bool goes_unscheduled(const SystemEntry& system, const SchedulerSetup& setup) {
  return !scheduled_entry(system).performs_at_once && !setup.is_policy &&
         setup.model == ProgressModel::fair && setup.slots == 0 && !setup.any_slots;
}

std::unique_ptr<ProgramModel> build_scheduled(const SystemEntry& system,
                                              std::shared_ptr<const Program> program, SystemOptions options) {
  const ScheduledEntry& entry = scheduled_entry(system);
  const SchedulerSetup& setup = *options.scheduler;
  if (goes_unscheduled(system, setup)) {
    options.reductions = options.reductions.only_moves();
    options.scheduler.reset();
    return system.build(std::move(program), options);
  }
  if (setup.is_policy && entry.monitor.empty())
    throw BadInput(fmt::format("{} is a waiting policy, and nowhere in {} does a monitor see every atomic",
                               name_of(setup), system.name),
                   fmt::format("these have such a place: {}", fmt::join(watched_systems(), ", ")));
  return entry.build(std::move(program), options);
}

}  // namespace lockstep
