// Printing what was counted, for people within 80 columns, and as JSON.
#include "refimpl/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "refimpl/profile.hpp"

namespace lockstep {

std::uint64_t Statistics::bytes_on(const std::string& way) const {
  std::uint64_t bytes = 0;
  for (const Messages& m : messages) bytes += m.way == way ? m.bytes() : 0;
  return bytes;
}

double Statistics::picojoules() const {
  double all = 0;
  for (const auto& [name, part] : energy) all += part;
  return all;
}

double Statistics::Profile::Latencies::percentile(double share) const {
  std::uint64_t all = 0;
  for (const auto& [least, count] : buckets) all += count;
  std::uint64_t so_far = 0;
  for (std::size_t i = 0; i + 1 < buckets.size(); ++i) {
    so_far += buckets[i].second;
    if (static_cast<double>(so_far) < share * static_cast<double>(all)) continue;
    return std::min(
        most, static_cast<double>(timed::Profile::least_of(timed::Profile::bucket_of(buckets[i].first) + 1)));
  }
  return most;
}

Statistics::Counters counters_of(const Statistics& s) {
  Statistics::Counters all;
  const auto count = [&](const std::string& name, std::uint64_t n) {
    if (n > 0) all[name] = static_cast<double>(n);
  };
  count("rule firings", s.firings);
  count("atomics", s.atomics);
  count("issued", s.issued);
  count("lines invalidated", s.lines_invalidated);
  for (const auto& [name, level] : s.levels) {
    count(name + " hits", level.hits);
    count(name + " misses", level.misses);
  }
  for (const Statistics::Messages& m : s.messages) all["bytes, " + m.way] += static_cast<double>(m.bytes());
  count("L3 hits", s.memory.l3_hits);
  count("L3 misses", s.memory.l3_misses);
  count("DRAM reads", s.memory.reads);
  count("DRAM writes", s.memory.writes);
  count("DRAM bytes read", s.memory.read_bytes);
  count("DRAM bytes written", s.memory.write_bytes);
  for (const Statistics::Operation& o : s.operations) {
    count(o.name + "s", o.count);
    if (o.waited > 0) all["cycles of " + o.name + "s"] = o.waited;
  }
  return all;
}

Statistics::Counters difference(const Statistics::Counters& now, const Statistics::Counters& since) {
  Statistics::Counters all;
  for (const auto& [name, value] : now) {
    const auto before = since.find(name);
    const double come = value - (before == since.end() ? 0 : before->second);
    if (come > 0) all[name] = come;
  }
  return all;
}

namespace {

double share(std::uint64_t part, std::uint64_t rest) {
  return part + rest == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(part + rest);
}

using Profile = Statistics::Profile;

const std::array<std::string, 4> operation_names{"load", "store", "rmw", "fence"};

std::string cell(double value, bool there) {
  return there ? fmt::format(" {:>9.1f}", value) : fmt::format(" {:>9}", "-");
}

// Of each operation, on average, how many cycles went where: what is a hundredth of one of them, or more.
std::string stations_text(const Statistics& s) {
  const Profile& profile = *s.profile;
  std::vector<const Statistics::Operation*> of;
  std::vector<std::size_t> columns;
  for (std::size_t op = 0; op < operation_names.size(); ++op) {
    for (const Statistics::Operation& o : s.operations) {
      if (o.name != operation_names[op] || o.count == 0) continue;
      of.push_back(&o);
      columns.push_back(op);
    }
  }
  if (of.empty()) return {};
  const auto average = [&](const Profile::Station& station, std::size_t i) {
    return station.cycles[columns[i]] / static_cast<double>(of[i]->count);
  };
  std::vector<Profile::Station> sorted = profile.stations;
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    const auto sum = [](const auto& x) { return x.cycles[0] + x.cycles[1] + x.cycles[2] + x.cycles[3]; };
    return sum(a) > sum(b);
  });
  std::string text = fmt::format("  {:<36}", "Where an operation's cycles went");
  for (const Statistics::Operation* o : of) text += fmt::format(" {:>9}", o->name);
  text += "\n";
  Profile::Station rest{"others"};
  bool any = false;
  const auto line = [&](const Profile::Station& station) {
    text += fmt::format("    {:<34}", clipped(station.name, 34));
    for (std::size_t i = 0; i < of.size(); ++i)
      text += cell(average(station, i), station.cycles[columns[i]] > 0);
    text += "\n";
  };
  for (const Profile::Station& station : sorted) {
    bool counts = false;
    for (std::size_t i = 0; i < of.size(); ++i) counts |= station.cycles[columns[i]] >= 0.01 * of[i]->waited;
    if (counts) {
      line(station);
      continue;
    }
    any = true;
    for (std::size_t op = 0; op < rest.cycles.size(); ++op) rest.cycles[op] += station.cycles[op];
  }
  if (any) line(rest);
  text += fmt::format("    {:<34}", "in all");
  for (const Statistics::Operation* o : of) text += cell(o->waited / static_cast<double>(o->count), true);
  return text + "\n";
}

std::string latencies_text(const Profile& profile) {
  if (profile.latencies.empty()) return {};
  std::string text = fmt::format("  {:<36} {:>9} {:>9} {:>9} {:>9}\n", "Latencies in cycles, at most", "half",
                                 "9 of 10", "99 of 100", "all");
  for (const Profile::Latencies& l : profile.latencies) {
    text += fmt::format("    {:<34} {:>9.0f} {:>9.0f} {:>9.0f} {:>9.0f}\n", l.operation, l.percentile(0.5),
                        l.percentile(0.9), l.percentile(0.99), l.most);
  }
  return text;
}

std::string activities_text(const Profile& profile) {
  double all = 0;
  for (const auto& [what, cycles] : profile.activities) all += cycles;
  if (all == 0) return {};
  std::string text = fmt::format("  What waves did in {:.0f} cycles of all of them together\n", all);
  std::vector<std::pair<double, std::string>> sorted;
  for (const auto& [what, cycles] : profile.activities) sorted.emplace_back(-cycles, what);
  std::sort(sorted.begin(), sorted.end());
  for (const auto& [cycles, what] : sorted)
    text += fmt::format("    {:<34} {:>7.1f} %\n", what, -100 * cycles / all);
  return text;
}

// The least, the average and the most of several; of one, itself.
struct Spread {
  std::size_t count = 0;
  double least = 0;
  double sum = 0;
  double most = 0;
  void add(double value) {
    least = count == 0 ? value : std::min(least, value);
    most = std::max(most, value);
    sum += value;
    ++count;
  }
};

std::string spreads_text(const Statistics& s) {
  const Profile& profile = *s.profile;
  const double time = std::max(s.drained, 1.0);
  struct Kind {
    std::string name;
    Spread busy;
    Spread work;
  };
  const auto print = [&](const std::string& title, const std::string& work, const auto& all, auto&& name,
                         auto&& amount) {
    std::vector<Kind> kinds;
    for (const auto& one : all) {
      auto found =
          std::find_if(kinds.begin(), kinds.end(), [&](const Kind& k) { return k.name == name(one); });
      if (found == kinds.end()) found = kinds.insert(kinds.end(), Kind{name(one), {}, {}});
      found->busy.add(100 * one.busy / time);
      found->work.add(static_cast<double>(amount(one)));
    }
    if (kinds.empty()) return std::string{};
    std::string text = fmt::format("  {:<18} {:>4} {:>7} {:>6} {:>6} {:>10} {:>10} {:>10}\n", title, "",
                                   "busy", "mean", "most", work, "mean", "most");
    for (const Kind& k : kinds) {
      const auto n = static_cast<double>(k.busy.count);
      text += fmt::format("    {:<16} {:>4} {:>5.1f} % {:>6.1f} {:>6.1f} {:>10.0f} {:>10.0f} {:>10.0f}\n",
                          clipped(k.name, 16), k.busy.count, k.busy.least, k.busy.sum / n, k.busy.most,
                          k.work.least, k.work.sum / n, k.work.most);
    }
    return text;
  };
  return print(
             "Units at work", "firings", profile.units, [](const Profile::Unit& u) { return u.kind; },
             [](const Profile::Unit& u) { return u.firings; }) +
         print(
             "Links in use", "bytes", profile.links, [](const Profile::Link& l) { return l.name; },
             [](const Profile::Link& l) { return l.bytes; });
}

std::string kernels_text(const Profile& profile) {
  if (profile.kernels.empty()) return {};
  constexpr std::size_t most_lines = 16;
  std::string text = fmt::format("  {:<19} {:>9} {:>9} {:>8} {:>8} {:>9} {:>9}\n", "Kernels", "from cycle",
                                 "cycles", "L1 hits", "L2 hits", "DRAM in", "DRAM out");
  std::size_t lines = 0;
  for (const Statistics::Kernel& kernel : profile.kernels) {
    if (++lines > most_lines) {
      text += fmt::format("    and {} more: --json\n", profile.kernels.size() - most_lines);
      break;
    }
    const auto of = [&](const std::string& name) {
      const auto found = kernel.counters.find(name);
      return found == kernel.counters.end() ? 0.0 : found->second;
    };
    const auto hits = [&](const std::string& level) {
      const double all = of(level + " hits") + of(level + " misses");
      return all == 0 ? std::string("-") : fmt::format("{:.1f} %", 100 * of(level + " hits") / all);
    };
    text += fmt::format("    {:<17} {:>10.0f} {:>9.0f} {:>8} {:>8} {:>9.0f} {:>9.0f}\n",
                        clipped(kernel.name, 17), kernel.from, kernel.to - kernel.from, hits("L1"),
                        hits("L2"), of("DRAM bytes read"), of("DRAM bytes written"));
  }
  return text;
}

nlohmann::ordered_json levels_json(const std::map<std::string, Statistics::Level>& levels) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const auto& [name, level] : levels) json[name] = {{"hits", level.hits}, {"misses", level.misses}};
  return json;
}

nlohmann::ordered_json profile_json(const Profile& profile) {
  using Json = nlohmann::ordered_json;
  Json json;
  json["stations"] = Json::array();
  for (const Profile::Station& station : profile.stations) {
    Json one{{"name", station.name}};
    for (std::size_t op = 0; op < operation_names.size(); ++op)
      if (station.cycles[op] > 0) one[operation_names[op]] = station.cycles[op];
    json["stations"].push_back(std::move(one));
  }
  json["latencies"] = Json::array();
  for (const Profile::Latencies& l : profile.latencies) {
    json["latencies"].push_back({{"operation", l.operation},
                                 {"most", l.most},
                                 {"p50", l.percentile(0.5)},
                                 {"p90", l.percentile(0.9)},
                                 {"p99", l.percentile(0.99)},
                                 {"buckets", l.buckets}});
  }
  json["waves"] = profile.activities;
  json["units"] = Json::array();
  for (const Profile::Unit& u : profile.units) {
    json["units"].push_back({{"unit", u.kind},
                             {"number", u.number},
                             {"firings", u.firings},
                             {"busy", u.busy},
                             {"waited", u.waited}});
    if (!u.levels.empty()) json["units"].back()["levels"] = levels_json(u.levels);
  }
  json["links"] = Json::array();
  for (const Profile::Link& l : profile.links) {
    json["links"].push_back({{"link", l.name},
                             {"number", l.number},
                             {"messages", l.messages},
                             {"bytes", l.bytes},
                             {"busy", l.busy},
                             {"full", l.full}});
    if (l.to >= 0) json["links"].back()["to"] = l.to;
  }
  const auto stretches = [](const auto& all) {
    Json list = Json::array();
    for (const auto& one : all) {
      Json entry;
      if constexpr (requires { one.name; }) entry["name"] = one.name;
      entry.update({{"from", one.from}, {"to", one.to}, {"counters", one.counters}});
      list.push_back(std::move(entry));
    }
    return list;
  };
  json["kernels"] = stretches(profile.kernels);
  if (!profile.epochs.empty()) json["epochs"] = stretches(profile.epochs);
  return json;
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

std::string csv_quoted(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string result = "\"";
  for (const char c : text) result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + "\"";
}

std::string clipped(const std::string& text, std::size_t width) {
  return text.size() <= width ? text : text.substr(0, width - 1) + "~";
}

std::string profile_text(const Statistics& s) {
  return stations_text(s) + latencies_text(*s.profile) + activities_text(*s.profile) +
         kernels_text(*s.profile) + spreads_text(s);
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
  if (!s.energy.empty()) {
    line("Energy", fmt::format("{:.1f} nJ", s.picojoules() / 1000));
    for (const auto& [name, part] : s.energy)
      line("", fmt::format("{:<12} {:>12.1f} nJ {:>6.1f} %", name, part / 1000, 100 * part / s.picojoules()));
  }
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
  if (s.profile) text += profile_text(s);
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
  if (!s.levels.empty()) json["levels"] = levels_json(s.levels);
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
  for (const auto& [name, part] : s.energy) json["energy"][name] = part;
  if (s.profile) json["profile"] = profile_json(*s.profile);
  return json;
}

}  // namespace lockstep
