// A cat model, compiled: a graph of operations on sets and relations of events, the checks on its results,
// and what is chosen freely. Nodes come in an order in which operands precede what uses them; equal nodes are
// one.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "checker/axiomatic/cat_syntax.hpp"
#include "checker/support/tags.hpp"

namespace lockstep::cat {

// What the events of an execution give without a definition (semantics.md, "Outcomes and verdicts").
enum class Base : std::uint8_t {
  // sets
  universe,
  reads,
  writes,
  memory,
  fences,
  barriers,
  initial,
  rmws,
  plain,
  atomic,
  relaxed,
  acquire,
  release,
  acq_rel,
  sc,
  scope_wave,
  scope_work_item,
  scope_wg,
  scope_agent,
  scope_system,
  global,
  local,
  non_atomic,
  entry,
  exit,
  host,
  generic,
  acquiring_reads,  // AArch64's A: any acquire but acquire_pc
  releasing_writes,
  acquire_accesses,  // RISC-V's annotations, which its fences don't carry
  release_accesses,
  sc_accesses,
  // what instructions say to models, in the order of Tag (checker/support/tags.hpp)
  first_tag,
  last_tag = first_tag + 51,
  // relations
  identity,
  po,
  rf,
  co,
  loc,
  address,
  internal,
  external,
  rmw,
  addr,
  data,
  ctrl,
  same_wave,
  same_wg,
  same_agent,
  same_subgroup,
  same_queue_family,
  system_synchronizes,
  inclusive,
  contains,
  syncbar,
  sync_fence,
  kernel,
  same_instruction,
  none
};
inline constexpr std::size_t base_count = static_cast<std::size_t>(Base::none) + 1;
constexpr Base base_of(Tag tag) {
  return static_cast<Base>(static_cast<int>(Base::first_tag) + static_cast<int>(tag));
}
static_assert(base_of(static_cast<Tag>(tag_count - 1)) == Base::last_tag);
constexpr bool is_set(Base base) {
  return base < Base::identity;
}

struct BaseName {
  std::string_view name;
  Base base = Base::none;
};
// All names, several for what dialects call differently ("WG" and "CTA").
const std::vector<BaseName>& base_names();

enum class Op : std::uint8_t {
  base,      // base
  constant,  // a: index into Plan::constants
  choice,    // a: index into Plan::choices
  variable,  // of a recursion, its value so far
  fixed,     // a: the variable, at the end of the recursion
  union_,    // a, b from here on
  intersection,
  difference,
  sequence,
  product,  // of sets
  complement,
  inverse,
  closure,
  star,
  maybe,
  to_identity,  // [S]
  domain,
  range,
  restrict_domain,  // [a]; b
  restrict_range,   // a; [b]
};

// What is chosen for an execution, in the order in which it is.
enum class Stage : std::uint8_t { fixed_by_events, coherence, reads_from, others };
inline constexpr std::size_t stage_count = 4;

struct Node {
  Op op = Op::base;
  Base base = Base::none;
  bool set = false;
  // By stage: grows with what is chosen at that stage and later, all that is chosen before being settled.
  std::uint8_t monotone = 0xF;
  bool antitone = true;  // shrinks with everything that is chosen; what nothing changes does both
  Stage stage = Stage::fixed_by_events;
  int a = -1;
  int b = -1;
  int recursion = -1;  // the recursion it is evaluated in, -1: none
};

// A set of mutually recursive definitions: their least fixpoint.
struct Recursion {
  std::vector<int> variables;
  std::vector<int> bodies;
  std::vector<int> nodes;  // in order
  int outer = -1;
  SourcePlace place;
  std::string name;
};

struct Check {
  CheckKind kind = CheckKind::empty;
  bool negated = false;
  bool flag = false;
  int node = -1;
  std::string label;  // as named, or the check as written
  std::string file;
  SourcePlace place;
};

struct Shown {
  int node = -1;
  std::string name;
};

// `with name from ...`
struct Choice {
  std::string name;
  // The linear orders of a set that include a relation; or else one of `constants`.
  bool linearisations = false;
  int elements = -1;
  int within = -1;
  std::vector<int> constants;
  bool is_coherence = false;  // takes the place of co, also for final values
};

// A step of evaluation: one node, or one recursion.
struct Step {
  int node = -1;
  int recursion = -1;
};

// The rows of a set (one row) or relation, for a known number of events.
struct Constant {
  bool set = false;
  std::vector<std::uint64_t> rows;
};

// What a definition calls a relation. One of the library is told as a whole, as `fr` is.
struct Name {
  std::string text;
  bool of_library = false;
};

// What a model may be told without being wrong.
struct Warning {
  std::string file;
  SourcePlace place;
  std::string message;
};

struct Plan {
  std::vector<Node> nodes;
  std::vector<Recursion> recursions;
  std::vector<Check> checks;
  std::vector<Shown> shown;
  std::vector<Choice> choices;
  std::vector<Constant> constants;
  std::vector<Warning> warnings;
  std::map<int, Name> names;  // of nodes that are relations: the first definition's
  // What must be evaluated when everything up to a stage has been chosen: for checks that hold or fail for
  // good while later choices only add (`early`), and for all (`late`).
  std::array<std::vector<Step>, stage_count> early;
  std::array<std::vector<Step>, stage_count> late;
  bool partial_coherence = false;
  bool uses_coherence = false;
  bool uses_fence_order = false;
};

// The nodes that have values once everything is chosen: of what checks, and what is shown, rest on.
std::set<int> evaluated(const Plan& plan);

// Whether a check that fails while a stage is being chosen has failed for good.
bool prunes(const Plan& plan, const Check& check, Stage stage);

}  // namespace lockstep::cat
