// The machine as a picture shows it: units, what leads from one to another, and their rules in full.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "checker/runs/subject.hpp"
#include "checker/view/anatomy.hpp"

namespace lockstep::view {

// Units, connections and rules; without the rules of a program's threads.
nlohmann::json machine_json(const recorded::Description& description, const Anatomy& anatomy);

// A document of a system by itself: {"kind": "machine", ...}. Throws BadInput.
nlohmann::json machine_document(const Subject& subject);

}  // namespace lockstep::view
