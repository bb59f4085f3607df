#include <algorithm>
#include <array>

#include "checker/support/diagnostic.hpp"
#include "proofs/prover.hpp"
#include "proofs/systems/systems.hpp"

namespace lockstep {

std::span<const ProofEntry> proofs() {
  static const std::array entries{german_proof(), write_through_proof(), quick_release_proof(),
                                  cpcoh_proof(),  lab_proof(),           halcone_proof()};
  return entries;
}

const ProofEntry& find_proof(std::string_view system) {
  std::vector<std::string> names;
  for (const ProofEntry& entry : proofs()) {
    if (entry.system == system) return entry;
    names.emplace_back(entry.system);
  }
  find_system(system);  // its own message where there is no such system
  throw BadInput("there is no proof of '" + std::string(system) + "'", suggestion(system, names));
}

}  // namespace lockstep
