// What simulations of two systems counted, side by side: which counters moved, and by how much.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "checker/compare/compare.hpp"

namespace lockstep::compare {

struct Moved {
  std::string counter;  // "cycles", "caches l1 replaced"; as the JSON of `sim` names it
  Both<double> values{};
  // The larger over the smaller, less 1; infinite where one is 0.
  [[nodiscard]] double by() const;
};

struct WorkloadCounters {
  std::string workload;
  Both<std::string> end;     // "finished", or how else
  Both<int> wrong{};         // words with wrong results
  std::size_t counters = 0;  // of both
  std::vector<Moved> moved;  // cycles first, then what moved most
  [[nodiscard]] bool differ() const;
};

struct CounterReport {
  std::string machine;
  Both<std::string> names;
  std::vector<WorkloadCounters> workloads;
  [[nodiscard]] bool differ() const;
};

// Of two documents of schema lockstep.sim/1, in each the runs of one system; `systems` names them there.
// Throws BadInput where they are no such documents.
CounterReport compare_counters(const Both<nlohmann::json>& simulated, const Both<std::string>& systems);

std::string counters_text(const CounterReport& report);     // for people, within 80 columns
nlohmann::json counters_json(const CounterReport& report);  // "counters" of schema lockstep.compare/1

}  // namespace lockstep::compare
