// What is said of the symmetry that a search has made use of.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "checker/symmetry/automorphisms.hpp"

namespace lockstep::symmetry {

struct Figures {
  std::vector<std::string> types;    // index types whose members are renamed
  std::size_t renamings = 1;         // for so many states one was visited, at most
  std::vector<std::string> refused;  // other types, and why their members are not
  bool all = true;                   // more renamings are not left out
};

// Throws BadInput where there is none over a type that was asked for.
Figures figures_of(const Automorphisms& found, const std::vector<std::string>& wanted);

// A line of a report, with its end.
std::string text(const Figures& figures);
nlohmann::json json(const Figures& figures);

}  // namespace lockstep::symmetry
