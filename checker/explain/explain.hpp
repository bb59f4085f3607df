// What `lockstep explain` prints: the rules of a system from their recorded trees.
#pragma once

#include <string>
#include <vector>

#include "spec/kernel/recorded.hpp"

namespace lockstep {

struct ExplainOptions {
  bool trees = false;  // guards and actions in full
  std::string only;    // rules whose name contains this; empty for all
};

// Every rule with its unit, parameters, trigger, reads and writes; then the invariants, and the fields that
// no rule reads.
std::string explain_text(const recorded::Description& description, const ExplainOptions& options);
std::string explain_json(const recorded::Description& description, const std::string& system);

// Which unit reads and writes which field, for Graphviz.
std::string explain_graph(const recorded::Description& description);

// Declared fields that no rule and no invariant reads.
std::vector<std::string> unread_fields(const recorded::Description& description);

}  // namespace lockstep
