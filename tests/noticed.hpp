// Tests of the suite, run on a system by their names: what they show, and which of them notices which fault.
#pragma once

#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "checker/language/read_tests.hpp"
#include "checker/litmus/runner.hpp"
#include "checker/runs/subject.hpp"
#include "checker/systems/registry.hpp"

namespace lockstep {

// Those of some themes, but for programs that never end.
class Themes {
 public:
  explicit Themes(const std::vector<std::string>& themes) {
    std::vector<std::string> folders;
    for (const std::string& theme : themes) folders.push_back(LOCKSTEP_SOURCE_DIR "/litmus/" + theme);
    SuiteFiles files = read_tests(folders, LOCKSTEP_SOURCE_DIR "/litmus", Clients::leave_out);
    REQUIRE(files.errors.empty());
    tests_ = std::move(files.tests);
  }
  [[nodiscard]] const LitmusTests& all() const { return tests_; }
  [[nodiscard]] std::shared_ptr<const LitmusTest> named(const std::string& name) const {
    for (const auto& test : tests_) {
      if (test->name == name) return test;
    }
    FAIL(name);
    return nullptr;
  }

 private:
  LitmusTests tests_;
};

// To its end.
inline SystemRun run_to_end(const LitmusTest& test, const std::string& system,
                            const std::vector<std::string>& faults = {},
                            const std::map<std::string, int>& sizes = {}) {
  Subject subject = subject_named(system);
  subject.options.faults = faults;
  subject.options.sizes = sizes;
  SystemRun result = run_on_system(test, std::move(subject), {});
  INFO(test.name << " on " << system << ": " << result.message);
  REQUIRE(result.status == RunStatus::complete);
  return result;
}

// With each fault the test beside it has other outcomes than SC; without faults it has those of SC.
inline void check_noticed(const Themes& suite, const std::string& system,
                          const std::map<std::string, std::string>& noticed) {
  for (const auto& [fault, name] : noticed) {
    INFO(system << ": " << fault << ", " << name);
    const auto test = suite.named(name);
    const auto outcomes = run_to_end(*test, "sc").outcomes;
    CHECK(run_to_end(*test, system).outcomes == outcomes);
    CHECK(run_to_end(*test, system, {fault}).outcomes != outcomes);
  }
}

}  // namespace lockstep
