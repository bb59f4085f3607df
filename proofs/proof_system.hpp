// From a system's header and its lemmas to something that can be proved: the one template of the prover.
// Included by the translation unit of each system in proofs/systems only.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "proofs/obligations.hpp"
#include "proofs/prover.hpp"
#include "proofs/rule_tree.hpp"
#include "spec/program/client.hpp"

namespace lockstep {

// What a proof covers beside its sizes.
struct ProofCover {
  symbolic::Words words = symbolic::Words::bits;
  std::string client = {};               // what it may ask, for people
  std::vector<std::string> placed = {};  // sizes that say only where things are, which is any in a proof
  bool each_instance = false;            // obligations.hpp: easier for a solver, and more of them
  std::function<std::vector<SoughtRun>()> seek = {};
  std::function<std::vector<ExploredMachine>()> machines = {};  // if there are several
  std::function<void(ClaimVisitor&)> claims = {};               // besides that lemmas are kept
};

// Neither what a client may ask nor an amount is a number of things.
template <class Tag>
inline constexpr bool counts_things = !std::is_same_v<Tag, ShapeTag> && !Amount<Tag>;

// Two of everything: threads, CUs, agents, blocks, words a block.
template <class Sizes>
void machine_to_prove(Sizes& sizes) {
  sizes.visit([]<class Tag>(Tag, int& size) {
    if (counts_things<Tag>) size = std::min(2, size);
  });
}

// The sizes to tell people of: less what a memory system never sees, since registers and work-groups are a
// program's, and less those in `placed`.
template <class Sizes, class Chosen>
std::vector<std::pair<std::string, int>> sizes_to_tell(Sizes sizes, const std::vector<std::string>& placed,
                                                       Chosen&& chosen) {
  std::vector<std::pair<std::string, int>> list;
  sizes.visit([&]<class Tag>(Tag tag, int& size) {
    const std::string name(Tag::name);
    if (!std::is_same_v<Tag, ShapeTag> && !std::is_same_v<Tag, RegisterTag> &&
        !std::is_same_v<Tag, WorkGroupTag> && std::find(placed.begin(), placed.end(), name) == placed.end() &&
        chosen(tag))
      list.emplace_back(name, size);
  });
  return list;
}
template <class Sizes>
std::vector<std::pair<std::string, int>> sizes_to_tell(const Sizes& sizes) {
  return sizes_to_tell(sizes, {}, [](auto) { return true; });
}

// The trees that are read in the place of rules (rule_tree.hpp): those of rules that the options change, of
// all, or none.
enum class Trees : std::uint8_t { of_changed, of_all, of_none };

// Of a system at these sizes.
template <class Sizes>
RuleTrees rule_trees(const RuleTrees::Describe& describe, const SystemOptions& options, Sizes sizes,
                     Trees which) {
  if (which == Trees::of_none) return {};
  std::vector<std::pair<std::string, int>> named;
  sizes.visit([&]<class Tag>(Tag, int& size) {
    if (!std::is_same_v<Tag, ShapeTag>) named.emplace_back(Tag::name, size);
  });
  return RuleTrees(describe, options, named, which == Trees::of_all);
}

// `make(trees)` gives the system with its lemmas, read with Symbolic, within the current session; a system
// holds terms, so each session has one of its own. `explore(options)` gives the model with Concrete.
// `ExploredSizes` are those of the explorer's kind.
template <class System, class ExploredSizes = typename System::Kind::Sizes>
class CompiledProof final : public ProofSubject {
 public:
  using Make = std::function<System(Trees)>;
  using Explore = std::function<std::unique_ptr<Model>()>;
  // `explored` are the sizes at which explore() builds its model.
  CompiledProof(Make make, Explore explore, const ExploredSizes& explored, bool any_size,
                ProofCover cover = {})
      : make_(std::move(make)),
        explore_(std::move(explore)),
        words_(cover.words),
        client_(std::move(cover.client)),
        each_instance_(cover.each_instance),
        seek_(std::move(cover.seek)),
        machines_(std::move(cover.machines)),
        claims_(std::move(cover.claims)),
        explored_sizes_(sizes_to_tell(explored)) {
    const symbolic::Session session(any_size, words_);
    const System system = make_(Trees::of_changed);
    using Kind = typename System::Kind;
    using State = typename System::State;
    RuleList<Kind, State> rules(system.kind());
    system.rules(rules);
    for (const auto& rule : rules.values()) rules_.emplace_back(rule.rule.name);
    InvariantList<Kind, State> lemmas;
    system.invariants(lemmas);
    for (const auto& lemma : lemmas.values()) lemmas_.push_back({std::string(lemma.name)});
    const auto is_fixed = []<class Tag>(Tag) {
      return System::Kind::template domain<Tag>().kind != symbolic::Domain::Kind::any;
    };
    sizes_ = sizes_to_tell(system.kind().sizes, cover.placed, [](auto) { return true; });
    fixed_sizes_ = sizes_to_tell(system.kind().sizes, cover.placed, is_fixed);
  }

  [[nodiscard]] const std::vector<ProofLemma>& lemmas() const override { return lemmas_; }
  [[nodiscard]] symbolic::Words words() const override { return words_; }
  [[nodiscard]] const std::vector<std::string>& rules() const override { return rules_; }
  [[nodiscard]] const std::vector<std::pair<std::string, int>>& sizes() const override { return sizes_; }
  [[nodiscard]] const std::vector<std::pair<std::string, int>>& fixed_sizes() const override {
    return fixed_sizes_;
  }
  [[nodiscard]] const std::string& client() const override { return client_; }
  void read(RuleVisitor& visitor) const override {
    const System system = make_(Trees::of_changed);
    symbolic::ReadSystem<System>(system, visitor, each_instance_).read();
  }
  [[nodiscard]] bool has_claims() const override { return claims_ != nullptr; }
  void read_claims(ClaimVisitor& visitor) const override {
    if (claims_) claims_(visitor);
  }
  void read_trees(ClaimVisitor& visitor) const override {
    const System system = make_(Trees::of_none);
    const System from_trees = make_(Trees::of_all);
    symbolic::ReadTrees<System>(system, from_trees, visitor).read();
  }
  [[nodiscard]] std::unique_ptr<Model> model() const override { return explore_(); }
  [[nodiscard]] std::vector<ExploredMachine> machines() const override {
    return machines_ ? machines_() : ProofSubject::machines();
  }
  [[nodiscard]] std::vector<SoughtRun> runs_that_must_exist() const override {
    return seek_ ? seek_() : std::vector<SoughtRun>();
  }
  [[nodiscard]] std::vector<std::pair<std::string, int>> explored_sizes() const override {
    return explored_sizes_;
  }

 private:
  Make make_;
  Explore explore_;
  symbolic::Words words_;
  std::string client_;
  bool each_instance_;
  std::function<std::vector<SoughtRun>()> seek_;
  std::function<std::vector<ExploredMachine>()> machines_;
  std::function<void(ClaimVisitor&)> claims_;
  std::vector<std::string> rules_;
  std::vector<ProofLemma> lemmas_;
  std::vector<std::pair<std::string, int>> sizes_;
  std::vector<std::pair<std::string, int>> fixed_sizes_;
  std::vector<std::pair<std::string, int>> explored_sizes_;
};

}  // namespace lockstep
