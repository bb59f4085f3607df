// Reading machine files.
#include "refimpl/machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "checker/support/diagnostic.hpp"
#include "refimpl/launched.hpp"
#include "refimpl/reads.hpp"
#include "refimpl/section.hpp"
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
  const auto part = std::find_if(machine.parts.rbegin(), machine.parts.rend(),
                                 [&](const MachineDescription::Part& p) { return p.before < place.line; });
  if (part != machine.parts.rend()) {
    if (part->name.empty()) {
      throw BadInput(fmt::format("with {}: {}", diagnostic.source_line, diagnostic.message), diagnostic.hint);
    }
    diagnostic.file = part->name;
    diagnostic.place.line -= part->before;
  }
  // A setting may be what is wrong with another entry.
  std::string settings;
  for (const MachineDescription::Part& p : machine.parts) {
    if (p.name.empty())
      settings += (settings.empty() ? "" : " ") + machine.lines[static_cast<std::size_t>(p.before)];
  }
  if (!settings.empty()) diagnostic.message += fmt::format(" (with {})", settings);
  throw BadInput(std::move(diagnostic));
}

namespace {

constexpr double longest = 1e6;                            // cycles
constexpr double widest = 1e6;                             // bytes in a cycle
constexpr std::uint64_t largest = std::uint64_t{1} << 40;  // bytes
constexpr std::uint64_t most_header_bytes = 4096;
const std::vector<std::string> per_names{"thread", "cu", "agent", "system"};
const std::vector<std::string> index_names{"modulo", "hashed"};

Per per_of(FileSection& section, const std::string& key) {
  return static_cast<Per>(section.choice(key, per_names));
}

// Sets follow from size, ways and block; they have to come out even.
unsigned sets_of(const FileSection& section, std::uint64_t bytes, unsigned ways, unsigned block,
                 const MachineDescription& machine) {
  const std::uint64_t row = std::uint64_t{ways} * block;
  if (bytes % row != 0 || bytes == 0) {
    machine_error(
        machine, section.place(),
        fmt::format("{} bytes are no whole number of sets of {} ways of {}-byte blocks", bytes, ways, block));
  }
  return static_cast<unsigned>(bytes / row);
}

CacheGeometry read_cache(FileSection& section, const MachineDescription& machine) {
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

// An entry { NAME = VALUE } of one name.
template <class F>
void read_pair(FileSection& section, const std::string& key, F&& f) {
  int names = 0;
  section.entries(key, [&](const std::string& name, const toml::node& value) {
    if (++names > 1) section.fail(value, fmt::format("'{}' is of one index type", key));
    f(name, value);
  });
}

RuleTiming read_rule(FileSection& section) {
  RuleTiming rule;
  rule.place = section.place();
  rule.latency = section.number("latency", 0, longest, 0);
  rule.occupancy = section.number("occupancy", 0, longest, 1);
  rule.anew = section.flag("anew", false);
  if (section.has("at")) rule.at = section.number("at", 0, longest);
  section.ask("at");
  rule.every = section.has("every") ? section.number("every", 1, longest) : 0;
  section.ask("every");
  read_pair(section, "nearest", [&](const std::string& which, const toml::node& to) {
    if (!to.is_string()) section.fail(to, fmt::format("what '{}' is nearest to is not a string", which));
    rule.nearest = which;
    rule.nearest_to = **to.as_string();
  });
  read_pair(section, "turns", [&](const std::string& which, const toml::node& cycles) {
    rule.turns = which;
    rule.turn_cycles = cycles.value<double>().value_or(0);
    if (!(rule.turn_cycles >= 1.0 / 16 && rule.turn_cycles <= longest))
      section.fail(cycles, fmt::format("a turn of '{}' is no number of cycles", which));
  });
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

std::string contents(const std::string& file);

constexpr std::uint64_t most_cycles = 1 << 20;

dram::Organization read_organization(FileSection& section, const dram::Organization* base) {
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

dram::Timings read_timings(FileSection& section, const dram::Timings* base) {
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

void check_burst(const FileSection& section, const dram::Device& device) {
  const unsigned length = device.organization.burst_length;
  if (length % device.timings.nBL == 0) return;
  section.fail_at("nBL",
                  fmt::format("bursts of {} transfers cannot take {} cycles", length, device.timings.nBL),
                  "each cycle has a whole number of transfers: two for DDR and HBM, four for GDDR5");
}

// Whatever of the two sections is there, on top of what `device` has, if it has anything.
void read_device(FileSection& section, dram::Device& device, bool complete) {
  const auto part = [&](const char* key, const auto& read) {
    if (complete && !section.has(key)) {
      section.ask(key);
      return;
    }
    FileSection inner = section.section(key);
    read(inner);
    inner.done();
  };
  part("organization", [&](FileSection& inner) {
    device.organization = read_organization(inner, complete ? &device.organization : nullptr);
  });
  part("timings", [&](FileSection& inner) {
    device.timings = read_timings(inner, complete ? &device.timings : nullptr);
    check_burst(inner, device);
  });
  check_burst(section, device);
}

dram::Device read_preset(const std::string& file) {
  MachineDescription lines;  // for messages
  lines.file = file;
  const toml::table table = parsed(contents(file), file, lines);
  FileSection root(lines, table, "");
  static_cast<void>(root.text("name"));
  dram::Device device;
  read_device(root, device, false);
  root.done();
  return device;
}

std::string preset_file(const FileSection& section, const std::string& name, const std::string& machine_file,
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

void read_banks(FileSection& section, MemoryTiming& memory, const MachineDescription& machine,
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

MemoryTiming read_memory(FileSection section, const MachineDescription& machine, const std::string& shipped) {
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
  if (section.has("home_bytes"))
    memory.home_bytes = section.power("home_bytes", machine.block_bytes, largest);
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

std::string network_of(FileSection& section, const MachineDescription& machine) {
  std::string name = section.text("network", "");
  if (name.empty() || machine.networks.contains(name)) return name;
  std::vector<std::string> names;
  for (const auto& [known, network] : machine.networks) names.push_back(known);
  section.fail_at("network", fmt::format("'{}' is no network", name),
                  names.empty() ? "describe it in [networks.NAME]" : suggestion(name, names));
}

NetworkTiming::Seats read_seats(FileSection& section, const std::string& unit, const toml::node& node,
                                std::uint32_t nodes) {
  NetworkTiming::Seats seats;
  seats.place = place_of(node);
  const toml::node* list = &node;
  if (const toml::table* table = node.as_table(); table != nullptr) {
    FileSection said(section.machine(), *table, fmt::format("seats.{}", unit));
    seats.by_block = said.choice("by", {"unit", "block"}, 0) == 1;
    list = &node;
    if (said.has("nodes")) list = table->get("nodes");
    said.ask("nodes");
    said.done();
    if (list == &node) section.fail(node, fmt::format("'nodes' of '{}' is missing", unit));
  }
  const auto fail = [&](const toml::node& at) {
    section.fail(at, fmt::format("'{}' is at no node: they are numbered from 0 to {}", unit, nodes - 1),
                 "say a list of numbers, or \"all\"");
  };
  if (list->is_string()) {
    if (**list->as_string() != "all") fail(*list);
    for (std::uint32_t n = 0; n < nodes; ++n) seats.nodes.push_back(n);
    return seats;
  }
  if (!list->is_array()) fail(*list);
  if (list->as_array()->empty()) section.fail(*list, fmt::format("'{}' has an empty list of nodes", unit));
  for (const toml::node& one : *list->as_array()) {
    const std::int64_t number = one.is_integer() ? **one.as_integer() : -1;
    if (number < 0 || number >= std::int64_t{nodes}) fail(one);
    seats.nodes.push_back(static_cast<std::uint32_t>(number));
  }
  return seats;
}

void read_networks(FileSection& root, MachineDescription& machine) {
  root.sections("networks", [&](const std::string& name, FileSection& one) {
    NetworkTiming& network = machine.networks[name];
    network.place = one.place();
    network.topology =
        static_cast<NetworkTiming::Topology>(one.choice("topology", {"crossbar", "ring", "mesh", "torus"}));
    network.nodes = static_cast<std::uint32_t>(one.whole("nodes", 1, 4096));
    const bool has_rows = network.topology == NetworkTiming::Topology::mesh ||
                          network.topology == NetworkTiming::Topology::torus;
    network.columns = network.nodes;
    if (has_rows) {
      network.columns = static_cast<std::uint32_t>(one.whole("columns", 1, network.nodes));
      if (network.nodes % network.columns != 0) {
        one.fail_at("columns",
                    fmt::format("{} nodes are not so many rows of {}", network.nodes, network.columns));
      }
    }
    network.hop_latency = one.number("hop_latency", 0, longest);
    network.bytes_per_cycle = one.number("bytes_per_cycle", 0.001, widest);
    one.entries("seats", [&](const std::string& unit, const toml::node& node) {
      network.seats[unit] = read_seats(one, unit, node, network.nodes);
    });
    one.ask("seats");
  });
}

// Seats are those of units that there are.
void check_seats(const MachineDescription& machine) {
  std::vector<std::string> units;
  for (const auto& [name, unit] : machine.units) units.push_back(name);
  for (const auto& [system, timing] : machine.systems) {
    for (const auto& [name, unit] : timing.units) units.push_back(name);
  }
  for (const auto& [name, network] : machine.networks) {
    for (const auto& [unit, seats] : network.seats) {
      if (std::find(units.begin(), units.end(), unit) != units.end()) continue;
      machine_error(machine, seats.place, fmt::format("'{}', which is no unit, has a seat", unit),
                    suggestion(unit, units));
    }
  }
}

void read_paths(FileSection& section, const MachineDescription& machine,
                const std::map<std::string, UnitTiming>& units, std::vector<PathTiming>& paths) {
  section.sections("paths", [&](const std::string&, FileSection& one) {
    PathTiming path{one.place(),
                    one.text("from"),
                    one.text("to"),
                    one.number("latency", 0, longest),
                    one.number("bytes_per_cycle", 0.001, widest),
                    network_of(one, machine)};
    for (const std::string& end : {path.from, path.to}) {
      if (units.contains(end) || machine.units.contains(end)) continue;
      std::vector<std::string> names;
      for (const auto& [name, unit] : machine.units) names.push_back(name);
      machine_error(machine, path.place, fmt::format("a path to or from '{}', which is no unit", end),
                    suggestion(end, names));
    }
    paths.push_back(std::move(path));
  });
}

// Units and paths of a section, besides those that the machine has already.
void read_units(FileSection& section, const MachineDescription& machine,
                std::map<std::string, UnitTiming>& units, std::vector<PathTiming>& paths) {
  section.sections("units", [&](const std::string& name, FileSection& one) {
    units[name] = {one.place(), per_of(one, "per"), one.number("per_cycle", 0.001, 16)};
  });
  read_paths(section, machine, units, paths);
}

void read_scheduler(FileSection& root, SchedulerTiming& scheduler) {
  root.ask("scheduler");
  if (!root.has("scheduler")) return;
  FileSection section = root.section("scheduler");
  const auto number = [&](const char* key, int most) {
    return static_cast<int>(section.whole(key, 0, static_cast<std::uint64_t>(most), 0));
  };
  scheduler.slots_per_cu = number("slots_per_cu", 1024);
  scheduler.conditions = number("conditions", 1 << 20);
  scheduler.waiters = number("waiters", 1 << 20);
  scheduler.log_entries = static_cast<int>(section.whole("log_entries", 1, 1 << 20, 1));
  scheduler.cus_taken = number("cus_taken", 4096);
  if (scheduler.cus_taken > 0 && scheduler.slots_per_cu == 0)
    section.fail_at("cus_taken", "CUs are taken away that have room for any number of work-groups",
                    "say slots_per_cu = ...");
  section.done();
}

void read_shared(FileSection& root, MachineDescription& machine) {
  machine.name = root.text("name");
  machine.gigahertz = root.number("gigahertz", 0.001, 1000);
  machine.cus = static_cast<int>(root.whole("cus", 1, 4096));
  machine.agents = static_cast<int>(root.whole("agents", 1, 64));
  machine.waves_per_cu = static_cast<int>(root.whole("waves_per_cu", 1, 1024));
  machine.accesses_per_wave = static_cast<int>(root.whole("accesses_per_wave", 1, most_slots, 1));
  machine.waves_end_kernels = root.choice("kernel_end_by", {"cu", "wave"}, 0) == 1;
  machine.kernel_launch = root.number("kernel_launch", 0, longest, 0);
  machine.block_bytes = static_cast<unsigned>(root.whole("block_bytes", 1, largest));
  machine.header_bytes = static_cast<unsigned>(root.whole("header_bytes", 1, most_header_bytes, 0));
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
  read_networks(root, machine);
  read_units(root, machine, machine.units, machine.paths);
  read_scheduler(root, machine.scheduler);
}

// Levels and ways have to be some system's.
void read_energy(FileSection& root, MachineDescription& machine) {
  root.ask("energy");
  if (!root.has("energy")) return;
  constexpr double dearest = 1e9;
  std::vector<std::string> levels;
  std::vector<std::string> ways;
  const auto add = [](std::vector<std::string>& names, const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  const auto add_paths = [&](const std::vector<PathTiming>& paths) {
    for (const PathTiming& path : paths) add(ways, path.from + " to " + path.to);
  };
  add_paths(machine.paths);
  for (const auto& [name, system] : machine.systems) {
    for (const auto& [link, timing] : system.links) add(ways, link);
    for (const auto& [cache, geometry] : system.caches) add(levels, geometry.level);
    add_paths(system.paths);
    for (const auto& [variant, other] : system.variants) add_paths(other.paths);
  }
  const auto known = [&](const std::vector<std::string>& names, const std::string& name, FileSection& one,
                         const char* what) {
    if (std::find(names.begin(), names.end(), name) != names.end()) return;
    machine_error(machine, one.place(), fmt::format("no system here has a {} '{}'", what, name),
                  suggestion(name, names));
  };
  const auto access = [&](FileSection one) {
    const EnergyCosts::Access cost{one.number("read", 0, dearest), one.number("write", 0, dearest)};
    one.done();
    return cost;
  };
  FileSection section = root.section("energy");
  machine.energy.said = true;
  machine.energy.instruction = section.number("instruction", 0, dearest, 0);
  section.sections("levels", [&](const std::string& name, FileSection& one) {
    known(levels, name, one, "cache of level");
    machine.energy.levels[name] = {one.number("read", 0, dearest), one.number("write", 0, dearest)};
  });
  section.sections("messages", [&](const std::string& name, FileSection& one) {
    known(ways, name, one, "link or path");
    machine.energy.messages[name] = {one.number("message", 0, dearest, 0), one.number("byte", 0, dearest, 0)};
  });
  section.ask("dram");
  if (section.has("dram")) machine.energy.dram = access(section.section("dram"));
  section.ask("l3");
  if (section.has("l3")) machine.energy.l3 = access(section.section("l3"));
  section.done();
}

SystemTiming read_system(FileSection& section, const MachineDescription& machine, const MemoryTiming* shared,
                         const std::string& shipped) {
  SystemTiming system;
  system.place = section.place();
  const auto read_sizes = [](FileSection& of, SystemTiming::Sizes& sizes) {
    of.entries("sizes", [&](const std::string& name, const toml::node& node) {
      const std::int64_t size = node.is_integer() ? **node.as_integer() : 0;
      if (size < 1 || size > (1 << 24))
        of.fail(node, fmt::format("size '{}' is not a positive whole number", name));
      sizes[name] = {static_cast<int>(size), place_of(node)};
    });
  };
  read_sizes(section, system.sizes);
  section.entries("index_types", [&](const std::string& name, const toml::node& node) {
    const std::string word = node.is_string() ? **node.as_string() : "";
    const auto found = std::find(per_names.begin(), per_names.end(), word);
    if (found == per_names.end())
      section.fail(node, fmt::format("'{}' is not one of a unit", name), suggestion(word, per_names));
    system.index_types[name] = {static_cast<Per>(found - per_names.begin()), place_of(node)};
  });
  section.sections("links", [&](const std::string& name, FileSection& one) {
    system.links[name] = {one.place(), one.number("latency", 0, longest),
                          one.number("bytes_per_cycle", 0.001, widest), network_of(one, machine)};
  });
  section.sections("caches", [&](const std::string& name, FileSection& one) {
    system.caches[name] = read_cache(one, machine);
  });
  section.sections("rules",
                   [&](const std::string& name, FileSection& one) { system.rules[name] = read_rule(one); });
  read_units(section, machine, system.units, system.paths);
  section.sections("variants", [&](const std::string& name, FileSection& one) {
    SystemTiming::Variant& variant = system.variants[name];
    variant.place = one.place();
    read_sizes(one, variant.sizes);
    one.sections("rules", [&](const std::string& rule, FileSection& of_rule) {
      variant.rules[rule] = read_rule(of_rule);
    });
    read_paths(one, machine, system.units, variant.paths);
  });
  if (section.has("memory")) {
    system.memory = read_memory(section.section("memory"), machine, shipped);
  } else if (shared != nullptr) {
    section.ask("memory");
    system.memory = *shared;
    system.memory.table = section.text("memory_table", system.memory.table);
  }
  return system;
}

// ---- systems that another file describes
// ----------------------------------------------------------------------

// Moves what `home` says of a system to the file that does not: its section, with the units and paths that
// are missing here.
void borrow(const std::string& system, toml::table& home, toml::table& table) {
  toml::table section = std::move(*home["systems"][system].as_table());
  const auto table_of = [](toml::table& of, const char* key) -> toml::table& {
    return *of.insert(key, toml::table{}).first->second.as_table();
  };
  const auto take = [&](const char* key, const auto& is_here) {
    toml::table& ours = table_of(table, key);
    toml::table missing;
    for (auto&& [name, node] : table_of(home, key)) {
      if (node.is_table() && !is_here(ours, std::string(name.str()), *node.as_table()))
        missing.insert(name.str(), std::move(node));
    }
    toml::table& own = table_of(section, key);
    for (auto&& [name, node] : missing) own.insert(name.str(), std::move(node));
  };
  take("units", [](const toml::table& ours, const std::string& name, const toml::table&) {
    return ours.contains(name);
  });
  take("paths", [](const toml::table& ours, const std::string&, const toml::table& path) {
    const auto end = [](const toml::table& of, const char* key) { return of[key].value_or(std::string{}); };
    return std::any_of(ours.begin(), ours.end(), [&](const auto& one) {
      const toml::table* other = one.second.as_table();
      return other != nullptr && end(*other, "from") == end(path, "from") &&
             end(*other, "to") == end(path, "to");
    });
  });
  if (!section.contains("memory") && home["memory"]["table"].is_string())
    section.insert("memory_table", home["memory"]["table"].value_or(std::string{}));
  if (!table.contains("header_bytes") && home["header_bytes"].is_integer())
    section.insert("header_bytes", home["header_bytes"].value_or(0));
  table_of(table, "systems").insert(system, std::move(section));
}

// Every system that only shipped files describe, with the file's name.
std::map<std::string, std::string> borrow_systems(toml::table& table, const std::string& shipped,
                                                  MachineDescription& machine) {
  namespace fs = std::filesystem;
  std::map<std::string, std::string> homes;
  if (shipped.empty() || !table["systems"].is_table()) return homes;
  for (const char* key : {"units", "paths"}) {
    if (table.contains(key) && !table[key].is_table()) return homes;  // which is told when they are read
  }
  std::vector<fs::path> files;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(shipped, none)) {
    if (entry.path().extension() == ".toml") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) {
    const std::string text = contents(file.string());
    const toml::table all = toml::parse(text);
    const toml::table* systems = all["systems"].as_table();
    if (systems == nullptr) continue;
    for (const auto& [key, section] : *systems) {
      const std::string system(key.str());
      if (table["systems"].as_table()->contains(system)) continue;
      toml::table home = parsed(text, file.string(), machine);
      borrow(system, home, table);
      homes[system] = file.filename().string();
    }
  }
  return homes;
}

// A file's text with all that is said beside it; what was borrowed is told in `homes`.
toml::table put_together(std::string_view text, const std::string& file, const std::string& shipped,
                         const MachineSettings& settings, MachineDescription& machine,
                         std::map<std::string, std::string>& homes) {
  machine.file = file;
  toml::table table = parsed(text, file, machine);
  homes = borrow_systems(table, shipped, machine);
  for (const std::string& setting : settings) apply(setting, table, machine);
  return table;
}

MachineDescription parse(std::string_view text, const std::string& file, const std::string& shipped,
                         const MachineSettings& settings) {
  MachineDescription machine;
  std::map<std::string, std::string> homes;
  const toml::table table = put_together(text, file, shipped, settings, machine, homes);
  FileSection root(machine, table, "");
  read_shared(root, machine);
  std::optional<MemoryTiming> memory;
  if (root.has("memory")) {
    memory = read_memory(root.section("memory"), machine, shipped);
  } else {
    root.ask("memory");
  }
  root.sections("systems", [&](const std::string& name, FileSection& section) {
    SystemTiming& system = machine.systems[name];
    const unsigned shared_header = machine.header_bytes;
    machine.header_bytes =
        static_cast<unsigned>(section.whole("header_bytes", 1, most_header_bytes, shared_header));
    system = read_system(section, machine, memory ? &*memory : nullptr, shipped);
    machine.header_bytes = shared_header;
    if (const auto home = homes.find(name); home != homes.end()) system.borrowed = home->second;
    if (system.memory.table.empty()) {
      machine_error(machine, section.place(),
                    fmt::format("'{}' has no [memory], and neither has the file", name));
    }
  });
  check_seats(machine);
  read_energy(root, machine);
  root.ask("assumed");
  root.done();
  if (machine.systems.empty())
    machine_error(machine, {}, "no [systems.NAME] section: nothing can run on this machine");
  return machine;
}

ChipletMachine parse_chiplets(std::string_view text, const std::string& file,
                              const MachineSettings& settings) {
  MachineDescription lines;  // for messages
  std::map<std::string, std::string> none;
  const toml::table table = put_together(text, file, {}, settings, lines, none);
  FileSection root(lines, table, "");
  ChipletMachine machine;
  machine.file = file;
  machine.name = root.text("name");
  machine.gigahertz = root.number("gigahertz", 0.001, 1000);
  machine.chiplets = static_cast<int>(root.whole("chiplets", 1, 64));
  machine.cus_per_chiplet = static_cast<int>(root.whole("cus_per_chiplet", 1, 4096));
  machine.page_bytes = root.whole("page_bytes", 1, largest);
  FileSection l2 = root.section("l2");
  machine.l2 = {l2.whole("bytes", machine.page_bytes, largest), l2.number("latency", 0, longest),
                l2.number("bytes_per_cycle", 0.001, widest),
                static_cast<int>(l2.whole("outstanding", 1, 1 << 20)),
                l2.number("invalidate_latency", 0, longest)};
  l2.done();
  FileSection l3 = root.section("l3");
  machine.l3 = {l3.whole("bytes", machine.page_bytes, largest), l3.number("latency", 0, longest),
                l3.number("bytes_per_cycle", 0.001, widest),
                l3.number("link_bytes_per_cycle", 0.001, widest)};
  l3.done();
  FileSection cp = root.section("cp");
  machine.cp = {cp.number("message_latency", 0, longest), cp.number("lookup_latency", 0, longest)};
  cp.done();
  root.ask("assumed");
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

ChipletMachine parse_chiplet_machine(std::string_view text, const std::string& file,
                                     const MachineSettings& settings) {
  return parse_chiplets(text, file, settings);
}

ChipletMachine read_chiplet_machine(const std::string& file, const MachineSettings& settings) {
  return parse_chiplets(contents(file), file, settings);
}

std::vector<Assumption> parse_assumptions(std::string_view text, const std::string& file,
                                          const std::string& shipped, const MachineSettings& settings) {
  MachineDescription lines;  // for messages
  std::map<std::string, std::string> homes;
  const toml::table table = put_together(text, file, shipped, settings, lines, homes);
  FileSection root(lines, table, "");
  return read_assumptions(root, lines, settings.empty());
}

std::vector<Assumption> read_assumptions(const std::string& file, const std::string& shipped,
                                         const MachineSettings& settings) {
  return parse_assumptions(contents(file), file, shipped, settings);
}

dram::Device read_dram(const std::string& file, unsigned queue) {
  dram::Device device = read_preset(file);
  device.scheduling = scheduling_for(queue);
  return device;
}

MachineDescription parse_machine(std::string_view text, const std::string& file, const std::string& shipped,
                                 const MachineSettings& settings) {
  return parse(text, file, shipped, settings);
}

MachineDescription read_machine(const std::string& file, const std::string& shipped,
                                const MachineSettings& settings) {
  return parse(contents(file), file, shipped, settings);
}

}  // namespace lockstep
