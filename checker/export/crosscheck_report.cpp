// The comparison as text and JSON.
#include <fmt/format.h>

#include <algorithm>

#include "checker/export/crosscheck.hpp"

namespace lockstep {

namespace {

// What a claim's count means for the verdict: of a litmus test's question both answers are fine.
bool fails(const Claim& claim, std::uint64_t states) {
  return states != 0 && (claim.kind == Claim::Kind::property || claim.kind == Claim::Kind::deadlock);
}

std::string verdict(const CrosscheckRun& run, const Count& count) {
  if (count.status != CountStatus::complete) return std::string(word(count.status));
  if (run.purpose == Purpose::verdict) return count.failed ? "violated" : "holds";
  bool property = false;
  bool deadlock = false;
  for (std::size_t i = 0; i < run.claims.size() && i < count.claims.size(); ++i) {
    if (!fails(run.claims[i], count.claims[i])) continue;
    (run.claims[i].kind == Claim::Kind::deadlock ? deadlock : property) = true;
  }
  return property ? "violated" : deadlock ? "deadlock" : "holds";
}

std::string row(const CrosscheckRun& run, std::string_view checker, const Count& count) {
  const bool complete = count.status == CountStatus::complete;
  const bool counted = complete && run.purpose == Purpose::count;
  const auto number = [&](std::uint64_t n) { return counted ? std::to_string(n) : std::string("-"); };
  std::string text = fmt::format("  {:<9} {:>10} {:>11}  {:<13}", checker, number(count.states),
                                 number(count.firings), verdict(run, count));
  if (complete) text += fmt::format(" {:>7.2f} s", count.seconds);
  if (complete && count.preparation > 0) text += fmt::format(" {:>9.2f} s", count.preparation);
  return text + "\n";
}

// The states of a claim, once where all say the same.
std::string claim_text(const CrosscheckRun& run, std::size_t claim) {
  const auto of = [&](const Count& count) {
    return claim < count.claims.size() && count.status == CountStatus::complete ? count.claims[claim]
                                                                                : std::uint64_t{0};
  };
  bool any = of(run.ours) != 0;
  bool same = true;
  for (const auto& [checker, count] : run.others) {
    if (count.status != CountStatus::complete) continue;
    any |= of(count) != 0;
    same &= of(count) == of(run.ours);
  }
  if (!any) return {};
  std::string counts = std::to_string(of(run.ours));
  if (!same) {
    for (const auto& [checker, count] : run.others)
      counts += fmt::format(", {} {}", word(checker), of(count));
  }
  return fmt::format("  {} state{}: {}\n", counts, counts == "1" ? "" : "s", run.claims[claim].name);
}

nlohmann::json count_json(std::string_view checker, const Count& count, Purpose purpose) {
  nlohmann::json json{{"checker", checker}, {"status", word(count.status)}};
  if (!count.message.empty()) json["message"] = count.message;
  if (count.status != CountStatus::complete) return json;
  json["seconds"] = count.seconds;
  json["preparation_seconds"] = count.preparation;
  if (purpose == Purpose::verdict) {
    json["failed"] = count.failed;
    return json;
  }
  json["states"] = count.states;
  json["firings"] = count.firings;
  json["claims"] = count.claims;
  if (!count.note.empty()) json["note"] = count.note;
  return json;
}

}  // namespace

std::string crosscheck_title(const CrosscheckRun& run) {
  std::string title = run.subject.description();
  if (const std::string client = run.subject.client(); !client.empty()) title += " running " + client;
  return title;
}

std::string crosscheck_text(const CrosscheckRun& run) {
  std::string text = fmt::format("Crosscheck {}\n", crosscheck_title(run));
  if (run.agreement == Agreement::left_out) {
    return text + fmt::format("  left out: {} states and more\n", run.ours.states);
  }
  text += fmt::format("  {:<9} {:>10} {:>11}  {:<13} {:>9} {:>11}\n", "checker", "states", "firings",
                      "verdict", "search", "preparation");
  text += row(run, "lockstep", run.ours);
  for (const auto& [checker, count] : run.others) text += row(run, word(checker), count);
  if (run.purpose == Purpose::verdict) {
    text += fmt::format("  more than {} states, some of which fail: each stopped at its first\n",
                        run.ours.states);
  } else {
    for (std::size_t i = 0; i < run.claims.size(); ++i) text += claim_text(run, i);
  }
  if (!run.ours.message.empty()) text += fmt::format("  {}\n", run.ours.message);
  for (const auto& [checker, count] : run.others) {
    for (const std::string& line : {count.message, count.note}) {
      if (!line.empty()) text += fmt::format("  {}\n", line);
    }
  }
  return text + fmt::format("  {}\n", run.agreement == Agreement::agree ? "All agree."
                                      : run.agreement == Agreement::differ
                                          ? "They DIFFER."
                                          : fmt::format("No verdict: {}.", word(run.agreement)));
}

std::string crosscheck_summary_text(std::span<const CrosscheckRun> runs, std::size_t planned) {
  std::string parts;
  for (const Agreement agreement : {Agreement::agree, Agreement::differ, Agreement::inconclusive,
                                    Agreement::error, Agreement::left_out, Agreement::interrupted}) {
    const auto n = std::count_if(runs.begin(), runs.end(),
                                 [&](const CrosscheckRun& run) { return run.agreement == agreement; });
    if (n != 0) parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", n, word(agreement));
  }
  return fmt::format("{} of {} comparisons: {}\n", runs.size(), planned, parts.empty() ? "none" : parts);
}

nlohmann::json crosscheck_json(std::span<const CrosscheckRun> runs, const std::vector<std::string>& errors) {
  nlohmann::json json{
      {"schema", "lockstep.crosscheck/1"}, {"runs", nlohmann::json::array()}, {"errors", errors}};
  for (const CrosscheckRun& run : runs) {
    nlohmann::json one{
        {"system", run.subject.name()},
        {"faults", run.subject.options.faults},
        {"sizes", run.subject.options.sizes},
        {"program", run.subject.client().empty() ? nlohmann::json() : nlohmann::json(run.subject.client())},
        {"agreement", word(run.agreement)}};
    one["claims"] = nlohmann::json::array();
    for (const Claim& claim : run.claims) one["claims"].push_back(claim.name);
    one["counts"] = {count_json("lockstep", run.ours, run.purpose)};
    for (const auto& [checker, count] : run.others)
      one["counts"].push_back(count_json(word(checker), count, run.purpose));
    json["runs"].push_back(std::move(one));
  }
  return json;
}

}  // namespace lockstep
