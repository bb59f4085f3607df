// The grammar of cat, in PEGTL, and the way from its parse tree to the syntax of cat_syntax.hpp.
//
// From the loosest: `|`, `++`, `;`, `\`, `&`, `*`, prefix `~`, postfix `^+ ^* ^-1 + * ?`, application. A `*`
// is a product where an operand follows and a closure where none does.
#include <algorithm>
#include <array>
#include <set>
#include <tao/pegtl.hpp>
#include <tao/pegtl/contrib/parse_tree.hpp>
#include <utility>

#include "checker/axiomatic/cat_syntax.hpp"
#include "checker/support/diagnostic.hpp"

namespace lockstep::cat {

namespace {

namespace peg = tao::pegtl;

constexpr std::size_t largest_text = std::size_t{1} << 20U;
constexpr int deepest_nesting = 200;

const std::set<std::string, std::less<>>& keywords() {
  static const std::set<std::string, std::less<>> words{
      "acyclic",   "and",  "as",      "begin",        "call",        "do",      "else",
      "empty",     "end",  "enum",    "flag",         "forall",      "from",    "fun",
      "if",        "in",   "include", "instructions", "irreflexive", "let",     "match",
      "procedure", "rec",  "show",    "subset",       "then",        "try",     "undefined_unless",
      "unshow",    "when", "with",    "unless",       "cut",         "default", "bell"};
  return words;
}

struct Where {
  int nesting = 0;
};

// What stood at a place and what was expected instead; the caller knows the file.
struct Unexpected {
  std::string expected;
  std::string hint;
  std::size_t byte = 0;
  SourcePlace place;
};

namespace grammar {

using peg::at;
using peg::eof;
using peg::must;
using peg::not_at;
using peg::one;
using peg::opt;
using peg::plus;
using peg::seq;
using peg::sor;
using peg::star;
using peg::string;

struct nested_comment {
  using rule_t = nested_comment;
  using subs_t = peg::empty_list;

  template <typename ParseInput, typename... States>
  static bool match(ParseInput& in, States&&...) {
    const std::string_view text(in.current(), in.size());
    int depth = 0;
    for (std::size_t i = 0; i + 1 < text.size(); ++i) {
      const std::string_view two = text.substr(i, 2);
      if (two != "(*" && two != "*)") continue;
      depth += two == "(*" ? 1 : -1;
      ++i;
      if (depth > 0) continue;
      in.bump(i + 1);
      return true;
    }
    return false;
  }
};
struct comment : seq<at<string<'(', '*'>>, must<nested_comment>> {};
struct line_comment : seq<sor<string<'/', '/'>, one<'#'>>, star<peg::not_one<'\n'>>> {};
struct ws : star<sor<plus<peg::space>, line_comment, comment>> {};

// Matches Rule one level deeper.
template <typename Rule>
struct deeper {
  using rule_t = deeper;
  using subs_t = peg::type_list<Rule>;

  template <peg::apply_mode A, peg::rewind_mode M, template <typename...> class Action,
            template <typename...> class Control, typename ParseInput, typename... States>
  static bool match(ParseInput& in, Where& where, States&&... states) {
    if (++where.nesting > deepest_nesting) {
      const auto position = in.position();
      throw Unexpected{"fewer than " + std::to_string(deepest_nesting) + " levels of nesting",
                       "",
                       position.byte,
                       {static_cast<int>(position.line), static_cast<int>(position.column)}};
    }
    const bool matched = Control<Rule>::template match<A, M, Action, Control>(in, where, states...);
    --where.nesting;
    return matched;
  }
};

struct word_first : sor<peg::alpha, one<'_'>> {};
struct word_other : sor<peg::alnum, one<'_', '.', '-'>> {};
struct word : seq<word_first, star<seq<not_at<string<'-', '>'>>, word_other>>, star<one<'\''>>> {};
template <char... letters>
struct keyword : seq<string<letters...>, not_at<word_other>, ws> {};
struct any_keyword {
  using rule_t = any_keyword;
  using subs_t = peg::empty_list;
  template <typename ParseInput, typename... States>
  static bool match(ParseInput& in, States&&...) {
    std::string_view text(in.current(), in.size());
    std::size_t length = 0;
    while (length < text.size() && (std::isalnum(static_cast<unsigned char>(text[length])) != 0 ||
                                    text[length] == '_' || text[length] == '.' || text[length] == '-')) {
      ++length;
    }
    if (keywords().find(text.substr(0, length)) == keywords().end()) return false;
    in.bump(length);
    return true;
  }
};

template <typename Rule>
struct token : seq<Rule, ws> {};
template <char... letters>
struct symbol : seq<string<letters...>, ws> {};

struct name : seq<not_at<any_keyword>, word> {};
struct universe : seq<one<'_'>, not_at<word_other>> {};
struct identifier : token<name> {};
struct tag : seq<one<'\''>, word> {};
struct empty_relation : seq<one<'0'>, not_at<word_other>> {};
struct quoted : seq<one<'"'>, star<peg::not_one<'"', '\n'>>, one<'"'>> {};

struct expression;
struct simple;

struct close_parenthesis : symbol<')'> {};
struct close_bracket : symbol<']'> {};
struct close_brace : symbol<'}'> {};
struct in_word : keyword<'i', 'n'> {};
struct end_word : keyword<'e', 'n', 'd'> {};
struct then_word : keyword<'t', 'h', 'e', 'n'> {};
struct else_word : keyword<'e', 'l', 's', 'e'> {};
struct with_word : keyword<'w', 'i', 't', 'h'> {};
struct from_word : keyword<'f', 'r', 'o', 'm'> {};
struct do_word : keyword<'d', 'o'> {};
struct arrow : symbol<'-', '>'> {};
struct equals : seq<one<'='>, not_at<one<'='>>, ws> {};

struct an_expression : deeper<expression> {};

struct parenthesised
    : seq<symbol<'('>, opt<an_expression, star<symbol<','>, must<an_expression>>>, must<close_parenthesis>> {
};
struct identity : seq<symbol<'['>, must<an_expression>, must<close_bracket>> {};
struct explicit_set
    : seq<symbol<'{'>, opt<an_expression, star<symbol<','>, must<an_expression>>>, must<close_brace>> {};

struct pattern_name : name {};
struct pattern : sor<seq<symbol<'('>, opt<token<pattern_name>, star<symbol<','>, must<token<pattern_name>>>>,
                         must<close_parenthesis>>,
                     token<pattern_name>> {};
struct parameters : plus<pattern> {};
struct bound : pattern {};
struct binding : seq<bound, opt<parameters>, must<equals>, must<an_expression>> {};
struct rec_word : keyword<'r', 'e', 'c'> {};
struct bindings
    : seq<keyword<'l', 'e', 't'>, opt<rec_word>, must<binding>, star<keyword<'a', 'n', 'd'>, must<binding>>> {
};
struct let_in : seq<bindings, must<in_word>, must<an_expression>> {};

struct function : seq<keyword<'f', 'u', 'n'>, must<pattern>, must<arrow>, must<an_expression>> {};
struct try_with : seq<keyword<'t', 'r', 'y'>, must<an_expression>, must<with_word>, must<an_expression>> {};

struct condition;
struct variant : quoted {};
struct subset_symbol : seq<string<'s', 'u', 'b', 's', 'e', 't'>, not_at<word_other>> {};
struct equal_symbol : one<'='> {};
struct comparison
    : seq<an_expression, must<sor<token<subset_symbol>, token<equal_symbol>>>, must<an_expression>> {};
struct negated_condition : seq<keyword<'n', 'o', 't'>, must<deeper<condition>>> {};
struct one_condition : sor<token<variant>, negated_condition, comparison> {};
struct and_condition : seq<one_condition, star<symbol<'&', '&'>, must<one_condition>>> {};
struct condition : seq<and_condition, star<symbol<'|', '|'>, must<and_condition>>> {};
struct a_condition : condition {};
struct if_then : seq<keyword<'i', 'f'>, must<a_condition>, must<then_word>, must<an_expression>,
                     must<else_word>, must<an_expression>> {};

struct empty_clause : seq<symbol<'{'>, symbol<'}'>> {};
struct element_clause : seq<identifier, symbol<'+', '+'>, identifier> {};
struct tag_clause : token<tag> {};
struct other_clause : token<universe> {};
struct clause_head : sor<empty_clause, element_clause, tag_clause, other_clause> {};
struct clause : seq<must<clause_head>, must<arrow>, must<an_expression>> {};
struct match_with : seq<keyword<'m', 'a', 't', 'c', 'h'>, must<an_expression>, must<with_word>,
                        opt<symbol<'|', '|'>>, clause, star<symbol<'|', '|'>, clause>, must<end_word>> {};
struct begin_end : seq<keyword<'b', 'e', 'g', 'i', 'n'>, must<an_expression>, must<end_word>> {};

// Only rules that leave no trace in the tree may stand inside at<>. A `let` after `*` begins the next
// statement.
struct name_start : seq<not_at<any_keyword>, word_first> {};
struct operand_start : sor<one<'(', '[', '{', '~', '\'', '0'>, name_start> {};
// `~empty r` after an expression begins the next statement.
struct check_word
    : sor<string<'a', 'c', 'y', 'c', 'l', 'i', 'c'>,
          string<'i', 'r', 'r', 'e', 'f', 'l', 'e', 'x', 'i', 'v', 'e'>, string<'e', 'm', 'p', 't', 'y'>> {};
struct negated_check : seq<one<'~'>, ws, check_word, not_at<word_other>> {};
struct operand_follows : seq<ws, not_at<negated_check>, operand_start> {};

struct simple : sor<parenthesised, identity, explicit_set, token<empty_relation>, token<universe>, token<tag>,
                    let_in, function, try_with, match_with, if_then, begin_end, identifier> {};
struct argument
    : sor<parenthesised, explicit_set, token<empty_relation>, token<universe>, token<tag>, identifier> {};
struct applied : seq<at<sor<name_start, one<'('>>>, simple, star<argument>> {};
struct atom : sor<applied, simple> {};

struct inverse_sign : seq<one<'^'>, ws, string<'-', '1'>> {};
struct plus_sign : sor<seq<one<'^'>, ws, one<'+'>>, seq<one<'+'>, not_at<one<'+'>>>> {};
struct star_sign : sor<seq<one<'^'>, ws, one<'*'>>, seq<one<'*'>, not_at<operand_follows>>> {};
struct maybe_sign : one<'?'> {};
struct postfix : seq<atom, star<token<sor<inverse_sign, plus_sign, star_sign, maybe_sign>>>> {};
struct tilde : one<'~'> {};
struct prefix : seq<star<token<tilde>>, postfix> {};
struct product : seq<prefix, star<symbol<'*'>, must<prefix>>> {};
struct intersection : seq<product, star<one<'&'>, not_at<one<'&'>>, ws, must<product>>> {};
struct difference : seq<intersection, star<symbol<'\\'>, must<intersection>>> {};
struct sequence : seq<difference, star<symbol<';'>, must<difference>>> {};
struct addition : seq<sequence, star<symbol<'+', '+'>, must<sequence>>> {};
struct union_ : seq<addition, star<one<'|'>, not_at<one<'|'>>, ws, must<addition>>> {};
struct expression : seq<union_> {};

// Statements.
struct label : sor<word, quoted> {};
struct as_label : seq<keyword<'a', 's'>, must<token<label>>> {};
struct flag_word : seq<string<'f', 'l', 'a', 'g'>, not_at<word_other>> {};
struct undefined_unless_word
    : seq<string<'u', 'n', 'd', 'e', 'f', 'i', 'n', 'e', 'd', '_', 'u', 'n', 'l', 'e', 's', 's'>,
          not_at<word_other>> {};
struct check_kind : seq<check_word, not_at<word_other>> {};
struct check : seq<opt<token<sor<flag_word, undefined_unless_word>>>, star<token<tilde>>, token<check_kind>,
                   must<an_expression>, opt<as_label>> {};
struct let_statement : bindings {};
struct show_word : seq<string<'s', 'h', 'o', 'w'>, not_at<word_other>> {};
struct unshow_word : seq<string<'u', 'n', 's', 'h', 'o', 'w'>, not_at<word_other>> {};
struct shown : seq<an_expression, opt<as_label>> {};
struct show : seq<token<show_word>, must<shown>, star<symbol<','>, must<shown>>> {};
struct unshow : seq<token<unshow_word>, must<identifier>, star<symbol<','>, must<identifier>>> {};
struct file_name : quoted {};
struct include : seq<keyword<'i', 'n', 'c', 'l', 'u', 'd', 'e'>, must<token<file_name>>> {};
struct statement;
struct some_statements : star<deeper<statement>> {};
struct procedure : seq<keyword<'p', 'r', 'o', 'c', 'e', 'd', 'u', 'r', 'e'>, must<identifier>, must<pattern>,
                       must<equals>, some_statements, must<end_word>> {};
struct call : seq<keyword<'c', 'a', 'l', 'l'>, must<identifier>, must<argument>, opt<as_label>> {};
struct for_all : seq<keyword<'f', 'o', 'r', 'a', 'l', 'l'>, must<identifier>, must<in_word>,
                     must<an_expression>, must<do_word>, some_statements, must<end_word>> {};
struct with_from : seq<with_word, must<identifier>, must<from_word>, must<an_expression>> {};
struct else_statements : some_statements {};
struct if_statement : seq<keyword<'i', 'f'>, must<a_condition>, opt<then_word>, some_statements,
                          opt<else_word, else_statements>, must<end_word>> {};
struct enum_statement
    : seq<keyword<'e', 'n', 'u', 'm'>, must<identifier>, must<equals>, opt<symbol<'|', '|'>>,
          must<token<tag>>, star<symbol<'|', '|'>, must<token<tag>>>> {};
struct instructions : seq<keyword<'i', 'n', 's', 't', 'r', 'u', 'c', 't', 'i', 'o', 'n', 's'>,
                          must<identifier>, must<argument>> {};
struct cut : seq<keyword<'c', 'u', 't'>, must<identifier>> {};
struct statement : sor<check, let_statement, show, unshow, include, procedure, call, for_all, with_from,
                       if_statement, enum_statement, instructions, cut> {};
struct title_word
    : sor<quoted, seq<not_at<any_keyword>, plus<sor<peg::alnum, one<'_', '.', '-', '+', ':', '/'>>>>> {};
struct title : star<not_at<any_keyword>, token<title_word>> {};
struct end_of_file : eof {};
struct file : seq<ws, title, star<statement>, must<end_of_file>> {};

}  // namespace grammar

struct Expectation {
  const char* what = nullptr;
  const char* hint = "";
};
template <typename Rule>
constexpr Expectation expectation{"something else", ""};
constexpr Expectation an_operand{"an expression", "such as rf, po & loc, [W] or (rf | co)+"};
template <>
constexpr Expectation expectation<grammar::nested_comment>{"a comment that ends", "close it with '*)'"};
template <>
constexpr Expectation expectation<grammar::an_expression> = an_operand;
template <>
constexpr Expectation expectation<grammar::prefix> = an_operand;
template <>
constexpr Expectation expectation<grammar::product> = an_operand;
template <>
constexpr Expectation expectation<grammar::intersection> = an_operand;
template <>
constexpr Expectation expectation<grammar::difference> = an_operand;
template <>
constexpr Expectation expectation<grammar::sequence> = an_operand;
template <>
constexpr Expectation expectation<grammar::addition> = an_operand;
template <>
constexpr Expectation expectation<grammar::shown> = an_operand;
template <>
constexpr Expectation expectation<grammar::argument>{"an argument", "such as (rf, co)"};
template <>
constexpr Expectation expectation<grammar::close_parenthesis>{"')' or an operator"};
template <>
constexpr Expectation expectation<grammar::close_bracket>{"']' or an operator"};
template <>
constexpr Expectation expectation<grammar::close_brace>{"'}', ',' or an operator"};
template <>
constexpr Expectation expectation<grammar::in_word>{"'in' or an operator"};
template <>
constexpr Expectation expectation<grammar::end_word>{"a statement, an operator or 'end'"};
template <>
constexpr Expectation expectation<grammar::then_word>{"'then'"};
template <>
constexpr Expectation expectation<grammar::else_word>{"'else' or an operator"};
template <>
constexpr Expectation expectation<grammar::with_word>{"'with' or an operator"};
template <>
constexpr Expectation expectation<grammar::from_word>{"'from'"};
template <>
constexpr Expectation expectation<grammar::do_word>{"'do' or an operator"};
template <>
constexpr Expectation expectation<grammar::arrow>{"'->'"};
template <>
constexpr Expectation expectation<grammar::equals>{"'='"};
template <>
constexpr Expectation expectation<grammar::binding>{"a definition", "such as let r = rf | co"};
template <>
constexpr Expectation expectation<grammar::pattern>{"a name, or names in parentheses"};
template <>
constexpr Expectation expectation<grammar::token<grammar::pattern_name>>{"a name"};
template <>
constexpr Expectation expectation<grammar::identifier>{"a name"};
template <>
constexpr Expectation expectation<grammar::token<grammar::label>>{"a name after 'as'"};
template <>
constexpr Expectation expectation<grammar::token<grammar::file_name>>{"the name of a file in quotes"};
template <>
constexpr Expectation expectation<grammar::token<grammar::tag>>{"a tag", "such as 'acquire"};
template <>
constexpr Expectation expectation<grammar::clause_head>{"{}, x ++ s, a tag or _",
                                                        "as in match S with || {} -> e || x ++ s -> e end"};
template <>
constexpr Expectation expectation<grammar::a_condition>{"a condition",
                                                        "\"variant\", e1 = e2 or e1 subset e2"};
template <>
constexpr Expectation expectation<grammar::one_condition> = expectation<grammar::a_condition>;
template <>
constexpr Expectation expectation<grammar::and_condition> = expectation<grammar::a_condition>;
template <>
constexpr Expectation expectation<grammar::deeper<grammar::condition>> = expectation<grammar::a_condition>;
template <>
constexpr Expectation
    expectation<grammar::sor<grammar::token<grammar::subset_symbol>, grammar::token<grammar::equal_symbol>>>{
        "'=' or 'subset'"};
template <>
constexpr Expectation expectation<grammar::end_of_file>{
    "a statement or an operator",
    "statements begin with let, acyclic, irreflexive, empty, flag, show, include, procedure, call, with, if"};

template <typename Rule>
struct Control : peg::normal<Rule> {
  template <typename ParseInput, typename... States>
  [[noreturn]] static void raise(const ParseInput& in, States&&...) {
    const auto position = in.position();
    throw Unexpected{expectation<Rule>.what,
                     expectation<Rule>.hint,
                     position.byte,
                     {static_cast<int>(position.line), static_cast<int>(position.column)}};
  }
};

// ---- the parse tree ----

template <typename Rule>
using Selector = peg::parse_tree::selector<
    Rule,
    peg::parse_tree::store_content::on<
        grammar::name, grammar::universe, grammar::tag, grammar::empty_relation, grammar::pattern_name,
        grammar::inverse_sign, grammar::plus_sign, grammar::star_sign, grammar::maybe_sign, grammar::tilde,
        grammar::check_kind, grammar::flag_word, grammar::undefined_unless_word, grammar::label,
        grammar::file_name, grammar::title_word, grammar::variant, grammar::subset_symbol,
        grammar::equal_symbol, grammar::rec_word, grammar::parenthesised, grammar::identity,
        grammar::explicit_set, grammar::pattern, grammar::parameters, grammar::bound, grammar::binding,
        grammar::let_in, grammar::let_statement, grammar::function, grammar::try_with, grammar::if_then,
        grammar::comparison, grammar::negated_condition, grammar::and_condition, grammar::a_condition,
        grammar::match_with, grammar::clause, grammar::empty_clause, grammar::element_clause,
        grammar::tag_clause, grammar::other_clause, grammar::applied, grammar::check, grammar::show,
        grammar::shown, grammar::as_label, grammar::unshow, grammar::include, grammar::procedure,
        grammar::call, grammar::for_all, grammar::with_from, grammar::some_statements,
        grammar::else_statements, grammar::if_statement, grammar::enum_statement, grammar::instructions,
        grammar::cut, grammar::title>,
    peg::parse_tree::fold_one::on<grammar::postfix, grammar::prefix, grammar::product, grammar::intersection,
                                  grammar::difference, grammar::sequence, grammar::addition,
                                  grammar::union_>>;

using Node = peg::parse_tree::node;

// ---- from the tree to the syntax ----

class Reader {
 public:
  explicit Reader(const std::string& text) : text_(text) {}

  std::vector<Statement> statements(const Node& parent) {
    std::vector<Statement> all;
    for (const auto& child : parent.children) {
      if (!child->is_type<grammar::title>()) all.push_back(statement(*child));
    }
    return all;
  }

 private:
  static SourcePlace place(const Node& node) {
    return {static_cast<int>(node.begin().line), static_cast<int>(node.begin().column)};
  }
  static std::string text(const Node& node) { return node.string(); }
  static std::string unquoted(const Node& node) {
    std::string text = node.string();
    if (text.size() >= 2 && text.front() == '"') text = text.substr(1, text.size() - 2);
    return text;
  }
  static const Node& child(const Node& node, std::size_t i) { return *node.children.at(i); }

  // A node that was folded has no end of its own.
  static std::size_t end_of(const Node& node) {
    return node.has_content() || node.children.empty() ? node.end().byte : end_of(*node.children.back());
  }

  Expr make(ExprKind kind, const Node& node) {
    Expr e;
    e.kind = kind;
    e.place = place(node);
    e.begin = node.begin().byte;
    e.size = end_of(node) - e.begin;
    while (e.size > 0 && std::isspace(static_cast<unsigned char>(text_[e.begin + e.size - 1])) != 0) --e.size;
    return e;
  }
  // One that spans two others.
  Expr spanning(ExprKind kind, Expr first, Expr last) {
    Expr e;
    e.kind = kind;
    e.place = first.place;
    e.begin = first.begin;
    e.size = last.begin + last.size - first.begin;
    e.operands.push_back(std::move(first));
    e.operands.push_back(std::move(last));
    return e;
  }
  Expr all_of(ExprKind kind, const Node& node) {
    Expr e = make(kind, node);
    for (const auto& one : node.children) e.operands.push_back(expression(*one));
    return e;
  }

  Expr expression(const Node& node) {
    if (node.is_type<grammar::name>()) return named(ExprKind::name, node, node.string());
    if (node.is_type<grammar::universe>()) return make(ExprKind::universe, node);
    if (node.is_type<grammar::tag>()) return named(ExprKind::tag, node, node.string().substr(1));
    if (node.is_type<grammar::empty_relation>()) return make(ExprKind::empty, node);
    if (node.is_type<grammar::parenthesised>()) {
      if (node.children.size() == 1) return expression(child(node, 0));
      return all_of(ExprKind::tuple, node);
    }
    if (node.is_type<grammar::identity>()) return all_of(ExprKind::identity, node);
    if (node.is_type<grammar::explicit_set>()) return all_of(ExprKind::explicit_set, node);
    if (node.is_type<grammar::union_>()) return all_of(ExprKind::union_, node);
    if (node.is_type<grammar::intersection>()) return all_of(ExprKind::intersection, node);
    if (node.is_type<grammar::sequence>()) return all_of(ExprKind::sequence, node);
    if (node.is_type<grammar::product>()) return to_the_left(ExprKind::product, node);
    if (node.is_type<grammar::difference>()) return to_the_left(ExprKind::difference, node);
    if (node.is_type<grammar::addition>()) return additions(node, 0);
    if (node.is_type<grammar::prefix>()) return prefixed(node);
    if (node.is_type<grammar::postfix>()) return postfixed(node);
    if (node.is_type<grammar::applied>()) return to_the_left(ExprKind::apply, node);
    if (node.is_type<grammar::let_in>()) return let_in(node);
    if (node.is_type<grammar::function>()) return function(node);
    if (node.is_type<grammar::try_with>()) return all_of(ExprKind::try_, node);
    if (node.is_type<grammar::if_then>()) return if_then(node);
    if (node.is_type<grammar::match_with>()) return match(node);
    throw std::logic_error("cat: no such expression: " + std::string(node.type));
  }

  Expr named(ExprKind kind, const Node& node, std::string text) {
    Expr e = make(kind, node);
    e.text = std::move(text);
    return e;
  }
  Expr to_the_left(ExprKind kind, const Node& node) {
    Expr e = expression(child(node, 0));
    for (std::size_t i = 1; i < node.children.size(); ++i) {
      e = spanning(kind, std::move(e), expression(child(node, i)));
    }
    return e;
  }
  Expr additions(const Node& node, std::size_t first) {
    Expr e = expression(child(node, first));
    if (first + 1 == node.children.size()) return e;
    return spanning(ExprKind::add, std::move(e), additions(node, first + 1));
  }
  Expr prefixed(const Node& node) {
    Expr e = expression(*node.children.back());
    for (std::size_t i = 1; i < node.children.size(); ++i) {
      Expr outer = make(ExprKind::complement, node);
      outer.operands.push_back(std::move(e));
      e = std::move(outer);
    }
    return e;
  }
  Expr postfixed(const Node& node) {
    Expr e = expression(child(node, 0));
    for (std::size_t i = 1; i < node.children.size(); ++i) {
      const Node& sign = child(node, i);
      Expr outer = make(sign.is_type<grammar::inverse_sign>() ? ExprKind::inverse
                        : sign.is_type<grammar::plus_sign>()  ? ExprKind::closure
                        : sign.is_type<grammar::star_sign>()  ? ExprKind::star
                                                              : ExprKind::maybe,
                        node);
      outer.operands.push_back(std::move(e));
      e = std::move(outer);
    }
    return e;
  }

  static Pattern pattern(const Node& node) {
    Pattern p;
    p.tuple = node.string_view().front() == '(';
    for (const auto& one : node.children) p.names.push_back(one->string());
    return p;
  }
  Binding binding(const Node& node) {
    Binding b;
    b.place = place(node);
    b.pattern = pattern(child(node, 0));
    if (child(node, 1).is_type<grammar::parameters>()) {
      for (const auto& one : child(node, 1).children) b.parameters.push_back(pattern(*one));
    }
    b.body.push_back(expression(*node.children.back()));
    return b;
  }
  // Takes the bindings at the start of the node's children; says how many children they were.
  std::size_t bindings(const Node& node, std::vector<Binding>& out, bool& recursive) {
    std::size_t i = 0;
    for (; i < node.children.size(); ++i) {
      const Node& one = child(node, i);
      if (one.is_type<grammar::rec_word>()) {
        recursive = true;
      } else if (one.is_type<grammar::binding>()) {
        out.push_back(binding(one));
      } else {
        break;
      }
    }
    return i;
  }
  Expr let_in(const Node& node) {
    Expr e = make(ExprKind::let, node);
    const std::size_t body = bindings(node, e.bindings, e.recursive);
    e.operands.push_back(expression(child(node, body)));
    return e;
  }
  Expr function(const Node& node) {
    Expr e = make(ExprKind::function, node);
    Binding b;
    b.parameters.push_back(pattern(child(node, 0)));
    e.bindings.push_back(std::move(b));
    e.operands.push_back(expression(child(node, 1)));
    return e;
  }
  Expr if_then(const Node& node) {
    Expr e = make(ExprKind::condition, node);
    e.condition.push_back(condition(child(node, 0)));
    e.operands.push_back(expression(child(node, 1)));
    e.operands.push_back(expression(child(node, 2)));
    return e;
  }
  Condition condition(const Node& node) {
    Condition c;
    if (node.is_type<grammar::variant>()) {
      c.variant = unquoted(node);
    } else if (node.is_type<grammar::negated_condition>()) {
      c.kind = Condition::Kind::not_;
      c.operands.push_back(joined(node));
    } else if (node.is_type<grammar::comparison>()) {
      c.kind =
          child(node, 1).is_type<grammar::subset_symbol>() ? Condition::Kind::subset : Condition::Kind::equal;
      c.sides.push_back(expression(child(node, 0)));
      c.sides.push_back(expression(child(node, 2)));
    } else {
      return joined(node);
    }
    return c;
  }
  // The conditions below a node; of `and` nodes any holds, of others all do.
  Condition joined(const Node& node) {
    if (node.children.size() == 1) return condition(child(node, 0));
    Condition c;
    c.kind = node.is_type<grammar::and_condition>() ? Condition::Kind::and_ : Condition::Kind::or_;
    for (const auto& one : node.children) c.operands.push_back(condition(*one));
    return c;
  }
  Expr match(const Node& node) {
    Expr e = make(ExprKind::match, node);
    e.operands.push_back(expression(child(node, 0)));
    for (std::size_t i = 1; i < node.children.size(); ++i) {
      const Node& one = child(node, i);
      const Node& head = child(one, 0);
      Clause c;
      if (head.is_type<grammar::empty_clause>()) {
        c.kind = Clause::Kind::empty;
      } else if (head.is_type<grammar::element_clause>()) {
        c.kind = Clause::Kind::element;
        c.first = child(head, 0).string();
        c.rest = child(head, 1).string();
      } else if (head.is_type<grammar::tag_clause>()) {
        c.kind = Clause::Kind::tag;
        c.first = child(head, 0).string().substr(1);
      }
      c.body.push_back(expression(child(one, 1)));
      e.clauses.push_back(std::move(c));
    }
    return e;
  }

  Statement statement(const Node& node) {
    Statement s;
    s.place = place(node);
    if (node.is_type<grammar::check>()) return check(node, std::move(s));
    if (node.is_type<grammar::let_statement>()) {
      s.kind = StatementKind::let;
      bindings(node, s.bindings, s.recursive);
    } else if (node.is_type<grammar::show>()) {
      s.kind = StatementKind::show;
      for (const auto& one : node.children) {
        s.operands.push_back(expression(child(*one, 0)));
        const Expr& shown = s.operands.back();
        s.names.push_back(one->children.size() > 1 ? label(child(*one, 1))
                                                   : text_.substr(shown.begin, shown.size));
      }
    } else if (node.is_type<grammar::unshow>()) {
      s.kind = StatementKind::unshow;
      for (const auto& one : node.children) s.names.push_back(one->string());
    } else if (node.is_type<grammar::include>()) {
      s.kind = StatementKind::include;
      s.names.push_back(unquoted(child(node, 0)));
    } else if (node.is_type<grammar::procedure>()) {
      s.kind = StatementKind::procedure;
      s.names.push_back(child(node, 0).string());
      s.parameters.push_back(pattern(child(node, 1)));
      s.body = statements(child(node, 2));
    } else if (node.is_type<grammar::call>()) {
      s.kind = StatementKind::call;
      s.names.push_back(child(node, 0).string());
      s.operands.push_back(expression(child(node, 1)));
      if (node.children.size() > 2) s.label = label(child(node, 2));
    } else if (node.is_type<grammar::for_all>()) {
      s.kind = StatementKind::forall;
      s.names.push_back(child(node, 0).string());
      s.operands.push_back(expression(child(node, 1)));
      s.body = statements(child(node, 2));
    } else if (node.is_type<grammar::with_from>()) {
      s.kind = StatementKind::with;
      s.names.push_back(child(node, 0).string());
      s.operands.push_back(expression(child(node, 1)));
    } else if (node.is_type<grammar::if_statement>()) {
      s.kind = StatementKind::if_;
      s.condition.push_back(condition(child(node, 0)));
      s.body = statements(child(node, 1));
      if (node.children.size() > 2) s.otherwise = statements(child(node, 2));
    } else if (node.is_type<grammar::enum_statement>()) {
      s.kind = StatementKind::enum_;
      for (const auto& one : node.children) {
        s.names.push_back(one->is_type<grammar::tag>() ? one->string().substr(1) : one->string());
      }
    } else {
      s.kind = StatementKind::ignored;
    }
    return s;
  }
  static std::string label(const Node& as) { return unquoted(child(as, 0)); }

  Statement check(const Node& node, Statement s) {
    s.kind = StatementKind::check;
    bool undefined_unless = false;
    for (const auto& one : node.children) {
      if (one->is_type<grammar::flag_word>()) {
        s.flag = true;
      } else if (one->is_type<grammar::undefined_unless_word>()) {
        s.flag = undefined_unless = true;
      } else if (one->is_type<grammar::tilde>()) {
        s.negated = !s.negated;
      } else if (one->is_type<grammar::check_kind>()) {
        const std::string word = one->string();
        s.check = word == "acyclic" ? CheckKind::acyclic
                  : word == "empty" ? CheckKind::empty
                                    : CheckKind::irreflexive;
      } else if (one->is_type<grammar::as_label>()) {
        s.label = label(*one);
      } else {
        s.operands.push_back(expression(*one));
      }
    }
    // What is undefined unless a check holds is flagged where it does not.
    if (undefined_unless) s.negated = !s.negated;
    return s;
  }

  const std::string& text_;
};

std::string found_at(const std::string& text, std::size_t byte) {
  if (byte >= text.size()) return "the end of the file";
  std::size_t end = byte;
  while (end < text.size() && end - byte < 40 &&
         (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_' || text[end] == '-')) {
    ++end;
  }
  if (end == byte) {
    const auto c = static_cast<unsigned char>(text[byte]);
    if (c < 0x20 || c >= 0x7F) return "a character that cat does not have";
    ++end;
  }
  return "'" + text.substr(byte, end - byte) + "'";
}

}  // namespace

std::string_view word(CheckKind kind) {
  constexpr std::array<std::string_view, 3> words{"acyclic", "irreflexive", "empty"};
  return words.at(static_cast<std::size_t>(kind));
}

File parse(std::string text, std::string name) {
  File file{std::move(name), std::move(text), {}, {}};
  const auto refuse = [&](SourcePlace place, std::string message, std::string hint = {}) {
    throw BadInput(
        Diagnostic{file.name, place, std::move(message), std::move(hint), line_of(file.text, place.line)});
  };
  if (file.text.size() > largest_text) refuse({}, "the file is larger than 1 MiB");
  if (file.text.find('\0') != std::string::npos) refuse({}, "not a text file: it has a NUL byte");
  if (std::all_of(file.text.begin(), file.text.end(),
                  [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; })) {
    refuse({}, "the model is empty");
  }
  peg::memory_input<peg::tracking_mode::eager, peg::eol::lf_crlf, const char*> in(
      file.text.data(), file.text.data() + file.text.size(), "");
  Where where;
  try {
    const auto root = peg::parse_tree::parse<grammar::file, Selector, peg::nothing, Control>(in, where);
    if (!root) throw std::logic_error("the cat grammar gave up without naming an error");
    for (const auto& child : root->children) {
      if (!child->is_type<grammar::title>()) continue;
      for (const auto& one : child->children) {
        if (!file.title.empty()) file.title += ' ';
        file.title += one->string();
      }
    }
    file.statements = Reader(file.text).statements(*root);
  } catch (const Unexpected& u) {
    refuse(u.place, "expected " + u.expected + ", found " + found_at(file.text, u.byte), u.hint);
  }
  return file;
}

}  // namespace lockstep::cat
