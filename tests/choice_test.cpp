// What a protocol is declared with: index types in a line, and faults and variants by their names alone.

#include "spec/kernel/choice.hpp"

#include <catch2/catch.hpp>
#include <string_view>
#include <type_traits>

#include "spec/kernel/index.hpp"
#include "spec/memory/lab.hpp"
#include "spec/memory/write_through.hpp"

using namespace lockstep;

namespace {

struct NodeTag : Indices<"node", 8> {};
struct LinkSlot : Slots<"link-messages", 2> {};
struct Lease : Amounts<"lease", 31> {};
static_assert(IndexTag<NodeTag> && IndexTag<LinkSlot> && IndexTag<Lease>);
static_assert(std::is_empty_v<NodeTag>);

inline constexpr std::array faults{Fault{"one", ""}, Fault{"two", ""}, Fault{"three", ""}};
inline constexpr std::array variants{Variant{"default", ""}, Variant{"as-printed", ""}};
using Chosen = Choice<faults, variants>;

}  // namespace

TEST_CASE("an index type declared in a line says what one spelled out says") {
  CHECK(NodeTag::name == std::string_view("node"));
  CHECK(NodeTag::capacity == 8);
  CHECK((NodeTag::interchangeable && !NodeTag::fixed && !Amount<NodeTag>));
  CHECK(LinkSlot::name == std::string_view("link-messages"));
  CHECK((!LinkSlot::interchangeable && LinkSlot::fixed && !Amount<LinkSlot>));
  CHECK((!Lease::interchangeable && Lease::fixed && Amount<Lease>));
  CHECK((FixedIndices<"word", 4>::interchangeable && FixedIndices<"word", 4>::fixed));
  CHECK_FALSE(std::is_same_v<Slots<"a", 2>, Slots<"b", 2>>);
}

TEST_CASE("a fault is the bit at its place in the list, a variant its number") {
  const Chosen chosen{0b101, 1};
  CHECK(chosen.fault("one"));
  CHECK_FALSE(chosen.fault("two"));
  CHECK(chosen.fault("three"));
  CHECK(chosen.is("as-printed"));
  CHECK_FALSE(chosen.is("default"));
  CHECK_FALSE(Chosen{}.fault("one"));
  CHECK(Chosen{}.is("default"));
}

TEST_CASE("faults of the hierarchy behind a LAB come after its own") {
  for (std::size_t i = 0; i < lab::own_faults.size(); ++i)
    CHECK(lab::faults[i].name == lab::own_faults[i].name);
  constexpr NameIn<write_through::faults, lab::own_faults.size()> behind("acquire-keeps-l2");
  CHECK(lab::faults[behind.position].name == "acquire-keeps-l2");
  CHECK(write_through::faults[NameIn<write_through::faults>("acquire-keeps-l2").position].name ==
        "acquire-keeps-l2");
}
