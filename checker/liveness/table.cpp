#include "checker/liveness/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>
#include <utility>

#include "checker/support/diagnostic.hpp"
#include "checker/support/jobs.hpp"

namespace lockstep {

namespace {

constexpr std::array<std::string_view, 3> situation_words{"resident", "oversubscribed", "taken"};

std::string_view title(Situation situation) {
  constexpr std::array<std::string_view, 3> titles{
      "A slot for every work-group", "A slot fewer than work-groups",
      "A slot for every work-group, one taken away at some moment"};
  return titles.at(static_cast<std::size_t>(situation));
}

// What fits a column.
std::string_view short_word(const ProgressCell& cell) {
  if (!cell.asked) return "-";
  constexpr std::array<std::string_view, 10> words{"yes",     "unsafe",     "deadlock", "trap", "livelock",
                                                   "starves", "progresses", "?",        "?",    "error"};
  return words.at(static_cast<std::size_t>(cell.run.termination));
}

nlohmann::json cell_json(const ProgressTable& table, const ProgressCell& cell) {
  nlohmann::json out{{"program", table.programs[cell.program]->name},
                     {"scheduler", cell.scheduler},
                     {"situation", word(cell.situation)}};
  if (!cell.asked) {
    out["verdict"] = nullptr;
    return out;
  }
  out["verdict"] = word(cell.run.termination);
  if (!cell.run.message.empty()) out["message"] = cell.run.message;
  out["states"] = cell.run.states;
  out["edges"] = cell.run.edges;
  out["seconds"] = cell.run.seconds;
  if (cell.run.counterexample) out["trace"] = trace_json(*cell.run.counterexample);
  return out;
}

}  // namespace

std::string_view word(Situation situation) {
  return situation_words.at(static_cast<std::size_t>(situation));
}

Situation situation_named(std::string_view name) {
  for (const Situation situation : situations) {
    if (word(situation) == name) return situation;
  }
  const std::vector<std::string> names(situation_words.begin(), situation_words.end());
  throw BadInput(fmt::format("unknown situation '{}'", name), suggestion(name, names));
}

int work_groups_of(const Program& program) {
  std::set<std::pair<int, int>> groups;
  for (const Thread& thread : program.threads) {
    if (!thread.placement.host) groups.emplace(thread.placement.agent, thread.placement.wg);
  }
  return static_cast<int>(groups.size());
}

std::optional<SchedulerSetup> in_situation(const SchedulerSetup& setup, Situation situation,
                                           int work_groups) {
  SchedulerSetup now = setup;
  switch (situation) {
    case Situation::resident:
      return now;
    case Situation::oversubscribed:
      if (work_groups < 2) return std::nullopt;
      now.slots = work_groups - 1;
      return now;
    case Situation::taken:
      if (work_groups < 2 || !setup.is_policy) return std::nullopt;
      now.taken = 1;
      return now;
  }
  return std::nullopt;
}

ProgressTable fill(std::vector<std::shared_ptr<const Program>> programs,
                   std::vector<SchedulerSetup> schedulers, std::vector<Situation> asked,
                   const TableOptions& options) {
  ProgressTable table{std::move(programs), std::move(schedulers), std::move(asked), {}, false, 0};
  std::vector<Subject> subjects;
  for (std::size_t p = 0; p < table.programs.size(); ++p) {
    for (const Situation situation : table.situations) {
      for (const SchedulerSetup& scheduler : table.schedulers) {
        ProgressCell& cell = table.cells.emplace_back();
        cell.program = p;
        cell.scheduler = description_of(scheduler);
        cell.situation = situation;
        Subject& subject = subjects.emplace_back(options.system);
        subject.program = table.programs[p];
        subject.options.scheduler = in_situation(scheduler, situation, work_groups_of(*table.programs[p]));
        cell.asked = subject.options.scheduler.has_value();
      }
    }
  }
  const auto start = std::chrono::steady_clock::now();
  const auto is_interrupted = [&] {
    return options.liveness.limits.interrupted != nullptr && options.liveness.limits.interrupted->load();
  };
  std::atomic<std::size_t> done = 0;
  LivenessOptions liveness = options.liveness;
  if (liveness.limits.memory != 0) liveness.limits.memory /= std::max(1U, options.threads);
  run_jobs(
      table.cells.size(), options.threads,
      [&](std::size_t i) {
        ProgressCell& cell = table.cells[i];
        if (cell.asked && !is_interrupted()) {
          cell.run = judge_termination(subjects[i], liveness);
        } else if (cell.asked) {
          cell.run.termination = Termination::interrupted;
        }
        ++done;
      },
      [&] {
        if (options.on_progress) options.on_progress(done, table.cells.size());
      });
  table.interrupted = is_interrupted();
  table.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return table;
}

std::string table_text(const ProgressTable& table) {
  std::size_t name_width = 7;
  for (const auto& program : table.programs) name_width = std::max(name_width, program->name.size());
  std::string text;
  for (const Situation situation : table.situations) {
    text += fmt::format("{}\n{:<{}}", title(situation), "program", name_width);
    std::vector<std::size_t> widths;
    for (const SchedulerSetup& scheduler : table.schedulers) {
      widths.push_back(std::max<std::size_t>(10, name_of(scheduler).size()));
      text += fmt::format("  {:<{}}", name_of(scheduler), widths.back());
    }
    while (text.back() == ' ') text.pop_back();
    text += '\n';
    for (std::size_t p = 0; p < table.programs.size(); ++p) {
      text += fmt::format("{:<{}}", table.programs[p]->name, name_width);
      std::size_t column = 0;
      for (const ProgressCell& cell : table.cells) {
        if (cell.program != p || cell.situation != situation) continue;
        text += fmt::format("  {:<{}}", short_word(cell), widths[column++]);
      }
      while (text.back() == ' ') text.pop_back();
      text += '\n';
    }
    text += '\n';
  }
  std::size_t states = 0;
  std::size_t questions = 0;
  for (const ProgressCell& cell : table.cells) {
    states += cell.run.states;
    questions += cell.asked ? 1 : 0;
  }
  text += fmt::format("{} questions, {} states, {:.1f} s{}\n", questions, states, table.seconds,
                      table.interrupted ? ", interrupted" : "");
  return text;
}

std::string liveness_text(const LivenessRun& run) {
  std::string text = fmt::format("Progress {} running {}\n", run.subject.description(),
                                 run.subject.program ? run.subject.program->name : "");
  if (run.termination == Termination::error) return text + run.message + "\n";
  text += fmt::format("  States       {}, {} steps between them\n", run.states, run.edges);
  text += fmt::format("  Time         {:.2f} s, {} bytes\n", run.seconds, run.memory);
  text += fmt::format("  Verdict      {}{}{}\n", word(run.termination), run.message.empty() ? "" : ": ",
                      run.message);
  if (run.counterexample) {
    text += trace_text(*run.counterexample);
    text += trace_end_text(*run.counterexample) + "\n";
  }
  return text;
}

nlohmann::json table_json(const ProgressTable& table) {
  nlohmann::json out{{"schema", "lockstep.progress/1"},
                     {"interrupted", table.interrupted},
                     {"seconds", table.seconds},
                     {"cells", nlohmann::json::array()}};
  for (const ProgressCell& cell : table.cells) out["cells"].push_back(cell_json(table, cell));
  return out;
}

int exit_status(std::span<const LivenessRun* const> runs, bool interrupted) {
  const auto any = [&](auto... terminations) {
    return std::any_of(runs.begin(), runs.end(),
                       [&](const LivenessRun* run) { return ((run->termination == terminations) || ...); });
  };
  if (interrupted || any(Termination::interrupted)) return 130;
  if (any(Termination::error)) return 2;
  if (any(Termination::unsafe, Termination::deadlock, Termination::trap, Termination::livelock,
          Termination::starvation)) {
    return 1;
  }
  return any(Termination::inconclusive) ? 3 : 0;
}

}  // namespace lockstep
