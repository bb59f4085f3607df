// The cores of mttop.hpp on caches: the MOESI directory of rfo.hpp, which is the one protocol of the kind
// that the thesis describes ("These L1 caches are connected in a 2-D Torus to a banked L2 cache that holds
// directory state", 3.3; 4.2.3). The torus is a matter of time.
#pragma once

#include <string_view>

#include "spec/memory/mttop.hpp"
#include "spec/memory/rfo.hpp"

namespace lockstep::mttop_rfo {

inline constexpr auto faults = faults_with(mttop::faults, rfo::faults);

struct Info : mttop::InfoOfCores<faults, rfo::ClusterTag> {
  static constexpr std::string_view name = "mttop-rfo";
  static constexpr std::string_view what =
      "the same cores on the caches and the directory of rfo (Hechtman, thesis 2014, 3.3 and 4.2.3)";
  static constexpr int place = 27;             // among the systems, where people read of them
  static constexpr bool only_if_named = true;  // each access more under way multiplies the directory's states
  template <class K>
  using Memory = rfo::Protocol<K, mttop::Issue>;
};

}  // namespace lockstep::mttop_rfo
