// Solvers that are programs of their own.
#pragma once

#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

#include "checker/support/process.hpp"

namespace lockstep {

// Runs `command` in the folder for so many seconds at most, a millisecond at least.
ProcessResult run_solver(const std::vector<std::string>& command, const std::filesystem::path& folder,
                         double seconds, const std::atomic<bool>* interrupted);

// What it says of its version. Throws BadInput where there is no such program; `what` it is for people.
std::string solver_version(const std::string& command, const std::string& what);

}  // namespace lockstep
