// The proofs that Lockstep ships, each in a translation unit of its own.
#pragma once

#include "proofs/prover.hpp"

namespace lockstep {

ProofEntry german_proof();
ProofEntry write_through_proof();
ProofEntry quick_release_proof();
ProofEntry cpcoh_proof();
ProofEntry lab_proof();
ProofEntry halcone_proof();

}  // namespace lockstep
