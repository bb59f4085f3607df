// A model of which, of all states that renamings turn into one another, one is visited.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "checker/explore/explorer.hpp"
#include "checker/explore/model_view.hpp"
#include "checker/symmetry/automorphisms.hpp"
#include "checker/symmetry/representatives.hpp"

namespace lockstep::symmetry {

class SymmetricModel final : public ModelView {
 public:
  // The model, which has to outlive this, of what is described. `wanted`: index types; none: all there are.
  // Throws BadInput where a type that is asked for is none, or its members are not interchangeable.
  SymmetricModel(const Model& model, const recorded::WholeDescription& whole,
                 const std::vector<std::string>& wanted);

  [[nodiscard]] const Automorphisms& automorphisms() const { return automorphisms_; }
  [[nodiscard]] const PackedLayout& layout() const { return layout_; }
  void initial(Successors& out) const override;
  void expand(const std::uint64_t* state, Successors& out) const override;
  // The same, and by which element each successor was renamed: an index into automorphisms().elements.
  void expand(const std::uint64_t* state, Successors& out, std::vector<std::uint32_t>& elements) const;
  // What stands for a state.
  [[nodiscard]] std::vector<std::uint64_t> representative(const std::uint64_t* state) const;

  // A run of the model itself that ends in a state which one of this model's stands for. Empty where none was
  // found: reductions may take another way from a state than from one that it stands for.
  [[nodiscard]] Trace run_of_model(const Trace& of_representatives) const;

 private:
  void represent(std::size_t first, Successors& out, std::vector<std::uint32_t>* elements) const;
  void look_at(const std::uint64_t* state, std::size_t first, const Successors& found,
               std::size_t number) const;

  std::vector<NotMeant> not_meant_;
  PackedLayout layout_;
  Automorphisms automorphisms_;
  Representatives representatives_;
};

}  // namespace lockstep::symmetry
