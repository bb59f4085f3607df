#include "checker/support/home.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <vector>

#include "checker/support/diagnostic.hpp"

namespace lockstep {

namespace fs = std::filesystem;

namespace {

// Of what is installed: PREFIX/bin/COMMAND, or PREFIX/lib/python3/dist-packages/lockstep/MODULE, which runs
// in a process that is Python's, installed elsewhere.
fs::path own_prefix() {
  std::error_code error;
  const fs::path command = fs::read_symlink("/proc/self/exe", error);
  Dl_info own{};
  if (dladdr(reinterpret_cast<const void*>(&built_from), &own) != 0) {
    const fs::path file = fs::canonical(own.dli_fname, error);
    if (!error && file != command) return file.parent_path() / "../../../..";
  }
  return command.parent_path().parent_path();
}

}  // namespace

fs::path shipped(const std::string& name) {
  std::error_code error;
  std::vector<fs::path> homes;
  if (const char* named = std::getenv("LOCKSTEP_HOME")) homes.emplace_back(named);
  homes.push_back((own_prefix() / "share" / "lockstep").lexically_normal());
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
