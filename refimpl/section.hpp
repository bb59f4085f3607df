// Sections of machine files, for those who read them. Each is read by asking it for the keys it may have;
// what nobody asked for is an error with the nearest key that was.
#pragma once

#include <fmt/format.h>

#include <bit>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

#include "checker/support/diagnostic.hpp"
#include "refimpl/machine.hpp"

namespace lockstep {

inline SourcePlace place_of(const toml::node& node) {
  return {static_cast<int>(node.source().begin.line), static_cast<int>(node.source().begin.column)};
}

// One table of the file, and which of its keys have been asked for.
class FileSection {
 public:
  FileSection(const MachineDescription& machine, const toml::table& table, std::string name)
      : machine_(machine), table_(table), name_(std::move(name)) {}

  [[nodiscard]] SourcePlace place() const { return place_of(table_); }
  [[nodiscard]] bool has(const std::string& key) const { return table_.contains(key); }

  // A number within bounds; without a fallback it has to be there.
  double number(const std::string& key, double least, double most, std::optional<double> fallback = {}) {
    const toml::node* node = find(key, !fallback);
    if (node == nullptr) return *fallback;
    const std::optional<double> value = node->value<double>();
    if (!value || node->is_boolean()) fail(*node, fmt::format("{} is not a number", quoted(key)));
    if (!(*value >= least && *value <= most)) {
      fail(*node, *value < 0 ? fmt::format("{} is negative", quoted(key))
                             : fmt::format("{} = {} is not between {} and {}", key, *value, least, most));
    }
    return *value;
  }
  std::uint64_t whole(const std::string& key, std::uint64_t least, std::uint64_t most,
                      std::optional<std::uint64_t> fallback = {}) {
    const toml::node* node = find(key, !fallback);
    if (node == nullptr) return *fallback;
    if (!node->is_integer()) fail(*node, fmt::format("{} is not a whole number", quoted(key)));
    const std::int64_t value = **node->as_integer();
    if (value < 0) fail(*node, fmt::format("{} is negative", quoted(key)));
    if (static_cast<std::uint64_t>(value) < least || static_cast<std::uint64_t>(value) > most) {
      fail(*node, fmt::format("{} = {} is not between {} and {}", key, value, least, most));
    }
    return static_cast<std::uint64_t>(value);
  }
  bool flag(const std::string& key, bool fallback) {
    const toml::node* node = find(key, false);
    if (node == nullptr) return fallback;
    if (!node->is_boolean()) fail(*node, fmt::format("{} is neither true nor false", quoted(key)));
    return **node->as_boolean();
  }
  std::string text(const std::string& key, std::optional<std::string> fallback = {}) {
    const toml::node* node = find(key, !fallback);
    if (node == nullptr) return *fallback;
    if (!node->is_string()) fail(*node, fmt::format("{} is not a string", quoted(key)));
    return **node->as_string();
  }
  // A sum of bytes (bytes.hpp), as text or as a number.
  ByteCount bytes(const std::string& key) {
    const toml::node* node = find(key, true);
    return bytes_of(key, *node);
  }
  ByteCount bytes_of(const std::string& key, const toml::node& node) const {
    std::string wrong;
    const std::string text = node.is_integer()  ? std::to_string(**node.as_integer())
                             : node.is_string() ? **node.as_string()
                                                : "";
    if (text.empty()) fail(node, fmt::format("{} is no number of bytes", quoted(key)), bytes_hint);
    if (text.front() == '-') fail(node, fmt::format("{} is negative", quoted(key)));
    ByteCount count{place_of(node), parse_bytes(text, machine_.header_bytes, wrong)};
    if (!wrong.empty())
      fail(node, fmt::format("{} = {} is no number of bytes: {}", key, quoted(text), wrong), bytes_hint);
    return count;
  }
  // One of a few words; returns its position.
  std::size_t choice(const std::string& key, const std::vector<std::string>& words,
                     std::optional<std::size_t> fallback = {}) {
    if (fallback && !has(key)) {
      asked_.insert(key);
      return *fallback;
    }
    const std::string word = text(key);
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (words[i] == word) return i;
    }
    fail(*table_.get(key), fmt::format("{} is unknown as {}", quoted(word), quoted(key)),
         suggestion(word, words));
  }
  FileSection section(const std::string& key) {
    const toml::node* node = find(key, true);
    if (!node->is_table()) fail(*node, fmt::format("{} is not a section", quoted(key)));
    return {machine_, *node->as_table(), path(key)};
  }
  // Calls f(name, section) for every section within the section `key`, which may be missing.
  template <class F>
  void sections(const std::string& key, F&& f) {
    const toml::node* node = find(key, false);
    if (node == nullptr) return;
    if (!node->is_table()) fail(*node, fmt::format("{} is not a section", quoted(key)));
    for (const auto& [name, inner] : *node->as_table()) {
      if (!inner.is_table()) {
        fail(inner, fmt::format("{} in [{}] is not a section", quoted(name.str()), path(key)));
      }
      FileSection one(machine_, *inner.as_table(), path(key) + "." + std::string(name.str()));
      f(std::string(name.str()), one);
      one.done();
    }
  }
  const toml::array& list(const std::string& key) {
    const toml::node* node = find(key, true);
    if (!node->is_array()) fail(*node, fmt::format("{} is not a list", quoted(key)));
    if (node->as_array()->empty()) fail(*node, fmt::format("{} is empty", quoted(key)));
    return *node->as_array();
  }
  template <class F>
  void entries(const std::string& key, F&& f) {
    const toml::node* node = find(key, false);
    if (node == nullptr) return;
    if (!node->is_table()) fail(*node, fmt::format("{} is not a section", quoted(key)));
    for (const auto& [name, value] : *node->as_table()) f(std::string(name.str()), value);
  }
  void done() const {
    for (const auto& [key, value] : table_) {
      const std::string name(key.str());
      if (asked_.contains(name)) continue;
      const int line = static_cast<int>(key.source().begin.line);
      const SourcePlace at =
          line > 0 ? SourcePlace{line, static_cast<int>(key.source().begin.column)} : place_of(value);
      machine_error(machine_, at, fmt::format("unknown entry '{}'{}", name, within()),
                    suggestion(name, std::vector(asked_.begin(), asked_.end())));
    }
  }
  [[noreturn]] void fail(const toml::node& node, const std::string& message,
                         const std::string& hint = {}) const {
    machine_error(machine_, place_of(node), message + within(), hint);
  }
  // About one of the keys; where the section does not have it, about the section.
  [[noreturn]] void fail_at(const std::string& key, const std::string& message,
                            const std::string& hint = {}) const {
    const toml::node* node = table_.get(key);
    fail(node != nullptr ? *node : table_, message, hint);
  }
  // A whole number that is a power of two.
  std::uint64_t power(const std::string& key, std::uint64_t least, std::uint64_t most,
                      std::optional<std::uint64_t> fallback = {}) {
    const std::uint64_t value = whole(key, least, most, fallback);
    if (!std::has_single_bit(value)) {
      fail_at(key, fmt::format("{} = {} is not a power of two", key, value),
              fmt::format("say {} or {}", std::bit_floor(value), std::bit_ceil(value)));
    }
    return value;
  }
  void ask(const std::string& key) { asked_.insert(key); }
  [[nodiscard]] const toml::table& table() const { return table_; }
  [[nodiscard]] const MachineDescription& machine() const { return machine_; }

 private:
  static constexpr const char* bytes_hint =
      "a number, header, word, block, mask or TABLE.FIELD, or a sum of them, as in \"8 + mask\"";
  static std::string quoted(std::string_view text) { return fmt::format("'{}'", text); }
  [[nodiscard]] std::string within() const { return name_.empty() ? "" : fmt::format(" in [{}]", name_); }
  [[nodiscard]] std::string path(const std::string& key) const {
    return name_.empty() ? key : name_ + "." + key;
  }
  const toml::node* find(const std::string& key, bool needed) {
    asked_.insert(key);
    const toml::node* node = table_.get(key);
    if (node == nullptr && needed) {
      machine_error(machine_, place(), fmt::format("'{}' is missing{}", key, within()));
    }
    return node;
  }

  const MachineDescription& machine_;
  const toml::table& table_;
  std::string name_;
  std::set<std::string> asked_;
};

// Parses a text behind all that the machine was put together from so far: `name` is that of its file.
toml::table parsed(std::string_view text, const std::string& name, MachineDescription& machine);

// Makes one change (MachineSettings) to what was parsed. Throws BadInput where it says nothing, or something
// of a section that is not there.
void apply(const std::string& setting, toml::table& table, MachineDescription& machine);

// The entries that a path names, as their keys: one, or as many as its stars stand for. Where there are none,
// says so in `wrong`.
std::vector<std::vector<std::string>> resolved(const toml::table& table, const std::string& path,
                                               std::string& wrong, std::string& hint);
// Keys as a path: systems.lab.rules."load hits L1".latency
std::string path_of(const std::vector<std::string>& keys);

// The sections [[assumed]]. Each entry's own value has to be among those that it is said to have, if
// `own_within`.
std::vector<Assumption> read_assumptions(FileSection& root, const MachineDescription& machine,
                                         bool own_within);

}  // namespace lockstep
