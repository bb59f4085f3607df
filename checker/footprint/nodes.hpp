// How single nodes of recorded trees are read as numbers, wherever their trees are walked.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "checker/footprint/terms.hpp"
#include "spec/kernel/recorded.hpp"

namespace lockstep::footprint {

// The numbers that a system's constants are.
class Constants {
 public:
  explicit Constants(const recorded::Declaration& state);
  // Of a constant. Throws std::logic_error on a member of an enumeration that is not in the state.
  [[nodiscard]] std::int64_t of(const recorded::Node& constant) const;

 private:
  void note_members(const recorded::Declaration& declaration);
  std::map<std::string, std::map<std::string, std::int64_t>> members_;  // of enumerations
};

// What an operator computes of two numbers; none of all others.
std::optional<TermOp> binary_operator(recorded::Op op);

// The member of a rigid function, by its name and the index type that it is over; of two index types that a
// run's sizes pair up, the one at the same place.
class RigidFunctions {
 public:
  explicit RigidFunctions(const std::vector<recorded::RigidFunction>& functions);
  // What the node applies; none where it pairs up two index types.
  [[nodiscard]] const recorded::RigidFunction* applied(const recorded::Node& node) const;
  // 0 beyond what is known.
  [[nodiscard]] static std::int64_t value(const recorded::RigidFunction* function, std::int64_t member);

 private:
  std::map<std::string, const recorded::RigidFunction*> by_name_;
};

}  // namespace lockstep::footprint
