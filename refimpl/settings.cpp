// Texts of machines as tables, and entries of them that are said otherwise.
#include <algorithm>
#include <cctype>
#include <sstream>
#include <utility>

#include "refimpl/section.hpp"

namespace lockstep {

std::string path_of(const std::vector<std::string>& keys) {
  std::string path;
  for (const std::string& key : keys) {
    const bool bare = std::all_of(key.begin(), key.end(), [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
    });
    path += (path.empty() ? "" : ".") + (bare ? key : "\"" + key + "\"");
  }
  return path;
}

namespace {

// Places count on from text to text: what is parsed next stands behind all lines so far.
toml::table parsed_behind(std::string_view text, const std::string& name, MachineDescription& machine) {
  const std::size_t before = machine.lines.size();
  machine.parts.push_back({name, static_cast<int>(before)});
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) machine.lines.push_back(line);
  return toml::parse(std::string(before, '\n') + std::string(text), name);
}

// The position of the first of `c` outside quotes.
std::size_t outside_quotes(std::string_view text, char c) {
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (quote == 0 && text[i] == c) return i;
    if (text[i] == '"' || text[i] == '\'') quote = quote == 0 ? text[i] : quote == text[i] ? '\0' : quote;
  }
  return std::string_view::npos;
}

std::string_view trimmed(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

// The keys of a path: systems.lab.rules."load hits L1".latency
std::vector<std::string> keys_of(std::string_view path) {
  std::vector<std::string> keys;
  for (std::string_view rest = path;;) {
    const std::size_t dot = outside_quotes(rest, '.');
    std::string_view key = trimmed(rest.substr(0, dot));
    if (key.size() >= 2 && (key.front() == '"' || key.front() == '\'') && key.back() == key.front())
      key = key.substr(1, key.size() - 2);
    if (key.empty())
      throw BadInput(fmt::format("'{}' is no path", path), "a path is KEY.KEY, as memory.queue");
    keys.emplace_back(key);
    if (dot == std::string_view::npos) return keys;
    rest.remove_prefix(dot + 1);
  }
}

// Sections that need not be there for something to be said in them.
bool may_be_begun(const std::vector<std::string>& keys, std::size_t depth) {
  static const std::set<std::string> names{"rules", "sizes", "index_types", "timings", "organization"};
  return names.contains(keys[depth]) || (depth > 0 && keys[depth - 1] == "rules");
}

// The paths that `keys` names in the table, from its key `depth` on: one, or as many as its stars stand for.
// Where one key leads nowhere and is no star's, `wrong` says so.
std::vector<std::vector<std::string>> resolved(const toml::table& table, std::vector<std::string> keys,
                                               std::size_t depth, bool starred, std::string& wrong,
                                               std::string& hint) {
  std::vector<std::vector<std::string>> all;
  const bool last = depth + 1 == keys.size();
  if (keys[depth] == "*") {
    for (const auto& [key, node] : table) {
      if (!last && !node.is_table()) continue;
      keys[depth] = std::string(key.str());
      if (last) {
        all.push_back(keys);
      } else {
        auto more = resolved(*node.as_table(), keys, depth + 1, true, wrong, hint);
        all.insert(all.end(), more.begin(), more.end());
      }
    }
    return all;
  }
  // A star names no size of a system that has none of that name.
  if (last && starred && keys[depth - 1] == "sizes" && !table.contains(keys[depth])) return {};
  if (last) return {keys};
  const toml::node* node = table.get(keys[depth]);
  if (node != nullptr && node->is_table())
    return resolved(*node->as_table(), keys, depth + 1, starred, wrong, hint);
  if (starred) return {};
  if (node == nullptr && may_be_begun(keys, depth)) return {keys};
  std::vector<std::string> names;
  for (const auto& [key, inner] : table) {
    if (inner.is_table()) names.emplace_back(key.str());
  }
  wrong = fmt::format("there is no section [{}]",
                      path_of({keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(depth) + 1}));
  hint = suggestion(keys[depth], names);
  return {};
}

// The value of a setting, as a node that knows its place: a value of TOML, or a bare word.
toml::table value_of(const std::string& value, MachineDescription& machine) {
  const std::string before(machine.lines.size() - 1, '\n');  // the setting is the last line
  try {
    return toml::parse(before + "v = " + value);
  } catch (const toml::parse_error& error) {
    const bool word = std::isalpha(static_cast<unsigned char>(value.front())) != 0 &&
                      value.find_first_of("\"'\\[]{}=,#\n\r") == std::string::npos;
    if (word &&
        std::all_of(value.begin(), value.end(), [](unsigned char c) { return c >= 0x20 && c < 0x7F; }))
      return toml::parse(before + "v = \"" + value + "\"");
    throw BadInput(fmt::format("with {}: {}", machine.lines.back(), error.description()),
                   "say PATH=VALUE, with a number, true, false, a word or \"text\"");
  }
}

void set_entry(toml::table& table, const std::vector<std::string>& keys, const std::string& value,
               MachineDescription& machine) {
  toml::table* at = &table;
  for (std::size_t i = 0; i + 1 < keys.size(); ++i) {
    toml::node* node = at->get(keys[i]);
    if (node == nullptr) {
      toml::table empty = value_of("{}", machine);
      node = &at->insert(keys[i], std::move(*empty.get("v"))).first->second;
    }
    at = node->as_table();  // a table: resolved() has seen it
  }
  if (value.empty()) {
    at->erase(keys.back());
    return;
  }
  toml::table parsed_value = value_of(value, machine);
  at->insert_or_assign(keys.back(), std::move(*parsed_value.get("v")));
}

}  // namespace

toml::table parsed(std::string_view text, const std::string& file, MachineDescription& machine) {
  try {
    return parsed_behind(text, file, machine);
  } catch (const toml::parse_error& error) {
    machine_error(
        machine, {static_cast<int>(error.source().begin.line), static_cast<int>(error.source().begin.column)},
        std::string(error.description()));
  }
}

std::vector<std::vector<std::string>> resolved(const toml::table& table, const std::string& path,
                                               std::string& wrong, std::string& hint) {
  auto all = resolved(table, keys_of(path), 0, false, wrong, hint);
  if (all.empty() && wrong.empty()) wrong = fmt::format("'{}' names nothing", path);
  return all;
}

void apply(const std::string& setting, toml::table& table, MachineDescription& machine) {
  const std::size_t equals = outside_quotes(setting, '=');
  if (equals == std::string::npos || setting.find('\n') != std::string::npos)
    throw BadInput(fmt::format("'{}' gives no value", setting), "say PATH=VALUE, as memory.queue=64");
  machine.parts.push_back({"", static_cast<int>(machine.lines.size())});
  machine.lines.push_back(setting);
  std::string wrong;
  std::string hint;
  const std::string path(trimmed(std::string_view(setting).substr(0, equals)));
  const auto paths = resolved(table, path, wrong, hint);
  if (!wrong.empty()) throw BadInput(fmt::format("with {}: {}", setting, wrong), hint);
  for (const auto& keys : paths)
    set_entry(table, keys, std::string(trimmed(std::string_view(setting).substr(equals + 1))), machine);
}

}  // namespace lockstep
