// Litmus results as text: herd's blocks, then what is ours on lines of their own that begin with a keyword,
// so that a script can pick either.
#include "checker/litmus/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace lockstep {

namespace {

std::string_view answer_word(const LitmusTest& test, const SystemRun& run) {
  if (failed(run.status)) return "Failed";
  if (run.status != RunStatus::complete) return "Inconclusive";
  return run.tally.validates(test.quantifier) ? "Ok" : "No";
}

std::string system_line(const SystemRun& run) {
  const ExploreResult& e = run.exploration;
  std::string text = fmt::format("System {} {} states, {} transitions, {:.2f} s", run.subject.description(),
                                 e.states, e.transitions, e.seconds);
  if (run.status != RunStatus::complete) {
    text += fmt::format(", {}{}", inconclusive(run.status) ? "stopped: " : "", word(run.status));
  }
  return text + "\n";
}

// ---- races and conformance --------------------------------------------------------------------------------

// "drf, hrf-direct", or "every model".
std::string models_text(const std::vector<std::string>& models) {
  if (models.size() == race_models.size()) return "every model";
  return fmt::format("{}", fmt::join(models, ", "));
}

std::string answer_text(const RaceVerdict& verdict, const Program& program) {
  switch (verdict.answer) {
    case RaceAnswer::race_free:
      return "none";
    case RaceAnswer::race:
      return print(*verdict.race, program);
    case RaceAnswer::not_judged:
      return "not judged, " + verdict.reason;
    case RaceAnswer::inconclusive:
      return "inconclusive, " + verdict.reason;
  }
  return {};
}

// The answer of one model; both where the readings of synchronization order differ.
std::string answer_text(const RaceReport& races, RaceModel model, const Program& program) {
  const RaceVerdict& any = races.of(model, SyncReading::any_location);
  const RaceVerdict& same = races.of(model, SyncReading::same_location);
  if (any.answer == same.answer) return answer_text(any, program);
  return fmt::format("{} ({}); {} ({})", answer_text(any, program), name(any.reading),
                     answer_text(same, program), name(same.reading));
}

// One line for each answer, with the models that give it, in their order.
std::string race_lines(const TestReport& report) {
  const std::string& test = report.test->name;
  if (report.race_status != RunStatus::complete) {
    return fmt::format("Races {} unknown: {}\n", test, word(report.race_status));
  }
  std::vector<std::pair<std::string, std::vector<std::string>>> answers;
  for (const RaceModel model : race_models) {
    const std::string answer = answer_text(report.races, model, report.test->program);
    auto found =
        std::find_if(answers.begin(), answers.end(), [&](const auto& one) { return one.first == answer; });
    if (found == answers.end()) {
      answers.emplace_back(answer, std::vector<std::string>{});
      found = answers.end() - 1;
    }
    found->second.emplace_back(name(model));
  }
  std::string text;
  for (const auto& [answer, models] : answers) {
    text += fmt::format("Races {} under {}: {}\n", test, models_text(models), answer);
  }
  return text;
}

std::string_view standing_keyword(Standing standing) {
  switch (standing) {
    case Standing::conforms:
      return "Conforms";
    case Standing::violates:
      return "Violates";
    case Standing::unknown:
      return "Unknown";
    case Standing::not_judged:
      return "Unjudged";
  }
  return {};
}

// The models under which one run has a standing, with the reading where the readings differ.
std::vector<std::string> models_with(const TestReport& report, std::size_t run, Standing standing) {
  std::vector<std::string> models;
  for (const Conformance& one : report.conformance) {
    if (one.run != run) continue;
    const bool both = one.of(SyncReading::any_location) == one.of(SyncReading::same_location);
    if (both && one.of(SyncReading::any_location) == standing) models.emplace_back(name(one.model));
    if (both) continue;
    for (const SyncReading reading : sync_readings) {
      if (one.of(reading) == standing)
        models.push_back(fmt::format("{} ({})", name(one.model), name(reading)));
    }
  }
  return models;
}

std::string conformance_lines(const TestReport& report) {
  std::string text;
  for (std::size_t i = 0; i < report.runs.size(); ++i) {
    const SystemRun& run = report.runs[i];
    if (run.status == RunStatus::error || run.system == "sc") continue;
    if (const auto outcome = beyond_sc(run, report.sc)) {
      text += fmt::format("Beyond-SC {} {} {}\n", report.test->name, run.system,
                          outcome_text(*report.test, *outcome));
    }
    for (const Standing standing :
         {Standing::conforms, Standing::violates, Standing::unknown, Standing::not_judged}) {
      const std::vector<std::string> models = models_with(report, i, standing);
      if (models.empty()) continue;
      text += fmt::format("{} {} {}: {}\n", standing_keyword(standing), report.test->name, run.system,
                          models_text(models));
    }
  }
  return text;
}

// ---- findings ---------------------------------------------------------------------------------------------

std::string finding_line(const TestReport& report, const Finding& finding) {
  std::string text = report.test->name;
  if (!finding.system.empty()) text += " on " + finding.system;
  return text + ": " + finding.text;
}

std::string finding_text(const TestReport& report, const Finding& finding) {
  std::string text = "Finding " + finding_line(report, finding) + "\n";
  if (finding.evidence) text += trace_text(*finding.evidence);
  return text;
}

// ---- the table --------------------------------------------------------------------------------------------

constexpr std::size_t least_name_width = 24;
constexpr std::size_t gap = 2;
constexpr std::size_t widest_cell = 12;  // "out of time*"

struct Mark {
  char sign;
  std::string_view meaning;
};
constexpr std::array marks{
    Mark{'!', "violates a model that it is judged by"},
    Mark{'~', "has outcomes that SC does not have, as the models allow it to"},
    Mark{'*', "differs from what the file expects"},
    Mark{'?', "undefined: the model raises a flag, such as a race"},
};

std::string cell_of(const TestReport& report, std::size_t index) {
  const SystemRun& run = report.runs[index];
  if (run.status != RunStatus::complete) return std::string(word(run.status));
  std::string cell(word(run.tally.observation()));
  const auto has = [&](Finding::Kind kind) {
    return std::any_of(report.findings.begin(), report.findings.end(), [&](const Finding& finding) {
      return finding.kind == kind && finding.system == run.system;
    });
  };
  if (has(Finding::Kind::violation)) {
    cell += '!';
  } else if (beyond_sc(run, report.sc)) {
    cell += '~';
  }
  if (has(Finding::Kind::unexpected)) cell += '*';
  return cell;
}

std::string shortened(const std::string& text, std::size_t width) {
  if (text.size() <= width) return text;
  return text.substr(0, width - 2) + "..";
}

std::string plural(std::size_t n, std::string_view noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

std::string without_trailing_spaces(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

}  // namespace

std::string herd_states(const LitmusTest& test, std::span<const Outcome> outcomes, const Tally& tally,
                        std::string_view answer) {
  std::vector<std::string> states;
  for (const Outcome& outcome : outcomes) {
    if (satisfies(test.filter, test, outcome)) states.push_back(outcome_text(test, outcome));
  }
  std::string text =
      fmt::format("Test {} {}\nStates {}\n", test.name, herd_expectation(test.quantifier), states.size());
  for (const std::string& state : states) text += state + "\n";
  text += fmt::format("{}\nWitnesses\nPositive: {} Negative: {}\n", answer, tally.positive, tally.negative);
  text += fmt::format("Condition {} {}\n", word(test.quantifier), test.condition_text);
  return text + fmt::format("Observation {} {} {} {}\n", test.name, herd_word(tally.observation()),
                            tally.positive, tally.negative);
}

std::string herd_block(const LitmusTest& test, const SystemRun& run) {
  return herd_states(test, run.outcomes, run.tally, answer_word(test, run)) + system_line(run) +
         fmt::format("Time {} {:.2f}\n", test.name, run.exploration.seconds);
}

std::string report_text(const TestReport& report) {
  std::string text;
  for (const SystemRun& run : report.runs) {
    if (run.status != RunStatus::error) text += herd_block(*report.test, run) + "\n";
  }
  if (report.test->launches == nullptr) text += race_lines(report) + conformance_lines(report);
  for (const Finding& finding : report.findings) text += finding_text(report, finding);
  return text;
}

std::vector<std::string> finding_lines(const TestReport& report) {
  std::vector<std::string> lines;
  for (const Finding& finding : report.findings) lines.push_back(finding_line(report, finding));
  return lines;
}

SummaryTable::SummaryTable(const std::vector<Subject>& systems) {
  for (const Subject& subject : systems) columns_.push_back(subject.name());
}

void SummaryTable::add(std::string test, std::vector<std::string> cells) {
  rows_.push_back({std::move(test), std::move(cells)});
}

std::vector<std::string> summary_cells(const TestReport& report) {
  std::vector<std::string> cells;
  for (std::size_t i = 0; i < report.runs.size(); ++i) cells.push_back(cell_of(report, i));
  return cells;
}

void SummaryTable::add(const TestReport& report) {
  add(report.test->name, summary_cells(report));
}

// Columns are headed by their names, or by numbers explained above the table where names are too
// long.
std::string SummaryTable::text() const {
  std::size_t name_width = std::string_view("Test").size();
  for (const Row& row : rows_) name_width = std::max(name_width, row.test.size());
  std::size_t longest_name = 0;
  for (const std::string& column : columns_) longest_name = std::max(longest_name, column.size());

  const std::size_t least_name = std::min(name_width, least_name_width);
  const auto columns_of = [&](std::size_t width) { return (page_width - least_name) / (width + gap); };
  const bool named = columns_of(std::max(longest_name, widest_cell)) >= columns_.size();
  const std::size_t cell_width = named ? std::max(longest_name, widest_cell) : widest_cell;
  const std::size_t columns = std::max<std::size_t>(1, columns_of(cell_width));

  std::string text;
  if (!named) {
    for (std::size_t i = 0; i < columns_.size(); ++i) text += fmt::format("({}) {}\n", i + 1, columns_[i]);
  }
  for (std::size_t first = 0; first < columns_.size(); first += columns) {
    const std::size_t last = std::min(columns_.size(), first + columns);
    const std::size_t width = std::min(name_width, page_width - (last - first) * (cell_width + gap));
    std::string header = fmt::format("{:<{}}", "Test", width);
    for (std::size_t i = first; i < last; ++i) {
      header +=
          fmt::format("{:{}}{:<{}}", "", gap, named ? columns_[i] : fmt::format("({})", i + 1), cell_width);
    }
    text += (first > 0 ? "\n" : "") + without_trailing_spaces(std::move(header));
    for (const Row& row : rows_) {
      std::string line = fmt::format("{:<{}}", shortened(row.test, width), width);
      for (std::size_t i = first; i < last; ++i) {
        line += fmt::format("{:{}}{:<{}}", "", gap, shortened(row.cells[i], cell_width), cell_width);
      }
      text += without_trailing_spaces(std::move(line));
    }
  }
  for (const Mark& mark : marks) {
    const bool occurs = std::any_of(rows_.begin(), rows_.end(), [&](const Row& row) {
      return std::any_of(row.cells.begin(), row.cells.end(),
                         [&](const std::string& cell) { return cell.find(mark.sign) != std::string::npos; });
    });
    if (occurs) text += fmt::format("{} {}\n", mark.sign, mark.meaning);
  }
  return text;
}

std::string totals_text(const SuiteTotals& totals, std::size_t systems, std::size_t models) {
  std::string where = systems > 0 || models == 0 ? " on " + plural(systems, "system") : "";
  if (models > 0) where += " under " + plural(models, "model");
  std::string text = fmt::format("{}{}: {} as expected, {} differing, {} inconclusive, {}, {:.1f} s",
                                 plural(totals.tests, "test"), where, totals.as_expected, totals.differing,
                                 totals.inconclusive, plural(totals.errors, "error"), totals.seconds);
  if (totals.checked + totals.unchecked > 0) {
    text += fmt::format("\nreductions: {} held against the same without, {} too large for that",
                        plural(totals.checked, "run"), totals.unchecked);
  }
  if (totals.interrupted) text += fmt::format("\ninterrupted: {} not begun", plural(totals.skipped, "test"));
  return text + "\n";
}

std::string coverage_text(const RuleCoverage& coverage, bool by_name) {
  std::string text = by_name ? "" : "Rules that no test fired:";
  for (const std::string& system : coverage.systems()) {
    const std::vector<RuleDescription> silent = coverage.never_fired(system);
    if (by_name) {
      text += fmt::format("{} of {} that no test fired\n", plural(silent.size(), "rule"), system) +
              rules_text(silent);
    } else {
      text += fmt::format("{} {} of {}", text.ends_with(':') ? "" : ",", silent.size(), system);
    }
  }
  return by_name ? text : text + "\n";
}

std::string fault_table(const std::vector<FaultReport>& reports, std::string_view system,
                        const SuiteTotals& totals) {
  std::size_t width = std::string_view("Fault").size();
  for (const FaultReport& report : reports) width = std::max(width, report.fault.size());
  std::string text = fmt::format("Faults of {}, and the tests that kill them\n", system);
  text += fmt::format("{:<{}}  {:>5}  {:>7}  {}\n", "Fault", width, "kills", "time", "by");
  for (const FaultReport& report : reports) {
    const std::string kills = fmt::format("{}{}", report.killers.size(), report.enough ? "+" : "");
    std::string line = fmt::format("{:<{}}  {:>5}  {:>5.1f} s  ", report.fault, width, kills, report.seconds);
    if (report.alive()) {
      line += fmt::format("ALIVE after {} tests", report.tests);
      if (report.inconclusive > 0) line += fmt::format(", {} inconclusive", report.inconclusive);
      if (!report.errors.empty()) line += fmt::format(", {} errors", report.errors.size());
    } else {
      // Killers fill the line; the rest go below it.
      const std::size_t indent = line.size();
      std::size_t used = indent;
      for (std::size_t i = 0; i < report.killers.size(); ++i) {
        const std::string item = report.killers[i] + (i + 1 < report.killers.size() ? "," : "");
        if (used > indent && used + 1 + item.size() > page_width) {
          line += fmt::format("\n{:{}}", "", indent);
          used = indent;
        } else if (used > indent) {
          line += ' ';
          ++used;
        }
        line += item;
        used += item.size();
      }
    }
    text += line + "\n";
  }
  text += fmt::format("{}: {} killed, {} alive, {} inconclusive, {}, {:.1f} s\n",
                      plural(totals.tests, "fault"), totals.as_expected, totals.differing,
                      totals.inconclusive, plural(totals.errors, "error"), totals.seconds);
  if (totals.interrupted) text += fmt::format("interrupted: {} not begun\n", plural(totals.skipped, "fault"));
  return text;
}

namespace {

// By tests and by proofs.
struct MutantCounts {
  std::size_t mutants = 0;
  std::size_t killed = 0;
  std::size_t refuted = 0;
  std::size_t both = 0;
  std::size_t equivalent = 0;
  std::size_t alive = 0;

  void add(const FaultReport& mutant) {
    const bool by_tests = !mutant.killers.empty();
    ++mutants;
    killed += by_tests ? 1 : 0;
    refuted += mutant.refuted() ? 1 : 0;
    both += by_tests && mutant.refuted() ? 1 : 0;
    equivalent += mutant.equivalent() ? 1 : 0;
    alive += mutant.alive() ? 1 : 0;
  }
  MutantCounts& operator+=(const MutantCounts& more) {
    mutants += more.mutants;
    killed += more.killed;
    refuted += more.refuted;
    both += more.both;
    equivalent += more.equivalent;
    alive += more.alive;
    return *this;
  }
};

}  // namespace

std::string mutant_table(const std::vector<FaultReport>& reports, std::string_view system,
                         const SuiteTotals& totals, bool killed) {
  struct OfRule {
    std::string rule;
    std::vector<const FaultReport*> mutants;
  };
  std::vector<OfRule> rules;
  std::size_t width = std::string_view("Rule").size();
  for (const FaultReport& report : reports) {
    if (rules.empty() || rules.back().rule != report.rule) rules.push_back({report.rule, {}});
    rules.back().mutants.push_back(&report);
    width = std::max(width, report.rule.size());
  }
  const bool proofs = std::any_of(reports.begin(), reports.end(), [](const auto& r) { return r.proof; });
  const auto row = [&](std::string_view rule, const auto& mutants, const auto& killed_by_tests,
                       const auto& refuted, const auto& equivalent, const auto& alive) {
    const std::string of_proofs = proofs ? fmt::format("  {:>7}  {:>5}", refuted, equivalent) : "";
    return fmt::format("{:<{}}  {:>7}  {:>6}{}  {:>5}\n", rule, width, mutants, killed_by_tests, of_proofs,
                       alive);
  };
  std::string text =
      fmt::format("Mutants of {}\n", system) + row("Rule", "mutants", "killed", "refuted", "equal", "alive");
  // All of it is in the JSON.
  const auto shortened = [](const std::string& mutant) {
    constexpr std::size_t longest = 3 * page_width;
    return mutant.size() <= longest ? mutant : mutant.substr(0, longest) + "...";
  };
  std::string alive;
  std::string dead;
  std::string missed;
  MutantCounts all;
  for (const OfRule& of : rules) {
    MutantCounts counts;
    for (const FaultReport* mutant : of.mutants) {
      counts.add(*mutant);
      if (mutant->unsafe && mutant->proof && !mutant->refuted())
        missed += fmt::format("{}\n  by {}\n", shortened(mutant->fault), fmt::join(mutant->killers, ", "));
      if (!mutant->alive()) {
        std::vector<std::string> by = mutant->killers;
        if (mutant->refuted()) by.push_back(fmt::format("the proof of \"{}\"", mutant->proof->refuted));
        dead += fmt::format("{}\n  {}\n", shortened(mutant->fault),
                            mutant->equivalent() ? std::string("does what the rule does")
                                                 : fmt::format("by {}", fmt::join(by, ", ")));
        continue;
      }
      std::string why;
      if (!mutant->errors.empty()) {
        why = mutant->errors.front();
      } else if (mutant->proof && !mutant->proof->error.empty()) {
        why = mutant->proof->error;
      } else if (mutant->inconclusive > 0) {
        why = fmt::format("{} inconclusive", mutant->inconclusive);
      } else if (mutant->proof && mutant->proof->unknown) {
        why = "a proof is unknown";
      } else if (mutant->tests > 0 && !mutant->fired) {
        why = "the rule never fired";
      }
      alive += shortened(mutant->fault) + (why.empty() ? "" : fmt::format("\n  ({})", why)) + "\n";
    }
    text += row(of.rule, counts.mutants, counts.killed, counts.refuted, counts.equivalent, counts.alive);
    all += counts;
  }
  if (killed && !dead.empty()) text += "\nKilled\n" + dead;
  if (!missed.empty()) text += "\nKilled, and not refuted, although not for want of a step\n" + missed;
  if (!alive.empty()) text += "\nAlive\n" + alive;
  text += fmt::format("\n{}: {} killed, ", plural(totals.tests, "mutant"), all.killed);
  if (proofs)
    text += fmt::format("{} refuted ({} of those killed), {} equivalent, ", all.refuted, all.both,
                        all.equivalent);
  text += fmt::format("{} alive, {} inconclusive, {}, {:.1f} s\n", totals.differing, totals.inconclusive,
                      plural(totals.errors, "error"), totals.seconds);
  if (totals.interrupted)
    text += fmt::format("interrupted: {} not begun\n", plural(totals.skipped, "mutant"));
  return text;
}

}  // namespace lockstep
