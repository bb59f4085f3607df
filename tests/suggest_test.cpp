// Lemmas that are found by machine: what they prove is proved, they hold in every state that is explored, and
// where none is to be found it is said.
#include "proofs/suggest/suggest.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "checker/support/diagnostic.hpp"
#include "checker/systems/registry.hpp"

using namespace lockstep;

namespace {

const std::vector<std::string> own_of_german{"an exclusive copy is the only copy",
                                             "memory is current unless a copy is exclusive",
                                             "every copy is current"};

std::unique_ptr<ProofSubject> german(int nodes, bool any_size = false,
                                     const std::vector<std::string>& faults = {}) {
  SystemOptions options;
  options.sizes = {{"node", nodes}};
  options.faults = faults;
  return find_proof("german").build(options, any_size);
}

suggest::Suggested of_german(const ProofSubject& subject, std::size_t literals = 5) {
  suggest::SuggestOptions options;
  options.targets = own_of_german;
  options.literals = literals;
  return suggest::suggest(subject, options);
}

}  // namespace

TEST_CASE("german is proved for any number of nodes from its properties alone") {
  const auto subject = german(3, true);
  const suggest::Suggested suggested = of_german(*subject);
  REQUIRE_FALSE(suggested.failed);
  CHECK(suggested.explored_all);
  CHECK(suggested.states == 58104);
  CHECK(suggested.lemmas.size() >= 3);
  CHECK(suggested.lemmas.size() <= suggested.found);
  ProveOptions options;
  options.any_size = true;
  const ProofResult result = prove(*with_lemmas(*subject, own_of_german, suggested, true), options);
  CHECK(result.proved());
  CHECK(result.lemmas.size() == own_of_german.size() + suggested.lemmas.size());
}

TEST_CASE("suggested lemmas are proved at a size, and none of them can be left out") {
  const auto subject = german(3);
  const suggest::Suggested suggested = of_german(*subject);
  REQUIRE_FALSE(suggested.failed);
  const auto proved = [&](const suggest::Suggested& some) {
    return prove(*with_lemmas(*subject, own_of_german, some, false), {}).proved();
  };
  CHECK(proved(suggested));
  for (std::size_t i = 0; i < suggested.lemmas.size(); i += 5) {
    suggest::Suggested fewer = suggested;
    fewer.lemmas.erase(fewer.lemmas.begin() + static_cast<std::ptrdiff_t>(i));
    INFO(suggested.vocabulary->text(suggested.lemmas[i]));
    CHECK_FALSE(proved(fewer));
  }
}

TEST_CASE(
    "the task machine is proved from its properties alone, with lemmas that say that some core is waited "
    "for") {
  const auto subject = find_proof("tvm").build({}, false);
  suggest::SuggestOptions options;
  const auto of_machine = find_system("tvm").describe({});
  for (const auto& property : of_machine.invariants) options.targets.push_back(property.name);
  const suggest::Suggested suggested = suggest::suggest(*subject, options);
  REQUIRE_FALSE(suggested.failed);
  const bool some = std::any_of(suggested.lemmas.begin(), suggested.lemmas.end(), [&](const auto& lemma) {
    return suggested.vocabulary->text(lemma).find("some core") != std::string::npos;
  });
  CHECK(some);
  CHECK(prove(*with_lemmas(*subject, options.targets, suggested, false), {}).proved());
}

TEST_CASE("where a clause of so few literals does not do, the state is shown") {
  const suggest::Suggested suggested = of_german(*german(3), 1);
  REQUIRE(suggested.failed);
  REQUIRE(suggested.failed->counterexample);
  CHECK_FALSE(suggested.failed->counterexample->fields.empty());
  CHECK_FALSE(suggested.failed->broken.empty());
}

TEST_CASE("nothing is suggested that a fault makes false") {
  const suggest::Suggested suggested = of_german(*german(2, false, {"forget-sharer"}));
  CHECK(suggested.failed);
}
