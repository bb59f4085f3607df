// Execution graphs: one candidate execution as text, and as a picture laid out by thread.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "checker/axiomatic/model.hpp"

namespace lockstep {

// The events by thread, where each read's value comes from, and the checks that fail with their cycles.
std::string candidate_text(const LitmusTest& test, const Candidate& candidate);

// Events by thread, base relations, those that the model names, and the checks that fail, each with its cycle
// unfolded: what a page draws (docs/view.md).
nlohmann::json candidate_json(const LitmusTest& test, const Candidate& candidate);

// For Graphviz, with positions: a column a thread, rf red, co brown, fr blue, what the model shows grey; the
// events and edges of the first failing check's cycle are drawn bold. Render with `neato -n2`.
std::string candidate_dot(const LitmusTest& test, const Candidate& candidate, const std::string& title);

// By Graphviz. Throws BadInput where it is missing.
std::string render_svg(const std::string& dot);

}  // namespace lockstep
