#include "proofs/registry.hpp"

#include <algorithm>
#include <vector>

#include "checker/support/diagnostic.hpp"
#include "proofs/prover.hpp"

namespace lockstep {

namespace {

Registrations<ProofEntry (*)()>& registered() {
  static Registrations<ProofEntry (*)()> all;
  return all;
}

}  // namespace

RegisteredProof::RegisteredProof(const Origin& origin, ProofEntry (*entry)()) {
  registered().add(origin, entry);
}

std::span<const ProofEntry> proofs() {
  static const std::vector<ProofEntry> entries = [] {
    std::vector<ProofEntry> all;
    for (const auto& [name, entry] : registered().in_order()) all.push_back(entry());
    return all;
  }();
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
