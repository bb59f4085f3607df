// The grammar of statements and expressions in C, and what it builds of them (kernel_syntax.hpp): that of
// kernels in the dialects OPENCL and C, and in files of kernels that are simulated.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "checker/language/grammar.hpp"
#include "checker/language/kernel_code.hpp"
#include "checker/language/kernel_syntax.hpp"

namespace lockstep::litmus {

// Takes the words of one kernel after the other, in the order of the text.
class SyntaxReader {
 public:
  explicit SyntaxReader(const Source& source) : text_(source) {}

  // -- Expressions --

  void number(const Word& word) { push({Expression::Kind::number, word, {}}); }
  void name(const Word& word) { push({Expression::Kind::name, word, {}}); }
  void operator_word(const Word& word) {
    operators_.push_back(word);
    if (++operators_here_ <= most_operators) return;
    text_.fail(word.place, "an expression has at most " + count_of(most_operators, "operator"));
  }
  void unary() {
    const std::size_t operand = pop_expression();
    push({Expression::Kind::unary, pop_operator(), {operand}});
  }
  void binary() {
    const std::size_t right = pop_expression();
    const std::size_t left = pop_expression();
    push({Expression::Kind::binary, pop_operator(), {left, right}});
  }
  void element() {
    const std::size_t index = pop_expression();
    const std::size_t base = pop_expression();
    push({Expression::Kind::element, kernel_.expressions[base].word, {base, index}});
  }
  void begin_call(const Word& word) { calls_.emplace_back(word, expressions_.size()); }
  void end_call() {
    const auto [word, before] = calls_.back();
    calls_.pop_back();
    Expression call{Expression::Kind::call, word, {}};
    call.operands.assign(expressions_.begin() + static_cast<std::ptrdiff_t>(before), expressions_.end());
    expressions_.resize(before);
    push(std::move(call));
  }
  void refuse_choice(const Word& word) const {
    text_.fail(word.place, "'? :' is not supported", "use if and else");
  }

  // -- Statements --

  // A mark for the statements that belong to the next larger one.
  void open(const Word& word) { opened_.emplace_back(word, statements_.size()); }
  void open_group() { open({}); }
  void pointer_variable(const Word& word) const {
    text_.fail(word.place, "pointers in variables are not supported",
               "use the parameters of the thread directly");
  }
  void label(const Word& word) { label_ = word; }

  void declare(bool has_value) { close(Statement::Kind::declare, has_value ? 1 : 0); }
  void evaluate() {
    const Word word = kernel_.expressions[expressions_.back()].word;
    opened_.emplace_back(word, statements_.size());
    close(Statement::Kind::evaluate, 1);
  }
  void assign() {
    opened_.emplace_back(pop_operator(), statements_.size());
    close(Statement::Kind::assign, 2);
  }
  void step(const Word& word) {
    open(word);
    close(Statement::Kind::step, 1);
  }
  void close(Statement::Kind kind, std::size_t expressions) {
    const auto [word, before] = opened_.back();
    opened_.pop_back();
    Statement statement;
    statement.kind = kind;
    statement.word = word;
    if (kind == Statement::Kind::evaluate || kind == Statement::Kind::assign) {
      statement.label = std::exchange(label_, {});
    }
    if (!label_.text.empty()) fail_label();
    statement.expressions.assign(expressions_.end() - static_cast<std::ptrdiff_t>(expressions),
                                 expressions_.end());
    expressions_.resize(expressions_.size() - expressions);
    statement.statements.assign(statements_.begin() + static_cast<std::ptrdiff_t>(before), statements_.end());
    statements_.resize(before);
    statements_.push_back(kernel_.statements.size());
    kernel_.statements.push_back(std::move(statement));
    operators_here_ = 0;
  }
  void word_statement(const Word& word, Statement::Kind kind) {
    open(word);
    close(kind, 0);
  }
  // Nothing stands where a statement or a condition may: nothing happens, and it holds.
  void nothing() {
    open_group();
    close(Statement::Kind::block, 0);
  }
  void always() { push({Expression::Kind::number, {"1", {}}, {}}); }
  void refuse_goto(const Word& word) const {
    text_.fail(word.place, "goto is not supported", "write loops with while");
  }

 protected:
  ~SyntaxReader() = default;

  Kernel kernel_;
  // After the last word of its body.
  void end_body() {
    kernel_.body = statements_.back();
    statements_.clear();
  }
  // In place of a body: the one expression that has been read.
  std::size_t take_expression() {
    operators_here_ = 0;
    return pop_expression();
  }

 private:
  [[noreturn]] void fail_label() const {
    text_.fail(label_.place, "only barriers have labels", "write loops with while");
  }

  void push(Expression expression) {
    expressions_.push_back(kernel_.expressions.size());
    kernel_.expressions.push_back(std::move(expression));
  }
  std::size_t pop_expression() {
    const std::size_t last = expressions_.back();
    expressions_.pop_back();
    return last;
  }
  Word pop_operator() {
    const Word last = operators_.back();
    operators_.pop_back();
    return last;
  }

  const Source& text_;
  // Nothing that a person writes comes near; without it a long chain of operators would nest as deeply.
  static constexpr std::size_t most_operators = 1000;

  Word label_;

  // What has been read of the expression and the statement at hand, innermost last.
  std::vector<std::size_t> expressions_;
  std::vector<Word> operators_;
  std::size_t operators_here_ = 0;
  std::vector<std::pair<Word, std::size_t>> calls_;  // and how many expressions stood before
  std::vector<std::size_t> statements_;
  std::vector<std::pair<Word, std::size_t>> opened_;  // and how many statements stood before
};

namespace grammar {

// Inside a body "(*" begins an expression, and no comment.
struct cw : star<sor<plus<peg::space>, line_comment, block_comment>> {};

// Matches an identifier that is part of a type.
struct type_identifier {
  using rule_t = type_identifier;
  using subs_t = peg::empty_list;

  template <typename ParseInput, typename... States>
  static bool match(ParseInput& in, States&&...) {
    const std::string_view text(in.current(), in.size());
    std::size_t length = 0;
    const auto continues = [&](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    };
    while (length < text.size() && length < 64 && continues(text[length])) ++length;
    if (length == 0 || !is_type_word(text.substr(0, length))) return false;
    in.bump(length);
    return true;
  }
};

template <char... text>
struct kw : keyword<text...> {};

// Expressions, by precedence.
struct expression;
struct unary_expression;

// The same rule where it has to match, for what is expected.
template <typename Rule>
struct wanted : Rule {};
struct nested_expression : deeper<expression> {};
struct nested_unary : deeper<unary_expression> {};

struct close_group : close_parenthesis {};
struct group : seq<open_parenthesis, cw, must<wanted<nested_expression>>, cw, must<close_group>> {};
struct type_words : plus<type_identifier, cw> {};
struct cast : seq<at<open_parenthesis, cw, type_identifier>, open_parenthesis, cw, type_words,
                  star<one<'*'>, cw>, must<close_group>, cw, must<wanted<nested_unary>>> {};
struct value_number : seq<peg::digit, star<identifier_other>> {};
struct value_name : identifier {};
struct function_name : identifier {};
struct end_of_arguments : close_parenthesis {};
struct arguments : seq<wanted<nested_expression>, star<cw, one<','>, cw, must<wanted<nested_expression>>>> {};
struct call : seq<at<identifier, cw, open_parenthesis>, function_name, cw, open_parenthesis, cw,
                  opt<arguments, cw>, must<end_of_arguments>> {};
struct close_element : close_bracket {};
struct element_of : seq<open_bracket, cw, must<wanted<nested_expression>>, cw, must<close_element>> {};
struct primary : seq<sor<value_number, cast, group, call, value_name>, star<cw, element_of>> {};
struct unary_operator : sor<one<'*', '!', '~'>, seq<one<'&'>, not_at<one<'&'>>>,
                            seq<one<'-'>, not_at<one<'-'>>>, seq<one<'+'>, not_at<one<'+'>>>> {};
struct unary_applied : seq<unary_operator, cw, must<wanted<nested_unary>>> {};
struct unary_expression : sor<unary_applied, primary> {};

template <typename Operator>
struct operator_rule : Operator {};
template <typename Operator, typename Operand>
struct applied : seq<operator_rule<Operator>, cw, must<wanted<Operand>>> {};
template <typename Operator, typename Operand>
using chain = seq<Operand, star<cw, applied<Operator, Operand>>>;

struct times : seq<one<'*', '/', '%'>, not_at<one<'='>>> {};
struct plus_minus : sor<seq<one<'+'>, not_at<one<'+', '='>>>, seq<one<'-'>, not_at<one<'-', '='>>>> {};
struct shift : seq<sor<string<'<', '<'>, string<'>', '>'>>, not_at<one<'='>>> {};
struct relation : sor<string<'<', '='>, string<'>', '='>, one<'<', '>'>> {};
struct equality : sor<string<'=', '='>, string<'!', '='>> {};
struct bit_and : seq<one<'&'>, not_at<one<'&', '='>>> {};
struct bit_xor : seq<one<'^'>, not_at<one<'='>>> {};
struct bit_or : seq<one<'|'>, not_at<one<'|', '='>>> {};
struct both : string<'&', '&'> {};
struct either : string<'|', '|'> {};

struct product : chain<times, unary_expression> {};
struct sum : chain<plus_minus, product> {};
struct shifted : chain<shift, sum> {};
struct related : chain<relation, shifted> {};
struct equated : chain<equality, related> {};
struct anded : chain<bit_and, equated> {};
struct xored : chain<bit_xor, anded> {};
struct ored : chain<bit_or, xored> {};
struct all : chain<both, ored> {};
struct any_of : chain<either, all> {};
struct choice_mark : one<'?'> {};
struct expression : seq<any_of, cw, opt<choice_mark>> {};

// Statements.
struct statement;
struct nested_statement : deeper<statement> {};
struct open_condition : open_parenthesis {};
struct close_condition : close_parenthesis {};
struct in_parentheses : seq<must<open_condition>, cw, must<wanted<expression>>, cw, must<close_condition>> {};
struct end_of_statement : semicolon {};

struct assign_operator
    : sor<seq<one<'='>, not_at<one<'='>>>, seq<one<'+', '-', '*', '&', '|', '^'>, one<'='>>> {};
struct assigned_value : seq<assign_operator, cw, must<wanted<expression>>> {};
struct step_operator : sor<string<'+', '+'>, string<'-', '-'>> {};
struct assignment_statement : assigned_value {};
struct step_statement : step_operator {};
struct plain_statement : peg::success {};
struct simple : seq<expression, cw, sor<assignment_statement, step_statement, plain_statement>> {};

struct pointer_variable : one<'*'> {};
struct declared_name : identifier {};
struct with_value : seq<seq<one<'='>, not_at<one<'='>>>, cw, must<wanted<expression>>> {};
struct without_value : peg::success {};
struct declarator : seq<star<pointer_variable, cw>, declared_name, cw, sor<with_value, without_value>> {};
struct begin_declaration : at<type_identifier> {};
struct declaration
    : seq<begin_declaration, type_words, must<declarator>, star<cw, one<','>, cw, must<declarator>>> {};

struct open_block : one<'{'> {};
struct close_block : one<'}'> {};
struct block_statement
    : seq<open_block, cw, star<not_at<sor<close_block, eof>>, must<wanted<nested_statement>>, cw>,
          must<close_block>> {};
struct if_word : kw<'i', 'f'> {};
struct else_part : seq<kw<'e', 'l', 's', 'e'>, cw, must<wanted<nested_statement>>> {};
struct if_statement
    : seq<if_word, cw, in_parentheses, cw, must<wanted<nested_statement>>, opt<cw, else_part>> {};
struct while_word : kw<'w', 'h', 'i', 'l', 'e'> {};
struct while_statement : seq<while_word, cw, in_parentheses, cw, must<wanted<nested_statement>>> {};
struct do_word : kw<'d', 'o'> {};
struct until_word : kw<'w', 'h', 'i', 'l', 'e'> {};
struct do_statement : seq<do_word, cw, must<wanted<nested_statement>>, cw, must<until_word>, cw,
                          in_parentheses, cw, must<end_of_statement>> {};
struct for_word : kw<'f', 'o', 'r'> {};
struct no_statement : peg::success {};
struct no_condition_here : peg::success {};
struct for_first : sor<declaration, simple, no_statement> {};
struct for_while : sor<expression, no_condition_here> {};
struct for_each : sor<simple, no_statement> {};
struct for_statement : seq<for_word, cw, must<open_condition>, cw, for_first, cw, must<end_of_statement>, cw,
                           for_while, cw, must<end_of_statement>, cw, for_each, cw, must<close_condition>, cw,
                           must<wanted<nested_statement>>> {};
struct break_word : kw<'b', 'r', 'e', 'a', 'k'> {};
struct continue_word : kw<'c', 'o', 'n', 't', 'i', 'n', 'u', 'e'> {};
struct return_word : kw<'r', 'e', 't', 'u', 'r', 'n'> {};
struct goto_word : kw<'g', 'o', 't', 'o'> {};

struct leave_statement : break_word {};
struct proceed_statement : continue_word {};
struct end_statement : return_word {};
struct empty_statement : semicolon {};
struct statement_label : identifier {};
struct labelled_statement
    : seq<at<identifier, cw, colon>, statement_label, cw, colon, cw, must<wanted<nested_statement>>> {};
struct keyword_statement : sor<leave_statement, proceed_statement, end_statement> {};
struct statement : sor<block_statement, if_statement, while_statement, do_statement, for_statement,
                       seq<keyword_statement, cw, must<end_of_statement>>, goto_word, empty_statement,
                       labelled_statement, seq<sor<declaration, simple>, cw, must<end_of_statement>>> {};

}  // namespace grammar

// clang-format off
template <> inline constexpr Expectation expectation<grammar::close_group>{"an operator or ')'"};
template <> inline constexpr Expectation expectation<grammar::close_element>{"an operator or ']'"};
template <> inline constexpr Expectation expectation<grammar::end_of_arguments>{"',' or ')' after an argument"};
template <> inline constexpr Expectation expectation<grammar::open_condition>{"'('"};
template <> inline constexpr Expectation expectation<grammar::close_condition>{"an operator or ')'"};
template <> inline constexpr Expectation expectation<grammar::end_of_statement>{"an operator or ';'"};
template <> inline constexpr Expectation expectation<grammar::declarator>{"the name of a variable"};
template <> inline constexpr Expectation expectation<grammar::close_block>{"a statement or '}'"};
template <> inline constexpr Expectation expectation<grammar::until_word>{"while after the body of do"};
template <> inline constexpr Expectation expectation<grammar::wanted<grammar::nested_statement>>{"a statement"};
template <typename Rule> inline constexpr Expectation expectation<grammar::wanted<Rule>>{"an expression"};

template <> struct Action<grammar::value_number> : Give<&SyntaxReader::number> {};
template <> struct Action<grammar::value_name> : Give<&SyntaxReader::name> {};
template <> struct Action<grammar::function_name> : Give<&SyntaxReader::begin_call> {};
template <> struct Action<grammar::call> : Call<&SyntaxReader::end_call> {};
template <> struct Action<grammar::element_of> : Call<&SyntaxReader::element> {};
template <> struct Action<grammar::unary_operator> : Give<&SyntaxReader::operator_word> {};
template <> struct Action<grammar::unary_applied> : Call<&SyntaxReader::unary> {};
template <typename Operator> struct Action<grammar::operator_rule<Operator>> : Give<&SyntaxReader::operator_word> {};
template <typename Operator, typename Operand> struct Action<grammar::applied<Operator, Operand>> : Call<&SyntaxReader::binary> {};
template <> struct Action<grammar::choice_mark> : Give<&SyntaxReader::refuse_choice> {};
template <> struct Action<grammar::assign_operator> : Give<&SyntaxReader::operator_word> {};
template <> struct Action<grammar::assignment_statement> : Call<&SyntaxReader::assign> {};
template <> struct Action<grammar::step_statement> : Give<&SyntaxReader::step> {};
template <> struct Action<grammar::plain_statement> : Call<&SyntaxReader::evaluate> {};
template <> struct Action<grammar::pointer_variable> : Give<&SyntaxReader::pointer_variable> {};
template <> struct Action<grammar::declared_name> : Give<&SyntaxReader::open> {};
template <> struct Action<grammar::with_value> : Call<&SyntaxReader::declare, true> {};
template <> struct Action<grammar::without_value> : Call<&SyntaxReader::declare, false> {};
template <> struct Action<grammar::begin_declaration> : Call<&SyntaxReader::open_group> {};
template <> struct Action<grammar::declaration> : Call<&SyntaxReader::close, Statement::Kind::block, 0U> {};
template <> struct Action<grammar::open_block> : Give<&SyntaxReader::open> {};
template <> struct Action<grammar::block_statement> : Call<&SyntaxReader::close, Statement::Kind::block, 0U> {};
template <> struct Action<grammar::if_word> : Give<&SyntaxReader::open> {};
template <> struct Action<grammar::if_statement> : Call<&SyntaxReader::close, Statement::Kind::choose, 1U> {};
template <> struct Action<grammar::while_word> : Give<&SyntaxReader::open> {};
template <> struct Action<grammar::while_statement> : Call<&SyntaxReader::close, Statement::Kind::repeat, 1U> {};
template <> struct Action<grammar::do_word> : Give<&SyntaxReader::open> {};
template <> struct Action<grammar::do_statement> : Call<&SyntaxReader::close, Statement::Kind::until, 1U> {};
template <> struct Action<grammar::for_word> : Give<&SyntaxReader::open> {};
template <> struct Action<grammar::for_statement> : Call<&SyntaxReader::close, Statement::Kind::count, 1U> {};
template <> struct Action<grammar::no_statement> : Call<&SyntaxReader::nothing> {};
template <> struct Action<grammar::empty_statement> : Call<&SyntaxReader::nothing> {};
template <> struct Action<grammar::no_condition_here> : Call<&SyntaxReader::always> {};
template <> struct Action<grammar::leave_statement> : Give<&SyntaxReader::word_statement, Statement::Kind::leave> {};
template <> struct Action<grammar::proceed_statement> : Give<&SyntaxReader::word_statement, Statement::Kind::proceed> {};
template <> struct Action<grammar::end_statement> : Give<&SyntaxReader::word_statement, Statement::Kind::end> {};
template <> struct Action<grammar::goto_word> : Give<&SyntaxReader::refuse_goto> {};
template <> struct Action<grammar::statement_label> : Give<&SyntaxReader::label> {};
// clang-format on

}  // namespace lockstep::litmus
