// Certificates of obligations: refutations of their clauses that CaDiCaL finds, and that are checked by
// something small (refutation.hpp). What is trusted is that and the translation (encoder.hpp).
#pragma once

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "proofs/certificates/encoder.hpp"

namespace lockstep {

struct Certificate {
  enum class Status : std::uint8_t {
    checked,
    satisfiable,  // the clauses are; where they are exact, so is what they stand for
    open,         // the solver ran out of time, or was interrupted
    failed,       // there is no such refutation, or the solver failed
  };
  Status status = Status::open;
  std::string name;     // of its files, NAME.cnf and NAME.drat: the digest of its clauses
  std::string message;  // unless checked
  std::size_t clauses = 0;
  std::size_t steps = 0;
  std::size_t bytes = 0;  // of the refutation
  bool found_before = false;
};

// Keeps certificates in a folder. One that lies there is checked again; no solver is asked then.
class Certifier {
 public:
  // Throws BadInput where the solver is missing, or the folder cannot be made.
  Certifier(std::filesystem::path folder, const std::atomic<bool>* interrupted);
  [[nodiscard]] const std::string& solver() const { return solver_; }  // with its version
  // Several threads may ask at a time.
  [[nodiscard]] Certificate certify(const Encoded& encoded, const std::vector<std::string>& comments,
                                    double seconds) const;

 private:
  std::filesystem::path folder_;
  const std::atomic<bool>* interrupted_;
  std::string solver_;
};

}  // namespace lockstep
