// How a proof puts itself on the list (prover.hpp, proofs()).
#pragma once

#include "proofs/prover.hpp"

namespace lockstep {

// One of static storage in the translation unit of a system's proof:
//   const RegisteredProof registered(origin<german::Info>("proofs/systems/german.cpp"), entry);
struct RegisteredProof {
  RegisteredProof(const Origin& origin, ProofEntry (*entry)());
};

}  // namespace lockstep
