// Who meets whom at the barriers of an execution. A barrier that says how many take part opens whenever that
// many have arrived, whoever they are, and is then new: so one choice of paths may be several executions.
#pragma once

#include <vector>

#include "checker/axiomatic/execution.hpp"

namespace lockstep {

// By event, a number that those share which meet at one barrier, each time that it opens; -1 of other events.
using Rounds = std::vector<int>;

struct Meeting {
  Rounds round;
  bool hangs = false;  // some thread waits for ever
};

// Every way for the threads to meet and all come to the ends of their paths; none where some thread waits for
// ever, unless `with_hangs`. Only a barrier with a quorum, where others have met, leaves threads behind, and
// their paths say so. Where a path was cut, one way that relates no more than any: what is left out could
// still arrive. Throws BadInput where threads disagree on how many take part, or the ways are too many.
std::vector<Meeting> ways_to_meet(const Execution& execution, bool with_hangs = false);

}  // namespace lockstep
