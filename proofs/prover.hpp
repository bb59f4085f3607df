// The prover: puts the obligations of a system to Z3, and to a second solver that has to agree.
//
// A lemma is proved when it holds at the start and every rule keeps it, given all lemmas before the rule: the
// lemmas stand and fall together. An obligation that fails comes with a counterexample to induction, two
// states and the rule between; the first of them need not be reachable.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checker/explore/model.hpp"
#include "checker/systems/registry.hpp"
#include "proofs/certificates/certifier.hpp"
#include "proofs/obligations.hpp"

namespace lockstep {

struct ProofLemma {
  std::string name;
  bool property = false;  // the system's own invariant, not a lemma that serves its proof
};

// A run that must exist, so that nothing is proved of a system in which nothing happens. The model's one
// invariant says that there is none.
struct SoughtRun {
  std::string name;
  std::unique_ptr<Model> model;
};

// The system on a small machine, with its lemmas as invariants.
struct ExploredMachine {
  std::string where;  // its sizes, and who sits where if that is not any
  std::unique_ptr<Model> model;
};

// A system that can be proved, at the sizes, variant and faults it was asked for.
class ProofSubject {
 public:
  ProofSubject() = default;
  ProofSubject(const ProofSubject&) = delete;
  ProofSubject& operator=(const ProofSubject&) = delete;
  virtual ~ProofSubject() = default;
  [[nodiscard]] virtual const std::vector<ProofLemma>& lemmas() const = 0;
  // By name.
  [[nodiscard]] virtual const std::vector<std::string>& rules() const = 0;
  // Of every index type, by name; a proof for any size does not look at those of open ones.
  [[nodiscard]] virtual const std::vector<std::pair<std::string, int>>& sizes() const = 0;
  // Of them, those that the proof is for and no other.
  [[nodiscard]] virtual const std::vector<std::pair<std::string, int>>& fixed_sizes() const = 0;
  // What the client may ask, for people; empty where the protocol is its own client.
  [[nodiscard]] virtual const std::string& client() const = 0;
  // What words of data are in its proof.
  [[nodiscard]] virtual symbolic::Words words() const { return symbolic::Words::bits; }
  // Reads the system's rules within the current session.
  virtual void read(RuleVisitor& visitor) const = 0;
  // Whether it is to be proved, too, that no rule overruns a queue or a range.
  [[nodiscard]] virtual bool judges_overruns() const { return true; }
  // Rules that a file beside the protocol claims may be taken at once; if there are some, `read_claims` reads
  // what makes that true, within the current session.
  [[nodiscard]] virtual std::vector<std::string> taken_at_once() const { return {}; }
  [[nodiscard]] virtual std::vector<std::string> left_for_later() const { return {}; }
  // Whether `read_claims` has something to read.
  [[nodiscard]] virtual bool has_claims() const {
    return !taken_at_once().empty() || !left_for_later().empty();
  }
  virtual void read_claims(ClaimVisitor&) const {}
  // What makes rules' trees say what is read of the rules, likewise.
  virtual void read_trees(ClaimVisitor&) const {}
  // The same system with its lemmas as invariants, for the explorer, at small sizes.
  // None where nothing is explored.
  [[nodiscard]] virtual std::unique_ptr<Model> model() const { return nullptr; }
  [[nodiscard]] virtual std::vector<std::pair<std::string, int>> explored_sizes() const { return {}; }
  // On what it is explored, one after the other: that model, unless there are several.
  [[nodiscard]] virtual std::vector<ExploredMachine> machines() const;
  [[nodiscard]] virtual std::vector<SoughtRun> runs_that_must_exist() const { return {}; }
};

struct ProofEntry {
  std::string_view system;
  std::string_view theorem;   // what the lemmas amount to, in a sentence
  std::string_view any_size;  // what "any size" covers; empty where it is not supported
  // Throws BadInput on options that do not fit.
  std::unique_ptr<ProofSubject> (*build)(const SystemOptions&, bool any_size) = nullptr;
};
std::span<const ProofEntry> proofs();
// Throws BadInput with the nearest name.
const ProofEntry& find_proof(std::string_view system);

// What is claimed beside a system's protocol (spec/kernel/at_once.hpp), as something to be proved; none where
// nothing is. Throws BadInput on options that do not fit.
std::unique_ptr<ProofSubject> claims_of(std::string_view system, const SystemOptions& options);

// What is promised at the port of a memory system until the first race (proofs/port_theorem.hpp), as
// something to be proved; none where no lemmas for it are written. Throws BadInput on options that do not
// fit.
std::unique_ptr<ProofSubject> theorem_of(std::string_view system, const SystemOptions& options);

// That a memory system which is left alone answers what it was asked (proofs/progress_system.hpp), likewise;
// none where what remains to be done is not written.
std::unique_ptr<ProofSubject> progress_of(std::string_view system, const SystemOptions& options,
                                          bool any_size);

// That the tree of each rule says what is read of it, as something to be proved: of the rule that the options
// change, that it is changed in no state at all.
std::unique_ptr<ProofSubject> proof_of_trees(std::unique_ptr<ProofSubject> subject);

enum class ProofStatus : std::uint8_t {
  proved,    // by Z3, and by the second solver where one was asked
  refuted,   // a counterexample to induction, or to the start
  vacuous,   // a lemma that says nothing, or a rule that the lemmas never let happen
  unknown,   // a solver gave up or ran out of time
  disagree,  // the solvers contradict each other
  error,     // a solver failed
  skipped,   // interrupted before
};
std::string_view word(ProofStatus status);

struct ProofField {
  std::string path;
  std::string before;
  std::string after;   // the same as before where the rule left it alone
  bool plain = false;  // at the default that most fields are at
};
struct CounterexampleToInduction {
  std::string rule;  // with its parameters
  std::vector<ProofField> fields;
};

struct Obligation {
  std::string rule;   // or "start"
  std::string lemma;  // or what a rule must not do
  ProofStatus status = ProofStatus::skipped;
  std::string message;
  double seconds = 0;
  double recheck_seconds = 0;
  std::string file;                // of its SMT-LIB text, where one was written
  bool by_reading = false;         // reading it left nothing to prove
  std::string certificate;         // the name of one that was checked
  std::string why_no_certificate;  // where one was asked for
  std::optional<CounterexampleToInduction> counterexample;
};

struct ProveOptions {
  bool any_size = false;
  unsigned threads = 0;       // 0: as many as the machine runs at once
  double seconds_each = 60;   // for one obligation in one solver
  bool from_scratch = false;  // each obligation is simplified and made bits of by itself, not after others
  std::string recheck;        // a second solver's command, "cvc5"; empty for none
  std::string smt_directory;  // where obligations are written; empty: only while rechecking, elsewhere
  std::string certificates;   // a folder for certificates of what is proved; empty for none
  std::vector<std::string> only;  // lemmas to prove (given all); empty for all
  std::string rule;               // of no other rule, nor of the start; empty for all
  bool check_vacuity = true;
  const std::atomic<bool>* interrupted = nullptr;
  std::function<void(std::size_t done, std::size_t planned)> on_progress;
};

struct ProofResult {
  std::vector<ProofLemma> lemmas;
  std::vector<Obligation> obligations;
  std::vector<Certificate> certificates;  // that were checked, each once
  std::string certifier;                  // which solver found them; empty: none was asked for
  double seconds = 0;
  bool interrupted = false;
  [[nodiscard]] bool proved() const;
  [[nodiscard]] std::size_t count(ProofStatus status) const;
};

// As for every command: 0, 1, 2 for a solver that failed, 3 for one that gave up, 130.
int exit_status(const ProofResult& result);

// Throws BadInput where the second solver is missing.
ProofResult prove(const ProofSubject& subject, const ProveOptions& options);

}  // namespace lockstep
