// What `lockstep conform` prints.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "checker/generate/conform.hpp"

namespace lockstep::generate {

namespace {

using nlohmann::json;

std::string grouped(std::size_t n) {
  std::string digits = std::to_string(n);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<std::size_t>(at), " ");
  return digits;
}

std::string size_text(const std::pair<int, int>& size) {
  if (size.first == 0) return "straight 2x2";
  return size.second == 0 ? fmt::format("{} edges", size.first)
                          : fmt::format("{} edges + {}", size.first, size.second);
}

// One line for each size: what was generated, and what became of it.
std::string size_table(const ConformReport& report) {
  std::string text =
      fmt::format("{:<14}{:>13}{:>13}{:>11}{:>16}\n", "", "generated", "racy", "race-free", "states");
  const auto line = [&](const std::string& what, const SizeCounts& counts, const Tallies& tallies) {
    text += fmt::format("{:<14}{:>13}{:>13}{:>11}{:>16}\n", what, grouped(counts.generated),
                        grouped(counts.racy + tallies.racy), grouped(tallies.race_free),
                        grouped(tallies.system_states));
  };
  for (const auto& [size, counts] : report.counts) {
    const auto tallies = report.tallies.find(size);
    line(size_text(size), counts, tallies == report.tallies.end() ? Tallies{} : tallies->second);
  }
  line("all", report.all_counts(), report.all_tallies());
  return text;
}

std::size_t count_of(const Tallies& tallies, Notable::Kind kind) {
  return tallies.notable[static_cast<std::size_t>(kind)];
}

// "Violations 12, the shortest W-po-...: P1:r0=1;"
std::string notable_line(const ConformReport& report, Notable::Kind kind, std::string_view title,
                         std::string_view none) {
  const std::size_t count = count_of(report.all_tallies(), kind);
  if (count == 0) return none.empty() ? std::string() : fmt::format("{:<14}{}\n", title, none);
  const auto first = std::find_if(report.notable.begin(), report.notable.end(),
                                  [&](const Notable& one) { return one.kind == kind; });
  return fmt::format("{:<14}{}, the shortest on {}:\n{:<14}{}\n", title, grouped(count),
                     report.names[static_cast<std::size_t>(first - report.notable.begin())], "", first->text);
}

json counts_json(const SizeCounts& counts, const Tallies& tallies) {
  json notable = json::object();
  for (const Notable::Kind kind : notable_kinds) notable[std::string(word(kind))] = count_of(tallies, kind);
  return {{"generated", counts.generated},
          {"duplicates_dropped", counts.duplicates},
          {"racy", counts.racy + tallies.racy},
          {"racy_at_a_glance", counts.racy},
          {"race_free", tallies.race_free},
          {"not_judged", tallies.not_judged},
          {"run", tallies.tests},
          {"all_outcomes_of_sc", tallies.same_outcomes},
          {"race_states", tallies.race_states},
          {"sc_states", tallies.sc_states},
          {"system_states", tallies.system_states},
          {"system_transitions", tallies.system_transitions},
          {"notable", std::move(notable)},
          {"thread_seconds", tallies.seconds}};
}

}  // namespace

std::string conform_text(const ConformReport& report) {
  const Tallies all = report.all_tallies();
  const SizeCounts counts = report.all_counts();
  std::string text;
  if (report.culprit) {
    text += fmt::format("The shortest test that convicts {}:\n\n{}\n", report.system,
                        print_test(*report.culprit));
    if (report.evidence) text += trace_text(*report.evidence) + "\n";
  }
  text += fmt::format("Conformance of {} to {}: {}\n\n", report.system, report.model,
                      tests_text(report.generate));
  text += size_table(report) + "\n";
  text += fmt::format("{:<14}{}\n", "Duplicates", grouped(counts.duplicates) + " dropped, up to renaming");
  text += fmt::format("{:<14}{} races, {} sc, {} {}\n", "States", grouped(all.race_states),
                      grouped(all.sc_states), grouped(all.system_states), report.system);
  if (all.not_judged > 0) text += fmt::format("{:<14}{}\n", "Not judged", grouped(all.not_judged));
  text += fmt::format("{:<14}{} of the race-free tests\n", "All of SC", grouped(all.same_outcomes));
  text += notable_line(report, Notable::Kind::one_reading, "so_S differs", "");
  if (count_of(all, Notable::Kind::one_reading) == 0)
    text += fmt::format("{:<14}the two readings of so_S agree on every test that was run\n", "so_S");
  text += notable_line(report, Notable::Kind::violation, "Violations", "none");
  text += notable_line(report, Notable::Kind::failure, "Failures", "");
  text += notable_line(report, Notable::Kind::inconclusive, "Inconclusive", "");
  text += notable_line(report, Notable::Kind::error, "Errors", "");
  text += "\n";
  if (!report.complete()) {
    text += fmt::format("{}: {} of {} tests were run\n", report.interrupted ? "interrupted" : "incomplete",
                        grouped(all.tests), grouped(report.candidates));
  }
  const bool bad = count_of(all, Notable::Kind::violation) + count_of(all, Notable::Kind::failure) > 0;
  const bool open = count_of(all, Notable::Kind::inconclusive) + count_of(all, Notable::Kind::error) > 0;
  std::string verdict = bad                          ? "does not conform"
                        : !report.complete() || open ? "is not convicted so far"
                                                     : "conforms on every test";
  text += fmt::format("{} {}, {:.1f} s", report.system, verdict, report.seconds);
  if (report.resumed > 0) text += fmt::format(", {} tests from the journal", grouped(report.resumed));
  return text + "\n";
}

json conform_json(const ConformReport& report) {
  json sizes = json::array();
  for (const auto& [size, counts] : report.counts) {
    const auto tallies = report.tallies.find(size);
    json one = counts_json(counts, tallies == report.tallies.end() ? Tallies{} : tallies->second);
    one["edges"] = size.first;
    one["extras"] = size.second;
    sizes.push_back(std::move(one));
  }
  json notable = json::array();
  for (std::size_t i = 0; i < report.notable.size(); ++i) {
    notable.push_back({{"kind", word(report.notable[i].kind)},
                       {"test", report.names[i]},
                       {"index", report.notable[i].test},
                       {"text", report.notable[i].text}});
  }
  json out{{"schema", "lockstep.conform/1"},
           {"system", report.system},
           {"model", report.model},
           {"up_to", report.generate.up_to},
           {"straight", report.generate.straight},
           {"warm", report.generate.warm},
           {"sizes", std::move(sizes)},
           {"all", counts_json(report.all_counts(), report.all_tallies())},
           {"candidates", report.candidates},
           {"notable", std::move(notable)},
           {"resumed", report.resumed},
           {"complete", report.complete()},
           {"interrupted", report.interrupted},
           {"seconds", report.seconds}};
  if (report.culprit) out["shortest"] = print_test(*report.culprit);
  if (report.evidence) out["trace"] = trace_json(*report.evidence);
  return out;
}

std::string fault_kills_text(const FaultKills& kills) {
  std::size_t width = std::string_view("Fault").size();
  for (const FaultKill& one : kills.faults) width = std::max(width, one.fault.size());
  std::string text =
      fmt::format("Faults of {}, and the shortest generated test that kills each\n", kills.system);
  std::size_t dead = 0;
  for (const FaultKill& one : kills.faults) {
    text += fmt::format("{:<{}}  ", one.fault, width);
    if (one.killer) {
      ++dead;
      const std::string shape = one.shape.empty() ? "" : one.shape + ", ";
      text += fmt::format("{}\n{:<{}}  {}{}, test {}\n", one.killer->name, "", width, shape, one.cause,
                          grouped(one.tests));
    } else {
      text += fmt::format("ALIVE after {} tests", grouped(one.tests));
      if (one.inconclusive > 0) text += fmt::format(", {} inconclusive", grouped(one.inconclusive));
      text += "\n";
    }
  }
  text += fmt::format("{} faults: {} killed, {} alive, {} race-free candidates under {}, {:.1f} s\n",
                      kills.faults.size(), dead, kills.faults.size() - dead, grouped(kills.candidates),
                      kills.model, kills.seconds);
  if (kills.interrupted) text += "interrupted\n";
  return text;
}

json fault_kills_json(const FaultKills& kills) {
  json faults = json::array();
  for (const FaultKill& one : kills.faults) {
    json fault{{"shape", one.shape},     {"fault", one.fault},
               {"what", one.what},       {"alive", !one.test.has_value()},
               {"tests", one.tests},     {"inconclusive", one.inconclusive},
               {"seconds", one.seconds}, {"cause", one.cause}};
    if (one.killer) {
      fault["test"] = one.killer->name;
      fault["text"] = print_test(*one.killer);
    }
    faults.push_back(std::move(fault));
  }
  return {{"schema", "lockstep.conform-faults/1"},
          {"system", kills.system},
          {"model", kills.model},
          {"candidates", kills.candidates},
          {"faults", std::move(faults)},
          {"interrupted", kills.interrupted},
          {"seconds", kills.seconds}};
}

}  // namespace lockstep::generate
