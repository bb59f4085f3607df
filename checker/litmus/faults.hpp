// Which tests kill which mistakes of a system, its own faults or mutants of its rules: the measure of a
// suite.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "checker/litmus/suite.hpp"

namespace lockstep {

// A system as it would be with something wrong.
struct Mistake {
  std::string name;
  std::string what;
  Subject system;
  std::string rule;  // whose mutant it is; empty of a fault
};

// A system's faults, each beside those that are on.
std::vector<Mistake> faults_of(const Subject& system);
// The mutants of a system's own rules (mutation.hpp), or of one of them. Throws BadInput where the system has
// no trees, or no rule of that name.
std::vector<Mistake> mutants_of(const Subject& system, const std::string& rule = {});

// What a proof says of a mistake.
struct ProofVerdict {
  std::string refuted;      // what it no longer proves, or nothing
  bool equivalent = false;  // the rule does what it did, in every state that can be written down
  bool unknown = false;     // a solver gave up
  std::string error;
};

struct FaultReport {
  std::string fault;
  std::string what;
  std::string rule;                  // whose mutant it is; empty of a fault
  std::vector<std::string> killers;  // "mp-agent (outcome)", up to as many as are enough
  bool enough = false;               // there may be more: the search ended there
  bool unsafe = false;               // some killer shows more than that nothing goes on
  bool fired = false;                // the rule, in some run
  std::size_t tests = 0;             // that were run
  std::size_t inconclusive = 0;      // of these
  std::vector<std::string> errors;
  std::optional<ProofVerdict> proof;  // where one was asked
  double seconds = 0;
  [[nodiscard]] bool equivalent() const { return proof && proof->equivalent; }
  [[nodiscard]] bool refuted() const { return proof && !proof->refuted.empty(); }
  [[nodiscard]] bool alive() const { return killers.empty() && !refuted() && !equivalent(); }
};

// As journals and reports have it.
void to_json(nlohmann::json& out, const FaultReport& report);
void from_json(const nlohmann::json& in, FaultReport& report);

struct FaultOptions {
  Subject system;                 // with variant and sizes, and faults that are on beside the one in question
  std::vector<Mistake> mistakes;  // none: its faults
  std::size_t enough = 3;
  bool tests = true;                                  // whether they are put to tests
  std::function<ProofVerdict(const Mistake&)> prove;  // from several threads at once; none: no proof is asked
  std::string journal;                                // file to resume from and to append to; empty: none
  nlohmann::json identity;  // what its answers depend on beside the mistakes and tests
  RunLimits limits;         // threads and memory are for all runs together
  std::function<void(const FaultReport&)> on_report;      // in the mistakes' order, from the calling thread
  std::function<void(const SuiteProgress&)> on_progress;  // counts mistakes
};

// A test kills a mistake with a deadlock, or where no run ends, a failed assertion, a rule that does what its
// types do not allow, a value out of its range, an outcome that SC does not have although the program is
// race-free under HRF-indirect, or a verdict that the test does not expect; and only if it finds nothing of
// the kind without the mistake. A system that is its own client is explored instead: a broken invariant
// kills, too.
//
// What a proof shows to be no change is put to no test.
//
// The totals count mistakes: differing when alive after every test and proof, else as expected.
SuiteTotals run_faults(const LitmusTests& tests, const FaultOptions& options);

}  // namespace lockstep
