#include "proofs/certificates/certifier.hpp"

#include <fmt/format.h>

#include <fstream>
#include <utility>

#include "checker/support/diagnostic.hpp"
#include "checker/support/digest.hpp"
#include "checker/support/process.hpp"
#include "checker/support/solver_process.hpp"
#include "proofs/certificates/refutation.hpp"

namespace lockstep {

namespace fs = std::filesystem;

namespace {

constexpr const char* command = "cadical";

// However long.
std::string whole(const fs::path& file) {
  std::string text(fs::file_size(file), '\0');
  std::ifstream in(file, std::ios::binary);
  if (!in.read(text.data(), static_cast<std::streamsize>(text.size())))
    throw BadInput(fmt::format("cannot read {}", file.string()));
  return text;
}

}  // namespace

Certifier::Certifier(fs::path folder, const std::atomic<bool>* interrupted)
    : folder_(fs::absolute(std::move(folder))), interrupted_(interrupted) {
  solver_ = "CaDiCaL " + solver_version(command, "the solver of certificates");
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) throw BadInput(fmt::format("cannot make the folder {}: {}", folder_.string(), error.message()));
}

Certificate Certifier::certify(const Encoded& encoded, const std::vector<std::string>& comments,
                               double seconds) const {
  using Status = Certificate::Status;
  Certificate made;
  made.clauses = encoded.clauses.size();
  made.name = digest(dimacs(encoded.clauses, {}));
  const fs::path proof = folder_ / (made.name + ".drat");
  made.found_before = fs::exists(proof);
  if (!made.found_before) {
    // Begun elsewhere: what lies in the folder is whole, whoever else looks for the same.
    const TemporaryFolder work;
    const std::string text = dimacs(encoded.clauses, comments);
    const fs::path clauses = work.path() / "clauses";
    const fs::path begun = work.path() / "proof";
    write_file(clauses, text);
    const ProcessResult answer = run_solver({command, "--quiet", clauses.string(), begun.string()},
                                            work.path(), seconds, interrupted_);
    constexpr int satisfiable = 10;
    constexpr int unsatisfiable = 20;
    if (answer.end != ProcessResult::End::exited || answer.status != unsatisfiable) {
      if (answer.end == ProcessResult::End::interrupted) {
        made.message = "interrupted";
      } else if (answer.end == ProcessResult::End::out_of_time) {
        made.message = fmt::format("{} ran out of time", solver_);
      } else if (answer.end == ProcessResult::End::exited && answer.status == satisfiable) {
        made.status = Status::satisfiable;
        made.message = "it rests on what clauses do not say: quantifiers, or whole numbers without a bound";
      } else {
        made.status = Status::failed;
        made.message =
            fmt::format("{} failed: it ended with {} {}", solver_,
                        answer.end == ProcessResult::End::crashed ? "signal" : "status", answer.status);
      }
      return made;
    }
    write_whole(folder_ / (made.name + ".cnf"), text);
    write_whole(proof, whole(begun));
  }
  const std::string steps = whole(proof);
  const Checked checked = check_refutation(encoded.clauses, steps);
  made.steps = checked.steps;
  made.bytes = steps.size();
  made.status = checked.refuted ? Status::checked : Status::failed;
  if (!checked.refuted)
    made.message =
        fmt::format("{} is no refutation: {}; without it another is looked for", proof.string(), checked.why);
  return made;
}

}  // namespace lockstep
