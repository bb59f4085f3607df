// The law that Lockstep stands on: every system is one header, and every kind reads every rule of it. A
// system that a kind cannot read fails to compile here, with the construct it lacks named by the compiler.
#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <vector>

#include "checker/systems/closed_system.hpp"
#include "checker/systems/registry.hpp"
#include "proofs/obligations.hpp"
#include "proofs/symbolic.hpp"
#include "refimpl/timed.hpp"
#include "spec/examples/german.hpp"
#include "spec/kernel/concrete.hpp"
#include "spec/kernel/kind.hpp"
#include "spec/kernel/recorded.hpp"
#include "spec/memory/cpcoh.hpp"
#include "spec/memory/halcone.hpp"
#include "spec/memory/lab.hpp"
#include "spec/memory/quick_release.hpp"
#include "spec/memory/sc.hpp"
#include "spec/memory/write_through.hpp"
#include "spec/program/client.hpp"

using namespace lockstep;

namespace {

using AnySizes = german::Info::Sizes<FullCapacities>;
static_assert(ValueKind<Concrete<AnySizes>>);
static_assert(ValueKind<Recorded<AnySizes>>);
static_assert(ValueKind<Symbolic<AnySizes>>);
static_assert(ValueKind<Timed<AnySizes>>);
static_assert(!ValueKind<AnySizes>);

// Names of the rules that were read, with a transition that can happen for each.
class Read final : public RuleVisitor {
 public:
  bool wants_start(std::size_t) override { return true; }
  bool wants_rule(std::size_t) override { return true; }
  void start(const ReadRule&) override { ++starts; }
  void rule(const ReadRule& rule) override {
    rules.insert(rule.name);
    if (rule.guard.is_false()) never.insert(rule.name);
  }
  std::size_t starts = 0;
  std::set<std::string> rules;
  std::set<std::string> never;
};

// The rules of a memory system with the most general client.
template <class Info>
void read_memory(bool any_size, int variant, Read& read) {
  const symbolic::Session session(any_size);
  using Sizes = ClientSizes<Info, FullCapacities>;
  using K = Symbolic<Sizes>;
  Sizes sizes;
  sizes.visit([]<class Tag>(Tag, int& size) {
    if (!std::is_same_v<Tag, ShapeTag>) size = std::min(size, 2);
  });
  Info::default_sizes(sizes, variant);
  const OpenSystem<Info, K> system(K(sizes), named_machine<K>(), 0, variant, Watch::nothing);
  symbolic::ReadSystem<OpenSystem<Info, K>>(system, read).read();
}

std::set<std::string> recorded_rules(const SystemEntry& entry, const Variant& variant) {
  SystemOptions options;
  options.variant = variant.name;
  std::set<std::string> names;
  for (const recorded::RecordedRule& rule : entry.describe(options).rules) names.insert(rule.name);
  return names;
}

template <class Info>
void check_memory() {
  const SystemEntry& entry = find_system(Info::name);
  for (std::size_t v = 0; v < entry.variants.size(); ++v) {
    const bool any_size = GENERATE(false, true);
    INFO(entry.name << "/" << entry.variants[v].name << (any_size ? " at any size" : ""));
    Read read;
    read_memory<Info>(any_size, static_cast<int>(v), read);
    std::set<std::string> expected = recorded_rules(entry, entry.variants[v]);
    expected.insert({"issues a request", "takes its completion"});
    CHECK(read.rules == expected);
    CHECK(read.never == std::set<std::string>{});
    CHECK(read.starts == 1);
  }
}

}  // namespace

TEST_CASE("the Symbolic kind reads every rule of sc") {
  check_memory<sc::Info>();
}
TEST_CASE("the Symbolic kind reads every rule of write-through") {
  check_memory<write_through::Info>();
}
TEST_CASE("the Symbolic kind reads every rule of quick-release, in every variant") {
  check_memory<quick_release::Info>();
}
TEST_CASE("the Symbolic kind reads every rule of lab, in every variant") {
  check_memory<lab::Info>();
}

TEST_CASE("the Symbolic kind reads every rule of halcone, in every variant") {
  check_memory<halcone::Info>();
}

TEST_CASE("the Symbolic kind reads every rule of cpcoh, in every variant") {
  using Sizes = cpcoh::Info::Sizes<FullCapacities>;
  using K = Symbolic<Sizes>;
  const SystemEntry& entry = find_system("cpcoh");
  for (const Variant& variant : entry.variants) {
    const bool any_size = GENERATE(false, true);
    INFO(variant.name << (any_size ? " at any size" : ""));
    const symbolic::Session session(any_size);
    Sizes sizes;
    cpcoh::Info::default_sizes(sizes, 0);
    sizes.set<cpcoh::LabelTag>(1);  // so that two labels are too many
    SystemOptions options;
    options.variant = variant.name;
    const auto protocol = closed_protocol<cpcoh::Info>(K(sizes), entry, options, PlaceByName{});
    Read read;
    symbolic::ReadSystem<cpcoh::Protocol<K>>(protocol, read).read();
    CHECK(read.rules == recorded_rules(entry, variant));
    CHECK(read.never == std::set<std::string>{});
    CHECK(read.starts == 1);
  }
}
TEST_CASE("the systems that are read here are the systems that there are") {
  std::set<std::string> names;
  for (const SystemEntry& entry : systems()) names.insert(std::string(entry.name));
  CHECK(names ==
        std::set<std::string>{"german", "sc", "write-through", "quick-release", "lab", "halcone", "cpcoh"});
}
