// Building the model of a sequence of launches on one memory system (spec/program/launching.hpp): the sizes
// that it needs, and what its ends have observed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checker/explore/adaptor.hpp"
#include "checker/support/diagnostic.hpp"
#include "checker/systems/closed_system.hpp"
#include "checker/systems/program_system.hpp"
#include "checker/systems/registry.hpp"
#include "checker/systems/sizes.hpp"
#include "spec/program/launching.hpp"

namespace lockstep {

// A memory system with a port for launches.
template <class Info, template <class> class Kind, class Capacities = FullCapacities>
concept TakesLaunches = requires {
  typename Info::template Launched<Kind<typename Info::template Sizes<Capacities>>>;
};

template <class Info, class Sizes>
class ModelOfLaunches final : public CompiledModel<LaunchSystem<Info, Concrete<Sizes>>, LaunchesModel> {
 public:
  using K = Concrete<Sizes>;
  using CompiledModel<LaunchSystem<Info, K>, LaunchesModel>::CompiledModel;

  [[nodiscard]] std::int32_t observed(const std::uint64_t* state, std::size_t term) const override {
    return this->load(state).noted(K::template constant<TermTag>(static_cast<int>(term))).v;
  }
};

// The range of what is noted.
inline ValueRange values_of(const Launches& launches) {
  ValueRange range{0, 1};
  for (const LaunchTerm& term : launches.observed)
    range.high = std::max(range.high, greatest_of(term, launches));
  return range;
}

template <class Info, class Sizes>
std::unique_ptr<LaunchesModel> launched_model(const Sizes& sizes, const SystemEntry& self,
                                              const SystemOptions& options,
                                              std::shared_ptr<const Launches> launches) {
  using K = Concrete<Sizes>;
  K k;
  k.sizes = sizes;
  k.set_value_range(values_of(*launches));
  LaunchSystem<Info, K> system(
      protocol_of<typename Info::template Launched<K>>(k, self, options, PlaceByNumber{}), launches);
  if (system.acts().size() > most_acts) throw BadInput("the sequence of launches is too long");
  Reductions reductions = options.reductions;
  // Without trees nothing can be derived from them.
  if (self.describe_launched == nullptr) reductions.stubborn = reductions.dead = false;
  auto model = std::make_unique<ModelOfLaunches<Info, Sizes>>(std::move(system), reductions);
  if (self.describe_launched != nullptr)
    read_trees(*model, reductions, options, "memory",
               [&] { return self.describe_launched(launches, options); });
  model->check_footprints(options.check_footprints);
  return model;
}

// Of sizes that small capacities do not hold. Units of their own make them (full_models.hpp).
template <class Info>
std::unique_ptr<LaunchesModel> full_launched_model(const LaunchSizes<Info, FullCapacities>& sizes,
                                                   const SystemEntry& self, const SystemOptions& options,
                                                   std::shared_ptr<const Launches> launches);

// The sizes that a sequence needs, and more chiplets, other lines or coarser labels where the user asks for
// them. Throws BadInput with the place in the test where they do not fit.
template <class Info>
LaunchSizes<Info, FullCapacities> sizes_of_launches(const Launches& launches, const SystemEntry& self,
                                                    const SystemOptions& options) {
  using Sizes = LaunchSizes<Info, FullCapacities>;
  Sizes sizes;
  Info::sizes_for(sizes, launches);
  sizes.template set<TermTag>(std::max(1, static_cast<int>(launches.observed.size())));
  Sizes needed = sizes;
  needed.visit([&]<class Tag>(Tag, int& size) {
    if (size <= Sizes::template capacity<Tag>()) return;
    throw BadInput(Diagnostic{
        launches.file, launches.place,
        "needs " + std::string(Tag::name) + "=" + std::to_string(size) + ", and " + std::string(self.name) +
            " holds at most " + std::to_string(Sizes::template capacity<Tag>()),
        std::is_same_v<Tag, TermTag> ? "ask about less at once" : "make do with fewer or smaller structures",
        line_of(launches.text, launches.place.line)});
  });
  for (const std::string_view fixed : {"structure", "word", "base"}) {
    if (options.sizes.contains(std::string(fixed))) {
      throw BadInput("the size " + std::string(fixed) + " is said by the sequence of launches",
                     "leave out --size " + std::string(fixed));
    }
  }
  apply_sizes(sizes, options,
              []<class Tag>(Tag) { return Tag::name == "chiplet" || std::is_same_v<Tag, TermTag>; });
  return sizes;
}

template <class Info>
std::unique_ptr<LaunchesModel> build_launched_model(std::shared_ptr<const Launches> launches,
                                                    const SystemOptions& options) {
  const SystemEntry& self = find_system(Info::name);
  const auto sizes = sizes_of_launches<Info>(*launches, self, options);
  if constexpr (compiles_small_states) {
    LaunchSizes<Info, CapacitiesAtMost<4>> small;
    if (fits(sizes, small)) return launched_model<Info>(small, self, options, std::move(launches));
  }
  return full_launched_model<Info>(sizes, self, options, std::move(launches));
}

}  // namespace lockstep
