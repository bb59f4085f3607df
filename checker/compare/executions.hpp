// The smallest executions that tell two models apart, as `lockstep distinguish` found them.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "checker/compare/compare.hpp"

namespace lockstep::compare {

struct FoundExecution {
  bool by_flags = false;                   // what one model flags, not what it forbids
  int decided = 0;                         // of up to so many events all were looked at
  std::shared_ptr<const LitmusTest> test;  // nothing where there is none
  int events = 0;
  std::string allows;  // the model that allows it, or leaves it defined
  std::string other;
};

struct ExecutionReport {
  int up_to = 0;  // events
  std::vector<FoundExecution> found;
  bool interrupted = false;
  double seconds = 0;
  [[nodiscard]] bool open() const;
};

// Of a document of schema lockstep.distinguish/1. Throws BadInput where it is none.
ExecutionReport read_executions(const nlohmann::json& document);

std::string executions_text(const ExecutionReport& report);     // for people, within 80 columns
nlohmann::json executions_json(const ExecutionReport& report);  // "executions" of schema lockstep.compare/1

}  // namespace lockstep::compare
