// What a model says of a test, with an execution for each outcome, as a document.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>

#include "checker/axiomatic/model.hpp"

namespace lockstep::view {

// {"kind": "executions", ...}: every outcome of some candidate execution, those that the model forbids
// included, each with the execution that shows it, or the check that it fails, best. What is beyond `most`
// outcomes is left out. Throws BadInput where the test cannot be judged.
nlohmann::json executions_document(const LitmusTest& test, const AxiomaticModel& model,
                                   const JudgeOptions& options, std::size_t most = 64);

}  // namespace lockstep::view
