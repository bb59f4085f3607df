#include "checker/support/home.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <vector>

#include "checker/support/diagnostic.hpp"

namespace lockstep {

namespace fs = std::filesystem;

fs::path shipped(const std::string& name) {
  std::error_code error;
  std::vector<fs::path> homes;
  if (const char* named = std::getenv("LOCKSTEP_HOME")) homes.emplace_back(named);
  const fs::path command = fs::read_symlink("/proc/self/exe", error);
  if (!error) homes.push_back(command.parent_path().parent_path() / "share" / "lockstep");
  homes.emplace_back(built_from());
  for (const fs::path& home : homes) {
    if (fs::exists(home / name, error)) return home / name;
  }
  throw BadInput(
      fmt::format("'{}', which comes with Lockstep, is not in '{}', where it was when this was built", name,
                  built_from()),
      fmt::format("set LOCKSTEP_HOME to the folder that holds {}", name));
}

}  // namespace lockstep
