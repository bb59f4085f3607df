// Whether a program has come to its end, asked of all its threads at once.
#pragma once

#include "spec/kernel/index.hpp"
#include "spec/program/machine.hpp"

namespace lockstep {

// Every thread has finished. A kind that keeps count of them looks at no other.
template <class K, class Ports>
typename K::Bool all_ended(const K& k, const Ports& port) {
  if constexpr (requires { port.all_ended(); }) {
    return port.all_ended();
  } else {
    return k.forall(threads, [&](const auto& t) { return port(t).ended; });
  }
}

}  // namespace lockstep
