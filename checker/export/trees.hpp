// What the printers of all languages ask of recorded trees: constants put in for variables, and a field's
// path taken apart by the state's declaration.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "spec/kernel/recorded.hpp"

namespace lockstep {

// Constants for variables: which member of its index type each stands for.
using Bindings = std::map<std::string, int>;

// The same expression with these constants in it, and what follows from them worked out: rigid functions,
// connectives and comparisons of constants.
recorded::Expression folded(const recorded::Expression& e, const Bindings& bindings,
                            const recorded::WholeDescription& whole);
recorded::Path folded(const recorded::Path& path, const Bindings& bindings,
                      const recorded::WholeDescription& whole);

// The rigid function that an application names; null where it takes a member of one index type for the one
// that stands at the same place of another.
const recorded::RigidFunction* function_of(const recorded::Node& apply,
                                           const recorded::WholeDescription& whole);

// A path, step by step. A queue is followed by which of its entries is meant, or by a question about how full
// it is.
struct Step {
  enum class Kind : std::uint8_t {
    field,  // of a record
    rows,   // a table's, nested tables taken together: one index for each of `over`
    head,
    message,  // the head that the rule has consumed
    entry,    // the one that a `contains` is asking about
    slot,     // number `slot`
    empty,
    full,
    lacks,  // there is no slot number `slot`
  };
  Kind kind = Kind::field;
  std::string name;
  std::vector<recorded::Expression> index;
  std::vector<std::string> over;
  int slot = 0;
  const recorded::Declaration* of = nullptr;  // the record, table or queue that is stepped into
};
struct Place {
  std::vector<Step> steps;
  const recorded::Declaration* declaration = nullptr;  // of what the path leads to; null for a question
};
Place place_of(const recorded::Path& path, const recorded::WholeDescription& whole);

// A table of tables as one table: its index types, and what its rows are.
struct Rows {
  std::vector<std::string> over;
  const recorded::Declaration* row = nullptr;
};
Rows rows_of(const recorded::Declaration& table);

// What a leaf holds before anything is written to it: the number nearest to 0, or the first of its members.
int default_of(const recorded::Declaration& leaf);

// The index type of which a maybe holds a member.
std::string index_of(const recorded::Type& maybe);

// The path of the queue that a field lies in, whether it is derived, and whether it is the head consumed.
bool is_derived(const recorded::Path& path, const recorded::WholeDescription& whole);

// "memory.port.pending": the field, whatever the index.
std::string field_of(const recorded::Path& path);

// Whether a rule changes what derived fields follow from.
bool touches_derived(const std::vector<recorded::Statement>& action, const recorded::WholeDescription& whole);

// The local variables that a block binds, with their types; and the loops' variables do not count.
struct Local {
  std::string name;
  recorded::Type type;
  bool operator==(const Local&) const = default;
};
void collect_locals(const std::vector<recorded::Statement>& block, std::vector<Local>& locals);

// Calls f(leaf's declaration, path) for every leaf of a row, in order; paths are as rows of pushes name them:
// "data(1)", "block".
void for_each_leaf_of(const recorded::Declaration& row, const std::string& path,
                      const recorded::WholeDescription& whole,
                      const std::function<void(const recorded::Declaration&, const std::string&)>& f);

// The same but for records that have no fields, which neither language has.
recorded::WholeDescription without_empty_records(recorded::WholeDescription whole);

}  // namespace lockstep
