#include "checker/runs/limits.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <new>

#include "checker/explore/model.hpp"
#include "spec/kernel/concrete.hpp"

namespace lockstep {

std::string_view word(RunStatus status) {
  constexpr std::array<std::string_view, 8> words{"complete",    "deadlock",      "assertion",   "broken",
                                                  "out of time", "out of memory", "interrupted", "error"};
  return words.at(static_cast<std::size_t>(status));
}

std::size_t usual_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page_bytes = sysconf(_SC_PAGE_SIZE);
  if (pages <= 0 || page_bytes <= 0) return 0;
  return static_cast<std::size_t>(static_cast<double>(pages) * static_cast<double>(page_bytes) * 0.75);
}

namespace {

RunError error_of(const BadInput& bad) {
  return {RunStatus::error, bad.what(), bad.diagnostic()};
}

}  // namespace

RunError describe_error(const std::exception_ptr& error, const Program& program) {
  try {
    std::rethrow_exception(error);
  } catch (const BadInput& bad) {
    return error_of(bad);
  } catch (const ValueOutOfRange& bad) {
    return error_of(BadInput(
        fmt::format("'{}' computes {}, outside of {}..{}", program.name, bad.value, bad.range.low,
                    bad.range.high),
        "bound what it computes in loops: count with `inc`, which wraps at its operand, mask with `and`, "
        "or unroll the loop"));
  } catch (const BrokenRule& broken) {
    return {RunStatus::error, broken.what(), {}};
  } catch (const std::bad_alloc&) {
    return {RunStatus::out_of_memory, "the machine has no memory left", {}};
  }
}

}  // namespace lockstep
