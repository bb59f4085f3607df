// How a proof puts itself on the list (prover.hpp, proofs()).
#pragma once

#include <cstdint>
#include <memory>

#include "proofs/prover.hpp"

namespace lockstep {

// One of static storage in the translation unit of a system's proof:
//   const RegisteredProof registered(origin<german::Info>("proofs/systems/german.cpp"), entry);
struct RegisteredProof {
  RegisteredProof(const Origin& origin, ProofEntry (*entry)());
};

// Likewise of what is claimed beside a protocol (at_once.hpp).
struct RegisteredClaims {
  using Build = std::unique_ptr<ProofSubject> (*)(const SystemOptions&);
  RegisteredClaims(const Origin& origin, Build build);
};

// Likewise of what is proved at a system's port (port_theorem.hpp).
struct RegisteredTheorem {
  using Build = std::unique_ptr<ProofSubject> (*)(const SystemOptions&);
  RegisteredTheorem(const Origin& origin, Build build);
};

// Likewise of what makes a system answer (progress_system.hpp), and whether that is proved at any size, too.
enum class AtAnySize : std::uint8_t { no, yes };
struct RegisteredProgress {
  using Build = std::unique_ptr<ProofSubject> (*)(const SystemOptions&, bool any_size);
  RegisteredProgress(const Origin& origin, Build build, AtAnySize at_any_size);
};

}  // namespace lockstep
