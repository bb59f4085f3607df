#include "proofs/lemmas/german.hpp"

#include "proofs/closed_proof.hpp"

namespace lockstep {

namespace {

ProofEntry entry() {
  return {"german", "an exclusive copy is the only copy, and every copy is current",
          "any number of nodes and of data values", closed_proof<german::Info, german::Lemmas>};
}

const RegisteredProof registered(origin<german::Info>("proofs/systems/german.cpp"), entry);

}  // namespace

}  // namespace lockstep
