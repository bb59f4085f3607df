// Systems held against models on every generated test: which conform, which are weaker, with the smallest
// test that convicts, and which are stronger, with the smallest test of which they never show all that is
// allowed. Each test runs once on each system and is judged once by each model.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "checker/generate/conform.hpp"

namespace lockstep::generate {

// A part of the tests, for machines that share the work: those of every `of`th piece, from this one on.
struct Shard {
  std::size_t number = 0;
  std::size_t of = 1;
};
// "2/8" is the second of eight; throws BadInput.
Shard parse_shard(const std::string& text);

struct MatrixOptions {
  GenerateOptions generate;
  std::vector<Subject> systems;  // without programs
  std::vector<std::shared_ptr<const ConsistencyModel>> models;
  RunLimits limits;  // threads and memory are for all runs together, time for each
  Shard shard;
  std::string journal;              // to resume from and to append to; empty: none
  std::vector<std::string> merged;  // further journals, of other shards, which are only read
  std::string build;                // identifies this program, for journals
  OnConformProgress on_progress;    // violations: cells in which a system violates a model
};

// A test that separates, with the outcome that does.
struct Witness {
  std::size_t test = 0;  // its number
  std::string outcome;   // or what a system does wrong
};

// One system against one model.
struct MatrixCell {
  // Tests of which the model owes outcomes and that ended on the system.
  std::size_t judged = 0;
  std::size_t violations = 0;        // an outcome that the model forbids, a deadlock, a failed assertion
  std::size_t lacking = 0;           // allowed outcomes that the system never shows
  std::size_t inconclusive = 0;      // owed, and a limit stopped the run
  std::optional<Witness> violation;  // of the first test
  std::optional<Witness> lack;
  MatrixCell& operator+=(const MatrixCell& other);
};
enum class Relation : std::uint8_t { nothing_owed, equal, weaker, stronger, neither };
Relation relation(const MatrixCell& cell);
std::string_view word(Relation relation);  // "equal"

struct MatrixReport {
  std::vector<std::string> systems;
  std::vector<std::string> models;
  GenerateOptions generate;
  Shard shard;
  std::size_t tests = 0;  // generated
  std::size_t due = 0;    // of this shard, and of those that are merged
  std::size_t done = 0;
  std::size_t resumed = 0;                     // that journals answered
  std::vector<std::vector<MatrixCell>> cells;  // [system][model]
  std::vector<std::size_t> owed;               // by model: tests of which it owes outcomes
  std::vector<std::size_t> undecided;          // by model: a limit stopped the judgement
  std::vector<std::size_t> failed;             // by system: runs that could not be made
  std::map<std::size_t, std::pair<std::string, std::string>>
      names;  // of witnesses: name, and shape or nothing
  bool interrupted = false;
  double seconds = 0;
};

// Throws BadInput where a journal cannot be used.
MatrixReport conform_matrix(const MatrixOptions& options);

// 130 interrupted, 2 a run could not be made, 3 inconclusive, else 0: a system need not obey each model.
int exit_status(const MatrixReport& report);
std::string matrix_text(const MatrixReport& report);     // within 80 columns but for long names of tests
nlohmann::json matrix_json(const MatrixReport& report);  // schema lockstep.conform-matrix/1

}  // namespace lockstep::generate
