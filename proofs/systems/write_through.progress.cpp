#include "proofs/lemmas/write_through.progress.hpp"

#include "proofs/progress_system.hpp"
#include "proofs/registry.hpp"

namespace lockstep {

namespace {

const RegisteredProgress registered(origin<write_through::Info>("proofs/systems/write_through.progress.cpp"),
                                    build_progress<write_through::Info, write_through::ProgressLemmas>,
                                    AtAnySize::yes);

}  // namespace

}  // namespace lockstep
