// Whether a refutation of clauses is one: each step has to follow from what stands before it by unit
// propagation, and the last is the empty clause.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "proofs/certificates/clauses.hpp"

namespace lockstep {

struct Checked {
  bool refuted = false;
  std::size_t steps = 0;  // that were looked at
  std::string why;        // it is no refutation
};

// `proof` is binary DRAT: for each step 'a' or 'd', its literals as 2 * variable + sign in groups of seven
// bits, the lowest first, and 0. A step that adds has to follow by unit propagation (RUP; what DRAT allows
// beyond that is refused). What is taken away is only looked at less.
Checked check_refutation(const Cnf& clauses, std::string_view proof);

}  // namespace lockstep
