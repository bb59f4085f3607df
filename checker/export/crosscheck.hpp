// Asks other people's checkers to confirm: the same subject explored by Lockstep, Rumur and SPIN, and their
// counts compared.
//
// All of them explore every reachable state, past those that fail, and count the states of each claim. So a
// fault is confirmed by numbers too: not only that a property fails, but in how many states. Where a failure
// opens up more states than anybody wants to see, the question is only whether all of them find one.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "checker/export/other_checker.hpp"
#include "checker/runs/limits.hpp"
#include "checker/runs/subject.hpp"

namespace lockstep {

struct CrosscheckOptions {
  std::vector<Checker> with{Checker::rumur, Checker::spin};
  RunLimits limits;                      // the time is for each checker's search, and for each compilation
  std::uint64_t most_states = 0;         // subjects with more are left out; 0: none are
  std::uint64_t past_failure = 300'000;  // of more states than these, where some fail, no counts are compared
  std::function<void(const std::string&)> on_progress;  // what is being done
};

enum class Agreement : std::uint8_t {
  agree,
  differ,
  inconclusive,  // somebody reached a limit
  error,         // somebody is missing, too old, crashed or was not understood
  left_out,      // it has too many states
  interrupted,
};
std::string_view word(Agreement agreement);

struct OtherCount {
  Checker checker = Checker::rumur;
  Count count;
};

struct CrosscheckRun {
  Subject subject;                         // with its program
  std::shared_ptr<const LitmusTest> test;  // where the program comes with a question
  std::vector<Claim> claims;
  Purpose purpose = Purpose::count;  // verdict: counts are not compared, only that all find a failure
  Count ours;
  std::vector<OtherCount> others;
  Agreement agreement = Agreement::agree;
};

// Whatever goes wrong ends in an agreement that says so, not in an exception.
CrosscheckRun crosscheck(Subject subject, std::shared_ptr<const LitmusTest> test,
                         const CrosscheckOptions& options);

// What the counts say together; never agree unless all are complete and, as to the purpose, equal.
Agreement judge(Purpose purpose, const Count& ours, std::span<const OtherCount> others);

// "quick-release, fault no-broadcast running mp-agent".
std::string crosscheck_title(const CrosscheckRun& run);
// A table: checker, states, firings, verdict, time; then what the claims counted.
std::string crosscheck_text(const CrosscheckRun& run);
std::string crosscheck_summary_text(std::span<const CrosscheckRun> runs, std::size_t planned);
// Schema lockstep.crosscheck/1.
nlohmann::json crosscheck_json(std::span<const CrosscheckRun> runs, const std::vector<std::string>& errors);

// 130 interrupted, 2 an error, 1 a difference, 3 a limit was reached, else 0: the first that applies.
int exit_status(std::span<const CrosscheckRun> runs, bool bad_input);

}  // namespace lockstep
