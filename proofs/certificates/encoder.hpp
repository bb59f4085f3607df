// Obligations as clauses, for a solver whose answers can be checked.
//
// What the clauses say is no more than what the terms say: every model of the terms is one of the clauses. So
// clauses that are refuted leave no model of the terms either. The translation is part of what a certificate
// rests on, so it is short, asks no solver, and uses Z3 for the terms' structure alone.
#pragma once

#include <z3++.h>

#include <vector>

#include "proofs/certificates/clauses.hpp"

namespace lockstep {

// Truths and bit vectors are bits. Whole numbers that lie in a range, as timestamps do, are bits as well. Of
// other whole numbers, members of sorts without a bound, and what functions of which nothing is known yield,
// clauses say which are equal: they are codes, as many as there are terms. What else there is (quantifiers,
// sums and orders of numbers without a bound) may be anything.
struct Encoded {
  Cnf clauses;
  bool exact = true;  // nothing may be anything: whatever satisfies the clauses satisfies the terms
};

// Everything given, and at least one of the goals false.
Encoded encode(const std::vector<z3::expr>& given, const std::vector<z3::expr>& goals);

}  // namespace lockstep
