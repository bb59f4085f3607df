// Numbers counted round: which member of one index type a member of another falls on, where there are fewer
// of it, as addresses fall on locks.
#pragma once

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "spec/kernel/index.hpp"

namespace lockstep {

// The member of `To` whose number is that of `i` modulo how many there are. At sizes that are known, or as
// many of one as of the other.
template <IndexTag To, IndexTag From, class K>
typename K::template Ix<To> folded(const K& k, const typename K::template Ix<From>& i) {
  using Target = typename K::template Ix<To>;
  const int to = k.template extent<To>();
  const int from = k.template extent<From>();
  if (to == 1) return K::template constant<To>(0);
  if (to == from) return K::template same<To>(i);
  if constexpr (requires { i.v % i.v; }) {
    return K::template constant<To>(static_cast<int>(i.v) % to);
  } else {
    if (std::max(from, to) == std::numeric_limits<int>::max())
      throw std::logic_error("folded: of sizes that are not known");
    Target found = K::template constant<To>(0);
    for (int n = 1; n < from; ++n) {
      found = K::select(i == K::template constant<From>(n), K::template constant<To>(n % to), found);
    }
    return found;
  }
}

}  // namespace lockstep
