#include "proofs/lemmas/halcone.progress.hpp"

#include "proofs/progress_system.hpp"
#include "proofs/registry.hpp"

namespace lockstep {

namespace {

const RegisteredProgress registered(
    origin<halcone::Info>("proofs/systems/halcone.progress.cpp"),
    build_progress<halcone::Info, halcone::ProgressLemmas, NoHistory, AnyAmounts>, AtAnySize::yes);

}  // namespace

}  // namespace lockstep
