#include "checker/view/execution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "checker/axiomatic/graph.hpp"
#include "checker/support/diagnostic.hpp"

namespace lockstep::view {

using nlohmann::json;

namespace {

std::vector<std::string> flags_of(const ModelRun& run, const AllowedOutcome& outcome) {
  std::vector<std::string> flags;
  for (std::size_t i = 0; i < run.flags.size() && i < 64; ++i) {
    if (((outcome.flags >> i) & 1U) != 0) flags.push_back(run.flags[i]);
  }
  return flags;
}

}  // namespace

json executions_document(const LitmusTest& test, const AxiomaticModel& model, const JudgeOptions& options,
                         std::size_t most) {
  const ModelRun run = judge(test, model, options);
  if (run.status == RunStatus::error) throw BadInput(run.message);
  const FoundCandidates found = find_candidates(test, model, options, most);
  json outcomes = json::array();
  for (const auto& [outcome, candidate] : found.by_outcome) {
    const auto allowed =
        std::find_if(run.outcomes.begin(), run.outcomes.end(),
                     [&, &wanted = outcome](const AllowedOutcome& one) { return one.outcome == wanted; });
    json out{{"text", outcome_text(test, outcome)},
             {"allowed", allowed != run.outcomes.end()},
             {"filtered", !satisfies(test.filter, test, outcome)},
             {"satisfies", satisfies(test.condition, test, outcome)},
             {"candidate", candidate_json(test, *candidate)}};
    if (allowed != run.outcomes.end()) {
      out["executions"] = allowed->executions;
      out["flags"] = flags_of(run, *allowed);
    }
    outcomes.push_back(std::move(out));
  }
  const auto observation = run.observation();
  return {{"kind", "executions"},
          {"title", fmt::format("{} under {}", test.name, model.name())},
          {"test", test.name},
          {"model", model.name()},
          {"condition", fmt::format("{} {}", word(test.quantifier), test.condition_text)},
          {"observation", observation       ? word(*observation)
                          : run.raised != 0 ? "undefined"
                                            : "inconclusive"},
          {"status", word(run.status)},
          {"raised", run.raised_flags()},
          {"executions", run.executions},
          {"candidates", run.candidates},
          {"more", found.more},
          {"outcomes", std::move(outcomes)}};
}

}  // namespace lockstep::view
