#include "proofs/lemmas/lab.progress.hpp"

#include "proofs/progress_system.hpp"
#include "proofs/registry.hpp"

namespace lockstep {

namespace {

const RegisteredProgress registered(origin<lab::Info>("proofs/systems/lab.progress.cpp"),
                                    build_progress<lab::Info, lab::ProgressLemmas>, AtAnySize::no);

}  // namespace

}  // namespace lockstep
