#include "proofs/lemmas/rfo.theorem.hpp"

#include "proofs/registry.hpp"
#include "proofs/theorem_system.hpp"

namespace lockstep {

namespace {

const RegisteredTheorem registered(
    origin<rfo::Info>("proofs/systems/rfo.theorem.cpp"),
    build_theorem<rfo::Info, rfo::TheoremHistory, rfo::TheoremLemmas, FullCapacities, symbolic::Words::any>);

}  // namespace

}  // namespace lockstep
