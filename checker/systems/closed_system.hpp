// Building the model of a system that has no program: a protocol that is its own client.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checker/explore/adaptor.hpp"
#include "checker/support/diagnostic.hpp"
#include "checker/systems/guard_reads.hpp"
#include "checker/systems/registry.hpp"
#include "checker/systems/sizes.hpp"
#include "checker/systems/tree_rules.hpp"

namespace lockstep {

// A protocol with its variant and faults, for protocols that have variants, and with its rigid functions, for
// those that place something: `place(map, name, from, to, image)` is called for each.
template <class Protocol, class K, class Place>
Protocol protocol_of(K k, const SystemEntry& self, const SystemOptions& options, Place&& place) {
  Protocol protocol{std::move(k),
                    static_cast<decltype(Protocol::fault_bits)>(fault_mask(self, options.faults))};
  if constexpr (requires { protocol.variant; }) protocol.variant = variant_index(self, options.variant);
  if constexpr (requires { protocol.place(place); }) protocol.place(place);
  return protocol;
}
template <class Info, class K, class Place>
typename Info::template Closed<K> closed_protocol(K k, const SystemEntry& self, const SystemOptions& options,
                                                  Place&& place) {
  return protocol_of<typename Info::template Closed<K>>(std::move(k), self, options,
                                                        std::forward<Place>(place));
}

// Gives rigid functions their values, for kinds that compute.
struct PlaceByNumber {
  template <class Map, class From, class To, class Image>
  void operator()(Map& map, std::string_view, From, To, Image&& image) const {
    for (std::size_t i = 0; i < map.image.size(); ++i)
      map.image[i] = static_cast<std::uint8_t>(image(static_cast<int>(i)));
  }
};
// Gives rigid functions their names, for kinds in which nothing in particular is anywhere, and notes what
// they are for the sizes of a run where that is asked for.
struct PlaceByName {
  std::vector<recorded::RigidFunction>* functions = nullptr;
  template <class Map, class From, class To, class Image>
  void operator()(Map& map, std::string_view name, From, To, Image&& image) const {
    map.name = name;
    if (functions == nullptr) return;
    recorded::RigidFunction function{std::string(name), std::string(From::name), std::string(To::name), {}};
    for (int i = 0; i < From::capacity; ++i) function.image.push_back(image(i));
    functions->push_back(std::move(function));
  }
};

// The sizes of a run: the variant's, or what the user asks for.
template <class Info>
typename Info::template Sizes<FullCapacities> closed_sizes(const SystemEntry& self,
                                                           const SystemOptions& options) {
  typename Info::template Sizes<FullCapacities> sizes;
  Info::default_sizes(sizes, variant_index(self, options.variant));
  apply_sizes(sizes, options, [](auto) { return false; });
  return sizes;
}

// The size of the index type of that name.
template <class Sizes>
int extent_of(Sizes sizes, std::string_view name) {
  int extent = 0;
  sizes.visit([&]<class Tag>(Tag, int& size) { extent = Tag::name == name ? size : extent; });
  return extent;
}

template <class Info, class Sizes>
std::unique_ptr<Model> closed_model(const Sizes& sizes, const SystemEntry& self,
                                    const SystemOptions& options) {
  using Protocol = typename Info::template Closed<Concrete<Sizes>>;
  Concrete<Sizes> k;
  k.sizes = sizes;
  auto protocol = closed_protocol<Info>(k, self, options, PlaceByNumber{});
  auto model = std::make_unique<CompiledModel<Protocol>>(std::move(protocol), Reductions::none());
  if (self.describe_whole != nullptr && (options.mutation || options.check_footprints))
    walk_trees(*model, options, with_mutation(self.describe_whole(nullptr, options), options, ""));
  if (!options.mutation) ask_by_trees(*model, self, options, {"", {}, {}});
  model->check_footprints(options.check_footprints);
  return model;
}

// Of sizes that small capacities do not hold. A unit of its own makes it (full_models.hpp).
template <class Info>
std::unique_ptr<Model> full_closed_model(const typename Info::template Sizes<FullCapacities>& sizes,
                                         const SystemEntry& self, const SystemOptions& options);
template <class Info>
SystemEntry closed_system_entry() {
  SystemEntry entry;
  entry.name = Info::name;
  entry.what = Info::what;
  entry.faults = Info::faults;
  entry.variants = Info::variants;
  entry.runs_programs = false;
  entry.sizes = describe_sizes<Info>();
  entry.build_closed = [](const SystemOptions& options) -> std::unique_ptr<Model> {
    const SystemEntry& self = find_system(Info::name);
    const auto sizes = closed_sizes<Info>(self, options);
    if constexpr (compiles_small_states) {
      typename Info::template Sizes<CapacitiesAtMost<4>> small;
      if (fits(sizes, small)) return closed_model<Info>(small, self, options);
    }
    return full_closed_model<Info>(sizes, self, options);
  };
  return entry;
}

}  // namespace lockstep
