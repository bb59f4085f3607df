// How a proof puts itself on the list (prover.hpp, proofs()).
#pragma once

#include "proofs/prover.hpp"

namespace lockstep {

// One of static storage in a system's translation unit under proofs/systems; `place` orders the list.
struct RegisteredProof {
  RegisteredProof(int place, ProofEntry (*entry)());
};

}  // namespace lockstep
