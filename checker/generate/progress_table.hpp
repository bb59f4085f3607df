// Which progress models make which programs terminate: every program of a space is judged under each model,
// and counted by the set of models under which it ends.
//
// Two claims are checked on the way. Whatever terminates under a model terminates under each that owes more;
// and a model that does not look at ids gives a program the same verdict in every order of its threads.
#pragma once

#include <array>
#include <bitset>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "checker/generate/progress.hpp"
#include "checker/liveness/shared_graph.hpp"

namespace lockstep::generate {

inline constexpr std::size_t model_count = progress_models.size();
// Of progress models, by their number.
using ModelSet = std::bitset<model_count>;

inline constexpr std::array termination_questions{TerminationQuestion::weak_fairness,
                                                  TerminationQuestion::by_paths};

struct ProgressVerdicts {
  // By question, then by model.
  std::array<std::array<Termination, model_count>, termination_questions.size()> verdict{};
  bool can_always_end = false;  // from every state some run ends
  std::size_t states = 0;
  [[nodiscard]] ModelSet terminates_under(TerminationQuestion question) const;
  // "unfair:livelock, ..., fair:terminates", under weak fairness: what a test's file expects.
  [[nodiscard]] std::string expectation() const;
};

// Whose execution each model owes; the specification's answers for so many threads.
using OwesOfModels = std::array<Owes, model_count>;
OwesOfModels owes_of_models(int threads);

// None where a limit stopped it.
std::optional<ProgressVerdicts> judge(const ProgressProgram& program, const OwesOfModels& owes,
                                      const RunLimits& limits);

// Whether whatever the second is owed includes what the first is owed. By paths nothing is asked of the
// unfair model: a state in which nobody is owed anything counts as an end there.
struct OwesLess {
  ProgressModel less;
  ProgressModel more;
};
inline constexpr std::array owes_less{
    OwesLess{ProgressModel::unfair, ProgressModel::hsa},
    OwesLess{ProgressModel::unfair, ProgressModel::obe},
    OwesLess{ProgressModel::hsa, ProgressModel::hsa_obe},
    OwesLess{ProgressModel::obe, ProgressModel::hsa_obe},
    OwesLess{ProgressModel::hsa_obe, ProgressModel::lobe},
    OwesLess{ProgressModel::lobe, ProgressModel::fair},
};
constexpr bool is_asked(TerminationQuestion question, ProgressModel model) {
  return question == TerminationQuestion::weak_fairness || model != ProgressModel::unfair;
}
constexpr bool looks_at_ids(ProgressModel model) {
  return model == ProgressModel::hsa || model == ProgressModel::hsa_obe || model == ProgressModel::lobe;
}

// What a program's verdicts break of the order of models, in words; empty where nothing.
std::string broken_order(const ProgressVerdicts& verdicts);

struct ProgressTableOptions {
  unsigned workers = 1;
  RunLimits limits;  // the time is for the whole space
  // Instead of the specification's answers: whether the claims above can fail is a test.
  std::optional<OwesOfModels> owes;
  std::function<void(std::uint64_t candidates)> on_progress;
  // Of each program that was judged, one at a time.
  std::function<void(const ProgressProgram&, const ProgressVerdicts&)> take;
};

struct ProgressRow {
  std::uint64_t programs = 0;
  std::uint64_t trapped = 0;  // of these, have a state from which no run ends
  // Of these, can always end, and need not although schedulers are weakly fair to all: the published
  // campaign's strong tests.
  std::uint64_t strong = 0;
  ProgressProgram example;  // the lightest
  ProgressVerdicts of_example;
};

// By the models under which a program terminates.
using ProgressRows = std::map<unsigned long, ProgressRow>;

struct ProgressTable {
  ProgressSpace space;
  std::uint64_t candidates = 0;    // programs with their duplicates
  std::uint64_t enumerated = 0;    // of these
  std::uint64_t programs = 0;      // among the enumerated, up to renaming locations and values
  std::uint64_t unordered = 0;     // the same, and up to renaming threads
  std::uint64_t without_loop = 0;  // of the programs; not run, for they end under every scheduler
  std::uint64_t states = 0;        // of all programs that were run
  std::array<ProgressRows, termination_questions.size()> rows;
  std::vector<std::string> violations;  // of the claims: a mistake of this tool
  bool interrupted = false;
  bool out_of_time = false;
  double seconds = 0;
  // Can always end, and may not under the unfair model: the published campaign's tests, before its heuristics
  // against redundant ones.
  std::uint64_t progress_tests = 0;
};

// Throws BadInput where the space is out of bounds.
ProgressTable tabulate(const ProgressSpace& space, const ProgressTableOptions& options);

std::string table_text(const ProgressTable& table);
// Schema lockstep.generate-progress/1.
nlohmann::json tables_json(const std::vector<ProgressTable>& tables);
// 1 a claim fails, 130 interrupted, 3 out of time, else 0.
int exit_status(const std::vector<ProgressTable>& tables);

}  // namespace lockstep::generate
