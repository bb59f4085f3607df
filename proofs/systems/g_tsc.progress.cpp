#include "proofs/lemmas/g_tsc.progress.hpp"

#include "proofs/progress_system.hpp"
#include "proofs/registry.hpp"

namespace lockstep {

namespace {

const RegisteredProgress registered(origin<g_tsc::Info>("proofs/systems/g_tsc.progress.cpp"),
                                    build_progress<g_tsc::Info, g_tsc::ProgressLemmas, NoHistory, AnyAmounts>,
                                    AtAnySize::yes);

}  // namespace

}  // namespace lockstep
