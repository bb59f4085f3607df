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
std::string short_word(const ProgressCell& cell) {
  if (!cell.asked) return "-";
  constexpr std::array<std::string_view, 10> words{"yes",     "unsafe",     "deadlock", "trap", "livelock",
                                                   "starves", "progresses", "?",        "?",    "error"};
  return std::string(words.at(static_cast<std::size_t>(cell.run.termination))) +
         (cell.run.unsafe.empty() ? "" : "!");
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
  if (!cell.run.unsafe.empty()) out["unsafe"] = cell.run.unsafe;
  if (cell.run.symmetry) out["symmetry"] = symmetry::json(*cell.run.symmetry);
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
  // Questions share the memory; where they are fewer than threads each has several.
  const unsigned threads = std::max(1U, options.threads);
  const auto together = static_cast<unsigned>(std::clamp<std::size_t>(
      static_cast<std::size_t>(std::count_if(table.cells.begin(), table.cells.end(),
                                             [](const ProgressCell& cell) { return cell.asked; })),
      1, threads));
  liveness.limits.memory /= together;
  liveness.limits.threads = threads / together;
  run_jobs(
      table.cells.size(), together,
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

namespace {

constexpr std::size_t line_width = 79;
constexpr std::size_t widest_name = 26;

// Lines for some of the schedulers, so many as fit side by side.
std::string block_text(const ProgressTable& table, Situation situation, std::size_t first, std::size_t last,
                       std::size_t name_width) {
  const auto width = [&](std::size_t s) {
    return std::max<std::size_t>(8, name_of(table.schedulers[s]).size());
  };
  const auto line = [&](const std::string& name, auto&& word_of) {
    std::string text = name;
    if (name.size() > name_width) text += "\n" + std::string(name_width, ' ');
    if (name.size() < name_width) text += std::string(name_width - name.size(), ' ');
    for (std::size_t s = first; s < last; ++s) text += fmt::format("  {:<{}}", word_of(s), width(s));
    return text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
  };
  std::string text = line("program", [&](std::size_t s) { return name_of(table.schedulers[s]); });
  for (std::size_t p = 0; p < table.programs.size(); ++p) {
    text += line(table.programs[p]->name, [&](std::size_t s) {
      const auto at = std::find(table.situations.begin(), table.situations.end(), situation);
      const auto row = p * table.situations.size() + static_cast<std::size_t>(at - table.situations.begin());
      return short_word(table.cells[row * table.schedulers.size() + s]);
    });
  }
  return text + "\n";
}

}  // namespace

std::string table_text(const ProgressTable& table) {
  std::size_t name_width = 7;
  for (const auto& program : table.programs) name_width = std::max(name_width, program->name.size());
  name_width = std::min(name_width, widest_name);
  std::string text;
  for (const Situation situation : table.situations) {
    text += fmt::format("{}\n", title(situation));
    for (std::size_t first = 0; first < table.schedulers.size();) {
      std::size_t width = name_width;
      std::size_t last = first;
      // Progress models and policies stand apart.
      while (last < table.schedulers.size() &&
             table.schedulers[last].is_policy == table.schedulers[first].is_policy) {
        width += 2 + std::max<std::size_t>(8, name_of(table.schedulers[last]).size());
        if (width > line_width && last > first) break;
        ++last;
      }
      // Nobody takes a CU away from a progress model.
      if (situation != Situation::taken || table.schedulers[first].is_policy)
        text += block_text(table, situation, first, last, name_width);
      first = last;
    }
  }
  const bool unsafe = std::any_of(table.cells.begin(), table.cells.end(),
                                  [](const ProgressCell& cell) { return !cell.run.unsafe.empty(); });
  if (unsafe) text += "!: and a claim or an invariant fails on the way\n";
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

namespace {

bool says_no(Termination termination) {
  constexpr std::array no{Termination::unsafe, Termination::deadlock, Termination::trap,
                          Termination::livelock, Termination::starvation};
  return std::find(no.begin(), no.end(), termination) != no.end();
}

}  // namespace

std::string liveness_text(const LivenessRun& run) {
  std::string text = fmt::format("Progress {} running {}\n", run.subject.description(),
                                 run.subject.program ? run.subject.program->name : "");
  if (run.termination == Termination::error) return text + run.message + "\n";
  text += fmt::format("  States       {}, {} steps between them\n", run.states, run.edges);
  text += fmt::format("  Time         {:.2f} s, {} bytes\n", run.seconds, run.memory);
  if (run.symmetry) text += symmetry::text(*run.symmetry);
  text += fmt::format("  Verdict      {}{}{}\n", word(run.termination), run.message.empty() ? "" : ": ",
                      run.message);
  if (!run.unsafe.empty()) text += fmt::format("  Unsafe       on the way this fails: {}\n", run.unsafe);
  if (run.counterexample) {
    text += trace_text(*run.counterexample);
    text += trace_end_text(*run.counterexample) + "\n";
  } else if (run.symmetry && says_no(run.termination)) {
    text += "no run that shows it was found; without --symmetry there is one\n";
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
  const bool unsafe =
      std::any_of(runs.begin(), runs.end(), [](const LivenessRun* run) { return !run->unsafe.empty(); });
  const bool no =
      std::any_of(runs.begin(), runs.end(), [](const LivenessRun* run) { return says_no(run->termination); });
  if (unsafe || no) return 1;
  return any(Termination::inconclusive) ? 3 : 0;
}

}  // namespace lockstep
