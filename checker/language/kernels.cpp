// Reads the dialects that write threads as functions: OPENCL, and C as herd reads it.
//
// The grammar builds the statements and expressions of a kernel (kernel_syntax.hpp); at the end of each they
// become instructions (kernel_code.cpp).
#include <algorithm>
#include <utility>

#include "checker/language/grammar.hpp"
#include "checker/language/kernel_code.hpp"
#include "checker/language/kernel_syntax.hpp"
#include "checker/support/diagnostic.hpp"

namespace lockstep::litmus {
namespace {

// Nothing that a person writes comes near; without it a long chain of operators would nest as deeply.
constexpr std::size_t most_operators = 1000;

class KernelReader : public TestReader {
 public:
  KernelReader(const Source& source, Dialect dialect) : TestReader(source, dialect) {
    rules_.scope = dialect == Dialect::opencl ? Scope::agent : Scope::system;
  }

  // -- The head of a kernel --

  void begin_kernel(const Word& word) {
    const bool is_thread = word.text.starts_with('P') && is_digits(word.text.substr(1));
    if (!is_thread && !program().threads.empty()) check_question(word);
    add_thread(word);
    kernel_ = {};
    kernel_.thread = program().threads.size() - 1;
    placed_.clear();
    for (InitialRegister& initial : initial_registers_) {
      if (find_thread(*initial.reference.thread) != kernel_.thread) continue;
      if (initial.address) fail_address(*initial.address);
      initialise_register(kernel_.thread, initial);
      initial.taken = true;
    }
  }

  void placement_word(const Word& word) {
    static const Names known{"wg", "dev"};
    const std::string placed = source_.one_of(word, "placement", known);
    if (std::find(placed_.begin(), placed_.end(), placed) != placed_.end()) {
      source_.fail(word.place, in_quotes(word.text) + " is given twice");
    }
    placed_.push_back(placed);
    rules_.scope = Scope::agent;  // a thread on a device, whatever the dialect is called
  }

  void placement_number(const Word& word) {
    const int number = source_.constant(word);
    if (number < 0) source_.fail(word.place, "the number of a " + placed_.back() + " is negative");
    Placement& placement = program().threads.back().placement;
    (placed_.back() == "wg" ? placement.wg : placement.agent) = number;
  }

  void begin_parameter() {
    parameter_ = {};
    typed_ = false;
  }
  void parameter_type(const Word& word) {
    static const Names usual{"int", "atomic_int", "global", "local", "volatile", "const", "unsigned"};
    if (!is_type_word(word.text)) {
      source_.fail(word.place, "unknown type " + in_quotes(word.text), suggestion(word.text, usual));
    }
    if (word.text == "local" || word.text == "__local") parameter_.region = Region::local;
    if (word.text.starts_with("atomic_") || word.text == "_Atomic") parameter_.atomic = true;
    typed_ = true;
  }
  void parameter_name(const Word& word) {
    parameter_.name = word;
    if (!typed_) source_.fail(word.place, in_quotes(word.text) + " needs a type", "such as atomic_int* x");
    for (const Parameter& other : kernel_.parameters) {
      if (other.name.text == word.text)
        source_.fail(word.place, in_quotes(word.text) + " is a parameter twice");
    }
    const std::size_t first = location(word, true);
    const auto size = static_cast<std::size_t>(program().locations[first].array);
    for (std::size_t i = first; i < first + size; ++i) {
      Location& element = program().locations[i];
      if (parameter_.region == Region::local) element.region = Region::local;
      if (!parameter_.atomic) element.atomic = false;
    }
    pointers_.emplace_back(kernel_.thread, std::string(word.text));
    kernel_.parameters.push_back(parameter_);
  }

  // -- Expressions --

  void number(const Word& word) { push({Expression::Kind::number, word, {}}); }
  void name(const Word& word) { push({Expression::Kind::name, word, {}}); }
  void operator_word(const Word& word) {
    operators_.push_back(word);
    if (++operators_here_ <= most_operators) return;
    source_.fail(word.place, "an expression has at most " + count_of(most_operators, "operator"));
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
    source_.fail(word.place, "'? :' is not supported", "use if and else");
  }

  // -- Statements --

  // A mark for the statements that belong to the next larger one.
  void open(const Word& word) { opened_.emplace_back(word, statements_.size()); }
  void open_group() { open({}); }
  void pointer_variable(const Word& word) const {
    source_.fail(word.place, "pointers in variables are not supported",
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
    source_.fail(word.place, "goto is not supported", "write loops with while");
  }

  void end_kernel() {
    kernel_.body = statements_.back();
    statements_.clear();
    write_code(source_, kernel_, rules_, program());
  }

  void end_program() {
    for (const InitialRegister& initial : initial_registers_) {
      if (!initial.taken) fail_thread(*initial.reference.thread);
    }
    finish_program();
  }

 private:
  void check_question(const Word& word) const {
    static const Names known{"exists", "forall", "filter", "locations"};
    if (!nearest(word.text, known).empty()) misspelled_question(word);
  }

  [[noreturn]] void fail_address(const Word& word) const {
    source_.fail(word.place, "pointers in variables are not supported",
                 "make " + std::string(word.text) + " a parameter of the thread");
  }

  [[noreturn]] void fail_label() const {
    source_.fail(label_.place, "only barriers have labels", "write loops with while");
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

  KernelRules rules_;
  Kernel kernel_;
  Names placed_;
  Parameter parameter_;
  bool typed_ = false;
  Word label_;

  // What has been read of the expression and the statement at hand, innermost last.
  std::vector<std::size_t> expressions_;
  std::vector<Word> operators_;
  std::size_t operators_here_ = 0;
  std::vector<std::pair<Word, std::size_t>> calls_;  // and how many expressions stood before
  std::vector<std::size_t> statements_;
  std::vector<std::pair<Word, std::size_t>> opened_;  // and how many statements stood before
};

}  // namespace

// ---- The grammar of kernels ----

namespace grammar {
namespace {

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

// Kernels.
struct kernel_name : identifier {};
struct placement_word : identifier {};
struct placement_number : number {};
struct placement : seq<placement_word, ws, must<placement_number>> {};
struct placements : seq<one<'@'>, ws, must<placement>, star<ws, one<','>, ws, must<placement>>> {};
struct begin_parameter : peg::success {};
struct parameter_type : identifier {};
struct parameter_types : star<at<identifier, ws, sor<identifier_first, one<'*'>>>, parameter_type, ws> {};
struct parameter_star : one<'*'> {};
struct second_star : one<'*'> {};
struct parameter_name : identifier {};
struct qualifiers : star<sor<kw<'c', 'o', 'n', 's', 't'>, kw<'r', 'e', 's', 't', 'r', 'i', 'c', 't'>,
                             kw<'v', 'o', 'l', 'a', 't', 'i', 'l', 'e'>>,
                         ws> {};
struct parameter : seq<begin_parameter, parameter_types, must<parameter_star>, ws, opt<second_star>,
                       qualifiers, must<parameter_name>> {};
struct open_parameters : open_parenthesis {};
struct close_parameters : close_parenthesis {};
struct parameters : seq<must<open_parameters>, ws,
                        sor<at<close_parameters>, seq<parameter, star<ws, one<','>, ws, parameter>>>, ws,
                        must<close_parameters>> {};
struct kernel_body : block_statement {};
struct kernel : seq<kernel_name, ws, opt<placements, ws>, parameters, ws, must<kernel_body>> {};
struct kernel_or_question : question {};
struct end_of_kernels : peg::success {};
struct kernels : seq<head, initial_state, ws, must<kernel>, ws, star<not_at<after_program>, kernel, ws>,
                     end_of_kernels, asked<kernel_or_question>> {};

}  // namespace
}  // namespace grammar

// clang-format off
template <> inline constexpr Expectation expectation<grammar::kernel>{"a thread", "such as P0 (atomic_int* x) { ... }"};
template <> inline constexpr Expectation expectation<grammar::placement>{"wg or dev"};
template <> inline constexpr Expectation expectation<grammar::placement_number>{"a number"};
template <> inline constexpr Expectation expectation<grammar::open_parameters>{"'@' or the parameters in '(' and ')'", "such as P0 (atomic_int* x) { ... }"};
template <> inline constexpr Expectation expectation<grammar::parameter_star>{"a pointer type", "parameters are pointers to locations, such as atomic_int* x"};
template <> inline constexpr Expectation expectation<grammar::parameter_name>{"the name of a location"};
template <> inline constexpr Expectation expectation<grammar::close_parameters>{"',' or ')' after a parameter"};
template <> inline constexpr Expectation expectation<grammar::kernel_body>{"the body of the thread in '{' and '}'"};
template <> inline constexpr Expectation expectation<grammar::close_group>{"an operator or ')'"};
template <> inline constexpr Expectation expectation<grammar::close_element>{"an operator or ']'"};
template <> inline constexpr Expectation expectation<grammar::end_of_arguments>{"',' or ')' after an argument"};
template <> inline constexpr Expectation expectation<grammar::open_condition>{"'('"};
template <> inline constexpr Expectation expectation<grammar::close_condition>{"an operator or ')'"};
template <> inline constexpr Expectation expectation<grammar::end_of_statement>{"an operator or ';'"};
template <> inline constexpr Expectation expectation<grammar::declarator>{"the name of a variable"};
template <> inline constexpr Expectation expectation<grammar::close_block>{"a statement or '}'"};
template <> inline constexpr Expectation expectation<grammar::until_word>{"while after the body of do"};
template <> inline constexpr Expectation expectation<grammar::kernel_or_question>{"a thread, or exists, ~exists or forall with a condition"};
template <> inline constexpr Expectation expectation<grammar::wanted<grammar::nested_statement>>{"a statement"};
template <typename Rule> inline constexpr Expectation expectation<grammar::wanted<Rule>>{"an expression"};

template <> struct Action<grammar::kernel_name> : Give<&KernelReader::begin_kernel> {};
template <> struct Action<grammar::placement_word> : Give<&KernelReader::placement_word> {};
template <> struct Action<grammar::placement_number> : Give<&KernelReader::placement_number> {};
template <> struct Action<grammar::begin_parameter> : Call<&KernelReader::begin_parameter> {};
template <> struct Action<grammar::parameter_type> : Give<&KernelReader::parameter_type> {};
template <> struct Action<grammar::second_star> : Give<&KernelReader::pointer_variable> {};
template <> struct Action<grammar::parameter_name> : Give<&KernelReader::parameter_name> {};
template <> struct Action<grammar::kernel> : Call<&KernelReader::end_kernel> {};
template <> struct Action<grammar::end_of_kernels> : Call<&KernelReader::end_program> {};

template <> struct Action<grammar::value_number> : Give<&KernelReader::number> {};
template <> struct Action<grammar::value_name> : Give<&KernelReader::name> {};
template <> struct Action<grammar::function_name> : Give<&KernelReader::begin_call> {};
template <> struct Action<grammar::call> : Call<&KernelReader::end_call> {};
template <> struct Action<grammar::element_of> : Call<&KernelReader::element> {};
template <> struct Action<grammar::unary_operator> : Give<&KernelReader::operator_word> {};
template <> struct Action<grammar::unary_applied> : Call<&KernelReader::unary> {};
template <typename Operator> struct Action<grammar::operator_rule<Operator>> : Give<&KernelReader::operator_word> {};
template <typename Operator, typename Operand> struct Action<grammar::applied<Operator, Operand>> : Call<&KernelReader::binary> {};
template <> struct Action<grammar::choice_mark> : Give<&KernelReader::refuse_choice> {};

template <> struct Action<grammar::assign_operator> : Give<&KernelReader::operator_word> {};
template <> struct Action<grammar::assignment_statement> : Call<&KernelReader::assign> {};
template <> struct Action<grammar::step_statement> : Give<&KernelReader::step> {};
template <> struct Action<grammar::plain_statement> : Call<&KernelReader::evaluate> {};
template <> struct Action<grammar::pointer_variable> : Give<&KernelReader::pointer_variable> {};
template <> struct Action<grammar::declared_name> : Give<&KernelReader::open> {};
template <> struct Action<grammar::with_value> : Call<&KernelReader::declare, true> {};
template <> struct Action<grammar::without_value> : Call<&KernelReader::declare, false> {};
template <> struct Action<grammar::begin_declaration> : Call<&KernelReader::open_group> {};
template <> struct Action<grammar::declaration> : Call<&KernelReader::close, Statement::Kind::block, 0U> {};
template <> struct Action<grammar::open_block> : Give<&KernelReader::open> {};
template <> struct Action<grammar::kernel_body> : Call<&KernelReader::close, Statement::Kind::block, 0U> {};
template <> struct Action<grammar::block_statement> : Call<&KernelReader::close, Statement::Kind::block, 0U> {};
template <> struct Action<grammar::if_word> : Give<&KernelReader::open> {};
template <> struct Action<grammar::if_statement> : Call<&KernelReader::close, Statement::Kind::choose, 1U> {};
template <> struct Action<grammar::while_word> : Give<&KernelReader::open> {};
template <> struct Action<grammar::while_statement> : Call<&KernelReader::close, Statement::Kind::repeat, 1U> {};
template <> struct Action<grammar::do_word> : Give<&KernelReader::open> {};
template <> struct Action<grammar::do_statement> : Call<&KernelReader::close, Statement::Kind::until, 1U> {};
template <> struct Action<grammar::for_word> : Give<&KernelReader::open> {};
template <> struct Action<grammar::for_statement> : Call<&KernelReader::close, Statement::Kind::count, 1U> {};
template <> struct Action<grammar::no_statement> : Call<&KernelReader::nothing> {};
template <> struct Action<grammar::empty_statement> : Call<&KernelReader::nothing> {};
template <> struct Action<grammar::no_condition_here> : Call<&KernelReader::always> {};
template <> struct Action<grammar::leave_statement> : Give<&KernelReader::word_statement, Statement::Kind::leave> {};
template <> struct Action<grammar::proceed_statement> : Give<&KernelReader::word_statement, Statement::Kind::proceed> {};
template <> struct Action<grammar::end_statement> : Give<&KernelReader::word_statement, Statement::Kind::end> {};
template <> struct Action<grammar::goto_word> : Give<&KernelReader::refuse_goto> {};
template <> struct Action<grammar::statement_label> : Give<&KernelReader::label> {};
// clang-format on

LitmusTest read_kernels(const Source& source, Dialect dialect) {
  KernelReader reader(source, dialect);
  return read<grammar::kernels>(source, reader);
}

}  // namespace lockstep::litmus
