// Sizes that people may set, checked and applied.
#pragma once

#include <string>
#include <vector>

#include "checker/support/diagnostic.hpp"
#include "checker/systems/registry.hpp"

namespace lockstep {

// A size that follows from no others: how many banks or locks addresses fall on.
template <class Tag>
concept FreeSize = requires {
  requires Tag::is_free;
};

// Puts the sizes that a user asked for in place of `sizes`, which hold what the program needs or the
// defaults. Throws BadInput on an unknown name, with the nearest, and on a size that does not fit.
//
// `needed(tag)` says whether the size so far is the least that will do (a program's threads), not a default.
template <class Sizes, class Needed>
void apply_sizes(Sizes& sizes, const SystemOptions& options, Needed&& needed) {
  auto rest = options.sizes;
  std::vector<std::string> names;
  sizes.visit([&](auto tag, int& size) {
    using Tag = decltype(tag);
    const std::string name(Tag::name);
    names.push_back(name);
    const auto found = rest.find(name);
    if (found == rest.end()) return;
    if (found->second < size && needed(tag)) {
      throw BadInput("size " + name + "=" + std::to_string(found->second) + " is below the " +
                     std::to_string(size) + " that the program needs");
    }
    constexpr int capacity = Sizes::template capacity<Tag>();
    if (found->second < 1 || found->second > capacity) {
      throw BadInput("size " + name + "=" + std::to_string(found->second) +
                     " is not between 1 and the built capacity " + std::to_string(capacity));
    }
    size = found->second;
    rest.erase(found);
  });
  if (!rest.empty()) {
    throw BadInput("unknown size '" + rest.begin()->first + "'", suggestion(rest.begin()->first, names));
  }
}

// Whether a system is compiled a second time for states of smaller capacities, for speed alone: a build with
// assertions or sanitizers takes long enough with one.
#ifdef NDEBUG
inline constexpr bool compiles_small_states = true;
#else
inline constexpr bool compiles_small_states = false;
#endif

// Whether sizes also fit in a state of smaller capacities; if so, they are copied to `smaller`.
template <class Sizes, class Smaller>
bool fits(const Sizes& sizes, Smaller& smaller) {
  bool all = true;
  smaller.visit([&]<class Tag>(Tag, int& size) {
    size = sizes.template extent<Tag>();
    all &= size <= Smaller::template capacity<Tag>();
  });
  return all;
}

template <class Info>
std::vector<SizeDescription> describe_sizes() {
  std::vector<SizeDescription> described;
  typename Info::template Sizes<FullCapacities> defaults;
  Info::default_sizes(defaults, 0);
  defaults.visit([&](auto tag, int& size) {
    using Tag = decltype(tag);
    described.push_back(
        {std::string(Tag::name), decltype(defaults)::template capacity<Tag>(),
         size == decltype(defaults)::template capacity<Tag>() ? "the program" : std::to_string(size)});
  });
  return described;
}

}  // namespace lockstep
