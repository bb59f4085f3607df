#include "checker/support/tags.hpp"

#include "checker/support/diagnostic.hpp"

namespace lockstep {

void refuse_for_models(const Program& program) {
  const auto refuse = [&](const std::string& what) {
    throw BadInput("'" + program.name + "' has " + what + ", which models alone understand",
                   "judge it by one, such as --model vulkan, --model ptx-v7.5 or a file of your own");
  };
  for (const Location& location : program.locations) {
    if (location.memory >= 0) refuse("another name for a location");
  }
  if (!program.system_synchronizes.empty()) refuse("threads that are ordered from outside");
  for (const Thread& thread : program.threads) {
    for (const Instruction& instruction : thread.code) {
      if ((instruction.tags & (proxies | bit(Tag::alias))) != 0) refuse("proxies");
      if (has(instruction.tags, Tag::exclusive)) refuse("stores that succeed only if nobody wrote there");
      const Tags of_processors = processor_fences | bit(Tag::acquire_pc);
      if (instruction.order == Order::plain && (instruction.tags & of_processors) != 0) {
        refuse("a fence that is neither an acquire nor a release");
      }
      if ((instruction.tags & ~of_processors) != 0) refuse("storage classes, availability or visibility");
    }
  }
}

}  // namespace lockstep
