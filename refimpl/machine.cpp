// Reading machine files. Each section is read by asking it for the keys it may have; what nobody asked for is
// an error with the nearest key that was.
#include "refimpl/machine.hpp"

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <optional>
#include <set>
#include <sstream>
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

#include "checker/support/diagnostic.hpp"
#include "refimpl/launched.hpp"
#include "refimpl/reads.hpp"
#include "refimpl/timed.hpp"

namespace lockstep {

int MachineDescription::words_per_block() const {
  return static_cast<int>(block_bytes) / timed::word_bytes;
}

void machine_error(const MachineDescription& machine, SourcePlace place, std::string message,
                   std::string hint) {
  Diagnostic diagnostic{machine.file, place, std::move(message), std::move(hint), {}};
  const auto line = static_cast<std::size_t>(place.line);
  if (line >= 1 && line <= machine.lines.size()) diagnostic.source_line = machine.lines[line - 1];
  throw BadInput(std::move(diagnostic));
}

namespace {

SourcePlace place_of(const toml::node& node) {
  return {static_cast<int>(node.source().begin.line), static_cast<int>(node.source().begin.column)};
}

// One table of the file, and which of its keys have been asked for.
class Section {
 public:
  Section(const MachineDescription& machine, const toml::table& table, std::string name)
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
  std::string text(const std::string& key, std::optional<std::string> fallback = {}) {
    const toml::node* node = find(key, !fallback);
    if (node == nullptr) return *fallback;
    if (!node->is_string()) fail(*node, fmt::format("{} is not a string", quoted(key)));
    return **node->as_string();
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
  Section section(const std::string& key) {
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
      Section one(machine_, *inner.as_table(), path(key) + "." + std::string(name.str()));
      f(std::string(name.str()), one);
      one.done();
    }
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
      const SourcePlace at{static_cast<int>(key.source().begin.line),
                           static_cast<int>(key.source().begin.column)};
      machine_error(machine_, at, fmt::format("unknown entry '{}'{}", name, within()),
                    suggestion(name, std::vector(asked_.begin(), asked_.end())));
    }
  }
  [[noreturn]] void fail(const toml::node& node, const std::string& message,
                         const std::string& hint = {}) const {
    machine_error(machine_, place_of(node), message + within(), hint);
  }
  void ask(const std::string& key) { asked_.insert(key); }
  [[nodiscard]] const toml::table& table() const { return table_; }

 private:
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

constexpr double longest = 1e6;                            // cycles
constexpr double widest = 1e6;                             // bytes in a cycle
constexpr std::uint64_t largest = std::uint64_t{1} << 40;  // bytes
const std::vector<std::string> per_names{"thread", "cu", "agent", "system"};

Per per_of(Section& section, const std::string& key) {
  return static_cast<Per>(section.choice(key, per_names));
}

// Sets follow from size, ways and block; they have to come out even.
unsigned sets_of(const Section& section, std::uint64_t bytes, unsigned ways, unsigned block,
                 const MachineDescription& machine) {
  const std::uint64_t row = std::uint64_t{ways} * block;
  if (bytes % row != 0 || bytes == 0) {
    machine_error(
        machine, section.place(),
        fmt::format("{} bytes are no whole number of sets of {} ways of {}-byte blocks", bytes, ways, block));
  }
  return static_cast<unsigned>(bytes / row);
}

CacheGeometry read_cache(Section& section, const MachineDescription& machine) {
  CacheGeometry cache;
  cache.place = section.place();
  cache.bytes = section.whole("bytes", 1, largest);
  cache.ways = static_cast<unsigned>(section.whole("ways", 1, 4096));
  cache.evict = section.text("evict");
  cache.level = section.text("level");
  cache.random = section.choice("policy", {"lru", "random"}) == 1;
  cache.sets = sets_of(section, cache.bytes, cache.ways, machine.block_bytes, machine);
  return cache;
}

RuleTiming read_rule(Section& section) {
  RuleTiming rule;
  rule.place = section.place();
  rule.latency = section.number("latency", 0, longest, 0);
  rule.occupancy = section.number("occupancy", 0, longest, 1);
  rule.hit = section.text("hit", "");
  rule.miss = section.text("miss", "");
  rule.carries = section.text("carries", "");
  rule.bytes = static_cast<unsigned>(section.whole("bytes", 0, 1 << 20, rule.carries.empty() ? 0U : 8U));
  rule.memory = static_cast<MemoryUse>(
      section.choice("memory", {"none", "read", "write", "read-write"}, std::size_t{0}));
  return rule;
}

MemoryTiming read_memory(Section section, const MachineDescription& machine) {
  MemoryTiming memory;
  memory.table = section.text("table");
  memory.channels = static_cast<unsigned>(section.whole("channels", 1, 1024));
  memory.bytes_per_cycle = section.number("bytes_per_cycle", 0.001, widest);
  memory.latency = section.number("latency", 0, longest);
  memory.queue = static_cast<unsigned>(section.whole("queue", 1, 1 << 20));
  memory.l3_bytes = section.whole("l3_bytes", 0, largest);
  memory.l3_ways = static_cast<unsigned>(section.whole("l3_ways", 1, 4096));
  memory.l3_latency = section.number("l3_latency", 0, longest);
  if (memory.l3_bytes > 0) sets_of(section, memory.l3_bytes, memory.l3_ways, machine.block_bytes, machine);
  section.done();
  return memory;
}

void read_shared(Section& root, MachineDescription& machine) {
  machine.name = root.text("name");
  machine.gigahertz = root.number("gigahertz", 0.001, 1000);
  machine.cus = static_cast<int>(root.whole("cus", 1, 4096));
  machine.agents = static_cast<int>(root.whole("agents", 1, 64));
  machine.waves_per_cu = static_cast<int>(root.whole("waves_per_cu", 1, 1024));
  machine.block_bytes = static_cast<unsigned>(root.whole("block_bytes", 1, largest));
  constexpr unsigned most = TimedCapacities::of<WordTag> * timed::word_bytes;
  if (machine.block_bytes != most && machine.block_bytes != timed::word_bytes) {
    root.fail(*root.table().get("block_bytes"),
              fmt::format("block_bytes = {} is neither {} nor {}: one or two accesses of 16 lanes",
                          machine.block_bytes, static_cast<unsigned>(timed::word_bytes), most));
  }
  if (machine.cus % machine.agents != 0) {
    root.fail(*root.table().get("cus"),
              fmt::format("{} CUs cannot be shared out evenly among {} agents", machine.cus, machine.agents));
  }
  root.sections("units", [&](const std::string& name, Section& section) {
    machine.units[name] = {section.place(), per_of(section, "per"), section.number("per_cycle", 0.001, 16)};
  });
  root.sections("paths", [&](const std::string&, Section& section) {
    PathTiming path{section.place(), section.text("from"), section.text("to"),
                    section.number("latency", 0, longest), section.number("bytes_per_cycle", 0.001, widest)};
    for (const std::string& end : {path.from, path.to}) {
      if (machine.units.contains(end)) continue;
      std::vector<std::string> names;
      for (const auto& [name, unit] : machine.units) names.push_back(name);
      machine_error(machine, path.place, fmt::format("a path to or from '{}', which is no unit", end),
                    suggestion(end, names));
    }
    machine.paths.push_back(std::move(path));
  });
}

SystemTiming read_system(Section& section, const MachineDescription& machine, const MemoryTiming* shared) {
  SystemTiming system;
  system.place = section.place();
  section.entries("sizes", [&](const std::string& name, const toml::node& node) {
    const std::int64_t size = node.is_integer() ? **node.as_integer() : 0;
    if (size < 1 || size > (1 << 24))
      section.fail(node, fmt::format("size '{}' is not a positive whole number", name));
    system.sizes[name] = {static_cast<int>(size), place_of(node)};
  });
  section.entries("index_types", [&](const std::string& name, const toml::node& node) {
    const std::string word = node.is_string() ? **node.as_string() : "";
    const auto found = std::find(per_names.begin(), per_names.end(), word);
    if (found == per_names.end())
      section.fail(node, fmt::format("'{}' is not one of a unit", name), suggestion(word, per_names));
    system.index_types[name] = {static_cast<Per>(found - per_names.begin()), place_of(node)};
  });
  section.sections("links", [&](const std::string& name, Section& one) {
    system.links[name] = {one.place(), one.number("latency", 0, longest),
                          one.number("bytes_per_cycle", 0.001, widest),
                          static_cast<unsigned>(one.whole("header_bytes", 0, 1 << 20))};
  });
  section.sections("caches", [&](const std::string& name, Section& one) {
    system.caches[name] = read_cache(one, machine);
  });
  section.sections("rules",
                   [&](const std::string& name, Section& one) { system.rules[name] = read_rule(one); });
  if (section.has("memory")) {
    system.memory = read_memory(section.section("memory"), machine);
  } else if (shared != nullptr) {
    section.ask("memory");
    system.memory = *shared;
  }
  return system;
}

// The file's text as a table, and its lines for messages.
toml::table parsed(std::string_view text, const std::string& file, MachineDescription& machine) {
  machine.file = file;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) machine.lines.push_back(line);
  try {
    return toml::parse(text, file);
  } catch (const toml::parse_error& error) {
    machine_error(
        machine, {static_cast<int>(error.source().begin.line), static_cast<int>(error.source().begin.column)},
        std::string(error.description()));
  }
}

MachineDescription parse(std::string_view text, const std::string& file) {
  MachineDescription machine;
  const toml::table table = parsed(text, file, machine);
  Section root(machine, table, "");
  read_shared(root, machine);
  std::optional<MemoryTiming> memory;
  if (root.has("memory")) {
    memory = read_memory(root.section("memory"), machine);
  } else {
    root.ask("memory");
  }
  root.sections("systems", [&](const std::string& name, Section& section) {
    machine.systems[name] = read_system(section, machine, memory ? &*memory : nullptr);
    if (machine.systems[name].memory.table.empty()) {
      machine_error(machine, section.place(),
                    fmt::format("'{}' has no [memory], and neither has the file", name));
    }
  });
  root.done();
  if (machine.systems.empty())
    machine_error(machine, {}, "no [systems.NAME] section: nothing can run on this machine");
  return machine;
}

ChipletMachine parse_chiplets(std::string_view text, const std::string& file) {
  MachineDescription lines;  // for messages
  const toml::table table = parsed(text, file, lines);
  Section root(lines, table, "");
  ChipletMachine machine;
  machine.file = file;
  machine.name = root.text("name");
  machine.gigahertz = root.number("gigahertz", 0.001, 1000);
  machine.chiplets = static_cast<int>(root.whole("chiplets", 1, 64));
  machine.cus_per_chiplet = static_cast<int>(root.whole("cus_per_chiplet", 1, 4096));
  machine.page_bytes = root.whole("page_bytes", 1, largest);
  Section l2 = root.section("l2");
  machine.l2 = {l2.whole("bytes", machine.page_bytes, largest), l2.number("latency", 0, longest),
                l2.number("bytes_per_cycle", 0.001, widest),
                static_cast<int>(l2.whole("outstanding", 1, 1 << 20)),
                l2.number("invalidate_latency", 0, longest)};
  l2.done();
  Section l3 = root.section("l3");
  machine.l3 = {l3.whole("bytes", machine.page_bytes, largest), l3.number("latency", 0, longest),
                l3.number("bytes_per_cycle", 0.001, widest),
                l3.number("link_bytes_per_cycle", 0.001, widest)};
  l3.done();
  Section cp = root.section("cp");
  machine.cp = {cp.number("message_latency", 0, longest), cp.number("lookup_latency", 0, longest)};
  cp.done();
  root.done();
  return machine;
}

std::string contents(const std::string& file) {
  std::ifstream stream(file);
  if (!stream) throw BadInput(fmt::format("cannot read machine file '{}'", file));
  std::ostringstream text;
  text << stream.rdbuf();
  if (stream.bad()) throw BadInput(fmt::format("cannot read machine file '{}'", file));
  return text.str();
}

}  // namespace

ChipletMachine parse_chiplet_machine(std::string_view text, const std::string& file) {
  return parse_chiplets(text, file);
}

ChipletMachine read_chiplet_machine(const std::string& file) {
  return parse_chiplets(contents(file), file);
}

MachineDescription parse_machine(std::string_view text, const std::string& file) {
  return parse(text, file);
}

MachineDescription read_machine(const std::string& file) {
  return parse(contents(file), file);
}

}  // namespace lockstep
