// The rules by which a memory system answers launches, as a protocol names them: for who gives them time.
// What is asked of it has names already (launching.hpp).
#pragma once

#include <array>
#include <string_view>

namespace lockstep {

struct KernelRules {
  std::string_view launches;  // over (): operations are complete, and the kernel, or the host, begins
  std::string_view evicts;    // over (chiplet, word)
  // Over (chiplet): with something to do, and without.
  std::array<std::string_view, 2> releases;
  std::array<std::string_view, 2> acquires;
  std::string_view completes;  // over (): the operations at a kernel's end are complete
};

}  // namespace lockstep
