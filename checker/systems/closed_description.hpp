// A system without a program as expression trees. Included by a translation unit of the system's own, apart
// from that of its model.
#pragma once

#include <memory>
#include <utility>

#include "checker/systems/closed_system.hpp"
#include "spec/kernel/recorded.hpp"

namespace lockstep {

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
  for (recorded::RigidFunction& function : whole.functions)
    function.image.resize(static_cast<std::size_t>(extent_of(sizes, function.from)));
  whole.value_low = ValueRange{}.low;
  whole.value_high = ValueRange{}.high;
  recorded::describe_system(protocol, protocol.kind(), whole);
  return whole;
}

}  // namespace lockstep
