#include "checker/support/tags.hpp"

#include "checker/support/diagnostic.hpp"

namespace lockstep {

void refuse_for_models(const Program& program) {
  const auto refuse = [&](const std::string& what) {
    throw BadInput("'" + program.name + "' has " + what + ", which models alone understand",
                   "judge it by one: --model vulkan or --model ptx-v7.5");
  };
  for (const Location& location : program.locations) {
    if (location.memory >= 0) refuse("another name for a location");
  }
  if (!program.system_synchronizes.empty()) refuse("threads that are ordered from outside");
  for (const Thread& thread : program.threads) {
    for (const Instruction& instruction : thread.code) {
      if ((instruction.tags & (proxies | bit(Tag::alias))) != 0) refuse("proxies");
      if (instruction.tags != 0) refuse("storage classes, availability or visibility");
    }
  }
}

}  // namespace lockstep
