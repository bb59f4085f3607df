// From a system's header and its lemmas to something that can be proved: the one template of the prover.
// Included by the translation unit of each system in proofs/systems only.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "proofs/obligations.hpp"
#include "proofs/prover.hpp"
#include "spec/program/client.hpp"

namespace lockstep {

// `make()` gives the system with its lemmas, read with Symbolic, within the current session; a system holds
// terms, so each session has one of its own. `explore(options)` gives the model with Concrete.
template <class System>
class CompiledProof final : public ProofSubject {
 public:
  using Make = std::function<System()>;
  using Explore = std::function<std::unique_ptr<Model>()>;
  using Sizes = typename System::Kind::Sizes;
  // `explored` are the sizes at which explore() builds its model.
  CompiledProof(Make make, Explore explore, const Sizes& explored, bool any_size,
                symbolic::Words words = symbolic::Words::bits)
      : make_(std::move(make)),
        explore_(std::move(explore)),
        words_(words),
        explored_sizes_(listed(explored)) {
    const symbolic::Session session(any_size, words);
    const System system = make_();
    using Kind = typename System::Kind;
    using State = typename System::State;
    RuleList<Kind, State> rules(system.kind());
    system.rules(rules);
    rules_ = rules.values().size();
    InvariantList<Kind, State> lemmas;
    system.invariants(lemmas);
    for (const auto& lemma : lemmas.values()) lemmas_.push_back({std::string(lemma.name)});
    sizes_ = listed(system.kind().sizes);
  }

  [[nodiscard]] const std::vector<ProofLemma>& lemmas() const override { return lemmas_; }
  [[nodiscard]] symbolic::Words words() const override { return words_; }
  [[nodiscard]] std::size_t rules() const override { return rules_; }
  [[nodiscard]] const std::vector<std::pair<std::string, int>>& sizes() const override { return sizes_; }
  void read(RuleVisitor& visitor) const override {
    const System system = make_();
    symbolic::ReadSystem<System>(system, visitor).read();
  }
  [[nodiscard]] std::unique_ptr<Model> model() const override { return explore_(); }
  [[nodiscard]] const std::vector<std::pair<std::string, int>>& explored_sizes() const override {
    return explored_sizes_;
  }

 private:
  // What a client may ask is no size that people think of.
  static std::vector<std::pair<std::string, int>> listed(Sizes sizes) {
    std::vector<std::pair<std::string, int>> list;
    sizes.visit([&]<class Tag>(Tag, int& size) {
      if (!std::is_same_v<Tag, ShapeTag> && !std::is_same_v<Tag, RegisterTag> &&
          !std::is_same_v<Tag, WorkGroupTag>)
        list.emplace_back(std::string(Tag::name), size);
    });
    return list;
  }

  Make make_;
  Explore explore_;
  symbolic::Words words_;
  std::size_t rules_ = 0;
  std::vector<ProofLemma> lemmas_;
  std::vector<std::pair<std::string, int>> sizes_;
  std::vector<std::pair<std::string, int>> explored_sizes_;
};

}  // namespace lockstep
