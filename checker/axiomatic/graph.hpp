// Execution graphs: one candidate execution as text, and as a picture laid out by thread.
#pragma once

#include <string>

#include "checker/axiomatic/model.hpp"

namespace lockstep {

// The events by thread, where each read's value comes from, and the checks that fail with their cycles.
std::string candidate_text(const LitmusTest& test, const Candidate& candidate);

// For Graphviz, with positions: a column a thread, rf red, co brown, fr blue, what the model shows grey; the
// events and edges of the first failing check's cycle are drawn bold. Render with `neato -n2`.
std::string candidate_dot(const LitmusTest& test, const Candidate& candidate, const std::string& title);

// By Graphviz. Throws BadInput where it is missing.
std::string render_svg(const std::string& dot);

}  // namespace lockstep
