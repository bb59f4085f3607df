// Reads the dialects that write threads as functions: OPENCL, and C as herd reads it.
//
// The grammar builds the statements and expressions of a kernel (kernel_grammar.hpp); at the end of each they
// become instructions (kernel_code.cpp).
#include <algorithm>
#include <utility>

#include "checker/language/kernel_code.hpp"
#include "checker/language/kernel_grammar.hpp"
#include "checker/support/diagnostic.hpp"

namespace lockstep::litmus {
namespace {

class KernelReader : public TestReader, public SyntaxReader {
 public:
  KernelReader(const Source& source, Dialect dialect) : TestReader(source, dialect), SyntaxReader(source) {
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

  void end_kernel() {
    end_body();
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

  KernelRules rules_;
  Names placed_;
  Parameter parameter_;
  bool typed_ = false;
};

}  // namespace

// ---- The grammar of kernels ----

namespace grammar {
namespace {

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
template <> inline constexpr Expectation expectation<grammar::kernel_or_question>{"a thread, or exists, ~exists or forall with a condition"};

template <> struct Action<grammar::kernel_name> : Give<&KernelReader::begin_kernel> {};
template <> struct Action<grammar::placement_word> : Give<&KernelReader::placement_word> {};
template <> struct Action<grammar::placement_number> : Give<&KernelReader::placement_number> {};
template <> struct Action<grammar::begin_parameter> : Call<&KernelReader::begin_parameter> {};
template <> struct Action<grammar::parameter_type> : Give<&KernelReader::parameter_type> {};
template <> struct Action<grammar::second_star> : Give<&KernelReader::pointer_variable> {};
template <> struct Action<grammar::parameter_name> : Give<&KernelReader::parameter_name> {};
template <> struct Action<grammar::kernel> : Call<&KernelReader::end_kernel> {};
template <> struct Action<grammar::end_of_kernels> : Call<&KernelReader::end_program> {};


template <> struct Action<grammar::kernel_body> : Call<&KernelReader::close, Statement::Kind::block, 0U> {};
// clang-format on

LitmusTest read_kernels(const Source& source, Dialect dialect) {
  KernelReader reader(source, dialect);
  return read<grammar::kernels>(source, reader);
}

}  // namespace lockstep::litmus
