// Building the model of a system that has no program: a protocol that is its own client.
#pragma once

#include <memory>
#include <utility>

#include "checker/explore/adaptor.hpp"
#include "checker/systems/registry.hpp"
#include "checker/systems/sizes.hpp"

namespace lockstep {

template <class Info, class Sizes>
std::unique_ptr<Model> closed_model(const Sizes& sizes, const SystemEntry& self,
                                    const SystemOptions& options) {
  using Protocol = typename Info::template Closed<Concrete<Sizes>>;
  Protocol protocol;
  protocol.k.sizes = sizes;
  protocol.fault_bits = static_cast<decltype(protocol.fault_bits)>(fault_mask(self, options.faults));
  return std::make_unique<CompiledModel<Protocol>>(std::move(protocol), Reductions::none());
}

template <class Info, SystemEntry (*Entry)()>
SystemEntry closed_system_entry() {
  SystemEntry entry;
  entry.name = Info::name;
  entry.what = Info::what;
  entry.faults = Info::faults;
  entry.variants = Info::variants;
  entry.runs_programs = false;
  entry.sizes = describe_sizes<Info>();
  entry.build_closed = [](const SystemOptions& options) -> std::unique_ptr<Model> {
    const SystemEntry self = Entry();
    typename Info::template Sizes<FullCapacities> sizes;
    Info::default_sizes(sizes, variant_index(self, options.variant));
    apply_sizes(sizes, options, [](auto) { return false; });
    if constexpr (compiles_small_states) {
      typename Info::template Sizes<CapacitiesAtMost<4>> small;
      if (fits(sizes, small)) return closed_model<Info>(small, self, options);
    }
    return closed_model<Info>(sizes, self, options);
  };
  entry.describe = [](const SystemOptions& options) {
    using K = Recorded<typename Info::template Sizes<FullCapacities>>;
    using Protocol = typename Info::template Closed<K>;
    const SystemEntry self = Entry();
    typename Info::template Sizes<FullCapacities> sizes;
    Info::default_sizes(sizes, variant_index(self, options.variant));
    apply_sizes(sizes, options, [](auto) { return false; });
    recorded::Description description;
    const Protocol protocol{K(sizes),
                            static_cast<decltype(Protocol::fault_bits)>(fault_mask(self, options.faults))};
    recorded::RecordRules<K, typename Protocol::State> reader(description);
    protocol.rules(reader);
    protocol.invariants(reader);
    const recorded::Recorder recorder;
    typename Protocol::State state;
    recorded::list_fields_of<K>(state, description.fields);
    return description;
  };
  entry.describe_whole = [](std::shared_ptr<const Program>, const SystemOptions& options) {
    using K = Recorded<typename Info::template Sizes<FullCapacities>>;
    using Protocol = typename Info::template Closed<K>;
    const SystemEntry self = Entry();
    typename Info::template Sizes<FullCapacities> sizes;
    Info::default_sizes(sizes, variant_index(self, options.variant));
    apply_sizes(sizes, options, [](auto) { return false; });
    const Protocol protocol{K(sizes),
                            static_cast<decltype(Protocol::fault_bits)>(fault_mask(self, options.faults))};
    recorded::WholeDescription whole;
    whole.value_low = ValueRange{}.low;
    whole.value_high = ValueRange{}.high;
    recorded::describe_system(protocol, protocol.kind(), whole);
    return whole;
  };
  return entry;
}

}  // namespace lockstep
