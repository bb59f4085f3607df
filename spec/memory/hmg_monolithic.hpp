// HMG among GPUs of one module each: an L2 for each GPU, which all its CUs share and which is the home in its
// GPU of every block, and one home of the system for each block. So HALCONE's evaluation has it: "each GPU's
// L2$ is connected to the switch (SW) and the protocol uses RDMA via L2$" (Mojumder et al. 2020, 4.1); and it
// is NHCC, HMG's flat protocol, with GPUs for modules.
//
// Variant rdma is the baseline of that comparison: what lies in another GPU's memory is read, written and
// updated in that GPU's L2 (RDMA), and copied into L1s alone.
#pragma once

#include <string_view>

#include "spec/memory/hmg.hpp"

namespace lockstep::hmg_monolithic {

struct Info : hmg::InfoOf<hmg::common_faults, hmg::monolithic_variants> {
  static constexpr std::string_view name = "hmg-monolithic";
  static constexpr std::string_view what = "HMG among GPUs of one module each (Ren et al. 2020; HALCONE 4.1)";
  static constexpr int place = 33;  // among the systems, where people read of them
  // Fields that no rule reads.
  static constexpr bool is_unread(std::string_view field, std::string_view variant, std::string_view fault) {
    return field == "read(thread).stale2" ||
           (variant == "rdma" && (field == "l2(agent, block).data" ||
                                  (field == "sharer(agent, block)" && fault == "gpus-not-invalidated")));
  }
  template <class K>
  using Memory = hmg::Protocol<K, AgentTag, hmg::common_faults, hmg::monolithic_variants>;
};

}  // namespace lockstep::hmg_monolithic
