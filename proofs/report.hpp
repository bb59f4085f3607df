// How the prover's results read, for people and as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "proofs/prover.hpp"

namespace lockstep {

struct ProofTitle {
  std::string system;  // with variant and faults
  std::string theorem;
  std::string scope;                                    // "any number of nodes", or the sizes
  std::string solvers;                                  // "Z3", "Z3 and cvc5"
  std::vector<std::pair<std::string, int>> fixed = {};  // sizes that the proof is for and no other
  std::string client = {};                              // what it may ask, if it is not the protocol's own
};

// "word=2, link1-messages=2"
std::string sizes_text(const std::vector<std::pair<std::string, int>>& sizes);

// In lines of a report's width, those after the first indented; the first begins in a column.
std::string wrapped(const std::string& text, std::size_t indent, std::size_t column = 0);

// A line for each lemma, then what failed; every obligation on a line where `all`.
std::string proof_text(const ProofTitle& title, const ProofResult& result, bool all);
nlohmann::json proof_json(const ProofTitle& title, const ProofResult& result);

}  // namespace lockstep
