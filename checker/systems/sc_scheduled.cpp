#include "checker/systems/scheduled_system.hpp"
#include "spec/memory/sc.hpp"

namespace lockstep {

namespace {
const RegisteredScheduled registered("sc", build_scheduled_model<SequentialConsistencyInfo>);
}  // namespace

}  // namespace lockstep
