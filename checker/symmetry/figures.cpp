#include "checker/symmetry/figures.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "checker/support/diagnostic.hpp"

namespace lockstep::symmetry {

Figures figures_of(const Automorphisms& found, const std::vector<std::string>& wanted) {
  const bool is_none = std::any_of(wanted.begin(), wanted.end(), [&](const std::string& type) {
    return std::find(found.types.begin(), found.types.end(), type) == found.types.end();
  });
  if (is_none)
    throw BadInput(fmt::format("no symmetry: {}", fmt::join(found.refused, "; ")),
                   "`--symmetry all` takes what symmetry there is");
  return {found.types, found.elements.size(), found.refused, found.all};
}

std::string text(const Figures& figures) {
  if (figures.types.empty() && figures.refused.empty())
    return "  Symmetry     none: the members of its index types are all known by their numbers\n";
  if (figures.types.empty())
    return fmt::format("  Symmetry     none: {}\n", fmt::join(figures.refused, fmt::format(";\n{:21}", "")));
  return fmt::format("  Symmetry     of {}: each state stands for up to {}{}\n",
                     fmt::join(figures.types, ", "), figures.renamings,
                     figures.all ? "" : " (of more that there are)");
}

nlohmann::json json(const Figures& figures) {
  return {{"types", figures.types},
          {"renamings", figures.renamings},
          {"all", figures.all},
          {"refused", figures.refused}};
}

}  // namespace lockstep::symmetry
