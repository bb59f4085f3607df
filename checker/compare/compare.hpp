// What tells two systems apart, or two models: the tests on which programs see a difference, the smallest of
// them with an execution that one side has and the other has not, and of systems what else is different:
// invariants that hold, rules that read otherwise, rules that fire.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "checker/axiomatic/model.hpp"
#include "checker/check/check.hpp"
#include "checker/generate/generate.hpp"
#include "checker/language/read_tests.hpp"
#include "checker/races/races.hpp"
#include "checker/runs/limits.hpp"
#include "checker/runs/subject.hpp"
#include "checker/trace/trace.hpp"

namespace lockstep::compare {

template <class T>
using Both = std::array<T, 2>;

// What one side shows of a test.
struct Shown {
  RunStatus status = RunStatus::complete;
  std::string message;             // of an error
  std::vector<Outcome> outcomes;   // in ascending order
  std::vector<std::string> flags;  // raised by a model: what the program does is undefined
  // Of a model: how many it allows; nothing where they were too many to be counted.
  std::optional<std::uint64_t> executions;
};

// ---- what is compared -------------------------------------------------------------------------------------

enum class Phase : std::uint8_t { generating, running, explaining, checking, breaking };
struct CompareProgress {
  Phase phase = Phase::generating;
  std::size_t done = 0;
  std::size_t all = 0;
  std::size_t differing = 0;
  double seconds = 0;
};

struct CompareOptions {
  // Tests: those that are generated, and these besides.
  generate::GenerateOptions generate;
  LitmusTests tests;
  // Of systems: whom a difference matters to. A program that races under this model is owed nothing.
  RaceModel model = RaceModel::hrf_indirect;
  bool race_free = false;  // no other tests
  bool invariants = true;  // of systems: are checked,
  LitmusTests clients;     // under each of these programs where they run any
  bool faults = true;      // of versions of one protocol: whether `tests` notice each
  RunLimits limits;        // threads and memory are for all runs together, time for each
  std::function<void(const CompareProgress&)> on_progress;  // a few times a second, from the calling thread
};

// ---- what was found ---------------------------------------------------------------------------------------

// A test on which the sides differ.
struct Difference {
  std::shared_ptr<const LitmusTest> test;
  Both<Shown> shown;
  // Of systems: whether the model owes the program anything, and what; nothing where that was not decided.
  std::optional<bool> race_free;
  std::vector<Outcome> allowed;
  // Outcomes of this side alone, or of both.
  [[nodiscard]] std::vector<Outcome> only(std::size_t side) const;
  [[nodiscard]] std::vector<Outcome> common() const;
};

// An execution that one side has and the other has not.
struct Evidence {
  std::size_t side = 0;  // who has it
  std::string outcome;   // "P1:r0=1; P1:r1=0;", or what it does wrong
  // Of a system, with how far the other goes along: steps that agree, and the first that does not.
  std::optional<RecordedTrace> trace;
  std::size_t shared_steps = 0;
  std::string parting;  // "'L1 answers a reader (cu 0, block 0)' is not enabled"; empty: they have no steps
                        // in common
  // Of models: as each sees it, what forbids it included.
  Both<std::string> views;
};

struct OutcomeReport {
  std::size_t generated = 0;
  std::size_t shipped = 0;
  std::size_t compared = 0;
  std::size_t same = 0;
  std::size_t other_executions = 0;  // of the same: models allow other numbers of executions
  std::size_t differing = 0;
  std::size_t race_free = 0;    // of them
  std::size_t undecided = 0;    // of them: whether they race
  Both<std::size_t> more{};     // of them: this side shows an outcome that the other has not
  std::size_t unknown = 0;      // a limit stopped a run
  std::size_t passed_over = 0;  // they race or are not judged, where only others were asked for
  std::size_t left_out = 0;     // a side does not take the test
  std::string why_left_out;     // the first
  // The first ones that differ, in the tests' order: without a race, and the others.
  std::vector<std::string> race_free_names;
  std::vector<std::string> other_names;
  std::optional<Difference> smallest;  // of those without a race, where there are any
  std::optional<Difference> smaller;   // with a race
  std::optional<Evidence> evidence;    // of the smallest
};
inline constexpr std::size_t most_named = 20;

// One client on both sides; without a client, the systems themselves.
struct InvariantDifference {
  std::string client;
  Both<CheckStatus> status{};
  Both<std::string> text;                       // "violated: ...", "holds, 1204 states"
  std::optional<RecordedTrace> counterexample;  // of the side that violates, where one alone does
};
struct InvariantReport {
  std::size_t clients = 0;
  Both<std::map<CheckStatus, std::size_t>> counts;
  std::vector<InvariantDifference> differences;
};

// Names of rules, invariants and fields.
struct TextReport {
  Both<std::vector<std::string>> only_rules;
  std::vector<std::string> changed_rules;  // another unit, fairness, parameter, guard or action
  std::size_t common_rules = 0;
  Both<std::vector<std::string>> only_invariants;
  std::vector<std::string> changed_invariants;
  Both<std::vector<std::string>> only_fields;
  // Of the common rules, those that some test fires on one side, and none on the other.
  Both<std::vector<std::string>> only_fired;
  [[nodiscard]] bool alike() const;  // the systems are versions of one protocol
};

// Findings stand in a header as faults: what breaks with one on, and no longer does. Of versions of one
// protocol.
struct FaultDifference {
  std::string fault;
  Both<std::string> noticed;  // "mp-agent (outcome)", the first test that notices it; empty where none does
};
struct FaultsReport {
  std::size_t common = 0;
  std::size_t noticed = 0;    // of them: on both sides,
  std::size_t unnoticed = 0;  // on neither,
  std::size_t undecided = 0;  // and where a limit was reached, or the system could not be run
  std::vector<FaultDifference> differences;
  Both<std::vector<std::string>> only;  // faults of one side
};

struct CompareReport {
  Both<std::string> names;
  bool systems = false;
  std::string model;  // of races
  generate::GenerateOptions generate;
  OutcomeReport outcomes;
  std::optional<InvariantReport> invariants;
  std::optional<TextReport> texts;
  std::optional<FaultsReport> faults;
  bool interrupted = false;
  double seconds = 0;
  [[nodiscard]] bool differ() const;
  [[nodiscard]] bool open() const;  // some run ended at a limit
};

// Throw BadInput where the two cannot be compared.
CompareReport compare_systems(const Both<Subject>& systems, const CompareOptions& options);
CompareReport compare_models(const Both<std::shared_ptr<const AxiomaticModel>>& models,
                             const CompareOptions& options);

// 130 interrupted, 1 they differ, 3 a limit was reached, else 0: the first that applies.
int exit_status(const CompareReport& report);

std::string compare_text(const CompareReport& report);     // for people, within 80 columns
nlohmann::json compare_json(const CompareReport& report);  // schema lockstep.compare/1

}  // namespace lockstep::compare
