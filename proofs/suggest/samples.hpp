// What the questions of a vocabulary say in the states that the explorer reaches, and the clauses that hold
// in all of them.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <vector>

#include "checker/explore/explorer.hpp"
#include "proofs/suggest/vocabulary.hpp"

namespace lockstep::suggest {

struct SampleLimits {
  std::chrono::milliseconds time{20'000};
  std::size_t states = 1'000'000;
  std::size_t memory = std::size_t{4} << 30;  // bytes
  const std::atomic<bool>* interrupted = nullptr;
  std::function<void(const Progress&)> progress;
};

class Samples {
 public:
  // Explores the model, for half of the time if it has no end, and then walks through it.
  Samples(const Model& model, const Vocabulary& vocabulary, const SampleLimits& limits);

  [[nodiscard]] std::size_t states() const { return states_; }
  [[nodiscard]] bool complete() const { return complete_; }
  // Clauses of as few literals as possible, up to `most`, and then of as few variables, that hold in every
  // state and are false where the answers are one of these. Not many more than `limit` of them.
  [[nodiscard]] std::vector<Clause> excluding(const std::vector<Bits>& answers, std::size_t most,
                                              std::size_t limit) const;

 private:
  std::size_t states_ = 0;
  bool complete_ = false;
  // Different answers to the questions of some variables, all others being 0.
  struct View {
    Bits asked;
    std::vector<Bits> answers;
  };

  [[nodiscard]] std::vector<Clause> excluding(const std::vector<View>& views,
                                              const std::vector<Bits>& answers, std::size_t most,
                                              std::size_t limit) const;

  std::size_t atoms_;
  const std::atomic<bool>* interrupted_;
  std::vector<View> views_;          // of few variables first
  std::vector<View> views_of_some_;  // with questions of some member; less those that tell nothing new
};

}  // namespace lockstep::suggest
