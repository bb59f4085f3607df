// The list of systems, and what all of them share: finding one by name, variants and faults by name.
#include "checker/systems/registry.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "checker/support/diagnostic.hpp"

namespace lockstep {

namespace {

Registrations<SystemEntry (*)()>& registered() {
  static Registrations<SystemEntry (*)()> all;
  return all;
}
Registrations<SystemDescriptions>& registered_descriptions() {
  static Registrations<SystemDescriptions> all;
  return all;
}

}  // namespace

RegisteredSystem::RegisteredSystem(const Origin& origin, SystemEntry (*entry)()) {
  registered().add(origin, entry);
}

RegisteredDescriptions::RegisteredDescriptions(const Origin& origin, SystemDescriptions descriptions) {
  registered_descriptions().add(origin, descriptions);
}

std::span<const SystemEntry> systems() {
  static const std::vector<SystemEntry> entries = [] {
    std::vector<SystemEntry> all;
    for (const auto& [name, make] : registered().in_order()) all.push_back(make());
    for (const auto& [name, descriptions] : registered_descriptions().in_order()) {
      for (SystemEntry& entry : all) {
        if (entry.name != name) continue;
        entry.describe = descriptions.describe;
        entry.describe_whole = descriptions.describe_whole;
        entry.describe_launched = descriptions.describe_launched;
      }
    }
    return all;
  }();
  return entries;
}

namespace {

template <class Named>
std::vector<std::string> names_of(std::span<const Named> all) {
  std::vector<std::string> names;
  for (const auto& one : all) names.emplace_back(one.name);
  return names;
}

}  // namespace

const SystemEntry& find_system(std::string_view name) {
  for (const SystemEntry& entry : systems()) {
    if (entry.name == name) return entry;
  }
  throw BadInput(fmt::format("unknown system '{}'", name), suggestion(name, names_of(systems())));
}

const SystemEntry& find_system(std::string_view name, SystemOptions& options) {
  const auto slash = name.find('/');
  if (slash == std::string_view::npos) return find_system(name);
  const SystemEntry& entry = find_system(name.substr(0, slash));
  options.variant = std::string(name.substr(slash + 1));
  variant_index(entry, options.variant);
  return entry;
}

int variant_index(const SystemEntry& entry, std::string_view name) {
  for (std::size_t i = 0; i < entry.variants.size(); ++i) {
    if (entry.variants[i].name == name) return static_cast<int>(i);
  }
  throw BadInput(fmt::format("{} has no variant '{}'", entry.name, name),
                 suggestion(name, names_of(entry.variants)));
}

std::uint64_t fault_mask(const SystemEntry& entry, std::span<const std::string> names) {
  std::uint64_t mask = 0;
  for (const std::string& name : names) {
    const auto found = std::find_if(entry.faults.begin(), entry.faults.end(),
                                    [&](const Fault& fault) { return fault.name == name; });
    if (found == entry.faults.end()) {
      throw BadInput(fmt::format("{} has no fault '{}'", entry.name, name),
                     suggestion(name, names_of(entry.faults)));
    }
    mask |= std::uint64_t{1} << (found - entry.faults.begin());
  }
  return mask;
}

}  // namespace lockstep
