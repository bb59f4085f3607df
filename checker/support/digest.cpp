#include "checker/support/digest.hpp"

#include <fmt/format.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace lockstep {

std::string digest(std::string_view text) {
  return fmt::format("{:016x}", XXH64(text.data(), text.size(), 0));
}

}  // namespace lockstep
