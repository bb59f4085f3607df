// A memory system under a sequence of launches as expression trees. Included by a translation unit of the
// system's own, apart from that of its model.
#pragma once

#include <memory>
#include <utility>

#include "checker/systems/closed_description.hpp"
#include "checker/systems/launched_system.hpp"
#include "spec/kernel/recorded.hpp"

namespace lockstep {

template <class Info>
recorded::WholeDescription describe_launched(std::shared_ptr<const Launches> launches,
                                             const SystemOptions& options) {
  using K = Recorded<LaunchSizes<Info, FullCapacities>>;
  using Sys = LaunchSystem<Info, K>;
  const SystemEntry& self = find_system(Info::name);
  const auto sizes = sizes_of_launches<Info>(*launches, self, options);
  recorded::WholeDescription whole;
  const ValueRange values = values_of(*launches);
  whole.value_low = values.low;
  whole.value_high = values.high;
  const std::size_t terms = launches->observed.size();
  const Sys system(protocol_of<typename Sys::Memory>(K(sizes), self, options, PlaceByName{&whole.functions}),
                   std::move(launches));
  set_extents(whole.functions, sizes);
  recorded::describe_system(system, system.kind(), whole);
  auto& registers = whole.final_registers.emplace_back();
  for (std::size_t t = 0; t < terms; ++t) {
    registers.push_back(
        recorded::record_expression<K, typename Sys::State>([&](const auto& s) -> const auto& {
          return s.noted(K::template constant<TermTag>(static_cast<int>(t)));
        }));
  }
  return whole;
}

}  // namespace lockstep
