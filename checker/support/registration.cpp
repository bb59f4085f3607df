#include "checker/support/registration.hpp"

#include <fmt/format.h>

#include <map>

#include "checker/support/diagnostic.hpp"

namespace lockstep {

void check_origins(const std::vector<Origin>& origins) {
  for (const Origin& one : origins) {
    const std::string_view version = one.version == nullptr ? "" : one.version;
    if (version == headers_version) continue;
    throw BadInput(fmt::format("'{}' was compiled against Lockstep {}, and this is Lockstep {}", one.file,
                               version, headers_version),
                   "compile it again, against the headers of this one");
  }
  std::map<std::string_view, std::string_view> file_of;
  for (const Origin& one : origins) {
    const auto [found, fresh] = file_of.emplace(one.system, one.file);
    if (fresh) continue;
    throw BadInput(
        fmt::format("two systems are called '{}': '{}' and '{}'", one.system, found->second, one.file),
        "rename one of them: its Info::name, and its header with the namespace");
  }
}

}  // namespace lockstep
