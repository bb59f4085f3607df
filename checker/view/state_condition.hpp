// A condition on a state, as people type it:
//   memory.l1(0,1).present = true /\ ~memory.stage(1) = idle
//   enabled "fill reaches L1"        some enabled rule has that in its name
//   end, deadlock, violated          a proper end; stuck before it; an invariant does not hold
//   P1:r0 = 1                        a register of a program's thread
// with /\, \/, ~ and parentheses as in litmus tests, and =, ==, !=, <, <=, >, >= between a field and a value.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "spec/program/program.hpp"

namespace lockstep::view {

// What a condition is asked of.
struct Situation {
  const std::vector<std::pair<std::string, std::string>>& fields;  // in the order of those it was made for
  std::vector<const std::string*> enabled;                         // names of rules
  bool end = false;
  bool deadlock = false;
  bool violated = false;
};

class StateCondition {
 public:
  // For states with these fields; `program` may be null. Throws BadInput with the column, and the nearest
  // name.
  StateCondition(const std::string& text, const std::vector<std::pair<std::string, std::string>>& fields,
                 const Program* program);

  [[nodiscard]] bool holds(const Situation& situation) const { return holds(root_, situation); }

  enum class Kind : std::uint8_t { and_, or_, not_, compare, enabled, end, deadlock, violated };
  struct Term {
    Kind kind = Kind::end;
    std::size_t field = 0;  // of compare
    Comparison comparison = Comparison::equal;
    std::string value;  // of compare, and of enabled
    std::vector<std::size_t> operands;
  };

 private:
  [[nodiscard]] bool holds(std::size_t term, const Situation& situation) const;

  std::vector<Term> terms_;
  std::size_t root_ = 0;
};

}  // namespace lockstep::view
