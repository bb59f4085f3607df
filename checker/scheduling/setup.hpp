// Schedulers by name, and the memory systems that are built with them.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "checker/systems/registry.hpp"
#include "spec/scheduler/setup.hpp"

namespace lockstep {

// "obe", "awg", with the timeouts that the paper gives a policy. Throws BadInput with the nearest name.
SchedulerSetup scheduler_named(std::string_view name);
std::string_view name_of(const SchedulerSetup& setup);
// All names: progress models from the weakest to the strongest, then policies in the paper's order.
std::vector<std::string> scheduler_names();

// Sets one of what a scheduler can be given: "slots=2", "slots=any", "taken=1", "conditions=1", "waiters=1",
// "log=1", "timeouts=stalled", "reading=keeps-monitoring", "fault=wake-up-dropped". Throws BadInput.
void apply_setting(SchedulerSetup& setup, std::string_view setting);
// The settings that differ from the scheduler's own, as apply_setting takes them.
std::vector<std::string> settings_of(const SchedulerSetup& setup);
// "awg, slots=2, taken=1".
std::string description_of(const SchedulerSetup& setup);

// Builds a program on a memory system under options.scheduler.
using ScheduledBuilder = std::unique_ptr<ProgramModel> (*)(std::shared_ptr<const Program>,
                                                           const SystemOptions&);
// One of static storage in a translation unit offers the memory system with schedulers.
struct RegisteredScheduled {
  RegisteredScheduled(const Origin& origin, ScheduledBuilder builder);
};
// Whether a memory system runs under other schedulers than fair.
bool has_schedulers(std::string_view system);

// Builds a program on a memory system under options.scheduler, which must be given. A memory system without a
// builder of its own runs under the fair progress model alone, which holds nobody back; throws BadInput,
// naming those that know more, where it is to run under another.
std::unique_ptr<ProgramModel> build_scheduled(const SystemEntry& system,
                                              std::shared_ptr<const Program> program, SystemOptions options);

// Throws BadInput where a setup asks for what the memory system cannot give, or has no sense for the program.
// `performs_at_once`: the memory system performs a request in one step, so that a monitor can watch it.
void check_setup(const SchedulerSetup& setup, int work_groups, bool performs_at_once,
                 std::string_view system);

}  // namespace lockstep
