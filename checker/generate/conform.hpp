// Whether a memory system obeys a model on every generated test: generates, dismisses what races, runs the
// rest on the system and compares, in parallel, with a journal from which a run can be resumed.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "checker/generate/generate.hpp"
#include "checker/generate/model.hpp"
#include "checker/trace/trace.hpp"

namespace lockstep::generate {

// ---- the tests worth running ------------------------------------------------------------------------------

struct SizeCounts {
  std::size_t generated = 0;
  std::size_t duplicates = 0;
  std::size_t racy = 0;  // dismissed at a glance, before any exploration
};

// What is left of a generator's tests when those that a model owes nothing are put aside, the shortest first.
struct Candidates {
  std::string identity;  // of the tests, for journals
  std::vector<Blueprint> tests;
  std::map<std::pair<int, int>, SizeCounts> counts;  // by edges and extras; straight programs have none
};

struct ConformProgress {
  enum class Phase : std::uint8_t { generating, running, explaining };
  Phase phase = Phase::generating;
  std::size_t done = 0;
  std::size_t all = 0;
  std::size_t violations = 0;
  double seconds = 0;
};
using OnConformProgress = std::function<void(const ConformProgress&)>;

// Those of which a glance says that nothing is owed are put aside. Nothing where it was interrupted.
std::optional<Candidates> find_candidates(const GenerateOptions& options,
                                          const std::function<bool(const Blueprint&)>& owes_nothing,
                                          const RunLimits& limits, const OnConformProgress& on_progress);

// ---- running them -----------------------------------------------------------------------------------------

// A test that has to be named in a report.
struct Notable {
  enum class Kind : std::uint8_t {
    violation,     // an outcome that the model forbids
    failure,       // a deadlock or a failed assertion
    one_reading,   // owed by one reading of the model alone
    inconclusive,  // a limit stopped a run
    error,         // a run could not be made
  };
  Kind kind = Kind::violation;
  std::size_t test = 0;  // index into Candidates::tests
  std::string text;      // the outcome, the status or the message
  bool operator==(const Notable&) const = default;
};
inline constexpr std::array notable_kinds{Notable::Kind::violation, Notable::Kind::failure,
                                          Notable::Kind::one_reading, Notable::Kind::inconclusive,
                                          Notable::Kind::error};
std::string_view word(Notable::Kind kind);

// What running a number of tests has come to.
struct Tallies {
  std::size_t tests = 0;
  std::size_t racy = 0;  // found to be so by exploration
  std::size_t race_free = 0;
  std::size_t not_judged = 0;
  std::size_t race_states = 0;
  std::size_t sc_states = 0;
  std::size_t system_states = 0;
  std::uint64_t system_transitions = 0;
  std::array<std::size_t, notable_kinds.size()> notable{};  // by kind
  std::size_t same_outcomes = 0;  // of the race-free: the system has every outcome that is allowed
  double seconds = 0;             // of all threads together
  Tallies& operator+=(const Tallies& other);
  bool operator==(const Tallies&) const = default;
};

struct ConformOptions {
  GenerateOptions generate;
  Subject system;                 // without a program
  RunLimits limits;               // threads and memory are for all runs together, time for each
  std::string journal;            // file to resume from and to append to; empty: none
  std::string build;              // identifies this program, for the journal
  OnConformProgress on_progress;  // a few times a second, from the calling thread
};

struct ConformReport {
  std::string system;  // with its variant, faults and sizes
  std::string model;
  GenerateOptions generate;
  std::map<std::pair<int, int>, SizeCounts> counts;
  std::map<std::pair<int, int>, Tallies> tallies;  // by edges and extras
  std::size_t candidates = 0;                      // tests that were not dismissed
  std::vector<Notable> notable;                    // the first ones of each kind, in the tests' order
  std::vector<std::string> names;                  // of the tests they are about
  // The shortest test that convicts the system, and an execution that shows it.
  std::shared_ptr<const LitmusTest> culprit;
  std::optional<RecordedTrace> evidence;
  std::size_t resumed = 0;  // tests that a journal answered
  bool interrupted = false;
  double seconds = 0;  // by the clock

  [[nodiscard]] SizeCounts all_counts() const;
  [[nodiscard]] Tallies all_tallies() const;
  [[nodiscard]] bool complete() const { return all_tallies().tests == candidates && !interrupted; }
};

// Throws BadInput where the journal cannot be used.
ConformReport conform(const ConformOptions& options, const ConsistencyModel& model);

// 130 interrupted, 2 a test could not be run, 1 violated, 3 inconclusive, else 0: the first that applies.
int exit_status(const ConformReport& report);

std::string conform_text(const ConformReport& report);
nlohmann::json conform_json(const ConformReport& report);  // schema lockstep.conform/1

// ---- faults -----------------------------------------------------------------------------------------------

struct FaultKill {
  std::string fault;
  std::string what;
  std::optional<std::size_t> test;  // the first that kills it
  std::shared_ptr<const LitmusTest> killer;
  std::string shape;      // "MP"
  std::string cause;      // "deadlock", or the outcome
  std::size_t tests = 0;  // that were run
  std::size_t inconclusive = 0;
  double seconds = 0;
  bool ended = false;  // killed, or every test was run
};

struct FaultKills {
  std::string system;
  std::string model;
  std::vector<FaultKill> faults;
  std::size_t candidates = 0;
  bool interrupted = false;
  double seconds = 0;
};

// For each fault of the system the shortest test that tells it from the system without the fault. Only faults
// named in `only` where there are any.
FaultKills kill_faults(const ConformOptions& options, const ConsistencyModel& model,
                       const std::vector<std::string>& only);
int exit_status(const FaultKills& kills);  // 1 where one is alive
std::string fault_kills_text(const FaultKills& kills);
nlohmann::json fault_kills_json(const FaultKills& kills);  // schema lockstep.conform-faults/1

}  // namespace lockstep::generate
