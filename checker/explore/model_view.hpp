// A model as another sees it: everything is the model's own but what a view overrides.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "checker/explore/model.hpp"

namespace lockstep {

class ModelView : public Model {
 public:
  // The model has to outlive its view.
  explicit ModelView(const Model& model) : model_(model) {}

  [[nodiscard]] unsigned state_bits() const override { return model_.state_bits(); }
  void initial(Successors& out) const override { model_.initial(out); }
  void expand(const std::uint64_t* state, Successors& out) const override { model_.expand(state, out); }
  [[nodiscard]] bool proper_end(const std::uint64_t* state) const override {
    return model_.proper_end(state);
  }
  [[nodiscard]] unsigned enabled_words() const override { return model_.enabled_words(); }
  [[nodiscard]] StateFacts facts(const std::uint64_t* state) const override { return model_.facts(state); }
  [[nodiscard]] Reductions reductions() const override { return model_.reductions(); }
  [[nodiscard]] const std::vector<RuleDescription>& rules() const override { return model_.rules(); }
  [[nodiscard]] const std::vector<std::string>& invariants() const override { return model_.invariants(); }
  [[nodiscard]] std::vector<ScalarBits> packed_scalars() const override { return model_.packed_scalars(); }
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> fields(
      const std::uint64_t* state) const override {
    return model_.fields(state);
  }
  [[nodiscard]] std::vector<NarratedStep> narrate(const std::uint64_t* state,
                                                  const Firing& firing) const override {
    return model_.narrate(state, firing);
  }
  [[nodiscard]] std::vector<NarratedStep> narrate_initial(std::size_t index) const override {
    return model_.narrate_initial(index);
  }

 protected:
  const Model& model_;
};

}  // namespace lockstep
