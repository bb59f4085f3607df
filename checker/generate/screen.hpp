// A first look for races, on a blueprint: most of what an alphabet yields races, and need not be built,
// explored or run to know it.
#pragma once

#include "checker/generate/blueprint.hpp"
#include "checker/races/races.hpp"

namespace lockstep::generate {

// Whether some SC execution of the program surely has a race under the model, in the reading "any location",
// hence in both. False means nothing: races.hpp has the answer. It is exact but for fences, kernels and the
// relaxed models, where synchronization is taken to order more than it does.
bool surely_races(const Blueprint& blueprint, RaceModel model);

}  // namespace lockstep::generate
