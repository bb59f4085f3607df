// The memory systems that are built with schedulers, by name.
#pragma once

#include <memory>
#include <string_view>

#include "checker/systems/registry.hpp"

namespace lockstep {

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

}  // namespace lockstep
