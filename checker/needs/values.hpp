// What a program needs of a data word: the values that it can compute.
#pragma once

#include "spec/kernel/concrete.hpp"
#include "spec/program/program.hpp"

namespace lockstep {

// The range that holds every value a program can compute, as far as its text tells; a program that computes
// in loops gets 16 bits.
ValueRange values_of(const Program& program);

}  // namespace lockstep
