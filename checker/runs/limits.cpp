#include "checker/runs/limits.hpp"

#include <fmt/format.h>

#include <array>
#include <new>

#include "checker/explore/model.hpp"
#include "checker/support/diagnostic.hpp"
#include "spec/kernel/concrete.hpp"

namespace lockstep {

std::string_view word(RunStatus status) {
  constexpr std::array<std::string_view, 8> words{"complete",    "deadlock",      "assertion",   "broken",
                                                  "out of time", "out of memory", "interrupted", "error"};
  return words.at(static_cast<std::size_t>(status));
}

RunError describe_error(const std::exception_ptr& error, const Program& program) {
  try {
    std::rethrow_exception(error);
  } catch (const BadInput& bad) {
    return {RunStatus::error, bad.what()};
  } catch (const ValueOutOfRange& bad) {
    return {
        RunStatus::error,
        BadInput(
            fmt::format("'{}' computes {}, outside of {}..{}", program.name, bad.value, bad.range.low,
                        bad.range.high),
            "bound what it computes in loops: count with `inc`, which wraps at its operand, mask with `and`, "
            "or unroll the loop")
            .what()};
  } catch (const BrokenRule& broken) {
    return {RunStatus::error, broken.what()};
  } catch (const std::bad_alloc&) {
    return {RunStatus::out_of_memory, "the machine has no memory left"};
  }
}

}  // namespace lockstep
