#include "proofs/report.hpp"

#include <fmt/format.h>

#include "proofs/suggest/suggest.hpp"

namespace lockstep::suggest {

namespace {

std::string unexcluded_text(const Unexcluded& failed, const SuggestOptions& options) {
  if (!failed.counterexample) return fmt::format("\nNot decided: {}\n  {}\n", failed.broken, failed.why);
  const std::string what = fmt::format(
      "No clause of up to {} literals that holds in the explored states excludes a state in which this is "
      "broken next: {}",
      options.literals, failed.broken);
  std::string text = fmt::format("\n{}\n    The state, less what is at its default\n", wrapped(what, 0));
  for (const ProofField& field : failed.counterexample->fields) {
    if (!field.plain) text += fmt::format("      {} = {}\n", field.path, field.before);
  }
  return text;
}

}  // namespace

std::string text(const ProofSubject& subject, const SuggestOptions& options, const Suggested& suggested) {
  constexpr std::size_t column = 12;
  const auto line = [](std::string_view head, const std::string& what) {
    return fmt::format("  {:<{}}{}\n", head, column - 2, wrapped(what, column, column));
  };
  std::string text = "Suggest lemmas\n";
  text += line("Questions", fmt::format("{} of {} fields", suggested.vocabulary->atoms().size(),
                                        suggested.vocabulary->fields().size()));
  text += line("Explored",
               fmt::format("{} states{} at {}", suggested.states, suggested.explored_all ? "" : ", not all,",
                           sizes_text(subject.explored_sizes())));
  for (const std::string& target : options.targets) text += line("To prove", target);
  for (const Clause& clause : suggested.lemmas) text += line("Lemma", suggested.vocabulary->text(clause));
  text += line("Found", fmt::format("{} lemmas, {} of them needed, {} taken back, {:.1f} s", suggested.found,
                                    suggested.lemmas.size(), suggested.retracted, suggested.seconds));
  if (suggested.failed) text += unexcluded_text(*suggested.failed, options);
  return text + "\n";
}

nlohmann::json json(const Suggested& suggested) {
  nlohmann::json lemmas = nlohmann::json::array();
  for (const Clause& clause : suggested.lemmas) lemmas.push_back(suggested.vocabulary->text(clause));
  nlohmann::json all{{"lemmas", std::move(lemmas)},        {"found", suggested.found},
                     {"taken_back", suggested.retracted},  {"states", suggested.states},
                     {"complete", suggested.explored_all}, {"seconds", suggested.seconds}};
  if (suggested.failed) all["failed"] = suggested.failed->broken;
  return all;
}

}  // namespace lockstep::suggest
