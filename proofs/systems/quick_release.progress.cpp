#include "proofs/lemmas/quick_release.progress.hpp"

#include "proofs/progress_system.hpp"
#include "proofs/registry.hpp"

namespace lockstep {

namespace {

const RegisteredProgress registered(
    origin<quick_release::Info>("proofs/systems/quick_release.progress.cpp"),
    build_progress<quick_release::Info, quick_release::ProgressLemmas, quick_release::FlushHistory>,
    AtAnySize::no);

}  // namespace

}  // namespace lockstep
