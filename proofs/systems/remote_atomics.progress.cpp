#include "spec/memory/remote_atomics.hpp"

#include "proofs/lemmas/write_through.progress.hpp"
#include "proofs/progress_system.hpp"
#include "proofs/registry.hpp"

namespace lockstep {

namespace {

const RegisteredProgress registered(
    origin<remote_atomics::Info>("proofs/systems/remote_atomics.progress.cpp"),
    build_progress<remote_atomics::Info, write_through::ProgressLemmas>, AtAnySize::yes);

}  // namespace

}  // namespace lockstep
