// The memory systems that are built with schedulers, by name.
#pragma once

#include <memory>
#include <string_view>

#include "checker/systems/registry.hpp"

namespace lockstep {

// A memory system with schedulers.
struct ScheduledEntry {
  // Builds a program on it under options.scheduler.
  std::unique_ptr<ProgramModel> (*build)(std::shared_ptr<const Program>, const SystemOptions&) = nullptr;
  std::string_view monitor{};  // where a policy's monitor stands (spec/memory/memory_system.hpp), or nothing
  bool performs_at_once = false;
};
// One of static storage in a translation unit offers the memory system with schedulers.
struct RegisteredScheduled {
  RegisteredScheduled(const Origin& origin, const ScheduledEntry& entry);
};
// Throws BadInput where the system runs no programs.
const ScheduledEntry& scheduled_entry(const SystemEntry& system);

// The fair progress model holds nobody back, so under it, with a slot for everybody, a system is built as it
// is without; but for one that performs at once.
bool goes_unscheduled(const SystemEntry& system, const SchedulerSetup& setup);

// Builds a program on a memory system under options.scheduler, which must be given. Throws BadInput where the
// system cannot have that scheduler, naming those that can.
std::unique_ptr<ProgramModel> build_scheduled(const SystemEntry& system,
                                              std::shared_ptr<const Program> program, SystemOptions options);

}  // namespace lockstep
