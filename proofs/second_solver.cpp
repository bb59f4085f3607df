#include "proofs/second_solver.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "checker/support/solver_process.hpp"

namespace lockstep {

SecondSolver::SecondSolver(const std::string& command, double seconds, const std::atomic<bool>* interrupted)
    : command_{command}, seconds_(seconds), interrupted_(interrupted) {
  solver_version(command, "the second solver");
  // cvc5 instantiates by patterns alone unless told to go on; other solvers take the file as it is.
  if (std::filesystem::path(command).filename() == "cvc5") {
    command_.insert(command_.end(), {"--lang=smt2", "--full-saturate-quant",
                                     fmt::format("--tlimit={}", static_cast<long>(seconds * 1000))});
  }
}

SecondOpinion SecondSolver::ask(const std::string& file) const {
  std::vector<std::string> command = command_;
  command.push_back(std::filesystem::absolute(file).string());
  // A solver keeps its own limit of time; this one is for a solver that does not.
  const TemporaryFolder folder;
  const ProcessResult result = run_solver(command, folder.path(), seconds_ + 1, interrupted_);
  const std::string answer = result.output.substr(0, result.output.find('\n'));
  const bool timeout =
      result.end == ProcessResult::End::out_of_time || answer.find("timeout") != std::string::npos;
  if (answer == "unsat") return {SecondOpinion::Answer::unsat, {}};
  if (answer == "sat") return {SecondOpinion::Answer::sat, {}};
  if (timeout) return {SecondOpinion::Answer::unknown, "it ran out of time"};
  if (answer == "unknown") return {SecondOpinion::Answer::unknown, "it gave up"};
  if (result.end == ProcessResult::End::interrupted) return {SecondOpinion::Answer::unknown, "interrupted"};
  if (result.end == ProcessResult::End::crashed)
    return {SecondOpinion::Answer::failed, fmt::format("it was ended by signal {}", result.status)};
  return {SecondOpinion::Answer::failed,
          answer.empty() ? fmt::format("it ended with status {} and said nothing", result.status) : answer};
}

}  // namespace lockstep
