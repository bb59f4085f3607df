#include "checker/support/solver_process.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "checker/support/diagnostic.hpp"

namespace lockstep {

ProcessResult run_solver(const std::vector<std::string>& command, const std::filesystem::path& folder,
                         double seconds, const std::atomic<bool>* interrupted) {
  const std::chrono::milliseconds time(std::max(1L, static_cast<long>(seconds * 1000)));
  return run_process({command, folder, time, interrupted});
}

std::string solver_version(const std::string& command, const std::string& what) {
  const TemporaryFolder folder;
  const ProcessResult version = run_solver({command, "--version"}, folder.path(), 10, nullptr);
  if (version.end == ProcessResult::End::missing) {
    throw BadInput(fmt::format("{} '{}' is not installed", what, command),
                   fmt::format("on Debian or Ubuntu: sudo apt-get install {}",
                               std::filesystem::path(command).filename().string()));
  }
  return version.output.substr(0, version.output.find('\n'));
}

}  // namespace lockstep
