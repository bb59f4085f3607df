// Runs as documents: JSON of schema lockstep.view/1 that the page in the browser draws.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "checker/trace/trace.hpp"
#include "checker/view/walk.hpp"

namespace lockstep::view {

inline constexpr std::string_view schema = "lockstep.view/1";

// A subject as links name it, and what its program says: threads, instructions, locations.
nlohmann::json subject_json(const Subject& subject);

// A rule's effects: [[path, before, after], ...].
nlohmann::json changes_json(const NarratedStep& narrated);

// Columns, rows, messages and the first state of a walk, with the machine that it is a run of. `numbers`: of
// each row, the step of a trace that it belongs to; none: each row is a step.
nlohmann::json walk_json(const Walk& walk, const std::vector<std::size_t>& numbers = {});

// A walk along a trace, as far as the system does today what the trace says.
struct Retraced {
  Walk walk;
  std::vector<std::size_t> numbers;  // by row
  std::string difference;            // why it ends before the trace does; empty where it does not
};
// Throws BadInput as Subject::build() does.
Retraced retrace(const RecordedTrace& trace);

// {"kind": "run", ...}. What the system does otherwise now is said, and the rest is as it was recorded.
nlohmann::json run_document(const RecordedTrace& trace, const std::string& title);

}  // namespace lockstep::view
