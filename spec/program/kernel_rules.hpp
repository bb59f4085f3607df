// The rules by which a launched kernel runs, and operations are performed, as a protocol names them: for who
// gives them time. Beside LaunchRules (launches.hpp), which are the client's.
#pragma once

#include <array>
#include <string_view>

namespace lockstep {

struct KernelRules {
  // Over (chiplet, serving chiplet, word).
  std::string_view reads;
  std::string_view writes;
  // Over (chiplet, word).
  std::string_view evicts;
  // Over (chiplet): with something to do, and without.
  std::array<std::string_view, 2> releases;
  std::array<std::string_view, 2> acquires;
  // Over (): the operations at a kernel's end are complete.
  std::string_view completes;
};

}  // namespace lockstep
