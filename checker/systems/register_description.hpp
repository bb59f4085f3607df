// What the translation unit of a system's trees registers. Included by such units only.
#pragma once

#include <memory>
#include <utility>

#include "checker/systems/closed_description.hpp"
#include "checker/systems/program_description.hpp"
#include "checker/systems/registry.hpp"

namespace lockstep {

template <class Info>
struct RegisteredTrees {
  RegisteredTrees() {
    SystemDescriptions descriptions;
    if constexpr (requires {
                    typename Info::template Memory<Recorded<typename Info::template Sizes<FullCapacities>>>;
                  }) {
      descriptions.describe = [](const SystemOptions& options) {
        return describe_memory<Info>(options, find_system(Info::name));
      };
      descriptions.describe_whole = [](std::shared_ptr<const Program> program, const SystemOptions& options) {
        return describe_program_system<Info>(std::move(program), options, find_system(Info::name));
      };
    } else {
      descriptions.describe = describe_closed<Info>;
      descriptions.describe_whole = [](std::shared_ptr<const Program>, const SystemOptions& options) {
        return describe_closed_system<Info>(options);
      };
    }
    const RegisteredDescriptions registered(Info::name, descriptions);
  }
};

}  // namespace lockstep
