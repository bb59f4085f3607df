// A system without a program as expression trees. Included by a translation unit of the system's own, apart
// from that of its model.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "checker/systems/closed_system.hpp"
#include "spec/kernel/recorded.hpp"

namespace lockstep {

// Leaves of each function's values those at the sizes of a run.
template <class Sizes>
void set_extents(std::vector<recorded::RigidFunction>& functions, const Sizes& sizes) {
  for (recorded::RigidFunction& function : functions)
    function.image.resize(static_cast<std::size_t>(extent_of(sizes, function.from)));
}

template <class Info>
recorded::Description describe_closed(const SystemOptions& options) {
  using K = Recorded<typename Info::template Sizes<FullCapacities>>;
  using Protocol = typename Info::template Closed<K>;
  const SystemEntry& self = find_system(Info::name);
  const auto sizes = closed_sizes<Info>(self, options);
  recorded::Description description;
  const Protocol protocol = closed_protocol<Info>(K(sizes), self, options, PlaceByName{});
  recorded::describe_rules<K, typename Protocol::State>(protocol, protocol.kind(), description);
  const recorded::Recorder recorder;
  typename Protocol::State state;
  recorded::list_fields_of<K>(state, description.fields);
  return description;
}

template <class Info>
recorded::WholeDescription describe_closed_system(const SystemOptions& options) {
  using K = Recorded<typename Info::template Sizes<FullCapacities>>;
  using Protocol = typename Info::template Closed<K>;
  const SystemEntry& self = find_system(Info::name);
  const auto sizes = closed_sizes<Info>(self, options);
  recorded::WholeDescription whole;
  const Protocol protocol = closed_protocol<Info>(K(sizes), self, options, PlaceByName{&whole.functions});
  set_extents(whole.functions, sizes);
  whole.value_low = ValueRange{}.low;
  whole.value_high = ValueRange{}.high;
  recorded::describe_system(protocol, protocol.kind(), whole);
  return whole;
}

}  // namespace lockstep
