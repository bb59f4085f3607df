// Where what comes with Lockstep lies: its tests, models and machines, in folders as in the source tree.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace lockstep {

// A folder or file of these, "spec/models": the first that exists
//   1. below the folder that the environment's LOCKSTEP_HOME names,
//   2. below share/lockstep of the prefix that this code was installed to: as the command, or as a Python
//      module (cmake/package.cmake says what lies where),
//   3. below built_from().
// Throws BadInput where it is in none of them.
std::filesystem::path shipped(const std::string& name);

// The source tree, or the data of the installed Lockstep that an executable was linked from. Each build has a
// unit of its own with this function, made of cmake/built_from.cpp.in, so that of all units that one alone
// depends on where anything lies, and a compiler cache serves any clone.
std::string_view built_from();

}  // namespace lockstep
