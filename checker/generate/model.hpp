// What `conform` asks of a consistency model: whether a program is owed anything, and then which outcomes it
// may have. Data-race-free models answer by exploring races and SC; a model that lists candidate executions
// answers from those, and can be compared with them test by test.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "checker/generate/blueprint.hpp"
#include "checker/language/condition.hpp"
#include "checker/races/races.hpp"
#include "checker/runs/limits.hpp"

namespace lockstep::generate {

enum class Owed : std::uint8_t {
  outcomes,    // the system may do what is allowed and nothing else
  nothing,     // the program races
  not_judged,  // the model says nothing of this program
  unknown,     // a limit stopped the search
};

struct Obligation {
  Owed owed = Owed::unknown;
  std::vector<Outcome> allowed;  // ascending, where outcomes are owed
  // Owed by one reading of the model alone: race-free where synchronization pairs on any location, racy where
  // it pairs on the same location.
  bool by_one_reading = false;
  std::size_t race_states = 0;     // explored to decide whether anything is owed
  std::size_t outcome_states = 0;  // explored to find what is allowed
  std::string reason;              // of not_judged and unknown
};

class ConsistencyModel {
 public:
  ConsistencyModel() = default;
  ConsistencyModel(const ConsistencyModel&) = delete;
  ConsistencyModel& operator=(const ConsistencyModel&) = delete;
  virtual ~ConsistencyModel() = default;

  [[nodiscard]] virtual std::string name() const = 0;
  // Whether a glance says that nothing is owed; must be right when it says yes.
  [[nodiscard]] virtual bool owes_nothing(const Blueprint& blueprint) const = 0;
  // Throws BadInput where the test does not fit the model.
  [[nodiscard]] virtual Obligation obligation(const LitmusTest& test, const RunLimits& limits) const = 0;
};

// DRF and HRF: SC outcomes where no SC execution has a race.
std::unique_ptr<ConsistencyModel> race_free_model(RaceModel model);

// A cat model, by name or file: what its executions show, and nothing where it raises a flag. Throws
// BadInput.
std::unique_ptr<ConsistencyModel> axiomatic_model(const std::string& name_or_path);

}  // namespace lockstep::generate
