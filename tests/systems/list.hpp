// What the tests of all systems are told of each: what its Info says for them, and its rules as the Symbolic
// kind reads them. The build makes a translation unit of each header (claims.cpp.in), so no test names a
// system.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checker/support/registration.hpp"

namespace lockstep {

// Rules by name, and those whose guard is false whatever the state.
struct SymbolicRules {
  std::size_t starts = 0;
  std::set<std::string> rules;
  std::set<std::string> never;
};

struct SystemClaims {
  // No rule says where it comes from: the literature is cited as a whole (Info::is_cited_whole).
  bool is_cited_whole = false;
  // Whether no rule reads a field that is not the port's, in a variant, with a fault or "" (Info::is_unread).
  bool (*is_unread)(std::string_view field, std::string_view variant, std::string_view fault) = nullptr;
  SymbolicRules (*read)(bool any_size, std::string_view variant) = nullptr;
};

const std::vector<std::pair<std::string_view, SystemClaims>>& system_claims();
Registrations<SystemClaims>& registered_claims();

}  // namespace lockstep
