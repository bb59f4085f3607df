// Models in the cat language, as they were written (Alglave, Cousot and Maranget, "Syntax and semantics of
// the weak consistency model specification language cat", 2016): a tree with places, no meaning yet.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "spec/program/program.hpp"

namespace lockstep::cat {

enum class ExprKind : std::uint8_t {
  name,          // text
  tag,           // text, written 'text
  empty,         // 0: the empty relation
  universe,      // _
  explicit_set,  // {a, b}: the elements; none is the empty set
  tuple,         // (a, b)
  union_,        // two or more operands, as in all infix operators that associate
  intersection,
  difference,  // two operands
  sequence,    // two or more
  product,     // two: a * b of sets
  add,         // two: an element ++ a set
  complement,  // one, also below
  inverse,
  closure,    // r^+
  star,       // r^*
  maybe,      // r?
  identity,   // [S]
  apply,      // function, argument
  function,   // patterns in `bindings[0].pattern`, the body is the operand
  let,        // bindings, then the operand
  condition,  // of, then, else: `condition` says what of
  try_,       // first operand, or the second where a name of the first is unknown
  match,      // the operand is taken apart by `clauses`
};

struct Expr;

// A name, or a tuple of them.
struct Pattern {
  bool tuple = false;
  std::vector<std::string> names;
};

struct Binding {
  Pattern pattern;                  // what is bound; with parameters, the function's one name
  std::vector<Pattern> parameters;  // empty: not a function
  std::vector<Expr> body;           // one
  SourcePlace place;
};

// || {} -> e || x ++ s -> e || 'tag -> e || _ -> e
struct Clause {
  enum class Kind : std::uint8_t { empty, element, tag, otherwise };
  Kind kind = Kind::otherwise;
  std::string first;  // the element's name, or the tag
  std::string rest;   // the remaining set's name
  std::vector<Expr> body;
};

// What an `if` asks: a named variant, the equality or inclusion of two expressions.
struct Condition {
  enum class Kind : std::uint8_t { variant, equal, subset, not_, and_, or_ };
  Kind kind = Kind::variant;
  std::string variant;
  std::vector<Expr> sides;          // two
  std::vector<Condition> operands;  // of not_, and_, or_
};

struct Expr {
  ExprKind kind = ExprKind::empty;
  std::string text;
  std::vector<Expr> operands;
  std::vector<Binding> bindings;
  bool recursive = false;  // of let
  std::vector<Clause> clauses;
  std::vector<Condition> condition;
  SourcePlace place;
  std::size_t begin = 0;  // the expression as written, within its File's text
  std::size_t size = 0;
};

enum class CheckKind : std::uint8_t { acyclic, irreflexive, empty };
std::string_view word(CheckKind kind);

enum class StatementKind : std::uint8_t {
  let,
  check,
  show,  // names in `names`, or expressions with names
  unshow,
  include,    // names[0]: the file
  procedure,  // names[0], parameters, body
  call,       // names[0], operands
  forall,     // names[0] in operands[0]: body
  with,       // names[0] from operands[0]
  if_,        // condition, body, otherwise
  enum_,      // names[0]: the enumeration, then its tags
  ignored,    // what says nothing about executions
};

struct Statement {
  StatementKind kind = StatementKind::check;
  SourcePlace place;
  bool recursive = false;
  std::vector<Binding> bindings;
  CheckKind check = CheckKind::empty;
  bool negated = false;
  bool flag = false;  // where the check holds, the execution is flagged; it constrains nothing
  std::string label;  // after `as`, may be empty
  std::vector<std::string> names;
  std::vector<Pattern> parameters;
  std::vector<Expr> operands;
  std::vector<Condition> condition;
  std::vector<Statement> body;
  std::vector<Statement> otherwise;
};

struct File {
  std::string name;  // as the user named it, for messages
  std::string text;
  std::string title;  // the words before the first statement: "PTX", "C RC11"
  std::vector<Statement> statements;
};

// Throws BadInput with the place of the first error.
File parse(std::string text, std::string name);

}  // namespace lockstep::cat
