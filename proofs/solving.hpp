// What puts questions to Z3 within a session.
#pragma once

#include "proofs/terms.hpp"

namespace lockstep {

// For what the current session is made of, bits or not. `from_scratch`: what is asked is simplified and made
// bits of by itself, not after other questions.
z3::solver make_solver(double seconds_each, bool from_scratch = false);

// What is added to a solver meanwhile is forgotten at the end, also where the solver fails: the next question
// must not be answered from this one.
class SolverScope {
 public:
  explicit SolverScope(z3::solver& solver) : solver_(solver) { solver_.push(); }
  SolverScope(const SolverScope&) = delete;
  SolverScope& operator=(const SolverScope&) = delete;
  ~SolverScope() { Z3_solver_pop(solver_.ctx(), solver_, 1); }

 private:
  z3::solver& solver_;
};

namespace symbolic {

// The value that a field of these values has by default.
Term by_default(const Domain& domain);

}  // namespace symbolic

}  // namespace lockstep
