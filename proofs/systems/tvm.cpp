#include "proofs/lemmas/tvm.hpp"

#include "proofs/closed_proof.hpp"

namespace lockstep {

namespace {

ProofEntry entry() {
  return {"tvm",
          "every task runs once, its continuation after all that it forked, and results are kept until then",
          "any number of cores, and every program that nests no deeper than there are masks",
          closed_proof<tvm::Info, tvm::Lemmas>};
}

const RegisteredProof registered(origin<tvm::Info>("proofs/systems/tvm.cpp"), entry);

}  // namespace

}  // namespace lockstep
