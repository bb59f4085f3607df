// What the translation unit of a system's trees registers. Included by such units only.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "checker/systems/closed_description.hpp"
#include "checker/systems/contract.hpp"
#include "checker/systems/launched_description.hpp"
#include "checker/systems/program_description.hpp"
#include "checker/systems/registry.hpp"
#include "checker/systems/scheduled_description.hpp"

namespace lockstep {

template <class Info, template <class> class Claims = NoClaims>
struct RegisteredTrees {
  static_assert(is_described<Info, Recorded>());
  explicit RegisteredTrees(std::string_view header) {
    SystemDescriptions descriptions;
    if constexpr (RunsPrograms<Info, Recorded>) {
      descriptions.describe = [](const SystemOptions& options) {
        return describe_memory<Info, Claims>(options, find_system(Info::name));
      };
      descriptions.describe_whole = [](std::shared_ptr<const Program> program, const SystemOptions& options) {
        if (options.scheduler) {
          if constexpr (performs_at_once<Info>)
            return describe_scheduled<Info>(std::move(program), options, find_system(Info::name));
          throw BadInput(fmt::format("of {} nothing is known under a scheduler but fair", Info::name));
        }
        return describe_program_system<Info, Claims>(std::move(program), options, find_system(Info::name));
      };
    } else {
      descriptions.describe = describe_closed<Info>;
      descriptions.describe_whole = [](std::shared_ptr<const Program>, const SystemOptions& options) {
        return describe_closed_system<Info>(options);
      };
      if constexpr (TakesLaunches<Info, Recorded>) descriptions.describe_launched = describe_launched<Info>;
    }
    const RegisteredDescriptions registered(origin<Info>(header), descriptions);
  }
};

}  // namespace lockstep
