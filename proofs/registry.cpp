#include "proofs/registry.hpp"

#include <fmt/format.h>

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

Registrations<RegisteredClaims::Build>& registered_claims() {
  static Registrations<RegisteredClaims::Build> all;
  return all;
}

Registrations<RegisteredTheorem::Build>& registered_theorems() {
  static Registrations<RegisteredTheorem::Build> all;
  return all;
}

struct Progress {
  RegisteredProgress::Build build;
  AtAnySize at_any_size;
};
Registrations<Progress>& registered_progress() {
  static Registrations<Progress> all;
  return all;
}

}  // namespace

RegisteredProgress::RegisteredProgress(const Origin& origin, Build build, AtAnySize at_any_size) {
  registered_progress().add(origin, {build, at_any_size});
}

std::unique_ptr<ProofSubject> progress_of(std::string_view system, const SystemOptions& options,
                                          bool any_size) {
  for (const auto& [name, progress] : registered_progress().in_order()) {
    if (name != system) continue;
    if (any_size && progress.at_any_size == AtAnySize::no)
      throw BadInput(fmt::format("the progress of {} is not proved for any size", system),
                     "leave out --any-size");
    return progress.build(options, any_size);
  }
  return nullptr;
}

RegisteredTheorem::RegisteredTheorem(const Origin& origin, Build build) {
  registered_theorems().add(origin, build);
}

std::unique_ptr<ProofSubject> theorem_of(std::string_view system, const SystemOptions& options) {
  for (const auto& [name, build] : registered_theorems().in_order()) {
    if (name == system) return build(options);
  }
  return nullptr;
}

RegisteredClaims::RegisteredClaims(const Origin& origin, Build build) {
  registered_claims().add(origin, build);
}

std::unique_ptr<ProofSubject> claims_of(std::string_view system, const SystemOptions& options) {
  for (const auto& [name, build] : registered_claims().in_order()) {
    if (name == system) return build(options);
  }
  return nullptr;
}

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
