// Schedulers by name, and what each can be given.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "spec/scheduler/setup.hpp"

namespace lockstep {

// "obe", "awg", with the timeouts that the paper gives a policy. Throws BadInput with the nearest name.
SchedulerSetup scheduler_named(std::string_view name);
std::string_view name_of(ProgressModel model);
std::string_view name_of(WaitingPolicy policy);
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

// Throws BadInput where a setup has no sense for a program of so many work-groups and agents, or asks for
// what the memory system cannot give. `performs_at_once`: it performs a request in one step, wherever that is
// from.
void check_setup(const SchedulerSetup& setup, int work_groups, int agents, bool performs_at_once,
                 std::string_view system);

}  // namespace lockstep
