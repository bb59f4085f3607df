// SPIN's verdict on progress beside ours: the same rules, one process a thread, under SPIN's weak fairness,
// which is the fair progress model.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "checker/export/crosscheck.hpp"
#include "checker/liveness/liveness.hpp"

namespace lockstep {

struct ConfirmedGoal {
  int thread = -1;      // that it gets on again and again; -1: that all end
  bool reached = true;  // by every fair run, as we say
  Count spin;
};

struct Confirmation {
  std::string program;
  std::vector<ConfirmedGoal> goals;
  Agreement agreement = Agreement::agree;
  std::string message;  // of an error
};

// Of a program on a memory system, without deadlocks and failing claims: those are `crosscheck`'s.
Confirmation confirm_with_spin(const Subject& subject, const RunLimits& limits);

std::string confirmation_text(std::span<const Confirmation> all);
nlohmann::json confirmation_json(std::span<const Confirmation> all);

}  // namespace lockstep
