#include "checker/axiomatic/model_progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "checker/axiomatic/combinations.hpp"
#include "checker/needs/slots.hpp"

namespace lockstep {

using namespace combining;

namespace {

// ---- what a scheduler owes

// The work-groups of a program in the order of their ids, and what of each one sees in an execution.
class Groups {
 public:
  explicit Groups(const Program& program) {
    std::map<std::pair<int, int>, std::size_t> ids;
    for (const Thread& thread : program.threads) {
      if (!thread.placement.host) ids[{thread.placement.wg, thread.placement.agent}] = 0;
    }
    std::size_t next = 0;
    for (auto& [place, id] : ids) id = next++;
    for (const Thread& thread : program.threads) {
      of_thread_.push_back(thread.placement.host
                               ? none
                               : static_cast<int>(ids.at({thread.placement.wg, thread.placement.agent})));
    }
    live_.resize(next);
    begun_.resize(next);
  }

  // `waiting`: for ever; else who is left behind at a barrier has ended.
  void look_at(const Paths& paths, bool waiting) {
    std::fill(live_.begin(), live_.end(), false);
    std::fill(begun_.begin(), begun_.end(), false);
    for (std::size_t t = 0; t < paths.size(); ++t) {
      if (of_thread_[t] == none) continue;
      const auto group = static_cast<std::size_t>(of_thread_[t]);
      live_[group] = live_[group] || !has_ended(*paths[t], waiting);
      begun_[group] = begun_[group] || !paths[t]->events.empty();
    }
  }
  static bool has_ended(const ThreadPath& path, bool waiting) {
    return !path.stopped && !path.cut && !(path.left_behind && waiting) && path.goes_round < 0;
  }
  // Whether a thread is owed its execution for ever, once nothing changes any more (progress_models.hpp).
  [[nodiscard]] bool owes(ProgressModel model, std::size_t thread) const {
    if (of_thread_[thread] == none) return true;
    const auto group = static_cast<std::size_t>(of_thread_[thread]);
    const bool lowest = live_[group] && std::find(live_.begin(), live_.end(), true) ==
                                            live_.begin() + static_cast<std::ptrdiff_t>(group);
    switch (model) {
      case ProgressModel::unfair:
        return false;
      case ProgressModel::hsa:
        return lowest;
      case ProgressModel::obe:
        return begun_[group];
      case ProgressModel::hsa_obe:
        return begun_[group] || lowest;
      case ProgressModel::lobe:
        return lowest || std::find(begun_.begin() + static_cast<std::ptrdiff_t>(group), begun_.end(), true) !=
                             begun_.end();
      case ProgressModel::fair:
        return true;
    }
    return true;
  }

 private:
  static constexpr int none = -1;
  std::vector<int> of_thread_;
  std::vector<bool> live_;
  std::vector<bool> begun_;
};

// ---- the search

// What is known so far, and which of the schedulers the execution that is being looked at matters to.
struct Known {
  std::vector<ModelProgress::Verdict>* verdicts;
  std::vector<bool> cut;      // by scheduler
  std::vector<bool> matters;  // by scheduler
  bool unsafe = false;        // an assertion fails
};

bool has_failed(const Paths& paths) {
  return std::any_of(paths.begin(), paths.end(), [](const ThreadPath* path) { return path->failed; });
}

template <class SearchType>
class Onlooker final : public SearchVisitor {
 public:
  Onlooker(const LitmusTest& test, SearchType& search, Limits& limits, Known& known)
      : test_(test), search_(search), limits_(limits), known_(known) {}

  void allowed(const std::vector<const std::int32_t*>&, const std::vector<std::int32_t>&, std::uint64_t,
               bool) override {
    look();
  }
  void hung(std::uint64_t) override { look(); }
  void cut() override {
    if (has_failed(search_.execution().paths)) {
      known_.unsafe = true;
      return;
    }
    for (std::size_t i = 0; i < known_.cut.size(); ++i)
      if (known_.matters[i]) known_.cut[i] = true;
  }
  bool stop() override { return limits_.reached(); }

 private:
  void look() {
    const Paths& paths = search_.execution().paths;
    if (has_failed(paths)) {
      known_.unsafe = true;
      return;
    }
    bool goes_round = false;
    for (std::size_t t = 0; t < paths.size(); ++t) {
      if (paths[t]->goes_round < 0) continue;
      goes_round = true;
      for (int e = paths[t]->goes_round; e < static_cast<int>(paths[t]->events.size()); ++e) {
        if (!reads_newest(search_.execution().first[t] + e)) return;
      }
    }
    for (std::size_t i = 0; i < known_.matters.size(); ++i) {
      if (!known_.matters[i]) continue;
      ModelProgress::Verdict& verdict = (*known_.verdicts)[i];
      verdict.termination = goes_round ? ModelTermination::livelock : ModelTermination::deadlock;
      verdict.run = description();
      known_.matters[i] = false;
    }
  }
  bool reads_newest(int event) {
    const Execution& execution = search_.execution();
    const ProgramEvent& e = execution.events[static_cast<std::size_t>(event)];
    if (e.kind != EventKind::read) return true;
    const int source = search_.sources()[static_cast<std::size_t>(event)];
    const auto& writes = execution.writes[static_cast<std::size_t>(e.location)];
    return std::none_of(writes.begin(), writes.end(), [&](int other) {
      return other != source && search_.evaluator().has(search_.final_coherence(source), other);
    });
  }

  [[nodiscard]] std::string instruction(std::size_t thread, std::size_t at) const {
    const Program& program = test_.program;
    const auto& code = program.threads[thread].code;
    return at < code.size() ? print_instruction(code[at], program, static_cast<int>(thread)) : "its end";
  }
  [[nodiscard]] std::vector<std::string> description() const {
    std::vector<std::string> lines;
    const Execution& execution = search_.execution();
    for (std::size_t t = 0; t < execution.paths.size(); ++t) {
      const ThreadPath& path = *execution.paths[t];
      std::string does = "ends";
      if (path.goes_round >= 0) {
        does = "goes round for ever";
        const char* between = ", where ";
        for (int e = path.goes_round; e < static_cast<int>(path.events.size()); ++e) {
          const ProgramEvent& event = path.events[static_cast<std::size_t>(e)];
          if (event.kind != EventKind::read) continue;
          does += fmt::format("{}`{}` reads {}", between,
                              instruction(t, static_cast<std::size_t>(event.instruction)),
                              search_.values()[static_cast<std::size_t>(execution.first[t] + e)]);
          between = ", ";
        }
      } else if (path.left_behind) {
        does = fmt::format("waits for ever at `{}`",
                           instruction(t, static_cast<std::size_t>(path.events.back().instruction)));
      } else if (path.stopped && path.events.empty()) {
        does = "never begins";
      } else if (path.stopped) {
        does = fmt::format("is not scheduled any more after `{}`",
                           instruction(t, static_cast<std::size_t>(path.events.back().instruction)));
      }
      lines.push_back(fmt::format("{} {}", test_.program.threads[t].name, does));
    }
    return lines;
  }

  const LitmusTest& test_;
  SearchType& search_;
  Limits& limits_;
  Known& known_;
};

// Looks for runs that do not end.
void search_endless(const LitmusTest& test, const AxiomaticModel& model, const JudgeOptions& options,
                    Limits& limits, ModelProgress& found) {
  JudgeOptions endless = options;
  endless.unroll.endless = true;
  endless.unroll.stopped = std::any_of(found.verdicts.begin(), found.verdicts.end(),
                                       [](const auto& one) { return one.scheduler != ProgressModel::fair; });
  const ProgramEvents events = events_of(test, endless);
  Groups groups(test.program);
  Known known{&found.verdicts, std::vector<bool>(found.verdicts.size()), {}};
  // Sets to which schedulers a combination matters: those that have no verdict yet and owe nobody whom it
  // leaves out.
  const auto ask = [&](const Paths& paths, bool waiting) {
    const auto any = [&](const auto& is) { return std::any_of(paths.begin(), paths.end(), is); };
    const bool stopped = any([](const ThreadPath* path) { return path->stopped; });
    const bool rounds = any([](const ThreadPath* path) { return path->goes_round >= 0 || path->cut; });
    known.matters.assign(found.verdicts.size(), false);
    if (has_failed(paths)) return !known.unsafe;
    // Who is left out could still open a barrier, and where nobody goes round no run is endless.
    if (!rounds && (!waiting || stopped)) return false;
    groups.look_at(paths, waiting);
    for (std::size_t i = 0; i < found.verdicts.size(); ++i) {
      const ModelProgress::Verdict& verdict = found.verdicts[i];
      if (verdict.termination == ModelTermination::deadlock ||
          (rounds && verdict.termination == ModelTermination::livelock))
        continue;
      bool owed = false;
      for (std::size_t t = 0; t < paths.size() && !owed; ++t)
        owed = paths[t]->stopped && groups.owes(verdict.scheduler, t);
      known.matters[i] = !owed;
    }
    return std::find(known.matters.begin(), known.matters.end(), true) != known.matters.end();
  };
  const auto wanted = [&](const Paths& paths) {
    const bool waits =
        std::any_of(paths.begin(), paths.end(), [](const ThreadPath* path) { return path->left_behind; });
    return ask(paths, false) || (waits && ask(paths, true));
  };
  ByWords<Search> searches;
  search_all(
      test, model, events, Which<decltype(wanted)>{wanted, true}, searches, [&] { return limits.reached(); },
      [&](const cat::Plan& plan, const Execution& execution, auto& search) {
        if (!ask(execution.paths, execution.hangs)) return true;
        Onlooker onlooker(test, search, limits, known);
        search.run(plan, execution, true, Pruning::early, onlooker);
        return !search.stopped();
      });
  for (std::size_t i = 0; i < found.verdicts.size(); ++i) {
    ModelProgress::Verdict& verdict = found.verdicts[i];
    if (known.unsafe) verdict = {verdict.scheduler, ModelTermination::unsafe, {}};
    const bool open = known.cut[i] || limits.status() != RunStatus::complete;
    if (verdict.termination == ModelTermination::terminates && open)
      verdict.termination = ModelTermination::inconclusive;
  }
}

}  // namespace

std::string_view word(ModelTermination termination) {
  switch (termination) {
    case ModelTermination::terminates:
      return "terminates";
    case ModelTermination::unsafe:
      return "unsafe";
    case ModelTermination::deadlock:
      return "deadlock";
    case ModelTermination::livelock:
      return "livelock";
    case ModelTermination::inconclusive:
      return "inconclusive";
  }
  return "";
}

ModelProgress judge_progress(const LitmusTest& test, const AxiomaticModel& model,
                             std::span<const ProgressModel> schedulers, const JudgeOptions& options) {
  refuse_slots(test.program, "models judge executions of program order");
  if (has_waiting_atomics(test.program)) return judge_progress(with_loops(test), model, schedulers, options);
  ModelProgress found;
  found.program = test.name;
  found.model = model.name();
  for (const ProgressModel scheduler : schedulers) found.verdicts.push_back({scheduler, {}, {}});
  Limits limits(options);
  const ModelRun run = judge(test, model, options);
  found.status = run.status;
  found.message = run.message;
  found.flags = run.raised_flags();
  if (run.status == RunStatus::complete && run.assertion_fails) {
    for (auto& verdict : found.verdicts) verdict.termination = ModelTermination::unsafe;
  } else if (run.status == RunStatus::complete) {
    try {
      search_endless(test, model, options, limits, found);
      found.status = limits.status();
    } catch (...) {
      const RunError error = describe_error(std::current_exception(), test.program);
      found.status = error.status;
      found.message = error.message;
    }
  }
  if (found.status != RunStatus::complete) {
    for (auto& verdict : found.verdicts) {
      if (verdict.termination == ModelTermination::terminates)
        verdict.termination = ModelTermination::inconclusive;
    }
  }
  found.seconds = limits.seconds();
  return found;
}

namespace {

std::string cell(const ModelProgress& one, const ModelProgress::Verdict& verdict) {
  if (one.status == RunStatus::error) return "error";
  std::string text(word(verdict.termination));
  if (verdict.termination == ModelTermination::terminates) text = "yes";
  if (verdict.termination == ModelTermination::inconclusive) text = "open";
  return text + (one.flags.empty() ? "" : "?");
}
std::string_view name_of(ProgressModel model) {
  const auto found = std::find_if(progress_models.begin(), progress_models.end(),
                                  [&](const NamedProgressModel& one) { return one.model == model; });
  return found->name;
}
std::string flags_text(const ModelProgress& one) {
  std::string text;
  for (const std::string& flag : one.flags) text += (text.empty() ? "" : ", ") + flag;
  return text;
}

}  // namespace

std::string progress_text(std::span<const ModelProgress> all) {
  std::string text;
  if (all.size() == 1 && all.front().verdicts.size() == 1 && all.front().status != RunStatus::error) {
    const ModelProgress& one = all.front();
    const ModelProgress::Verdict& verdict = one.verdicts.front();
    text = fmt::format("Program      {}\nModel        {}\nScheduler    {}\nVerdict      {}\n", one.program,
                       one.model, name_of(verdict.scheduler), word(verdict.termination));
    for (const std::string& line : verdict.run) text += "  " + line + "\n";
    if (!one.flags.empty()) text += "? undefined: the model flags " + flags_text(one) + "\n";
    return text;
  }
  constexpr std::size_t column = 10;
  constexpr std::size_t widest_name = 18;
  std::size_t width = 7;
  for (const ModelProgress& one : all) {
    if (one.program.size() <= widest_name) width = std::max(width, one.program.size());
  }
  const auto add_line = [&](std::string line) {
    while (line.ends_with(' ')) line.pop_back();
    text += line + "\n";
  };
  // A block for each model.
  std::vector<std::string> models;
  for (const ModelProgress& one : all) {
    if (std::find(models.begin(), models.end(), one.model) == models.end()) models.push_back(one.model);
  }
  bool undefined = false;
  bool open = false;
  for (const std::string& model : models) {
    bool first = true;
    for (const ModelProgress& one : all) {
      if (one.model != model) continue;
      if (first) {
        text += fmt::format("{}Under {}\n", text.empty() ? "" : "\n", model);
        std::string header = fmt::format("{:<{}}  ", "program", width);
        for (const auto& verdict : one.verdicts)
          header += fmt::format("{:<{}}", name_of(verdict.scheduler), column);
        add_line(std::move(header));
        first = false;
      }
      if (one.program.size() > width) add_line(one.program);
      std::string line = fmt::format("{:<{}}  ", one.program.size() > width ? "" : one.program, width);
      for (const auto& verdict : one.verdicts) {
        line += fmt::format("{:<{}}", cell(one, verdict), column);
        open = open || verdict.termination == ModelTermination::inconclusive;
      }
      add_line(std::move(line));
      undefined = undefined || !one.flags.empty();
    }
  }
  if (open) text += "open: not found to go on for ever, and loops were cut, or a limit was reached\n";
  if (undefined) text += "? undefined: the model raises a flag, such as a race\n";
  return text;
}

nlohmann::json progress_json(std::span<const ModelProgress> all) {
  nlohmann::json document{{"schema", "lockstep.model-progress/1"}, {"programs", nlohmann::json::array()}};
  for (const ModelProgress& one : all) {
    nlohmann::json verdicts = nlohmann::json::object();
    for (const auto& verdict : one.verdicts) {
      verdicts[std::string(name_of(verdict.scheduler))] = {{"verdict", word(verdict.termination)},
                                                           {"run", verdict.run}};
    }
    nlohmann::json entry{{"program", one.program},          {"model", one.model},
                         {"status", word(one.status)},      {"flags", one.flags},
                         {"verdicts", std::move(verdicts)}, {"seconds", one.seconds}};
    if (!one.message.empty()) entry["message"] = one.message;
    document["programs"].push_back(std::move(entry));
  }
  return document;
}

}  // namespace lockstep
