#include "proofs/lemmas/trees.hpp"

#include "proofs/closed_proof.hpp"

namespace lockstep {

namespace {

ProofEntry entry() {
  return {"trees", "an epoch executes what the Task Vector Machine's mask says, for every program", "",
          closed_proof<trees::Info, trees::Lemmas>};
}

const RegisteredProof registered(origin<trees::Info>("proofs/systems/trees.cpp"), entry);

}  // namespace

}  // namespace lockstep
