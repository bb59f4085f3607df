#include "checker/liveness/model_progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "checker/axiomatic/combinations.hpp"
#include "checker/liveness/shared_graph.hpp"
#include "checker/needs/placement.hpp"
#include "checker/needs/slots.hpp"
#include "checker/scheduling/setup.hpp"
#include "checker/support/diagnostic.hpp"
#include "checker/systems/scheduled_system.hpp"

namespace lockstep {

using namespace combining;

namespace {

// ---- what a scheduler owes

// The work-groups of a program by their ids, and who of them has begun and ended in an execution.
class Groups {
 public:
  explicit Groups(const Program& program) {
    const PlacementTable placement = place(program);
    if (placement.cus > most_scheduled) {
      throw BadInput(fmt::format("'{}' has {} work-groups, and schedulers are asked of {} at most",
                                 program.name, placement.cus, most_scheduled));
    }
    const std::vector<int> ids = work_group_ids(program, placement);
    for (std::size_t t = 0; t < program.threads.size(); ++t) {
      const auto cu = static_cast<std::size_t>(placement.cu_of_thread[t]);
      of_thread_.push_back(placement.host[t] ? ThreadSet{0} : ThreadSet{1} << static_cast<unsigned>(ids[cu]));
    }
    count_ = placement.cus;
  }

  // Whether a scheduler owes somebody whom these paths leave out. `waiting` at barriers: for ever; else who
  // is left behind there has ended.
  [[nodiscard]] bool owes_one_left_out(ProgressModel model, const Paths& paths, bool waiting) const {
    ThreadStanding standing;
    ThreadSet live = 0;
    ThreadSet left_out = 0;
    for (std::size_t t = 0; t < paths.size(); ++t) {
      const PathEnd end = paths[t]->end;
      const bool ended =
          end == PathEnd::ended || end == PathEnd::failed || (end == PathEnd::left_behind && !waiting);
      if (!ended) live |= of_thread_[t];
      if (end == PathEnd::stopped) left_out |= of_thread_[t];
      if (!paths[t]->events.empty()) standing.begun |= of_thread_[t];
    }
    standing.ended = ((ThreadSet{1} << static_cast<unsigned>(count_)) - 1) & ~live;
    return (left_out & owed_threads(model, count_, standing)) != 0;
  }

 private:
  std::vector<ThreadSet> of_thread_;  // the one work-group; none of a host's
  int count_ = 0;
};

// ---- the search

// What is known so far, and which of the schedulers the execution that is being looked at matters to.
struct Known {
  std::vector<ModelProgress::Verdict>* verdicts;
  std::vector<bool> cut;      // by scheduler
  std::vector<bool> matters;  // by scheduler
  bool unsafe = false;        // an assertion fails
};

bool any(const Paths& paths, PathEnd end) {
  return std::any_of(paths.begin(), paths.end(), [end](const ThreadPath* path) { return path->end == end; });
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
    if (search_.execution().any_path(PathEnd::failed)) {
      known_.unsafe = true;
      return;
    }
    for (std::size_t i = 0; i < known_.cut.size(); ++i)
      if (known_.matters[i]) known_.cut[i] = true;
  }
  bool stop() override { return limits_.reached(); }

 private:
  void look() {
    const Execution& execution = search_.execution();
    const Paths& paths = execution.paths;
    if (execution.any_path(PathEnd::failed)) {
      known_.unsafe = true;
      return;
    }
    for (std::size_t t = 0; t < paths.size(); ++t) {
      if (paths[t]->end != PathEnd::goes_round) continue;
      for (int e = paths[t]->round; e < static_cast<int>(paths[t]->events.size()); ++e) {
        if (!reads_newest(execution.first[t] + e)) return;
      }
    }
    for (std::size_t i = 0; i < known_.matters.size(); ++i) {
      if (!known_.matters[i]) continue;
      ModelProgress::Verdict& verdict = (*known_.verdicts)[i];
      verdict.termination =
          execution.any_path(PathEnd::goes_round) ? Termination::livelock : Termination::deadlock;
      verdict.run = description();
      known_.matters[i] = false;
    }
  }
  bool reads_newest(int event) {
    const Execution& execution = search_.execution();
    const ProgramEvent& e = execution.events[static_cast<std::size_t>(event)];
    if (e.kind != EventKind::read) return true;
    return search_.is_last(search_.sources()[static_cast<std::size_t>(event)],
                           execution.writes[static_cast<std::size_t>(e.location)]);
  }

  [[nodiscard]] std::string instruction(const ProgramEvent& event) const {
    const Program& program = test_.program;
    const auto& code = program.threads[static_cast<std::size_t>(event.thread)].code;
    return print_instruction(code[static_cast<std::size_t>(event.instruction)], program, event.thread);
  }
  [[nodiscard]] std::vector<std::string> description() const {
    std::vector<std::string> lines;
    const Execution& execution = search_.execution();
    for (std::size_t t = 0; t < execution.paths.size(); ++t) {
      const ThreadPath& path = *execution.paths[t];
      std::string does = "ends";
      if (path.end == PathEnd::goes_round) {
        does = "goes round for ever";
        const char* between = ", where ";
        for (int e = path.round; e < static_cast<int>(path.events.size()); ++e) {
          const ProgramEvent& event = path.events[static_cast<std::size_t>(e)];
          if (event.kind != EventKind::read) continue;
          does += fmt::format("{}`{}` reads {}", between, instruction(event),
                              search_.values()[static_cast<std::size_t>(execution.first[t] + e)]);
          between = ", ";
        }
      } else if (path.end == PathEnd::left_behind) {
        does = fmt::format("waits for ever at `{}`", instruction(path.events.back()));
      } else if (path.end == PathEnd::stopped) {
        does = path.events.empty()
                   ? "never begins"
                   : fmt::format("is not scheduled any more after `{}`", instruction(path.events.back()));
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
  std::optional<Groups> groups;  // where somebody may be left out
  if (endless.unroll.stopped) groups.emplace(test.program);
  Known known{&found.verdicts, std::vector<bool>(found.verdicts.size()), {}};
  // Sets to which schedulers a combination matters: those that have no verdict yet and owe nobody whom it
  // leaves out.
  const auto ask = [&](const Paths& paths, bool waiting) {
    const bool rounds = any(paths, PathEnd::goes_round) || any(paths, PathEnd::cut);
    known.matters.assign(found.verdicts.size(), false);
    if (any(paths, PathEnd::failed)) return !known.unsafe;
    // Who is left out could still open a barrier, and where nobody goes round no run is endless.
    const bool stopped = any(paths, PathEnd::stopped);
    if (!rounds && (!waiting || stopped)) return false;
    for (std::size_t i = 0; i < found.verdicts.size(); ++i) {
      const ModelProgress::Verdict& verdict = found.verdicts[i];
      if (verdict.termination == Termination::deadlock ||
          (rounds && verdict.termination == Termination::livelock))
        continue;
      known.matters[i] = !stopped || !groups->owes_one_left_out(verdict.scheduler, paths, waiting);
    }
    return std::find(known.matters.begin(), known.matters.end(), true) != known.matters.end();
  };
  const auto wanted = [&](const Paths& paths) {
    return ask(paths, false) || (any(paths, PathEnd::left_behind) && ask(paths, true));
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
    if (known.unsafe) verdict = {verdict.scheduler, Termination::unsafe, {}};
    const bool open = known.cut[i] || limits.status() != RunStatus::complete;
    if (verdict.termination == Termination::terminates && open)
      verdict.termination = Termination::inconclusive;
  }
}

}  // namespace

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
    for (auto& verdict : found.verdicts) verdict.termination = Termination::unsafe;
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
      if (verdict.termination == Termination::terminates) verdict.termination = Termination::inconclusive;
    }
  }
  found.seconds = limits.seconds();
  return found;
}

namespace {

std::string cell(const ModelProgress& one, const ModelProgress::Verdict& verdict) {
  if (one.status == RunStatus::error) return "error";
  std::string text(word(verdict.termination));
  if (verdict.termination == Termination::terminates) text = "yes";
  if (verdict.termination == Termination::inconclusive) text = "open";
  return text + (one.flags.empty() ? "" : "?");
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
        open = open || (verdict.termination == Termination::inconclusive && one.status != RunStatus::error);
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
