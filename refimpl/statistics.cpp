// Printing what was counted, for people within 80 columns, and as JSON.
#include "refimpl/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep {

std::uint64_t Statistics::bytes_on(const std::string& way) const {
  std::uint64_t bytes = 0;
  for (const Messages& m : messages) bytes += m.way == way ? m.bytes() : 0;
  return bytes;
}

namespace {

double share(std::uint64_t part, std::uint64_t rest) {
  return part + rest == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(part + rest);
}

std::string channels_text(const Statistics::Memory& memory) {
  const bool rows = memory.kind == "dram";
  std::string text = fmt::format("  Channels, {}{}\n", memory.kind,
                                 memory.preset.empty() ? "" : fmt::format(", {}", memory.preset));
  text +=
      fmt::format("    {:>3} {:>9} {:>9} {:>7} {:>7} {:>5}", "", "reads", "writes", "bus", "queued", "most");
  text += rows ? fmt::format(" {:>8} {:>8} {:>9}\n", "row hits", "misses", "conflicts") : "\n";
  for (std::size_t i = 0; i < memory.channels.size(); ++i) {
    const Statistics::Channel& c = memory.channels[i];
    text += fmt::format("    {:>3} {:>9} {:>9} {:>5.1f} % {:>7.1f} {:>5}", i, c.reads, c.writes, 100 * c.busy,
                        c.queued, c.most_queued);
    text += rows ? fmt::format(" {:>8} {:>8} {:>9}\n", c.row_hits, c.row_misses, c.row_conflicts) : "\n";
  }
  return text;
}

nlohmann::ordered_json channels_json(const Statistics::Memory& memory) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const Statistics::Channel& c : memory.channels) {
    nlohmann::ordered_json one{{"reads", c.reads},
                               {"writes", c.writes},
                               {"busy", c.busy},
                               {"queued", c.queued},
                               {"most_queued", c.most_queued}};
    if (memory.kind == "dram") {
      one.update({{"row_hits", c.row_hits},
                  {"row_misses", c.row_misses},
                  {"row_conflicts", c.row_conflicts},
                  {"activates", c.activates},
                  {"refreshes", c.refreshes}});
    }
    json.push_back(std::move(one));
  }
  return json;
}

}  // namespace

std::string clipped(const std::string& text, std::size_t width) {
  return text.size() <= width ? text : text.substr(0, width - 1) + "~";
}

std::string statistics_text(const Statistics& s, bool rules) {
  std::string text;
  const auto line = [&](std::string_view label, const std::string& rest) {
    text += fmt::format("  {:<14} {}\n", label, rest);
  };
  line("Cycles", fmt::format("{:.0f} until the last wave ended, {:.0f} until drained", s.cycles, s.drained));
  line("Firings", fmt::format("{}", s.firings));
  for (const auto& [name, level] : s.levels) {
    line(name, fmt::format("{} hits, {} misses ({:.1f} % hits)", level.hits, level.misses,
                           share(level.hits, level.misses)));
  }
  for (const Statistics::Cache& c : s.caches) {
    line(c.table, fmt::format("{} installed, {} replaced, {} dropped{}", c.installed, c.replaced, c.dropped,
                              c.stalled > 0 ? fmt::format(", {:.0f} cycles stalled", c.stalled) : ""));
    if (c.replaced > 0 && c.sets_used < static_cast<double>(c.sets)) {
      line("", fmt::format("{:.1f} of {} sets used", c.sets_used, c.sets));
    }
    if (c.banks > 0) {
      line("", fmt::format("{} look-ups in {} banks, {:.1f} % in conflict, {:.0f} cycles waited", c.look_ups,
                           c.banks, share(c.conflicts, c.look_ups - c.conflicts), c.bank_waits));
    }
    if (c.mshrs > 0) {
      line("", fmt::format("{} misses merged, {} stalled by {} MSHRs, {:.0f} cycles waited", c.merged,
                           c.mshr_stalls, c.mshrs, c.mshr_waits));
    }
  }
  if (s.atomics > 0) line("Atomics", fmt::format("{}", s.atomics));
  line("Invalidated", fmt::format("{} lines, by acquires and invalidations", s.lines_invalidated));
  line("L3", fmt::format("{} hits, {} misses", s.memory.l3_hits, s.memory.l3_misses));
  line("DRAM reads", fmt::format("{}, {} bytes", s.memory.reads, s.memory.read_bytes));
  line("DRAM writes", fmt::format("{}, {} bytes", s.memory.writes, s.memory.write_bytes));
  if (!s.memory.channels.empty() && s.memory.reads + s.memory.writes > 0) text += channels_text(s.memory);
  text += fmt::format("  {:<37} {:>10} {:>14} {:>14}\n", "Messages", "number", "header bytes", "data bytes");
  for (const Statistics::Messages& m : s.messages) {
    text += fmt::format("    {:<18} {:<16} {:>10} {:>14} {:>14}\n", m.way, m.kind, m.messages, m.header_bytes,
                        m.data_bytes);
  }
  text += "  Stalls, in cycles\n";
  for (const Statistics::Operation& o : s.operations) {
    if (o.count == 0) continue;
    text += fmt::format("    {:<35} {:>12} {:>10.1f} each\n", o.name + " from issue to completion", o.count,
                        o.waited / static_cast<double>(o.count));
  }
  for (const auto& [unit, waited] : s.unit_waits) {
    if (waited > 0) text += fmt::format("    {:<35} {:>23.0f} in all\n", "turns of " + unit, waited);
  }
  for (const auto& [name, full] : s.full) {
    if (full > 0) text += fmt::format("    {:<35} {:>23.0f} in all\n", name + " full", full);
  }
  if (s.memory.stalled > 0) {
    text += fmt::format("    {:<35} {:>23.0f} in all\n", "memory's queues full", s.memory.stalled);
  }
  if (!rules) return text;
  text += "  Rules\n";
  for (const Statistics::RuleFirings& r : s.rules) {
    text += fmt::format("    {:<42} {:<12} {:>12}\n", clipped(r.name, 42), r.unit, r.firings);
  }
  return text;
}

nlohmann::ordered_json statistics_json(const Statistics& s) {
  nlohmann::ordered_json json;
  json["system"] = s.system;
  json["cycles"] = s.cycles;
  json["drained"] = s.drained;
  json["firings"] = s.firings;
  json["atomics"] = s.atomics;
  json["lines_invalidated"] = s.lines_invalidated;
  for (const auto& [name, level] : s.levels) {
    json["levels"][name] = {{"hits", level.hits}, {"misses", level.misses}};
  }
  json["caches"] = nlohmann::ordered_json::array();
  for (const Statistics::Cache& c : s.caches) {
    json["caches"].push_back({{"table", c.table},
                              {"installed", c.installed},
                              {"replaced", c.replaced},
                              {"dropped", c.dropped},
                              {"stalled", c.stalled}});
    if (c.sets > 0) json["caches"].back().update({{"sets", c.sets}, {"sets_used", c.sets_used}});
    if (c.banks > 0) {
      json["caches"].back().update({{"banks", c.banks},
                                    {"look_ups", c.look_ups},
                                    {"conflicts", c.conflicts},
                                    {"bank_waits", c.bank_waits}});
    }
    if (c.mshrs > 0) {
      json["caches"].back().update({{"mshrs", c.mshrs},
                                    {"merged", c.merged},
                                    {"mshr_stalls", c.mshr_stalls},
                                    {"mshr_waits", c.mshr_waits}});
    }
  }
  json["memory"] = {{"reads", s.memory.reads},           {"writes", s.memory.writes},
                    {"read_bytes", s.memory.read_bytes}, {"write_bytes", s.memory.write_bytes},
                    {"l3_hits", s.memory.l3_hits},       {"l3_misses", s.memory.l3_misses},
                    {"stalled", s.memory.stalled}};
  if (!s.memory.kind.empty()) {
    json["memory"]["kind"] = s.memory.kind;
    if (!s.memory.preset.empty()) json["memory"]["preset"] = s.memory.preset;
    json["memory"]["channels"] = channels_json(s.memory);
  }
  json["messages"] = nlohmann::ordered_json::array();
  for (const Statistics::Messages& m : s.messages) {
    json["messages"].push_back({{"way", m.way},
                                {"kind", m.kind},
                                {"messages", m.messages},
                                {"bytes", m.bytes()},
                                {"data_bytes", m.data_bytes}});
  }
  json["operations"] = nlohmann::ordered_json::array();
  for (const Statistics::Operation& o : s.operations) {
    json["operations"].push_back({{"name", o.name}, {"count", o.count}, {"waited", o.waited}});
  }
  json["unit_waits"] = s.unit_waits;
  json["full"] = s.full;
  json["rules"] = nlohmann::ordered_json::array();
  for (const Statistics::RuleFirings& r : s.rules) {
    json["rules"].push_back(
        {{"name", r.name}, {"unit", r.unit}, {"firings", r.firings}, {"waited", r.waited}});
  }
  return json;
}

}  // namespace lockstep
