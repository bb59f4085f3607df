// What a machine's sources do not give.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "checker/support/json_text.hpp"
#include "refimpl/section.hpp"

namespace lockstep {

namespace {
std::string whole_or_not(double value, bool whole) {
  return whole ? fmt::format("{:.0f}", value) : fmt::format("{}", value);
}
// Of an alternative: the file as it is.
bool unchanged(const std::vector<std::string>& change) {
  return change.empty();
}
bool is_whole(const std::string& text) {
  return !text.empty() && text.find_first_not_of("-0123456789") == std::string::npos;
}
}  // namespace

std::vector<std::string> Assumption::settings(double choice) const {
  if (kind == Kind::alternatives) return changes.at(static_cast<std::size_t>(choice));
  std::vector<std::string> all;
  for (const Entry& entry : entries) {
    std::string value;
    switch (kind) {
      case Kind::alternatives:
      case Kind::values:
        value = values.at(static_cast<std::size_t>(choice));
        break;
      case Kind::range:
        value = whole_or_not(choice, whole);
        break;
      case Kind::times: {
        const double own = std::strtod(entry.own.c_str(), nullptr);
        const bool stays_whole = is_whole(entry.own);
        value = whole_or_not(stays_whole && own >= 1 ? std::max(1.0, std::round(own * choice)) : own * choice,
                             stays_whole);
        break;
      }
    }
    all.push_back(entry.path + "=" + value);
  }
  return all;
}

std::string Assumption::text(double choice) const {
  if (kind == Kind::values || kind == Kind::alternatives) return values.at(static_cast<std::size_t>(choice));
  if (kind == Kind::range) return whole ? whole_or_not(choice, whole) : fmt::format("{:.4g}", choice);
  return fmt::format("x{:.3g}", choice);
}

std::optional<double> Assumption::own() const {
  if (kind == Kind::times) return 1;
  if (kind == Kind::alternatives) {
    return static_cast<double>(std::find_if(changes.begin(), changes.end(), unchanged) - changes.begin());
  }
  for (const Entry& entry : entries) {
    if (entry.own.empty() || entry.own != entries.front().own) return {};
  }
  if (kind == Kind::range) return std::strtod(entries.front().own.c_str(), nullptr);
  const auto found = std::find(values.begin(), values.end(), entries.front().own);
  if (found == values.end()) return {};
  return static_cast<double>(found - values.begin());
}

namespace {

// A scalar as TOML; empty of anything else.
std::string scalar_text(const toml::node& node) {
  if (const auto* whole = node.as_integer()) return std::to_string(**whole);
  if (const auto* number = node.as_floating_point()) {
    const std::string text = fmt::format("{}", **number);
    return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
  }
  if (const auto* truth = node.as_boolean()) return **truth ? "true" : "false";
  if (const auto* text = node.as_string()) return json_text(nlohmann::json(**text));
  return {};
}

// Whether what it has itself is one of the things that it says are plausible.
bool contains(const Assumption& a, const Assumption::Entry& entry) {
  if (entry.own.empty()) return a.kind != Assumption::Kind::times;
  if (a.kind == Assumption::Kind::times) return a.least <= 1 && a.most >= 1;
  if (a.kind == Assumption::Kind::range) {
    const double own = std::strtod(entry.own.c_str(), nullptr);
    return a.least <= own && own <= a.most;
  }
  return std::find(a.values.begin(), a.values.end(), entry.own) != a.values.end();
}

// Whether the entry stands in the machine's own file, not in one that describes another system for it.
bool at_home(const MachineDescription& machine, const Assumption::Entry& entry) {
  return machine.parts.size() < 2 || entry.place.line <= machine.parts[1].before;
}

void read_bounds(FileSection& section, const std::string& key, Assumption& a) {
  const toml::node& node = *section.table().get(key);
  const toml::array* both = node.as_array();
  std::optional<double> least;
  std::optional<double> most;
  if (both != nullptr && both->size() == 2) {
    least = both->get(0)->value<double>();
    most = both->get(1)->value<double>();
  }
  if (!least || !most || !(*least >= 0) || !(*least < *most))
    section.fail(node, fmt::format("'{}' is not [LEAST, MOST]", key),
                 fmt::format("as in {} = [0.5, 2]", key));
  a.least = *least;
  a.most = *most;
  a.whole = key == "range" && both->get(0)->is_integer() && both->get(1)->is_integer();
}

void read_values(FileSection& section, Assumption& a) {
  for (const toml::node& value : section.list("values")) {
    a.values.push_back(scalar_text(value));
    if (a.values.back().empty()) section.fail(value, "a value is a number, a truth or a text");
  }
}

void read_alternatives(FileSection& section, Assumption& a) {
  section.entries("alternatives", [&](const std::string& name, const toml::node& node) {
    a.values.push_back(name);
    a.changes.emplace_back();
    if (!node.is_array()) section.fail(node, fmt::format("'{}' is not a list of settings", name));
    for (const toml::node& setting : *node.as_array()) {
      if (!setting.is_string()) section.fail(setting, "a setting is a text, as \"memory.kind=dram\"");
      a.changes.back().push_back(**setting.as_string());
    }
  });
  if (std::count_if(a.changes.begin(), a.changes.end(), unchanged) != 1)
    section.fail_at("alternatives", "not one of the alternatives is the file as it is", "say NAME = []");
}

void read_entries(FileSection& section, const toml::table& root, Assumption& a, bool own_within) {
  if (a.kind == Assumption::Kind::values) {
    read_values(section, a);
  } else {
    read_bounds(section, a.kind == Assumption::Kind::range ? "range" : "times", a);
  }
  for (const toml::node& path : section.list("of")) {
    if (!path.is_string()) section.fail(path, "a path is a text, as \"memory.queue\"");
    std::string wrong;
    std::string hint;
    for (const auto& keys : resolved(root, **path.as_string(), wrong, hint)) {
      const toml::node* at = &root;
      for (const std::string& key : keys) {
        if (at != nullptr) at = at->is_table() ? at->as_table()->get(key) : nullptr;
      }
      a.entries.push_back({path_of(keys), at == nullptr ? "" : scalar_text(*at),
                           at == nullptr ? SourcePlace{} : place_of(*at)});
      const Assumption::Entry& entry = a.entries.back();
      const bool nothing_to_multiply = a.kind == Assumption::Kind::times && entry.own.empty();
      if (nothing_to_multiply || (own_within && at_home(section.machine(), entry) && !contains(a, entry))) {
        section.fail(path, entry.own.empty() ? fmt::format("'{}' has no value to multiply", entry.path)
                                             : fmt::format("{} = {} is not among what '{}' may be",
                                                           entry.path, entry.own, a.name));
      }
    }
    if (!wrong.empty()) section.fail(path, wrong, hint);
  }
}

Assumption read_assumption(FileSection& section, const toml::table& root, bool own_within) {
  Assumption a;
  a.place = section.place();
  a.name = section.text("name");
  a.why = section.text("why", "");
  const std::array<std::string, 4> kinds{"values", "range", "times", "alternatives"};
  std::optional<std::size_t> kind;
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    section.ask(kinds[k]);
    if (!section.has(kinds[k])) continue;
    if (kind) section.fail_at(kinds[k], fmt::format("'{}' besides '{}'", kinds[k], kinds[*kind]));
    kind = k;
  }
  if (!kind) section.fail(section.table(), "none of 'values', 'range', 'times' and 'alternatives'");
  a.kind = static_cast<Assumption::Kind>(*kind);
  if (a.kind == Assumption::Kind::alternatives) {
    read_alternatives(section, a);
  } else {
    read_entries(section, root, a, own_within);
  }
  section.done();
  return a;
}

}  // namespace

std::vector<Assumption> read_assumptions(FileSection& root, const MachineDescription& machine,
                                         bool own_within) {
  std::vector<Assumption> all;
  root.ask("assumed");
  if (!root.has("assumed")) return all;
  for (const toml::node& node : root.list("assumed")) {
    if (!node.is_table()) root.fail(node, "'assumed' is not a list of sections", "say [[assumed]]");
    FileSection section(machine, *node.as_table(), "assumed");
    all.push_back(read_assumption(section, root.table(), own_within));
    const auto same = [&](const Assumption& a) { return a.name == all.back().name; };
    if (std::count_if(all.begin(), all.end(), same) > 1)
      section.fail_at("name", fmt::format("'{}' is assumed twice", all.back().name));
  }
  return all;
}

}  // namespace lockstep
