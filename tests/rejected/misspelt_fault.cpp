// Does not compile: no fault of German's protocol has this name.
#include "spec/examples/german.hpp"

constexpr lockstep::NameIn<lockstep::german::faults> misspelt("keep-cpoy");
