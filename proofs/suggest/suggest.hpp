// Lemmas found by machine: clauses over a state's fields that, with what is to be proved, every rule keeps.
//
// Where a rule breaks what is to be proved, the state before it, of which the explorer knows that it is not
// reached at small sizes, is excluded by a clause that holds in all states that are: the fewest literals,
// and among these one that all rules keep already. It is to be proved in its turn, and taken back where no
// clause is small enough to help, until nothing breaks. (Counterexamples to induction eliminated by what
// holds in explored states: Schultz, Dardik, Tripakis, FMCAD 2022.)
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "proofs/prover.hpp"
#include "proofs/suggest/samples.hpp"
#include "proofs/suggest/vocabulary.hpp"

namespace lockstep::suggest {

struct SuggestOptions {
  std::vector<std::string> targets;  // lemmas to prove; nothing else is assumed
  std::size_t literals = 5;          // of a clause, at most
  std::size_t lemmas = 200;          // at most
  double seconds_each = 60;          // for one question to Z3
  SampleLimits explore;
  const std::atomic<bool>* interrupted = nullptr;
  std::function<void(std::size_t lemmas, std::size_t open)> on_progress;
};

// What no small clause excludes: a state in which everything holds, and a rule that breaks something.
struct Unexcluded {
  std::string broken;
  std::string why;  // no counterexample: what Z3 said
  std::optional<CounterexampleToInduction> counterexample;
};

struct Suggested {
  std::shared_ptr<const Vocabulary> vocabulary;
  std::vector<Clause> lemmas;
  std::optional<Unexcluded> failed;
  std::size_t found = 0;      // lemmas, before those were left out that nothing needs
  std::size_t retracted = 0;  // that no clause helped to prove
  std::size_t states = 0;
  bool explored_all = false;
  double seconds = 0;
  bool interrupted = false;
};

// At the sizes of the subject's proof, whether or not these are open.
Suggested suggest(const ProofSubject& subject, const SuggestOptions& options);

// The subject with the targets and these lemmas in the place of its own. Refers to the subject.
std::unique_ptr<ProofSubject> with_lemmas(const ProofSubject& subject, std::vector<std::string> targets,
                                          const Suggested& suggested, bool any_size);

// What was found, for people and as JSON.
std::string text(const ProofSubject& subject, const SuggestOptions& options, const Suggested& suggested);
nlohmann::json json(const Suggested& suggested);

}  // namespace lockstep::suggest
