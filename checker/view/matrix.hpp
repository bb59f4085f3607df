// Tests by systems and models, as a document that fills while they run.
#pragma once

#include <atomic>
#include <mutex>
#include <nlohmann/json.hpp>

#include "checker/axiomatic/suite.hpp"
#include "checker/litmus/suite.hpp"

namespace lockstep::view {

struct MatrixOptions {
  LitmusTests tests;             // programs
  std::vector<Subject> systems;  // without programs
  AxiomaticModels models;
  RaceModel judged = RaceModel::hrf_indirect;
  RunLimits limits;
};

class Matrix {
 public:
  explicit Matrix(MatrixOptions options);
  // Returns when all have run, or when the limits' flag of interruption is set.
  void run();
  // {"kind": "matrix", ...}, from any thread.
  [[nodiscard]] nlohmann::json document() const;
  [[nodiscard]] bool is_finished() const {
    const std::scoped_lock lock(mutex_);
    return finished_;
  }

 private:
  nlohmann::json& row_of(const LitmusTest& test);

  MatrixOptions options_;
  mutable std::mutex mutex_;
  nlohmann::json rows_ = nlohmann::json::array();
  std::size_t done_ = 0;  // runs
  std::size_t all_ = 0;
  bool finished_ = false;
  std::string totals_;
  std::string error_;
};

}  // namespace lockstep::view
