// Reading machine files. Each section is read by asking it for the keys it may have; what nobody asked for is
// an error with the nearest key that was.
#include "refimpl/machine.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <filesystem>
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
    ByteCount count{place_of(node), parse_bytes(text, wrong)};
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

 private:
  static constexpr const char* bytes_hint =
      "a number, word, block, mask or TABLE.FIELD, or a sum of them, as in \"8 + mask\"";
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
const std::vector<std::string> index_names{"modulo", "hashed"};

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
  cache.hashed = section.choice("set_index", index_names, 0) == 1;
  if (section.has("banks")) {
    cache.banks = static_cast<unsigned>(section.power("banks", 1, 4096));
  } else {
    for (const char* key : {"bank_cycles", "bank_index"}) {
      if (section.has(key)) section.fail_at(key, fmt::format("'{}' without 'banks'", key), "say banks = ...");
    }
  }
  section.ask("banks");
  if (section.has("mshrs")) cache.mshrs = static_cast<unsigned>(section.whole("mshrs", 1, 4096));
  section.ask("mshrs");
  cache.bank_cycles = section.number("bank_cycles", 0.0625, longest, 1);
  cache.hashed_banks = section.choice("bank_index", index_names, 0) == 1;
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
  if (!rule.carries.empty()) {
    rule.bytes = section.bytes("bytes");
  } else if (section.has("bytes")) {
    section.fail_at("bytes", "'bytes' of no message",
                    "say what the rule 'carries', or what it 'sends' on a link");
  }
  section.ask("bytes");
  if (section.has("sends")) {
    section.entries("sends", [&](const std::string& link, const toml::node& node) {
      rule.sends[link] = section.bytes_of(link, node);
    });
  }
  section.ask("sends");
  if (section.has("reads")) rule.read = section.bytes("reads");
  if (section.has("writes")) rule.write = section.bytes("writes");
  section.ask("reads");
  section.ask("writes");
  rule.fetches = section.text("fetches", "");
  rule.fills = section.text("fills", "");
  return rule;
}

// ---- DRAM
// ------------------------------------------------------------------------------------------------------

// The text of a file as a table, and its lines for messages.
toml::table parsed(std::string_view text, const std::string& file, MachineDescription& machine);
std::string contents(const std::string& file);

constexpr std::uint64_t most_cycles = 1 << 20;

dram::Organization read_organization(Section& section, const dram::Organization* base) {
  const auto fallback = [&](unsigned dram::Organization::*field) {
    return base == nullptr ? std::optional<std::uint64_t>() : base->*field;
  };
  const auto power = [&](const char* key, unsigned dram::Organization::*field, std::uint64_t least,
                         std::uint64_t most) {
    return static_cast<unsigned>(section.power(key, least, most, fallback(field)));
  };
  dram::Organization o;
  o.bus_bits = power("bus_bits", &dram::Organization::bus_bits, 8, 4096);
  o.burst_length = power("burst_length", &dram::Organization::burst_length, 1, 256);
  o.bank_groups = power("bank_groups", &dram::Organization::bank_groups, 1, 64);
  o.banks = power("banks", &dram::Organization::banks, 1, 1024);
  o.row_bytes = power("row_bytes", &dram::Organization::row_bytes, 1, 1 << 20);
  o.command_buses = static_cast<unsigned>(
      section.whole("command_buses", 1, 2, base == nullptr ? 1 : std::uint64_t{base->command_buses}));
  if (o.row_bytes < o.burst_bytes()) {
    section.fail_at("row_bytes",
                    fmt::format("a row of {} bytes holds no burst of {}", o.row_bytes, o.burst_bytes()));
  }
  return o;
}

dram::Timings read_timings(Section& section, const dram::Timings* base) {
  using T = dram::Timings;
  const auto one = [&](const std::string& key, unsigned T::*field, std::uint64_t least) {
    return static_cast<unsigned>(section.whole(
        key, least, most_cycles, base == nullptr ? std::optional<std::uint64_t>() : base->*field));
  };
  // Two that one name may stand for, as in nRCD.
  const auto both = [&](T& t, const std::string& name, const std::string& first, unsigned T::*first_field,
                        const std::string& second, unsigned T::*second_field) {
    if (!section.has(name)) {
      section.ask(name);
      t.*first_field = one(first, first_field, 1);
      t.*second_field = one(second, second_field, 1);
      return;
    }
    for (const std::string& other : {first, second}) {
      if (section.has(other)) section.fail_at(other, fmt::format("'{}' besides '{}'", other, name));
      section.ask(other);
    }
    t.*first_field = t.*second_field = static_cast<unsigned>(section.whole(name, 1, most_cycles));
  };
  T t;
  t.tCK_ps = one("tCK_ps", &T::tCK_ps, 1);
  t.nBL = one("nBL", &T::nBL, 1);
  t.nCL = one("nCL", &T::nCL, 1);
  t.nCWL = one("nCWL", &T::nCWL, 1);
  both(t, "nRCD", "nRCDRD", &T::nRCDRD, "nRCDWR", &T::nRCDWR);
  t.nRP = one("nRP", &T::nRP, 1);
  t.nRAS = one("nRAS", &T::nRAS, 1);
  t.nRC = one("nRC", &T::nRC, 1);
  t.nRTP = one("nRTP", &T::nRTP, 1);
  t.nWR = one("nWR", &T::nWR, 1);
  both(t, "nCCD", "nCCDS", &T::nCCDS, "nCCDL", &T::nCCDL);
  both(t, "nRRD", "nRRDS", &T::nRRDS, "nRRDL", &T::nRRDL);
  t.nFAW = one("nFAW", &T::nFAW, 1);
  both(t, "nWTR", "nWTRS", &T::nWTRS, "nWTRL", &T::nWTRL);
  t.nRTW = one("nRTW", &T::nRTW, 0);
  t.nRFC = one("nRFC", &T::nRFC, 0);
  t.nREFI = one("nREFI", &T::nREFI, 0);
  // What no device does.
  const auto at_least = [&](const std::string& key, unsigned value, const std::string& bound,
                            unsigned least) {
    if (value >= least) return;
    section.fail_at(key, fmt::format("{} = {} is less than {} = {}", key, value, bound, least),
                    fmt::format("a device has {} >= {}; one of them is wrong", key, bound));
  };
  at_least("nRAS", t.nRAS, "nRCDRD", t.nRCDRD);
  at_least("nRAS", t.nRAS, "nRCDWR", t.nRCDWR);
  at_least("nRC", t.nRC, "nRAS + nRP", t.nRAS + t.nRP);
  at_least("nCCDS", t.nCCDS, "nBL", t.nBL);
  at_least("nCCDL", t.nCCDL, "nCCDS", t.nCCDS);
  at_least("nRRDL", t.nRRDL, "nRRDS", t.nRRDS);
  at_least("nWTRL", t.nWTRL, "nWTRS", t.nWTRS);
  at_least("nFAW", t.nFAW, "nRRDS", t.nRRDS);
  if (t.nREFI != 0) at_least("nREFI", t.nREFI, "nRFC + nRC", t.nRFC + t.nRC);
  return t;
}

void check_burst(const Section& section, const dram::Device& device) {
  const unsigned length = device.organization.burst_length;
  if (length % device.timings.nBL == 0) return;
  section.fail_at("nBL",
                  fmt::format("bursts of {} transfers cannot take {} cycles", length, device.timings.nBL),
                  "each cycle has a whole number of transfers: two for DDR and HBM, four for GDDR5");
}

// Whatever of the two sections is there, on top of what `device` has, if it has anything.
void read_device(Section& section, dram::Device& device, bool complete) {
  const auto part = [&](const char* key, const auto& read) {
    if (complete && !section.has(key)) {
      section.ask(key);
      return;
    }
    Section inner = section.section(key);
    read(inner);
    inner.done();
  };
  part("organization", [&](Section& inner) {
    device.organization = read_organization(inner, complete ? &device.organization : nullptr);
  });
  part("timings", [&](Section& inner) {
    device.timings = read_timings(inner, complete ? &device.timings : nullptr);
    check_burst(inner, device);
  });
  check_burst(section, device);
}

dram::Device read_preset(const std::string& file) {
  MachineDescription lines;  // for messages
  const toml::table table = parsed(contents(file), file, lines);
  Section root(lines, table, "");
  static_cast<void>(root.text("name"));
  dram::Device device;
  read_device(root, device, false);
  root.done();
  return device;
}

std::string preset_file(const Section& section, const std::string& name, const std::string& machine_file,
                        const std::string& shipped) {
  namespace fs = std::filesystem;
  std::vector<fs::path> folders{fs::path(machine_file).parent_path() / "dram"};
  if (!shipped.empty()) folders.push_back(fs::path(shipped) / "dram");
  std::vector<std::string> known;
  for (const fs::path& folder : folders) {
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(folder, none)) {
      if (entry.path().extension() == ".toml") known.push_back(entry.path().stem().string());
    }
  }
  std::sort(known.begin(), known.end());
  if (std::find(known.begin(), known.end(), name) == known.end()) {
    section.fail_at("preset", fmt::format("there is no DRAM preset '{}'", name),
                    known.empty() ? fmt::format("put it at {}", (folders.front() / (name + ".toml")).string())
                                  : suggestion(name, known));
  }
  for (const fs::path& folder : folders) {
    if (const fs::path file = folder / (name + ".toml"); fs::exists(file)) return file.string();
  }
  return {};
}

dram::Scheduling scheduling_for(unsigned queue) {
  dram::Scheduling s;
  s.queue = queue;
  s.write_high = std::max(1U, queue * 3 / 4);
  s.write_low = queue / 4;
  return s;
}

const std::vector<std::string> dram_keys{"preset",    "organization", "timings",    "bank_index",
                                         "scheduler", "age_cap",      "write_high", "write_low"};

void read_banks(Section& section, MemoryTiming& memory, const MachineDescription& machine,
                const std::string& shipped) {
  const bool preset = section.has("preset");
  memory.preset = section.text("preset", "");
  if (preset) memory.device = read_preset(preset_file(section, memory.preset, machine.file, shipped));
  read_device(section, memory.device, preset);
  memory.device.organization.hashed_banks = section.choice("bank_index", index_names, 0) == 1;
  const unsigned row = memory.device.organization.row_bytes;
  if (row % machine.block_bytes != 0) {
    section.fail_at("organization", fmt::format("a row of {} bytes is no whole number of {}-byte blocks", row,
                                                machine.block_bytes));
  }
  dram::Scheduling& s = memory.device.scheduling;
  s = scheduling_for(memory.queue);
  s.policy = static_cast<dram::Policy>(section.choice("scheduler", {"fcfs", "fr-fcfs"}, 1));
  s.age_cap = static_cast<unsigned>(section.whole("age_cap", 1, 1 << 30, s.age_cap));
  s.write_high = static_cast<unsigned>(section.whole("write_high", 1, memory.queue, s.write_high));
  s.write_low = static_cast<unsigned>(section.whole("write_low", 0, memory.queue, s.write_low));
  if (s.write_low >= s.write_high) {
    section.fail_at("write_low",
                    fmt::format("write_low = {} is not below write_high = {}", s.write_low, s.write_high),
                    "draining begins at write_high and ends at write_low");
  }
  // Events are placed in ticks of the machine's clock.
  const double ticks =
      memory.device.timings.tCK_ps * machine.gigahertz / 1000 * static_cast<double>(timed::ticks_per_cycle);
  if (ticks < 1) {
    section.fail_at("timings", fmt::format("a cycle of {} ps is shorter than a {}th of the machine's",
                                           memory.device.timings.tCK_ps, timed::ticks_per_cycle));
  }
}

MemoryTiming read_memory(Section section, const MachineDescription& machine, const std::string& shipped) {
  MemoryTiming memory;
  memory.table = section.text("table");
  memory.kind = static_cast<MemoryKind>(section.choice("kind", {"flat", "dram"}, 0));
  memory.channels = static_cast<unsigned>(section.whole("channels", 1, 1024));
  memory.interleave_bytes = section.power("interleave_bytes", 1, largest, machine.block_bytes);
  if (memory.interleave_bytes < machine.block_bytes) {
    section.fail_at("interleave_bytes",
                    fmt::format("interleave_bytes = {} would share a block of {} bytes out",
                                memory.interleave_bytes, machine.block_bytes),
                    fmt::format("say at least {}", machine.block_bytes));
  }
  memory.hashed_channels = section.choice("channel_index", index_names, 0) == 1;
  memory.latency = section.number("latency", 0, longest);
  memory.queue =
      static_cast<unsigned>(section.whole("queue", 1, memory.kind == MemoryKind::dram ? 1024 : 1 << 20));
  memory.sender_queue = static_cast<unsigned>(section.whole("sender_queue", 1, 1 << 20, memory.channels));
  if (memory.kind == MemoryKind::dram) {
    if (section.has("bytes_per_cycle")) {
      section.fail_at("bytes_per_cycle",
                      "'bytes_per_cycle' follows from bus, burst and clock of kind \"dram\"",
                      "leave it out, or say kind = \"flat\"");
    }
    read_banks(section, memory, machine, shipped);
  } else {
    for (const std::string& key : dram_keys) {
      if (section.has(key))
        section.fail_at(key, fmt::format("'{}' is for kind \"dram\"", key), "say kind = \"dram\"");
    }
    memory.bytes_per_cycle = section.number("bytes_per_cycle", 0.001, widest);
  }
  memory.l3_bytes = section.whole("l3_bytes", 0, largest);
  memory.l3_ways = static_cast<unsigned>(section.whole("l3_ways", 1, 4096));
  memory.l3_hashed = section.choice("l3_set_index", index_names, 0) == 1;
  memory.l3_latency = section.number("l3_latency", 0, longest);
  if (memory.l3_bytes > 0) sets_of(section, memory.l3_bytes, memory.l3_ways, machine.block_bytes, machine);
  section.done();
  return memory;
}

// ---- the sections
// ----------------------------------------------------------------------------------------------

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

SystemTiming read_system(Section& section, const MachineDescription& machine, const MemoryTiming* shared,
                         const std::string& shipped) {
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
                          one.number("bytes_per_cycle", 0.001, widest)};
  });
  section.sections("caches", [&](const std::string& name, Section& one) {
    system.caches[name] = read_cache(one, machine);
  });
  section.sections("rules",
                   [&](const std::string& name, Section& one) { system.rules[name] = read_rule(one); });
  if (section.has("memory")) {
    system.memory = read_memory(section.section("memory"), machine, shipped);
  } else if (shared != nullptr) {
    section.ask("memory");
    system.memory = *shared;
  }
  return system;
}

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

MachineDescription parse(std::string_view text, const std::string& file, const std::string& shipped) {
  MachineDescription machine;
  const toml::table table = parsed(text, file, machine);
  Section root(machine, table, "");
  read_shared(root, machine);
  std::optional<MemoryTiming> memory;
  if (root.has("memory")) {
    memory = read_memory(root.section("memory"), machine, shipped);
  } else {
    root.ask("memory");
  }
  root.sections("systems", [&](const std::string& name, Section& section) {
    machine.systems[name] = read_system(section, machine, memory ? &*memory : nullptr, shipped);
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

dram::Device read_dram(const std::string& file, unsigned queue) {
  dram::Device device = read_preset(file);
  device.scheduling = scheduling_for(queue);
  return device;
}

MachineDescription parse_machine(std::string_view text, const std::string& file, const std::string& shipped) {
  return parse(text, file, shipped);
}

MachineDescription read_machine(const std::string& file, const std::string& shipped) {
  return parse(contents(file), file, shipped);
}

}  // namespace lockstep
