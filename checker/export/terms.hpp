// Expressions as text, in a language of the other checkers. Murphi and Promela write them alike; a Language
// says where they differ:
//   equal, not_equal, and_, or_       its operators
//   choice(c, a, b), bits(op, a, b)   a conditional expression; and, or, exclusive or of words
//   variable(node)                    a parameter or local variable
//   constant(node), apply(node)
//   place(path)                       a field
//   quantifier(node), contains(node)
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "checker/export/names.hpp"
#include "checker/export/trees.hpp"
#include "spec/kernel/recorded.hpp"

namespace lockstep {

// What they have in common, in C's way where some differ.
struct Vocabulary {
  const recorded::WholeDescription* whole;
  const Names* names;

  [[nodiscard]] std::string constant(const recorded::Node& e) const {
    switch (e.type.sort) {
      case recorded::Sort::enumeration:
        return names->enumerator(e.type, e.text);
      case recorded::Sort::maybe:
        return names->none(e.type);
      default:
        return e.text.starts_with("-") ? "(" + e.text + ")" : e.text;
    }
  }
  [[nodiscard]] std::string variable(const recorded::Node& e) const { return names->variable(e.text); }
  [[nodiscard]] static std::string choice(const std::string& c, const std::string& a, const std::string& b) {
    return fmt::format("({} ? {} : {})", c, a, b);
  }
  [[nodiscard]] static std::string bits(recorded::Op op, const std::string& a, const std::string& b) {
    const std::string_view symbol = op == recorded::Op::bit_and  ? "&"
                                    : op == recorded::Op::bit_or ? "|"
                                                                 : "^";
    return fmt::format("(({}) {} ({}))", a, symbol, b);
  }
  // A step into a queue, or a question about how full it is. The language's `entry` is the slot that a
  // `contains` asks about.
  template <class Language>
  static std::string in_queue(const Step& step, const std::string& queue, const Language& language);
  // `call`: the application of a function to an argument, "{}({})".
  template <class Language>
  static std::string applied(const recorded::Node& e, const Language& language, std::string_view call);
};

inline bool is_binary(const recorded::Expression& e) {
  return e->op >= recorded::Op::and_ && e->op <= recorded::Op::multiply;
}

template <class Language>
std::string term(const recorded::Expression& e, const Language& language);

// An operand of a connective or comparison, in parentheses unless nobody could misread it.
template <class Language>
std::string operand(const recorded::Expression& e, recorded::Op parent, const Language& language) {
  using recorded::Op;
  const bool connects = parent == Op::and_ || parent == Op::or_;
  const bool bare =
      !is_binary(e) || (connects && (e->op == parent || (e->op >= Op::equal && e->op <= Op::less_equal)));
  return bare ? term(e, language) : "(" + term(e, language) + ")";
}

// To SPIN "!!" is an operator of its own.
inline std::string negated(const std::string& text, bool is_binary) {
  return is_binary || text.starts_with('!') ? "!(" + text + ")" : "!" + text;
}

template <class Language>
std::string term(const recorded::Expression& e, const Language& language) {
  using recorded::Op;
  const auto child = [&](std::size_t i) { return term(e->children[i], language); };
  const auto infix = [&](std::string_view symbol) {
    return fmt::format("{} {} {}", operand(e->children[0], e->op, language), symbol,
                       operand(e->children[1], e->op, language));
  };
  switch (e->op) {
    case Op::constant:
      return language.constant(*e);
    case Op::parameter:
    case Op::local:
      return language.variable(*e);
    case Op::read:
      return language.place(e->path);
    case Op::apply:
      return language.apply(*e);
    case Op::not_:
      return negated(child(0), is_binary(e->children[0]));
    case Op::and_:
      return infix(Language::and_);
    case Op::or_:
      return infix(Language::or_);
    case Op::equal:
      return infix(Language::equal);
    case Op::not_equal:
      return infix("!=");
    case Op::less:
      return infix("<");
    case Op::less_equal:
      return infix("<=");
    case Op::add:
      return infix("+");
    case Op::subtract:
      return infix("-");
    case Op::multiply:
      return infix("*");
    case Op::bit_and:
    case Op::bit_or:
    case Op::bit_xor:
      return language.bits(e->op, child(0), child(1));
    case Op::select:
      return language.choice(child(0), child(1), child(2));
    case Op::some:
      return fmt::format("({} + 1)", child(0));
    case Op::has:
      return fmt::format("({} != {})", child(0), "0");
    case Op::value_of:
      return fmt::format("({} - 1)", child(0));
    case Op::forall:
    case Op::exists:
    case Op::count:
      return language.quantifier(*e);
    case Op::contains:
      return language.contains(*e);
  }
  throw std::logic_error("an operator of no kind");
}

template <class Language>
std::string Vocabulary::applied(const recorded::Node& e, const Language& language, std::string_view call) {
  const recorded::RigidFunction* function = function_of(e, *language.whole);
  const std::string argument = term(e.children[0], language);
  if (function == nullptr) return argument;
  return fmt::format(fmt::runtime(call), language.names->function(*function), argument);
}

template <class Language>
std::string Vocabulary::in_queue(const Step& step, const std::string& queue, const Language& language) {
  switch (step.kind) {
    case Step::Kind::head:
      return queue + ".slots[0]";
    case Step::Kind::entry:
      return fmt::format("{}.slots[{}]", queue, language.entry);
    case Step::Kind::slot:
      return fmt::format("{}.slots[{}]", queue, step.slot);
    case Step::Kind::empty:
      return fmt::format("({}.count {} 0)", queue, Language::equal);
    case Step::Kind::full:
      return fmt::format("({}.count >= {})", queue, language.whole->extents.at(step.of->over.front()));
    case Step::Kind::lacks:
      return fmt::format("({}.count <= {})", queue, step.slot);
    default:
      throw std::logic_error("no step into a queue");
  }
}

// A conjunction over several lines where it is long for one; `break_` ends a line of it.
template <class Language>
std::string wrapped(const recorded::Expression& e, const Language& language, std::string_view break_) {
  constexpr std::size_t line_width = 100;
  const std::string whole = term(e, language);
  if (whole.size() <= line_width || e->op != recorded::Op::and_) return whole;
  std::vector<recorded::Expression> conjuncts{e};
  while (conjuncts.front()->op == recorded::Op::and_) {
    const recorded::Expression first = conjuncts.front();
    conjuncts.front() = first->children[1];
    conjuncts.insert(conjuncts.begin(), first->children[0]);
  }
  std::string text;
  for (const recorded::Expression& conjunct : conjuncts) {
    if (!text.empty()) text += fmt::format(" {}{}", Language::and_, break_);
    text += operand(conjunct, recorded::Op::and_, language);
  }
  return text;
}

}  // namespace lockstep
