#include "checker/generate/progress_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "checker/scheduling/setup.hpp"
#include "checker/support/jobs.hpp"
#include "checker/systems/registry.hpp"

namespace lockstep::generate {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t index_of(ProgressModel model) {
  return static_cast<std::size_t>(model);
}
constexpr std::size_t index_of(TerminationQuestion question) {
  return static_cast<std::size_t>(question);
}
std::string_view title(TerminationQuestion question) {
  return question == TerminationQuestion::weak_fairness
             ? "Terminates, if schedulers are weakly fair to whom they owe it"
             : "From everywhere a path of owed steps leads to the end, or to where nobody is owed any";
}
std::string_view word_of(TerminationQuestion question) {
  return question == TerminationQuestion::weak_fairness ? "weak" : "paths";
}

// "hsa, hsa-obe, lobe, fair", "all", "none".
std::string models_text(ModelSet set, TerminationQuestion question) {
  std::vector<std::string_view> names;
  std::size_t asked = 0;
  for (const NamedProgressModel& one : progress_models) {
    if (!is_asked(question, one.model)) continue;
    ++asked;
    if (set[index_of(one.model)]) names.push_back(one.name);
  }
  if (names.empty()) return "none";
  return names.size() == asked ? "all" : fmt::format("{}", fmt::join(names, ", "));
}

// Lighter ones first, then in the order of the text.
bool better_example(const ProgressProgram& a, const ProgressProgram& b) {
  return std::pair(weight(a), a) < std::pair(weight(b), b);
}

// Where the models that do not look at ids differ between the orders of a program's threads. None where a
// limit stopped it.
std::optional<std::string> broken_symmetry(const ProgressProgram& program, const ProgressVerdicts& verdicts,
                                           const OwesOfModels& owes, const RunLimits& limits) {
  std::vector<std::size_t> order(static_cast<std::size_t>(program.threads));
  std::iota(order.begin(), order.end(), 0);
  while (std::next_permutation(order.begin(), order.end())) {
    const ProgressProgram turned = canonical(reordered(program, order));
    if (turned == program) continue;
    const auto other = judge(turned, owes, limits);
    if (!other) return std::nullopt;
    for (const TerminationQuestion question : termination_questions) {
      for (const NamedProgressModel& one : progress_models) {
        const auto q = index_of(question);
        const auto m = index_of(one.model);
        if (looks_at_ids(one.model) || verdicts.verdict.at(q).at(m) == other->verdict.at(q).at(m)) continue;
        return fmt::format("{} and {} are the same but for the order of threads, and differ under {} ({})",
                           name_of(program), name_of(turned), one.name, word_of(question));
      }
    }
  }
  return std::string();
}

void merge(ProgressRows& into, const ProgressRows& from) {
  for (const auto& [set, row] : from) {
    const auto [place, is_new] = into.try_emplace(set, row);
    if (is_new) continue;
    place->second.programs += row.programs;
    place->second.trapped += row.trapped;
    place->second.strong += row.strong;
    if (better_example(row.example, place->second.example)) {
      place->second.example = row.example;
      place->second.of_example = row.of_example;
    }
  }
}

void merge(ProgressTable& into, const ProgressTable& from) {
  into.enumerated += from.enumerated;
  into.programs += from.programs;
  into.unordered += from.unordered;
  into.without_loop += from.without_loop;
  into.states += from.states;
  into.progress_tests += from.progress_tests;
  for (std::size_t q = 0; q < into.rows.size(); ++q) merge(into.rows.at(q), from.rows.at(q));
  into.violations.insert(into.violations.end(), from.violations.begin(), from.violations.end());
}

class Tabulation {
 public:
  Tabulation(const ProgressSpace& space, const ProgressTableOptions& options)
      : options_(options),
        programs_(space),
        owes_(options.owes ? *options.owes : owes_of_models(space.threads)),
        start_(Clock::now()) {
    limits_.memory = options.limits.memory;
    limits_.interrupted = options.limits.interrupted;
    table_.space = space;
    table_.candidates = programs_.candidates();
  }

  ProgressTable run() {
    constexpr std::uint64_t candidates_in_a_job = 256;
    const std::uint64_t jobs = (table_.candidates + candidates_in_a_job - 1) / candidates_in_a_job;
    run_jobs(
        jobs, options_.workers,
        [&](std::size_t job) {
          work(job * candidates_in_a_job, std::min((job + 1) * candidates_in_a_job, table_.candidates));
        },
        [&] {
          if (options_.on_progress) options_.on_progress(enumerated_);
        });
    std::sort(table_.violations.begin(), table_.violations.end());
    table_.interrupted = is_interrupted();
    table_.out_of_time = table_.enumerated < table_.candidates && !table_.interrupted;
    table_.seconds = seconds();
    return std::move(table_);
  }

 private:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(Clock::now() - start_).count();
  }
  [[nodiscard]] bool is_interrupted() const {
    return limits_.interrupted != nullptr && limits_.interrupted->load();
  }
  [[nodiscard]] bool stops() const {
    return is_interrupted() || (options_.limits.time.count() != 0 &&
                                seconds() * 1000 > static_cast<double>(options_.limits.time.count()));
  }

  // A job that is stopped counts for nothing.
  void work(std::uint64_t begin, std::uint64_t end) {
    if (stops()) return;
    ProgressTable part;
    part.enumerated = end - begin;
    std::vector<std::pair<ProgressProgram, ProgressVerdicts>> judged;
    bool complete = true;
    programs_.enumerate(begin, end, [&](const ProgressProgram& program) {
      complete = complete && !stops() && count(program, part, judged);
    });
    if (!complete) return;
    const std::lock_guard lock(mutex_);
    merge(table_, part);
    enumerated_ = table_.enumerated;
    if (!options_.take) return;
    for (const auto& [program, verdicts] : judged) options_.take(program, verdicts);
  }

  bool count(const ProgressProgram& program, ProgressTable& part,
             std::vector<std::pair<ProgressProgram, ProgressVerdicts>>& judged) const {
    ++part.programs;
    const bool is_first_order = unordered(program) == program;
    part.unordered += is_first_order ? 1 : 0;
    if (!has_loop(program)) {
      ++part.without_loop;
      return true;
    }
    const auto verdicts = judge(program, owes_, limits_);
    if (!verdicts) return false;
    part.states += verdicts->states;
    const ModelSet weakly = verdicts->terminates_under(TerminationQuestion::weak_fairness);
    const bool is_trapped = !verdicts->can_always_end;
    const bool is_strong = !is_trapped && !weakly.test(index_of(ProgressModel::fair));
    for (const TerminationQuestion question : termination_questions) {
      const ProgressRow row{1, is_trapped ? 1U : 0U, is_strong ? 1U : 0U, program, *verdicts};
      merge(part.rows.at(index_of(question)), {{verdicts->terminates_under(question).to_ulong(), row}});
    }
    part.progress_tests += !is_trapped && !weakly.test(index_of(ProgressModel::unfair)) ? 1 : 0;
    if (std::string broken = broken_order(*verdicts); !broken.empty())
      part.violations.push_back(name_of(program) + " " + broken);
    if (is_first_order) {
      auto broken = broken_symmetry(program, *verdicts, owes_, limits_);
      if (!broken) return false;
      if (!broken->empty()) part.violations.push_back(std::move(*broken));
    }
    if (options_.take) judged.emplace_back(program, *verdicts);
    return true;
  }

  const ProgressTableOptions& options_;
  const ProgressPrograms programs_;
  const OwesOfModels owes_;
  RunLimits limits_;  // of one program
  Clock::time_point start_;
  std::mutex mutex_;
  ProgressTable table_;
  std::atomic<std::uint64_t> enumerated_ = 0;
};

std::string plural(std::uint64_t n, std::string_view what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

std::string indented(const std::string& text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    out += "    " + text.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return out;
}

std::string rows_text(const ProgressRows& rows, TerminationQuestion question) {
  std::string text = fmt::format("{}\n{:>12}{:>12}{:>12}  {:<32}for example\n", title(question), "programs",
                                 "trapped", "strong", "under");
  for (const auto& [set, row] : rows) {
    text += fmt::format("{:>12}{:>12}{:>12}  {:<32}{}\n", row.programs, row.trapped, row.strong,
                        models_text(ModelSet(set), question), name_of(row.example));
  }
  return text;
}

nlohmann::json rows_json(const ProgressRows& rows, TerminationQuestion question) {
  nlohmann::json all = nlohmann::json::array();
  for (const auto& [set, row] : rows) {
    nlohmann::json models = nlohmann::json::array();
    for (const NamedProgressModel& one : progress_models) {
      if (is_asked(question, one.model) && ModelSet(set)[index_of(one.model)]) models.push_back(one.name);
    }
    const auto test = to_test(row.example);
    all.push_back({{"terminates_under", std::move(models)},
                   {"programs", row.programs},
                   {"trapped", row.trapped},
                   {"strong", row.strong},
                   {"example", test->name},
                   {"litmus", print_test(*test, row.of_example.expectation())}});
  }
  return all;
}

}  // namespace

ModelSet ProgressVerdicts::terminates_under(TerminationQuestion question) const {
  ModelSet set;
  for (std::size_t m = 0; m < model_count; ++m)
    set[m] = verdict.at(index_of(question)).at(m) == Termination::terminates;
  return set;
}

std::string ProgressVerdicts::expectation() const {
  std::string text;
  for (const NamedProgressModel& one : progress_models) {
    if (!text.empty()) text += ", ";
    const Termination found =
        verdict.at(index_of(TerminationQuestion::weak_fairness)).at(index_of(one.model));
    text += fmt::format("{}:{}", one.name, word(found));
  }
  return text;
}

OwesOfModels owes_of_models(int threads) {
  OwesOfModels all;
  for (const NamedProgressModel& one : progress_models)
    all.at(index_of(one.model)) = OwedThreads(one.model, threads);
  return all;
}

std::optional<ProgressVerdicts> judge(const ProgressProgram& program, const OwesOfModels& owes,
                                      const RunLimits& limits) {
  Subject subject;
  subject.system = &find_system("sc");
  const auto test = to_test(program);
  subject.program = std::shared_ptr<const Program>(test, &test->program);
  const SharedGraph graph(subject, limits);
  if (graph.verdict() != Verdict::holds) return std::nullopt;
  ProgressVerdicts verdicts;
  verdicts.can_always_end = graph.can_always_end();
  verdicts.states = graph.states();
  for (const TerminationQuestion question : termination_questions) {
    for (std::size_t m = 0; m < model_count; ++m)
      verdicts.verdict.at(index_of(question)).at(m) = graph.judge(owes.at(m), question);
  }
  return verdicts;
}

std::string broken_order(const ProgressVerdicts& verdicts) {
  for (const TerminationQuestion question : termination_questions) {
    const ModelSet set = verdicts.terminates_under(question);
    for (const OwesLess& pair : owes_less) {
      if (!is_asked(question, pair.less) || !set[index_of(pair.less)] || set[index_of(pair.more)]) continue;
      return fmt::format("terminates under {}, and not under {}, which owes more ({})", name_of(pair.less),
                         name_of(pair.more), word_of(question));
    }
  }
  return {};
}

ProgressTable tabulate(const ProgressSpace& space, const ProgressTableOptions& options) {
  return Tabulation(space, options).run();
}

std::string table_text(const ProgressTable& table) {
  const ProgressSpace& space = table.space;
  const auto counted = [](int n, std::string_view what) {
    return plural(static_cast<std::uint64_t>(n), what);
  };
  std::string text = fmt::format("{}, {}; {}, values up to {}\n", counted(space.threads, "thread"),
                                 counted(space.instructions, "instruction"),
                                 counted(space.locations, "location"), space.values - 1);
  text += fmt::format(
      "{} of {} candidates: {} up to renaming locations and values, {} up to renaming threads as well.\n",
      table.enumerated, table.candidates, plural(table.programs, "program"), table.unordered);
  text += fmt::format(
      "{} without a loop terminate under every scheduler and are not run. {} are progress tests: the end "
      "stays "
      "in reach, and an unfair scheduler can keep away from it.\n\n",
      table.without_loop, table.progress_tests);
  for (const TerminationQuestion question : termination_questions)
    text += rows_text(table.rows.at(index_of(question)), question) + "\n";
  for (const auto& [set, row] : table.rows.at(index_of(TerminationQuestion::weak_fairness))) {
    text += fmt::format("  under {}:\n", models_text(ModelSet(set), TerminationQuestion::weak_fairness));
    text += indented(print_test(*to_test(row.example), row.of_example.expectation())) + "\n";
  }
  for (const std::string& violation : table.violations) text += "  VIOLATION: " + violation + "\n";
  text += fmt::format("{} states, {:.1f} s{}\n", table.states, table.seconds,
                      table.interrupted ? ", interrupted" : (table.out_of_time ? ", out of time" : ""));
  return text;
}

nlohmann::json tables_json(const std::vector<ProgressTable>& tables) {
  nlohmann::json all = nlohmann::json::array();
  for (const ProgressTable& table : tables) {
    nlohmann::json one{{"threads", table.space.threads},
                       {"instructions", table.space.instructions},
                       {"locations", table.space.locations},
                       {"values", table.space.values},
                       {"candidates", table.candidates},
                       {"enumerated", table.enumerated},
                       {"programs", table.programs},
                       {"up_to_order_of_threads", table.unordered},
                       {"without_loop", table.without_loop},
                       {"progress_tests", table.progress_tests},
                       {"states", table.states},
                       {"seconds", table.seconds},
                       {"interrupted", table.interrupted},
                       {"out_of_time", table.out_of_time},
                       {"violations", table.violations}};
    for (const TerminationQuestion question : termination_questions)
      one[std::string(word_of(question))] = rows_json(table.rows.at(index_of(question)), question);
    all.push_back(std::move(one));
  }
  return {{"schema", "lockstep.generate-progress/1"}, {"tables", std::move(all)}};
}

int exit_status(const std::vector<ProgressTable>& tables) {
  const auto any = [&](auto&& of) { return std::any_of(tables.begin(), tables.end(), of); };
  if (any([](const ProgressTable& t) { return !t.violations.empty(); })) return 1;
  if (any([](const ProgressTable& t) { return t.interrupted; })) return 130;
  return any([](const ProgressTable& t) { return t.out_of_time; }) ? 3 : 0;
}

}  // namespace lockstep::generate
