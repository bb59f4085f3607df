// Does not compile: no variant of QuickRelease has this name.
#include "spec/memory/quick_release.hpp"

constexpr bool is_printed(int variant) {
  return lockstep::quick_release::Info::is(variant, "as-print");
}
