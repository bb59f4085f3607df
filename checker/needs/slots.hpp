// Programs whose threads hand accesses to slots (Instruction::slot): what they have to keep to, and who takes
// none.
#pragma once

#include <string_view>

#include "spec/program/program.hpp"

namespace lockstep {

// Throws BadInput where a slot is not its thread's, or performs what no slot can, or a thread may end before
// its slots have. That nothing touches an access' destination before an await has found its slot free is for
// whoever writes the program.
void check_slots(const Program& program);

// For those who take a program's order for the order of its accesses, or its kernels' edges for
// synchronization at system scope. Throws BadInput: "'NAME' has accesses in slots, or dispatches waves, and
// WHY".
void refuse_slots(const Program& program, std::string_view why);

}  // namespace lockstep
