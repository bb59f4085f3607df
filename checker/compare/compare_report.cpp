// What `lockstep compare` prints.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "checker/compare/compare.hpp"
#include "checker/generate/blueprint.hpp"

namespace lockstep::compare {

namespace {

using nlohmann::json;

constexpr std::size_t most_lines = 12;  // of a list of names

std::string tests_text(const CompareReport& report) {
  const OutcomeReport& o = report.outcomes;
  std::string text;
  const auto add = [&](std::size_t count, std::string_view what) {
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, what);
  };
  add(o.shipped, "by name");
  add(o.generated, fmt::format("generated ({})", generate::tests_text(report.generate)));
  return text.empty() ? "none" : text;
}

// "  left out     3: ..."
std::string line(std::string_view what, const std::string& text) {
  return fmt::format("  {:<13}{}\n", what, text);
}

std::string names_of(const std::vector<std::string>& names, std::size_t all) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < most_lines; ++i) text += "    " + names[i] + "\n";
  const std::size_t shown = std::min(names.size(), most_lines);
  if (all > shown) text += fmt::format("    and {} more\n", all - shown);
  return text;
}

// Tests that differ.
std::string names_text(const std::vector<std::string>& names, std::size_t all, std::string_view which) {
  return names.empty() ? "" : fmt::format("  {} that differ\n{}", which, names_of(names, all));
}

std::string outcomes_text(const CompareReport& report) {
  const OutcomeReport& o = report.outcomes;
  if (o.generated + o.shipped == 0) return {};
  std::string text = "\nOutcomes\n" + line("tests", tests_text(report));
  std::string same = fmt::format("{}", o.same);
  if (o.other_executions > 0) same += fmt::format(", {} of them by other executions", o.other_executions);
  text += line("same", same);
  std::string differing = fmt::format("{}", o.differing);
  if (o.undecided < o.differing) {
    const std::size_t racy = o.differing - o.race_free - o.undecided;
    differing += report.systems
                     ? fmt::format(": {} race-free under {}, {} racy", o.race_free, report.model, racy)
                     : fmt::format(": {} defined, {} flagged by both", o.race_free, racy);
    if (o.undecided > 0) differing += fmt::format(", {} not judged", o.undecided);
  }
  text += line("differ", differing);
  for (const std::size_t side : {0U, 1U}) {
    if (o.more[side] > 0)
      text += line("", fmt::format("{} with an outcome of {} alone", o.more[side], report.names[side]));
  }
  text += names_text(o.race_free_names, o.race_free, report.systems ? "race-free" : "defined");
  text += names_text(o.other_names, o.differing - o.race_free, "others");
  if (o.passed_over > 0)
    text += line("passed over", fmt::format("{}: they race, or are not judged", o.passed_over));
  if (o.unknown > 0) text += line("not decided", fmt::format("{}: a limit was reached", o.unknown));
  if (o.left_out > 0) {
    text += line("left out", fmt::format("{}, the first:", o.left_out));
    text += fmt::format("    {}\n", o.why_left_out);
  }
  const std::size_t generated_and_shipped = o.generated + o.shipped;
  const std::size_t run = o.compared + o.passed_over + o.unknown + o.left_out;
  if (run < generated_and_shipped) text += line("not run", fmt::format("{}", generated_and_shipped - run));
  return text;
}

std::string test_text(const LitmusTest& test) {
  if (!test.launches) return generate::print_test(test);
  return fmt::format("{}\n\"{}\"\n", test.file.empty() ? test.name : test.file, test.doc);
}

std::string shown_text(const CompareReport& report, const Difference& difference) {
  const LitmusTest& test = *difference.test;
  std::string text;
  const std::vector<Outcome> common = difference.common();
  if (!common.empty()) text += "Both:\n";
  for (const Outcome& outcome : common) text += "  " + outcome_text(test, outcome) + "\n";
  for (const std::size_t side : {0U, 1U}) {
    const Shown& shown = difference.shown[side];
    const std::vector<Outcome> only = difference.only(side);
    if (!only.empty()) text += fmt::format("Only {}:\n", report.names[side]);
    for (const Outcome& outcome : only) {
      text += "  " + outcome_text(test, outcome);
      const bool allowed = std::binary_search(difference.allowed.begin(), difference.allowed.end(), outcome);
      if (report.systems && difference.race_free == true && !allowed)
        text += fmt::format("  forbidden by {}", report.model);
      text += "\n";
    }
    if (shown.status != RunStatus::complete)
      text += fmt::format("{} ends with: {}\n", report.names[side], word(shown.status));
    if (!shown.flags.empty())
      text += fmt::format("{} leaves it undefined: {}\n", report.names[side], fmt::join(shown.flags, ", "));
  }
  return text;
}

std::string evidence_text(const CompareReport& report, const Evidence& evidence) {
  const std::string& has = report.names[evidence.side];
  const std::string& lacks = report.names[1 - evidence.side];
  std::string text;
  if (!report.systems) {
    for (const std::size_t side : {evidence.side, 1 - evidence.side}) {
      if (evidence.views[side].empty()) continue;
      text += fmt::format("\n{} {} {}:\n{}", report.names[side], side == evidence.side ? "allows" : "forbids",
                          evidence.outcome, evidence.views[side]);
    }
    return text;
  }
  if (!evidence.trace)
    return fmt::format("\nNo execution of {} was found within the limits: {}\n", has, evidence.outcome);
  text += fmt::format("\nOnly {} runs so, to {}\n{}", has, evidence.outcome, trace_text(*evidence.trace));
  if (!report.texts || !report.texts->alike()) return text;
  if (evidence.parting.empty())
    return text + fmt::format("\n{} goes along to the end: what differs is what may follow.\n", lacks);
  return text + fmt::format("\n{} goes along for {} of {} steps. Then\n  {}.\n", lacks, evidence.shared_steps,
                            evidence.trace->steps.size() - 1, evidence.parting);
}

std::string smallest_text(const CompareReport& report) {
  const OutcomeReport& o = report.outcomes;
  if (!o.smallest) return {};
  const Difference& difference = *o.smallest;
  std::string_view which = "";
  if (report.systems)
    which = difference.race_free == true    ? ", race-free"
            : difference.race_free == false ? ", which races"
                                            : "";
  std::string text =
      fmt::format("\nThe smallest that differs{}:\n\n{}\n", which, test_text(*difference.test));
  text += shown_text(report, difference);
  if (o.evidence) text += evidence_text(report, *o.evidence);
  return text;
}

std::string invariants_text(const CompareReport& report) {
  if (!report.invariants) return {};
  const InvariantReport& checked = *report.invariants;
  std::string text = "\nInvariants";
  if (checked.clients > 1) text += fmt::format(", under {} programs", checked.clients);
  text += "\n";
  for (const std::size_t side : {0U, 1U}) {
    std::string counts;
    constexpr std::array<std::pair<CheckStatus, std::string_view>, 4> words{
        {{CheckStatus::holds, "hold"},
         {CheckStatus::violated, "violated"},
         {CheckStatus::inconclusive, "not decided"},
         {CheckStatus::error, "not run"}}};
    for (const auto& [status, what] : words) {
      const auto found = checked.counts[side].find(status);
      if (found == checked.counts[side].end()) continue;
      counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", found->second, what);
      if (checked.clients == 1) counts = status == CheckStatus::holds ? "hold" : what;
    }
    text += fmt::format("  {}: {}\n", report.names[side], counts);
  }
  const RecordedTrace* counterexample = nullptr;
  for (const InvariantDifference& one : checked.differences) {
    text += fmt::format("  {}\n", one.client.empty() ? "they differ" : one.client);
    for (const std::size_t side : {0U, 1U})
      text += fmt::format("    {}\n      {}\n", report.names[side], one.text[side]);
    if (counterexample == nullptr && one.counterexample) counterexample = &*one.counterexample;
  }
  if (counterexample != nullptr) {
    const std::string client = counterexample->subject.client();
    text += fmt::format("\nHow {} comes to that{}:\n{}", counterexample->subject.description(),
                        client.empty() ? "" : " under " + client, trace_text(*counterexample));
  }
  return text;
}

std::string list_text(const std::string& title, const std::vector<std::string>& names) {
  if (names.empty()) return {};
  return fmt::format("  {}\n{}", title, names_of(names, names.size()));
}

std::string texts_text(const CompareReport& report) {
  if (!report.texts) return {};
  const TextReport& t = *report.texts;
  if (!t.alike()) {
    return fmt::format("\nRules: those of different protocols, with {} names in common\n", t.common_rules);
  }
  std::string text;
  text += list_text("that differ (`lockstep explain SYSTEM --rule NAME --trees` has each)", t.changed_rules);
  for (const std::size_t side : {0U, 1U})
    text += list_text("of " + report.names[side] + " alone", t.only_rules[side]);
  for (const std::size_t side : {0U, 1U})
    text += list_text("that only " + report.names[side] + " fires in these tests", t.only_fired[side]);
  std::string all = fmt::format("\nRules: {} in common\n{}", t.common_rules, text);
  text = list_text("that differ", t.changed_invariants);
  for (const std::size_t side : {0U, 1U})
    text += list_text("of " + report.names[side] + " alone", t.only_invariants[side]);
  if (!text.empty()) all += "\nWhat is claimed as invariant\n" + text;
  text.clear();
  for (const std::size_t side : {0U, 1U})
    text += list_text("of " + report.names[side] + " alone", t.only_fields[side]);
  if (!text.empty()) all += "\nFields of the state\n" + text;
  return all;
}

std::string faults_text(const CompareReport& report) {
  if (!report.faults || report.faults->common == 0) return {};
  const FaultsReport& f = *report.faults;
  std::string text = fmt::format("\nFaults: {} in common, {} noticed by tests on both, {} on neither",
                                 f.common, f.noticed, f.unnoticed);
  if (f.undecided > 0) text += fmt::format(", {} not decided", f.undecided);
  text += "\n";
  for (const std::size_t side : {0U, 1U}) {
    std::vector<std::string> names;
    for (const FaultDifference& one : f.differences) {
      if (!one.noticed[side].empty()) names.push_back(fmt::format("{}: {}", one.fault, one.noticed[side]));
    }
    text += list_text(fmt::format("noticed on {} alone", report.names[side]), names);
  }
  for (const std::size_t side : {0U, 1U})
    text += list_text("of " + report.names[side] + " alone", f.only[side]);
  return text;
}

json shown_json(const LitmusTest& test, const Shown& shown, const std::vector<Outcome>& only) {
  const auto texts = [&](const std::vector<Outcome>& outcomes) {
    json all = json::array();
    for (const Outcome& outcome : outcomes) all.push_back(outcome_text(test, outcome));
    return all;
  };
  return {{"status", word(shown.status)},
          {"outcomes", texts(shown.outcomes)},
          {"only", texts(only)},
          {"flags", shown.flags}};
}

json difference_json(const Difference& difference) {
  json one{{"test", difference.test->name},
           {"text", test_text(*difference.test)},
           {"race_free", nullptr},
           {"sides", json::array()}};
  if (difference.race_free) one["race_free"] = *difference.race_free;
  for (const std::size_t side : {0U, 1U})
    one["sides"].push_back(shown_json(*difference.test, difference.shown[side], difference.only(side)));
  return one;
}

json outcomes_json(const CompareReport& report) {
  const OutcomeReport& o = report.outcomes;
  json out{{"shipped", o.shipped},
           {"generated", o.generated},
           {"up_to", report.generate.up_to},
           {"straight", report.generate.straight},
           {"warm", report.generate.warm},
           {"compared", o.compared},
           {"same", o.same},
           {"same_by_other_executions", o.other_executions},
           {"differing", o.differing},
           {"differing_race_free", o.race_free},
           {"differing_not_judged", o.undecided},
           {"racy_passed_over", o.passed_over},
           {"not_decided", o.unknown},
           {"left_out", o.left_out},
           {"more", o.more},
           {"race_free_names", o.race_free_names},
           {"other_names", o.other_names}};
  if (o.smallest) out["smallest"] = difference_json(*o.smallest);
  if (o.smaller) out["smaller"] = difference_json(*o.smaller);
  if (o.evidence) {
    json one{{"side", o.evidence->side}, {"outcome", o.evidence->outcome}};
    if (o.evidence->trace) {
      one["trace"] = trace_json(*o.evidence->trace);
      one["shared_steps"] = o.evidence->shared_steps;
      one["parting"] = o.evidence->parting;
    }
    if (!report.systems) one["views"] = o.evidence->views;
    out["evidence"] = std::move(one);
  }
  return out;
}

json invariants_json(const InvariantReport& checked) {
  json differences = json::array();
  for (const InvariantDifference& one : checked.differences) {
    json difference{{"client", one.client}, {"verdicts", one.text}};
    if (one.counterexample) difference["trace"] = trace_json(*one.counterexample);
    differences.push_back(std::move(difference));
  }
  return {{"clients", checked.clients}, {"differences", std::move(differences)}};
}

}  // namespace

std::string compare_text(const CompareReport& report) {
  std::string text = fmt::format("Compare {}\n   with {}\n", report.names[0], report.names[1]);
  text += outcomes_text(report) + invariants_text(report) + faults_text(report) + texts_text(report) +
          smallest_text(report);
  std::string verdict = report.differ() ? "they differ" : "no difference was found";
  if (report.interrupted) verdict += ", interrupted";
  if (!report.interrupted && !report.differ() && report.open()) verdict += ", and not all was decided";
  return text + fmt::format("\n{} and {}: {}, {:.1f} s\n", report.names[0], report.names[1], verdict,
                            report.seconds);
}

json compare_json(const CompareReport& report) {
  json out{{"schema", "lockstep.compare/1"},    {"sides", report.names},
           {"outcomes", outcomes_json(report)}, {"differ", report.differ()},
           {"interrupted", report.interrupted}, {"seconds", report.seconds}};
  if (report.systems) out["model"] = report.model;
  if (report.invariants) out["invariants"] = invariants_json(*report.invariants);
  if (report.faults) {
    const FaultsReport& f = *report.faults;
    json differences = json::array();
    for (const FaultDifference& one : f.differences)
      differences.push_back({{"fault", one.fault}, {"noticed", one.noticed}});
    out["faults"] = {{"common", f.common},       {"noticed", f.noticed},
                     {"unnoticed", f.unnoticed}, {"not_decided", f.undecided},
                     {"only", f.only},           {"differences", std::move(differences)}};
  }
  if (report.texts) {
    const TextReport& t = *report.texts;
    out["rules"] = {{"common", t.common_rules},
                    {"differ", t.changed_rules},
                    {"only", t.only_rules},
                    {"only_fired", t.only_fired}};
    out["claimed_invariants"] = {{"differ", t.changed_invariants}, {"only", t.only_invariants}};
    out["fields"] = {{"only", t.only_fields}};
  }
  return out;
}

}  // namespace lockstep::compare
