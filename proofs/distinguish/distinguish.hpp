// The smallest execution that one axiomatic model allows and another forbids, looked for by Z3 among all
// executions of so many events; as a litmus test, which both models have judged.
//
// Z3 finds an execution that one model allows, and then asks whether the other allows its outcome by another
// choice of what models choose: coherence, the order of fences, orders of its own. If so, that choice is
// added to what the next execution must be forbidden under (counterexample-guided: the choices of the other
// model are universally quantified).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "checker/axiomatic/model.hpp"
#include "checker/language/condition.hpp"
#include "checker/language/test.hpp"
#include "checker/runs/limits.hpp"

namespace lockstep::distinguish {

using Models = std::array<std::shared_ptr<const AxiomaticModel>, 2>;

inline constexpr int most_events = 12;
inline constexpr int most_threads = 4;

struct DistinguishProgress {
  int events = 0;  // of the executions that are looked at now
  std::size_t done = 0;
  std::size_t all = 0;
  double seconds = 0;
};

struct DistinguishOptions {
  int up_to = 6;  // events, initial writes not counted; an RMW is two
  // For all together; memory is not looked at.
  RunLimits limits;
  std::function<void(const DistinguishProgress&)> on_progress;  // a few times a second
};

// A test that tells the models apart.
struct Difference {
  std::shared_ptr<const LitmusTest> test;
  Outcome outcome;
  std::size_t allows = 0;  // models[allows] allows it, or leaves it defined
  int events = 0;
};

// By what they are told apart. `outcomes`: one allows an outcome of a program that the other forbids, and
// neither flags the program. `flags`: one leaves a program defined that the other flags; asked where one of
// them has flags.
enum class By : std::uint8_t { outcomes, flags };

struct Finding {
  By by = By::outcomes;
  int decided = 0;  // executions of up to so many events have all been looked at
  std::optional<Difference> difference;
  std::size_t open = 0;  // questions that were left undecided
};

struct DistinguishReport {
  std::array<std::string, 2> models;
  int up_to = 0;
  std::vector<Finding> findings;
  bool interrupted = false;
  bool out_of_time = false;
  double seconds = 0;
  [[nodiscard]] bool differ() const;
  [[nodiscard]] bool open() const;
};

// Throws BadInput for models whose executions cannot be looked for, and std::logic_error where a model judges
// a test otherwise than its formulas.
DistinguishReport distinguish_models(const Models& models, const DistinguishOptions& options);

// 130 interrupted, 1 there is a difference, 3 something was left undecided, else 0: the first that applies.
int exit_status(const DistinguishReport& report);
std::string distinguish_text(const DistinguishReport& report);     // within 80 columns
nlohmann::json distinguish_json(const DistinguishReport& report);  // schema lockstep.distinguish/1

}  // namespace lockstep::distinguish
