#include "checker/view/state_condition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <tao/pegtl.hpp>
#include <utility>

#include "checker/support/diagnostic.hpp"

namespace lockstep::view {

namespace {

namespace peg = tao::pegtl;

using Kind = StateCondition::Kind;
using Term = StateCondition::Term;

constexpr std::size_t deepest = 64;

// What the actions fill: terms in postfix order, operands taken from a stack.
struct Reading {
  std::vector<Term> terms;
  std::vector<std::size_t> stack;
  std::vector<std::pair<std::string, std::size_t>> fields;  // name and column, of each comparison
  std::size_t depth = 0;

  void add(Term term) {
    stack.push_back(terms.size());
    terms.push_back(std::move(term));
  }
  void join(Kind kind, std::size_t operands) {
    Term term;
    term.kind = kind;
    term.operands.assign(stack.end() - static_cast<std::ptrdiff_t>(operands), stack.end());
    stack.resize(stack.size() - operands);
    add(std::move(term));
  }
};

namespace grammar {

using peg::alnum;
using peg::eof;
using peg::identifier_first;
using peg::if_must;
using peg::keyword;
using peg::must;
using peg::not_one;
using peg::one;
using peg::plus;
using peg::seq;
using peg::sor;
using peg::space;
using peg::star;
using peg::success;

struct blanks : star<space> {};
struct disjunction;
struct field : seq<identifier_first, star<sor<alnum, one<'_', '.', '(', ')', ',', ':'>>>> {};
struct equal : sor<peg::two<'='>, one<'='>> {};
struct not_equal : peg::string<'!', '='> {};
struct less_equal : peg::string<'<', '='> {};
struct greater_equal : peg::string<'>', '='> {};
struct less : one<'<'> {};
struct greater : one<'>'> {};
struct comparison : sor<equal, not_equal, less_equal, greater_equal, less, greater> {};
struct value : plus<sor<alnum, one<'_', '-'>>> {};
struct compared : seq<field, blanks, must<comparison>, blanks, must<value>> {};
struct rule_text : plus<not_one<'"'>> {};
struct enabled : if_must<keyword<'e', 'n', 'a', 'b', 'l', 'e', 'd'>, blanks, one<'"'>, rule_text, one<'"'>> {
};
struct end_word : keyword<'e', 'n', 'd'> {};
struct deadlock_word : keyword<'d', 'e', 'a', 'd', 'l', 'o', 'c', 'k'> {};
struct violated_word : keyword<'v', 'i', 'o', 'l', 'a', 't', 'e', 'd'> {};
struct deeper : success {};
struct enclosed : if_must<seq<one<'('>, deeper>, blanks, disjunction, blanks, one<')'>> {};
struct unary;
struct negated : if_must<seq<one<'~'>, deeper>, blanks, unary> {};
struct unary : sor<negated, enclosed, enabled, end_word, deadlock_word, violated_word, compared> {};
struct and_tail : if_must<peg::string<'/', '\\'>, blanks, unary, blanks> {};
struct conjunction : seq<unary, blanks, star<and_tail>> {};
struct or_tail : if_must<peg::string<'\\', '/'>, blanks, conjunction> {};
struct disjunction : seq<conjunction, star<or_tail>> {};
struct whole : seq<blanks, must<disjunction>, blanks, must<eof>> {};

}  // namespace grammar

template <class Rule>
struct Action {};

template <>
struct Action<grammar::field> {
  template <class Input>
  static void apply(const Input& in, Reading& reading) {
    Term term;
    term.kind = Kind::compare;
    term.field = reading.fields.size();
    reading.fields.emplace_back(in.string(), in.position().column);
    reading.add(std::move(term));
  }
};
template <Comparison comparison>
struct Compares {
  static void apply0(Reading& reading) { reading.terms.back().comparison = comparison; }
};
template <>
struct Action<grammar::equal> : Compares<Comparison::equal> {};
template <>
struct Action<grammar::not_equal> : Compares<Comparison::not_equal> {};
template <>
struct Action<grammar::less_equal> : Compares<Comparison::less_equal> {};
template <>
struct Action<grammar::greater_equal> : Compares<Comparison::greater_equal> {};
template <>
struct Action<grammar::less> : Compares<Comparison::less> {};
template <>
struct Action<grammar::greater> : Compares<Comparison::greater> {};
template <>
struct Action<grammar::value> {
  template <class Input>
  static void apply(const Input& in, Reading& reading) {
    reading.terms.back().value = in.string();
  }
};
template <>
struct Action<grammar::rule_text> {
  template <class Input>
  static void apply(const Input& in, Reading& reading) {
    Term term;
    term.kind = Kind::enabled;
    term.value = in.string();
    reading.add(std::move(term));
  }
};
template <Kind kind>
struct Word {
  static void apply0(Reading& reading) {
    Term term;
    term.kind = kind;
    reading.add(std::move(term));
  }
};
template <>
struct Action<grammar::end_word> : Word<Kind::end> {};
template <>
struct Action<grammar::deadlock_word> : Word<Kind::deadlock> {};
template <>
struct Action<grammar::violated_word> : Word<Kind::violated> {};
template <Kind kind, std::size_t operands>
struct Joins {
  static void apply0(Reading& reading) { reading.join(kind, operands); }
};
template <>
struct Action<grammar::negated> : Joins<Kind::not_, 1> {};
template <>
struct Action<grammar::and_tail> : Joins<Kind::and_, 2> {};
template <>
struct Action<grammar::or_tail> : Joins<Kind::or_, 2> {};
template <>
struct Action<grammar::deeper> {
  static void apply0(Reading& reading) {
    if (++reading.depth > deepest) throw BadInput("the condition has too many parentheses and negations");
  }
};

BadInput unreadable(const std::string& text, std::size_t column) {
  return BadInput(Diagnostic{"condition",
                             {1, static_cast<int>(column)},
                             "this is no condition on a state",
                             "such as memory.stage(0) = idle /\\ ~enabled \"fill reaches L1\", or end",
                             text});
}

// A register by the names of a program's text, as a field of the threads' contexts.
std::optional<std::string> register_field(const std::string& name, const Program& program) {
  const std::size_t colon = name.find(':');
  if (colon == std::string::npos) return std::nullopt;
  for (std::size_t t = 0; t < program.threads.size(); ++t) {
    const Thread& thread = program.threads[t];
    if (thread.name != name.substr(0, colon)) continue;
    for (std::size_t r = 0; r < thread.registers.size(); ++r) {
      if (thread.registers[r] == name.substr(colon + 1))
        return fmt::format("context({}).registers({})", t, r);
    }
  }
  return std::nullopt;
}

using Fields = std::vector<std::pair<std::string, std::string>>;

Fields::const_iterator find_field(const std::string& name, const Fields& fields, const Program* program) {
  const auto find = [&](const std::string& path) {
    return std::find_if(fields.begin(), fields.end(), [&](const auto& field) { return field.first == path; });
  };
  const auto of_register = program == nullptr ? std::nullopt : register_field(name, *program);
  if (!of_register) return find(name);
  // Under a scheduler the threads are a part of the state.
  const auto plain = find(*of_register);
  return plain != fields.end() ? plain : find("machine." + *of_register);
}

BadInput unknown_field(const std::string& text, const std::string& name, std::size_t column,
                       const Fields& fields) {
  std::vector<std::string> names;
  names.reserve(fields.size());
  for (const auto& field : fields) names.push_back(field.first);
  const std::string near = nearest(name, names);
  return BadInput(
      Diagnostic{"condition",
                 {1, static_cast<int>(column)},
                 fmt::format("no field '{}'", name),
                 near.empty() ? "the state lists all fields" : fmt::format("did you mean '{}'?", near),
                 text});
}

std::optional<int> whole_number(const std::string& text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool compare(const std::string& left, Comparison comparison, const std::string& right) {
  const auto a = whole_number(left);
  const auto b = whole_number(right);
  const auto by = [&](const auto& x, const auto& y) {
    switch (comparison) {
      case Comparison::equal:
        return x == y;
      case Comparison::not_equal:
        return x != y;
      case Comparison::less:
        return x < y;
      case Comparison::less_equal:
        return x <= y;
      case Comparison::greater:
        return x > y;
      case Comparison::greater_equal:
        return x >= y;
    }
    return false;
  };
  if (a && b) return by(*a, *b);
  const bool ordered = comparison != Comparison::equal && comparison != Comparison::not_equal;
  return !ordered && by(left, right);
}

}  // namespace

StateCondition::StateCondition(const std::string& text,
                               const std::vector<std::pair<std::string, std::string>>& fields,
                               const Program* program) {
  Reading reading;
  try {
    peg::memory_input input(text, "condition");
    peg::parse<grammar::whole, Action>(input, reading);
  } catch (const peg::parse_error& error) {
    throw unreadable(text, error.positions().front().column);
  }
  std::vector<std::size_t> places;
  for (const auto& [name, column] : reading.fields) {
    const auto at = find_field(name, fields, program);
    if (at == fields.end()) throw unknown_field(text, name, column, fields);
    places.push_back(static_cast<std::size_t>(at - fields.begin()));
  }
  for (Term& term : reading.terms) {
    if (term.kind == Kind::compare) term.field = places[term.field];
  }
  terms_ = std::move(reading.terms);
  root_ = reading.stack.front();
}

bool StateCondition::holds(std::size_t index, const Situation& situation) const {
  const Term& term = terms_[index];
  switch (term.kind) {
    case Kind::and_:
      return holds(term.operands[0], situation) && holds(term.operands[1], situation);
    case Kind::or_:
      return holds(term.operands[0], situation) || holds(term.operands[1], situation);
    case Kind::not_:
      return !holds(term.operands[0], situation);
    case Kind::compare:
      return compare(situation.fields.at(term.field).second, term.comparison, term.value);
    case Kind::enabled:
      return std::any_of(situation.enabled.begin(), situation.enabled.end(), [&](const std::string* rule) {
        return rule->find(term.value) != std::string::npos;
      });
    case Kind::end:
      return situation.end;
    case Kind::deadlock:
      return situation.deadlock;
    case Kind::violated:
      return situation.violated;
  }
  return false;
}

}  // namespace lockstep::view
