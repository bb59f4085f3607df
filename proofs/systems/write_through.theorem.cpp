#include "proofs/lemmas/write_through.theorem.hpp"

#include "proofs/registry.hpp"
#include "proofs/theorem_system.hpp"

namespace lockstep {

namespace {

const RegisteredTheorem registered(
    origin<write_through::Info>("proofs/systems/write_through.theorem.cpp"),
    build_theorem<write_through::Info, write_through::TheoremHistory, write_through::TheoremLemmas,
                  FullCapacities, symbolic::Words::any>);

}  // namespace

}  // namespace lockstep
