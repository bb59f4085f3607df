// Reads litmus tests in the HRF dialect.
//
// The grammar (namespace grammar) is PEGTL's; it says where words may stand and what was expected where
// one is missing. Its actions hand each word, in the order of the text, to a Reader, which knows what words
// mean: it builds the program instruction by instruction, and the condition as soon as the program is
// complete, so that the first error in the text is the one reported. Nothing backtracks over more than one
// word, comments aside, and nesting is bounded: junk of any kind costs time linear in its length.
#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>
#include <tao/pegtl.hpp>
#include <utility>

#include "checker/litmus/test.hpp"
#include "checker/support/diagnostic.hpp"

namespace lockstep {
namespace {

namespace peg = tao::pegtl;

constexpr std::size_t largest_text = std::size_t{1} << 20U;
constexpr int deepest_nesting = 200;
constexpr std::size_t longest_quote = 60;

// A piece of the text and where it stands.
struct Word {
  std::string_view text;
  SourcePlace place;
};

using Names = std::vector<std::string>;

bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

bool is_register_name(std::string_view text) {
  return text.starts_with('r') && is_digits(text.substr(1));
}

std::string in_quotes(std::string_view text) {
  if (text.size() <= longest_quote) return "'" + std::string(text) + "'";
  return "'" + std::string(text.substr(0, longest_quote)) + "...'";
}

std::string count_of(std::size_t count, const std::string& thing) {
  return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

// Decimal or 0x hexadecimal, with an optional sign; empty where it is malformed or does not fit.
std::optional<std::int32_t> to_int32(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const bool hexadecimal = text.starts_with("0x");
  if (hexadecimal) text.remove_prefix(2);
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value, hexadecimal ? 16 : 10);
  if (error != std::errc() || stopped != end || text.starts_with('-')) return std::nullopt;
  if (negative) value = -value;
  if (value < std::numeric_limits<std::int32_t>::min()) return std::nullopt;
  if (value > std::numeric_limits<std::int32_t>::max()) return std::nullopt;
  return static_cast<std::int32_t>(value);
}

// ---- The text as a whole ----

// The number of bytes of the UTF-8 character at the start of `text`, 0 where there is none (RFC 3629).
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const auto follows = [&](std::size_t i, unsigned low = 0x80, unsigned high = 0xBF) {
    return byte(i) >= low && byte(i) <= high;
  };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return follows(1) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    const unsigned low = lead == 0xE0 ? 0xA0 : 0x80;
    const unsigned high = lead == 0xED ? 0x9F : 0xBF;
    return follows(1, low, high) && follows(2) ? 3 : 0;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    const unsigned low = lead == 0xF0 ? 0x90 : 0x80;
    const unsigned high = lead == 0xF4 ? 0x8F : 0xBF;
    return follows(1, low, high) && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

// The text, and how to complain about it.
class Source {
 public:
  Source(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  [[noreturn]] void fail(SourcePlace place, std::string message, std::string hint = {}) const {
    throw BadInput(Diagnostic{file_, place, std::move(message), std::move(hint), line(place.line)});
  }

  // About the file as a whole, or a place in it whose line cannot be shown.
  [[noreturn]] void refuse(std::string message, SourcePlace place = {}) const {
    throw BadInput(Diagnostic{file_, place, std::move(message), {}, {}});
  }

  // Refuses what no dialect could make sense of.
  void check() const {
    if (text_.empty()) refuse("the file is empty");
    if (text_.size() > largest_text) refuse("the file is larger than 1 MiB");
    SourcePlace place{1, 1};
    for (std::size_t at = 0; at < text_.size();) {
      if (text_[at] == '\0') refuse("not a text file: it has a NUL byte", place);
      const std::size_t length = character_length(text_.substr(at));
      if (length == 0) refuse("not a text file: invalid UTF-8", place);
      place.column += static_cast<int>(length);
      if (text_[at] == '\n') place = {place.line + 1, 1};
      at += length;
    }
  }

  // Names what stands at an offset, for "expected ..., found ...".
  [[nodiscard]] std::string found(std::size_t at) const {
    const std::string_view rest = text_.substr(at);
    if (rest.empty()) return "the end of the file";
    const auto end = std::find_if_not(rest.begin(), rest.end(), is_word_character);
    if (end != rest.begin()) return in_quotes(rest.substr(0, static_cast<std::size_t>(end - rest.begin())));
    if (rest.front() == '\n' || rest.front() == '\r') return "the end of the line";
    if (static_cast<unsigned char>(rest.front()) < 0x20 || rest.front() == 0x7F) return "a control character";
    return in_quotes(rest.substr(0, character_length(rest)));
  }

 private:
  [[nodiscard]] std::string line(int number) const {
    std::size_t start = 0;
    for (int skipped = 1; skipped < number && start != std::string_view::npos; ++skipped) {
      start = text_.find('\n', start);
      if (start != std::string_view::npos) ++start;
    }
    if (number < 1 || start == std::string_view::npos) return {};
    std::string text(text_.substr(start, text_.find('\n', start) - start));
    if (text.ends_with('\r')) text.pop_back();
    return text;
  }

  std::string_view text_;
  const std::string& file_;
};

// ---- The words of the dialect ----

constexpr std::array all_orders{Order::plain,   Order::relaxed, Order::acquire,
                                Order::release, Order::acq_rel, Order::sc};
constexpr std::array all_scopes{Scope::wave, Scope::wg, Scope::agent, Scope::system};
constexpr std::array all_rmws{RmwFunction::exchange, RmwFunction::compare_swap, RmwFunction::add,
                              RmwFunction::subtract, RmwFunction::increment,    RmwFunction::bit_and,
                              RmwFunction::bit_or,   RmwFunction::bit_xor,      RmwFunction::minimum,
                              RmwFunction::maximum};
constexpr std::array all_comparisons{Comparison::equal,   Comparison::not_equal,
                                     Comparison::less,    Comparison::greater_equal,
                                     Comparison::greater, Comparison::less_equal};

// The value that a word stands for, among those that some instruction can have.
template <typename Values>
std::optional<typename Values::value_type> value_of(std::string_view word, const Values& values) {
  for (const auto value : values) {
    if (dialect_word(value) == word) return value;
  }
  return std::nullopt;
}

// The orders that an instruction can have, as bits.
constexpr unsigned bit(Order order) {
  return 1U << static_cast<unsigned>(order);
}
constexpr unsigned load_orders =
    bit(Order::plain) | bit(Order::relaxed) | bit(Order::acquire) | bit(Order::sc);
constexpr unsigned store_orders =
    bit(Order::plain) | bit(Order::relaxed) | bit(Order::release) | bit(Order::sc);
constexpr unsigned fence_orders =
    bit(Order::acquire) | bit(Order::release) | bit(Order::acq_rel) | bit(Order::sc);
constexpr unsigned rmw_orders = fence_orders | bit(Order::relaxed);

// What an instruction looks like. Operands: D destination register, L location, V value, T target label.
struct Form {
  std::string_view name;
  Opcode opcode = Opcode::move;
  std::string_view operands;
  unsigned orders = 0;  // none: it takes no modifiers
  ArithmeticFunction arithmetic = ArithmeticFunction::add;
  Comparison comparison = Comparison::equal;
};

constexpr Form arithmetic_form(std::string_view name, ArithmeticFunction function) {
  return {.name = name, .opcode = Opcode::arithmetic, .operands = "DVV", .arithmetic = function};
}

constexpr Form branch_form(std::string_view name, Comparison comparison) {
  return {.name = name, .opcode = Opcode::branch, .operands = "VVT", .comparison = comparison};
}

constexpr std::array forms{
    Form{.name = "ld", .opcode = Opcode::load, .operands = "DL", .orders = load_orders},
    Form{.name = "st", .opcode = Opcode::store, .operands = "LV", .orders = store_orders},
    Form{.name = "atom", .opcode = Opcode::rmw, .operands = "DLV", .orders = rmw_orders},
    Form{.name = "red", .opcode = Opcode::rmw, .operands = "LV", .orders = rmw_orders},
    Form{.name = "fence", .opcode = Opcode::fence, .operands = "", .orders = fence_orders},
    Form{.name = "barrier", .opcode = Opcode::barrier, .operands = ""},
    Form{.name = "mov", .opcode = Opcode::move, .operands = "DV"},
    arithmetic_form("add", ArithmeticFunction::add),
    arithmetic_form("sub", ArithmeticFunction::subtract),
    arithmetic_form("mul", ArithmeticFunction::multiply),
    arithmetic_form("and", ArithmeticFunction::bit_and),
    arithmetic_form("or", ArithmeticFunction::bit_or),
    arithmetic_form("xor", ArithmeticFunction::bit_xor),
    arithmetic_form("min", ArithmeticFunction::minimum),
    arithmetic_form("max", ArithmeticFunction::maximum),
    arithmetic_form("eq", ArithmeticFunction::equal),
    arithmetic_form("ne", ArithmeticFunction::not_equal),
    arithmetic_form("lt", ArithmeticFunction::less),
    arithmetic_form("le", ArithmeticFunction::less_equal),
    branch_form("beq", Comparison::equal),
    branch_form("bne", Comparison::not_equal),
    branch_form("blt", Comparison::less),
    branch_form("bge", Comparison::greater_equal),
    Form{.name = "goto", .opcode = Opcode::jump, .operands = "T"},
    Form{.name = "assert", .opcode = Opcode::assertion, .operands = "VV"},
};

Names form_names() {
  Names names;
  for (const Form& form : forms) names.emplace_back(form.name);
  return names;
}

// ---- The parts of an instruction as they were written ----

enum class Spelling : std::uint8_t { number, name, bracketed };

struct WrittenOperand {
  Word word;
  Spelling spelling = Spelling::name;
};

struct WrittenInstruction {
  Word mnemonic;
  std::vector<WrittenOperand> operands;
  std::vector<Word> separators;  // between them
};

// The words after the dots of a mnemonic, each at most once.
struct Modifiers {
  std::optional<Order> order;
  std::optional<Scope> scope;
  std::optional<RmwFunction> function;
  bool in_order = true;  // ORDER.SCOPE.OP
};

// "P0:r1", "x" or "[x]".
struct Reference {
  std::optional<Word> thread;
  Word name;
};

// What is known of a thread besides its code until its last row has been read.
struct ThreadNotes {
  struct Label {
    int target = 0;
    SourcePlace place;
  };
  struct Jump {
    std::size_t instruction = 0;
    Word label;
  };
  struct Use {
    std::size_t index = 0;  // of a register
    SourcePlace place;
  };
  std::map<std::string_view, Label> labels;
  std::vector<Jump> jumps;
  std::vector<Use> reads;
  std::array<bool, Capacity::registers> assigned{};  // a destination, or initialised
};

// "and": n-ary, and never directly below itself; the same for "or".
Formula joined(Formula::Kind kind, Formula left, Formula right) {
  Formula whole;
  if (left.kind == kind) {
    whole = std::move(left);
  } else {
    whole.kind = kind;
    whole.children.push_back(std::move(left));
  }
  if (right.kind == kind) {
    std::move(right.children.begin(), right.children.end(), std::back_inserter(whole.children));
  } else {
    whole.children.push_back(std::move(right));
  }
  return whole;
}

// ---- The reader ----

// Takes the words of a test in the order of the text. Each public function is called by one rule of the
// grammar; the comments say which words it takes.
class Reader {
 public:
  Reader(std::string_view text, const std::string& file) : source_(text, file) {
    source_.check();
    test_.file = file;
  }

  LitmusTest take() { return std::move(test_); }

  [[noreturn]] void fail_expected(const char* expected, const char* hint,
                                  const peg::internal::iterator& at) const {
    const SourcePlace place{static_cast<int>(at.line), static_cast<int>(at.column)};
    source_.fail(place, std::string("expected ") + expected + ", found " + source_.found(at.byte), hint);
  }

  // Bounds the grammar's recursion.
  int nesting = 0;
  void check_nesting(const peg::internal::iterator& at) const {
    if (nesting <= deepest_nesting) return;
    const SourcePlace place{static_cast<int>(at.line), static_cast<int>(at.column)};
    source_.fail(place, "nested too deeply: at most " + std::to_string(deepest_nesting) + " levels");
  }

  // -- The head of the test --

  void dialect(const Word& word) {
    static const Names known{"HRF"};
    for (const std::string_view other : {"PTX", "OPENCL", "C"}) {
      if (word.text != other) continue;
      source_.fail(word.place, "the " + std::string(other) + " dialect is not supported yet; HRF is");
    }
    if (word.text != known.front()) {
      source_.fail(word.place, "unknown dialect " + in_quotes(word.text), suggestion(word.text, known));
    }
    test_.dialect = word.text;
  }

  void name(const Word& word) { test_.program.name = test_.name = word.text; }

  void doc(const Word& word) {
    std::string text(word.text.substr(1, word.text.size() - 2));
    std::erase(text, '\r');
    if (!test_.doc.empty()) test_.doc += "\n";
    test_.doc += text;
    test_.program.doc = test_.doc;
  }

  void key(const Word& word) {
    static const Names known{"Race", "Expect", "Tags"};
    if (std::find(known.begin(), known.end(), word.text) == known.end()) {
      source_.fail(word.place, "unknown key " + in_quotes(word.text), suggestion(word.text, known));
    }
    key_ = word.text;
  }

  void entry_name(const Word& word) {
    entry_ = word;
    value_.reset();
  }
  void entry_value(const Word& word) { value_ = word; }

  void end_entry() {
    if (key_ == "Race") return add_expected_race();
    if (key_ == "Expect") return add_expectation();
    if (value_) source_.fail(value_->place, "a tag has no value");
    test_.tags.emplace_back(entry_.text);
  }

  // -- The initial state --

  void reference_thread(const Word& word) { reference_.thread = word; }
  void reference_name(const Word& word) { reference_.name = word; }
  void begin_reference() { reference_.thread.reset(); }

  // After the reference that it initialises.
  void initial_value(const Word& word) {
    const std::int32_t value = constant(word);
    if (reference_.thread) {
      initial_registers_.push_back({reference_, value});
      return;
    }
    const std::size_t index = location(reference_.name);
    if (initialised_[index]) source_.fail(reference_.name.place, twice(reference_.name));
    initialised_[index] = true;
    test_.program.locations[index].initial_value = value;
  }

  void begin_block() { block_.clear(); }

  void block_member(const Word& word) {
    const std::size_t index = location(word);
    const auto listed = [&](const Names& block) {
      const std::string& name = test_.program.locations[index].name;
      return std::find(block.begin(), block.end(), name) != block.end();
    };
    if (listed(block_) || std::any_of(blocks_.begin(), blocks_.end(), listed)) {
      source_.fail(word.place, in_quotes(word.text) + " is already in a block");
    }
    if (block_.size() == Capacity::words_per_block) {
      source_.fail(word.place, "a block has at most " + count_of(Capacity::words_per_block, "word"));
    }
    block_.emplace_back(word.text);
  }

  void end_block() { blocks_.push_back(block_); }

  // -- The row of threads --

  void begin_thread(const Word& word) {
    const std::size_t number = test_.program.threads.size();
    if (number == Capacity::threads) {
      source_.fail(word.place, "a test has at most " + count_of(Capacity::threads, "thread"));
    }
    const std::string expected = "P" + std::to_string(number);
    if (word.text != expected) {
      source_.fail(word.place, "expected thread " + expected + ", found " + in_quotes(word.text),
                   "threads are named P0, P1, ... from left to right");
    }
    Thread& thread = test_.program.threads.emplace_back();
    thread.name = expected;
    thread.placement.wave = static_cast<int>(number);
    thread.placement.wg = static_cast<int>(number);
    notes_.emplace_back();
    placed_.clear();
    thread_places_.push_back(word.place);
  }

  void placement_word(const Word& word) {
    placement_ = word;
    number_.reset();
  }
  void placement_number(const Word& word) { number_ = word; }

  void end_placement() {
    check_placement_word();
    placed_.emplace_back(placement_.text);
    Placement& placement = test_.program.threads.back().placement;
    if (placement_.text == "host") {
      if (number_) source_.fail(number_->place, "host takes no number");
      placement.host = true;
      placement.wg = placement.agent = 0;
      return;
    }
    if (!number_)
      source_.fail(placement_.place, in_quotes(placement_.text) + " needs a number", "such as " + example());
    const int number = constant(*number_);
    if (number < 0)
      source_.fail(number_->place, "the number of a " + std::string(placement_.text) + " is negative");
    if (placement_.text == "wg") placement.wg = number;
    if (placement_.text == "agent") placement.agent = number;
    if (placement_.text == "wave") placement.wave = number;
    if (placement_.text == "kernel") placement.kernel = number;
  }

  void end_thread_row() {
    check_waves();
    for (const auto& [reference, value] : initial_registers_) initialise_register(reference, value);
  }

  // -- The rows of instructions --

  void begin_row() { cell_ = 0; }

  void next_cell(const Word& bar) {
    ++cell_;
    if (cell_ < test_.program.threads.size()) return;
    const std::string threads = count_of(test_.program.threads.size(), "thread");
    source_.fail(bar.place, "this row has more cells than there are threads: " + threads);
  }

  void end_row(const Word& semicolon) {
    const std::size_t threads = test_.program.threads.size();
    if (cell_ + 1 == threads) return;
    source_.fail(
        semicolon.place,
        "this row has " + count_of(cell_ + 1, "cell") + ", and there are " + count_of(threads, "thread"),
        "separate cells with '|'; a cell may be empty");
  }

  void label(const Word& word) {
    if (is_register_name(word.text))
      source_.fail(word.place, in_quotes(word.text) + " is a register, not a label");
    const int target = static_cast<int>(thread().code.size());
    const auto [known, added] = notes().labels.insert({word.text, {target, word.place}});
    if (added) return;
    source_.fail(word.place, "label " + in_quotes(word.text) + " is defined twice in " + thread().name,
                 "first defined on line " + std::to_string(known->second.place.line));
  }

  void mnemonic(const Word& word) { written_ = {word, {}, {}}; }
  void operand(const Word& word, Spelling spelling) { written_.operands.push_back({word, spelling}); }
  void separator(const Word& word) { written_.separators.push_back(word); }

  void end_instruction() {
    const Form& form = find_form();
    Instruction instruction;
    instruction.opcode = form.opcode;
    instruction.arithmetic = form.arithmetic;
    instruction.comparison = form.comparison;
    instruction.place = written_.mnemonic.place;
    set_modifiers(form, instruction);
    check_instruction_count();
    check_host(instruction);
    set_operands(form, instruction);
    thread().code.push_back(instruction);
  }

  [[noreturn]] void misspelled_question(const Word& word) const {
    static const Names known{"exists", "~exists", "forall", "filter", "locations"};
    source_.fail(word.place, "unknown question " + in_quotes(word.text), suggestion(word.text, known));
  }

  void end_program() {
    for (std::size_t i = 0; i < notes_.size(); ++i) {
      check_registers(i);
      set_targets(i);
      insert_kernel_marks(test_.program.threads[i]);
    }
    number_blocks();
  }

  // -- The condition --

  void observe() { note_observed(resolve()); }

  void reference_term() {
    terms_.push_back(resolve());
    note_observed(terms_.back());
  }

  void constant_term(const Word& word) {
    terms_.push_back({ConditionTerm::Kind::constant, constant(word), -1, -1});
  }

  void comparison(const Word& word) {
    comparison_ = word.text == "=" ? Comparison::equal : *value_of(word.text, all_comparisons);
  }

  void end_comparison() {
    Formula formula;
    formula.kind = Formula::Kind::compare;
    formula.comparison = comparison_;
    formula.left = terms_.front();
    formula.right = terms_.back();
    terms_.clear();
    formulas_.push_back(std::move(formula));
  }

  void truth(bool value) {
    formulas_.emplace_back();
    formulas_.back().truth = value;
  }

  void negate() {
    Formula formula;
    formula.kind = Formula::Kind::not_;
    formula.children.push_back(pop_formula());
    formulas_.push_back(std::move(formula));
  }

  void join(Formula::Kind kind) {
    Formula right = pop_formula();
    Formula left = pop_formula();
    formulas_.push_back(joined(kind, std::move(left), std::move(right)));
  }

  void end_filter() {
    Formula filter = pop_formula();
    if (has_filter_) filter = joined(Formula::Kind::and_, std::move(test_.filter), std::move(filter));
    test_.filter = std::move(filter);
    has_filter_ = true;
  }

  void quantifier(Quantifier quantifier) { test_.quantifier = quantifier; }

  void end_condition() {
    test_.condition = pop_formula();
    test_.condition_text = print(test_.condition, test_.program);
  }

 private:
  Thread& thread() { return test_.program.threads[cell_]; }
  ThreadNotes& notes() { return notes_[cell_]; }

  Formula pop_formula() {
    Formula formula = std::move(formulas_.back());
    formulas_.pop_back();
    return formula;
  }

  static std::string twice(const Word& word) { return in_quotes(word.text) + " is initialised twice"; }

  [[nodiscard]] std::int32_t constant(const Word& word) const {
    const std::optional<std::int32_t> value = to_int32(word.text);
    if (value) return *value;
    source_.fail(word.place, in_quotes(word.text) + " is not an integer of 32 bits",
                 "decimal or 0x hexadecimal, from -2147483648 to 2147483647");
  }

  // -- Expected verdicts --

  void add_expected_race() {
    static const Names models{"drf", "hrf-direct", "hrf-indirect", "hrf-relaxed-direct",
                              "hrf-relaxed-indirect"};
    static const Names answers{"yes", "no"};
    const std::string model = one_of(entry_, "model", models);
    const std::string answer = one_of(value("yes or no"), "answer", answers);
    for (const ExpectedRace& other : test_.expected_races) {
      if (other.model == model) source_.fail(entry_.place, in_quotes(model) + " is listed twice");
    }
    test_.expected_races.push_back({model, answer == "yes", entry_.place});
  }

  void add_expectation() {
    static const Names observations{"never", "sometimes", "always"};
    const std::string observation = one_of(value("never, sometimes or always"), "observation", observations);
    const auto index =
        std::find(observations.begin(), observations.end(), observation) - observations.begin();
    if (!systems_.insert({entry_.text, entry_.place}).second) {
      source_.fail(entry_.place, in_quotes(entry_.text) + " is listed twice");
    }
    test_.expected.push_back({std::string(entry_.text), static_cast<Observation>(index), entry_.place});
  }

  [[nodiscard]] const Word& value(const std::string& expected) const {
    if (value_) return *value_;
    source_.fail(entry_.place, in_quotes(entry_.text) + " needs a value: " + expected);
  }

  [[nodiscard]] std::string one_of(const Word& word, const std::string& thing, const Names& known) const {
    if (std::find(known.begin(), known.end(), word.text) != known.end()) return std::string(word.text);
    source_.fail(word.place, "unknown " + thing + " " + in_quotes(word.text), suggestion(word.text, known));
  }

  // -- Threads --

  void check_placement_word() const {
    static const Names known{"wg", "agent", "host", "kernel", "wave"};
    const std::string word = one_of(placement_, "placement", known);
    const auto has = [&](const std::string& other) {
      return std::find(placed_.begin(), placed_.end(), other) != placed_.end();
    };
    if (has(word)) source_.fail(placement_.place, in_quotes(word) + " is given twice");
    const bool device = word == "wg" || word == "agent";
    if ((device && has("host")) || (word == "host" && (has("wg") || has("agent")))) {
      source_.fail(placement_.place, "a host thread has no work-group and no agent");
    }
  }

  [[nodiscard]] std::string example() const { return "'" + std::string(placement_.text) + " 0'"; }

  void check_waves() const {
    const std::vector<Thread>& threads = test_.program.threads;
    for (std::size_t i = 0; i < threads.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const int wave = threads[i].placement.wave;
        if (wave != threads[j].placement.wave) continue;
        source_.fail(
            thread_places_[i],
            threads[j].name + " and " + threads[i].name + " are both in wave " + std::to_string(wave),
            "threads of a test are distinct waves; a thread's wave is its number unless placed otherwise");
      }
    }
  }

  // -- Locations and registers --

  // The location of that name, created where it is new.
  std::size_t location(const Word& word) {
    if (is_register_name(word.text)) {
      source_.fail(
          word.place, "expected a location, found register " + in_quotes(word.text),
          "a register's initial value names its thread, as in P0:" + std::string(word.text) + " = 1");
    }
    std::vector<Location>& locations = test_.program.locations;
    for (std::size_t i = 0; i < locations.size(); ++i) {
      if (locations[i].name == word.text) return i;
    }
    if (locations.size() == Capacity::locations) {
      source_.fail(word.place, "a test has at most " + count_of(Capacity::locations, "location"));
    }
    locations.push_back({.name = std::string(word.text)});
    return locations.size() - 1;
  }

  // The register of that name in a thread, created where it is new.
  std::size_t register_of(Thread& thread, const Word& word) const {
    for (std::size_t i = 0; i < thread.registers.size(); ++i) {
      if (thread.registers[i] == word.text) return i;
    }
    if (thread.registers.size() == Capacity::registers) {
      source_.fail(word.place, "a thread has at most " + count_of(Capacity::registers, "register"));
    }
    thread.registers.emplace_back(word.text);
    thread.initial_values.push_back(0);
    return thread.registers.size() - 1;
  }

  // The number of the thread written as P0 or 0.
  [[nodiscard]] std::size_t thread_index(const Word& word) const {
    const bool named = word.text.starts_with('P');
    const std::string name = (named ? "" : "P") + std::string(word.text);
    Names names;
    for (const Thread& thread : test_.program.threads) {
      if (thread.name == name) return names.size();
      names.push_back(thread.name);
    }
    source_.fail(word.place, "unknown thread " + in_quotes(word.text), "one of: " + list(names));
  }

  static std::string list(const Names& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
  }

  void initialise_register(const Reference& reference, std::int32_t value) {
    const std::size_t index = thread_index(*reference.thread);
    Thread& thread = test_.program.threads[index];
    check_register_name(reference.name);
    const std::size_t known = register_of(thread, reference.name);
    if (notes_[index].assigned[known]) source_.fail(reference.name.place, twice(reference.name));
    notes_[index].assigned[known] = true;
    thread.initial_values[known] = value;
  }

  void check_register_name(const Word& word) const {
    if (is_register_name(word.text)) return;
    source_.fail(word.place, "expected a register, found " + in_quotes(word.text),
                 "registers are named r0, r1, ...");
  }

  // -- Instructions --

  [[nodiscard]] std::string_view base() const {
    return written_.mnemonic.text.substr(0, written_.mnemonic.text.find('.'));
  }

  [[nodiscard]] const Form& find_form() const {
    const auto* const form =
        std::find_if(forms.begin(), forms.end(), [&](auto& f) { return f.name == base(); });
    if (form != forms.end()) return *form;
    static const Names names = form_names();
    const std::string meant = nearest(base(), names);
    source_.fail(written_.mnemonic.place, "unknown instruction " + in_quotes(base()),
                 meant.empty() ? "one of: " + list(names) : suggestion(base(), names));
  }

  void set_modifiers(const Form& form, Instruction& instruction) const {
    const Modifiers modifiers = read_modifiers(form);
    check_order(form, modifiers);
    if (form.opcode == Opcode::rmw && !modifiers.function) {
      source_.fail(written_.mnemonic.place, in_quotes(base()) + " needs an operation",
                   "add one: " + spelled(form, modifiers));
    }
    if (!modifiers.in_order) {
      source_.fail(written_.mnemonic.place,
                   "the parts of " + in_quotes(written_.mnemonic.text) + " are in disorder",
                   "write it " + spelled(form, modifiers));
    }
    instruction.order = modifiers.order.value_or(Order::plain);
    instruction.scope = modifiers.scope.value_or(Scope::system);
    instruction.rmw = modifiers.function.value_or(RmwFunction::exchange);
  }

  [[nodiscard]] Modifiers read_modifiers(const Form& form) const {
    Modifiers modifiers;
    Word rest = written_.mnemonic;
    for (std::size_t dot = rest.text.find('.'); dot != std::string_view::npos; dot = rest.text.find('.')) {
      rest.text.remove_prefix(dot + 1);
      rest.place.column += static_cast<int>(dot) + 1;
      read_modifier(form, Word{rest.text.substr(0, rest.text.find('.')), rest.place}, modifiers);
    }
    return modifiers;
  }

  void read_modifier(const Form& form, const Word& word, Modifiers& modifiers) const {
    if (form.orders == 0) source_.fail(word.place, in_quotes(form.name) + " takes no modifiers");
    if (const auto order = value_of(word.text, all_orders)) {
      modifiers.in_order = modifiers.in_order && !modifiers.scope && !modifiers.function;
      return set_once(modifiers.order, *order, word, "order");
    }
    if (const auto scope = word.text == "sys" ? Scope::system : value_of(word.text, all_scopes)) {
      modifiers.in_order = modifiers.in_order && !modifiers.function;
      return set_once(modifiers.scope, *scope, word, "scope");
    }
    const auto function = value_of(word.text, all_rmws);
    if (!function || form.opcode != Opcode::rmw) fail_modifier(form, word);
    set_once(modifiers.function, *function, word, "operation");
  }

  template <typename Value>
  void set_once(std::optional<Value>& slot, Value value, const Word& word, const std::string& thing) const {
    if (slot) source_.fail(word.place, "a second " + thing + ": " + in_quotes(word.text));
    slot = value;
  }

  [[noreturn]] void fail_modifier(const Form& form, const Word& word) const {
    Names known = order_names(form);
    for (const Scope scope : all_scopes) known.emplace_back(dialect_word(scope));
    for (const RmwFunction function : all_rmws) {
      if (form.opcode == Opcode::rmw) known.emplace_back(dialect_word(function));
    }
    std::string hint = suggestion(word.text, known);
    if (word.text == "cta") hint = "the scope of a work-group is 'wg'";
    if (word.text == "gpu") hint = "the scope of a device is 'agent'";
    source_.fail(word.place, "unknown modifier " + in_quotes(word.text), hint);
  }

  [[nodiscard]] static Names order_names(const Form& form) {
    Names names;
    for (const Order order : all_orders) {
      if ((form.orders & bit(order)) != 0) names.emplace_back(dialect_word(order));
    }
    return names;
  }

  void check_order(const Form& form, const Modifiers& modifiers) const {
    const SourcePlace place = written_.mnemonic.place;
    const std::string name = in_quotes(written_.mnemonic.text);
    const bool plain = (form.orders & bit(Order::plain)) != 0 || form.orders == 0;
    if (!modifiers.order && modifiers.scope) {
      source_.fail(place, name + " has a scope and no order", "add an order: " + spelled(form, modifiers));
    }
    if (!modifiers.order && !plain) {
      source_.fail(place, name + " needs an order and a scope", "add them: " + spelled(form, modifiers));
    }
    if (!modifiers.order) return;
    if ((form.orders & bit(*modifiers.order)) == 0) {
      const std::string order(dialect_word(*modifiers.order));
      source_.fail(place, in_quotes(form.name) + " can't be " + order, "one of: " + list(order_names(form)));
    }
    const bool weak = *modifiers.order == Order::plain;
    if (weak && modifiers.scope) source_.fail(place, name + " has a scope, but a weak access has none");
    if (!weak && !modifiers.scope) {
      source_.fail(place, name + " is atomic and has no scope", "add a scope: " + spelled(form, modifiers));
    }
  }

  // The mnemonic in full, with what is missing filled in.
  [[nodiscard]] static std::string spelled(const Form& form, const Modifiers& modifiers) {
    const Order usual = form.opcode == Opcode::fence || form.opcode == Opcode::rmw ? Order::acq_rel
                        : form.opcode == Opcode::load                              ? Order::acquire
                                                                                   : Order::release;
    std::string text(form.name);
    text.append(".").append(dialect_word(modifiers.order.value_or(usual)));
    text.append(".").append(dialect_word(modifiers.scope.value_or(Scope::agent)));
    if (form.opcode != Opcode::rmw) return text;
    return text.append(".").append(dialect_word(modifiers.function.value_or(RmwFunction::add)));
  }

  void check_instruction_count() {
    const Placement& placement = thread().placement;
    const std::size_t inserted = placement.kernel < 0 ? 0 : placement.host ? 1 : 2;
    if (thread().code.size() + inserted < Capacity::instructions) return;
    source_.fail(
        written_.mnemonic.place, "a thread has at most " + count_of(Capacity::instructions, "instruction"),
        inserted == 0 ? "" : "of these, a thread of a kernel needs " + std::to_string(inserted) + " itself");
  }

  void check_host(const Instruction& instruction) {
    if (!thread().placement.host) return;
    const SourcePlace place = written_.mnemonic.place;
    if (instruction.opcode == Opcode::barrier) {
      source_.fail(place,
                   thread().name + " is a host thread: it has no work-group whose barrier it could join");
    }
    if (instruction.order == Order::plain || instruction.scope == Scope::system) return;
    std::string whole = std::string(base()) + "." + std::string(dialect_word(instruction.order)) + ".system";
    if (instruction.opcode == Opcode::rmw) whole.append(".").append(dialect_word(instruction.rmw));
    source_.fail(place, thread().name + " is a host thread: it shares only the system scope",
                 "write it " + whole);
  }

  void set_operands(const Form& form, Instruction& instruction) {
    const bool swaps = form.opcode == Opcode::rmw && instruction.rmw == RmwFunction::compare_swap;
    const std::string operands = std::string(form.operands) + (swaps ? "V" : "");
    check_operand_count(form, operands);
    check_separators(form, operands, instruction);
    int values = 0;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const WrittenOperand& operand = written_.operands[i];
      if (operands[i] == 'D') instruction.destination = destination(operand);
      if (operands[i] == 'L') instruction.location = location_operand(operand);
      if (operands[i] == 'V') (values++ == 0 ? instruction.a : instruction.b) = value_operand(operand);
      if (operands[i] == 'T') note_jump(operand);
    }
  }

  // How the instruction is written, for the hint.
  [[nodiscard]] std::string usage(const Form& form, const std::string& operands) const {
    std::string text;
    for (const char operand : operands) {
      if (!text.empty()) text += form.opcode == Opcode::assertion ? " == " : ", ";
      text += operand == 'D' || (operand == 'V' && text.empty()) ? "r0"
              : operand == 'L'                                   ? "x"
              : operand == 'V'                                   ? "1"
                                                                 : "LABEL";
    }
    return "write it like this: " + std::string(written_.mnemonic.text) + (text.empty() ? "" : " ") + text;
  }

  void check_operand_count(const Form& form, const std::string& operands) const {
    if (written_.operands.size() == operands.size()) return;
    const std::string wanted = operands.empty() ? "no operands" : count_of(operands.size(), "operand");
    source_.fail(
        written_.mnemonic.place,
        in_quotes(form.name) + " takes " + wanted + ", found " + std::to_string(written_.operands.size()),
        usage(form, operands));
  }

  void check_separators(const Form& form, const std::string& operands, Instruction& instruction) const {
    for (const Word& separator : written_.separators) {
      const bool asserts = form.opcode == Opcode::assertion;
      if (asserts == (separator.text == ",")) {
        source_.fail(separator.place,
                     std::string("expected ") + (asserts ? "a comparison" : "','") + ", found " +
                         in_quotes(separator.text),
                     usage(form, operands));
      }
      if (asserts)
        instruction.comparison = value_of(separator.text, all_comparisons).value_or(Comparison::equal);
    }
  }

  [[nodiscard]] static bool is_register(const WrittenOperand& operand) {
    return operand.spelling == Spelling::name && is_register_name(operand.word.text);
  }

  std::int16_t destination(const WrittenOperand& operand) {
    if (!is_register(operand)) {
      source_.fail(operand.word.place, "expected a register, found " + in_quotes(operand.word.text),
                   "registers are named r0, r1, ...");
    }
    const std::size_t index = register_of(thread(), operand.word);
    notes().assigned[index] = true;
    return static_cast<std::int16_t>(index);
  }

  std::int16_t location_operand(const WrittenOperand& operand) {
    if (operand.spelling == Spelling::number || is_register_name(operand.word.text)) {
      source_.fail(operand.word.place, "expected a location, found " + in_quotes(operand.word.text));
    }
    return static_cast<std::int16_t>(location(operand.word));
  }

  Operand value_operand(const WrittenOperand& operand) {
    if (operand.spelling == Spelling::number) return {false, constant(operand.word)};
    if (!is_register(operand)) {
      source_.fail(operand.word.place,
                   "expected a register or an integer, found " + in_quotes(operand.word.text),
                   "registers are named r0, r1, ...; only ld, st, atom and red access locations");
    }
    const std::size_t index = register_of(thread(), operand.word);
    notes().reads.push_back({index, operand.word.place});
    return {true, static_cast<std::int32_t>(index)};
  }

  void note_jump(const WrittenOperand& operand) {
    if (operand.spelling != Spelling::name || is_register(operand)) {
      source_.fail(operand.word.place, "expected a label, found " + in_quotes(operand.word.text));
    }
    notes().jumps.push_back({thread().code.size(), operand.word});
  }

  // -- The end of the program --

  void check_registers(std::size_t index) const {
    const Thread& thread = test_.program.threads[index];
    for (const ThreadNotes::Use& read : notes_[index].reads) {
      if (notes_[index].assigned[read.index]) continue;
      const std::string& name = thread.registers[read.index];
      source_.fail(read.place,
                   "register " + in_quotes(name) + " is read, and nothing in " + thread.name + " assigns it",
                   "assign it first, or initialise it: { " + thread.name + ":" + name + " = 0; }");
    }
  }

  void set_targets(std::size_t index) {
    const ThreadNotes& notes = notes_[index];
    for (const ThreadNotes::Jump& jump : notes.jumps) {
      const auto label = notes.labels.find(jump.label.text);
      if (label == notes.labels.end()) fail_label(index, jump.label);
      const int target = label->second.target;
      test_.program.threads[index].code[jump.instruction].target = static_cast<std::int16_t>(target);
    }
  }

  [[noreturn]] void fail_label(std::size_t index, const Word& word) const {
    Names known;
    for (const auto& [name, label] : notes_[index].labels) known.emplace_back(name);
    const std::string& thread = test_.program.threads[index].name;
    source_.fail(word.place, "unknown label " + in_quotes(word.text) + " in " + thread,
                 known.empty() ? thread + " has no labels" : suggestion(word.text, known));
  }

  static void insert_kernel_marks(Thread& thread) {
    if (thread.placement.kernel < 0) return;
    for (Instruction& instruction : thread.code) {
      if (instruction.target >= 0) ++instruction.target;
    }
    Instruction mark;
    mark.opcode = Opcode::kernel_begin;
    thread.code.insert(thread.code.begin(), mark);
    mark.opcode = Opcode::kernel_end;
    thread.code.push_back(mark);
  }

  // Gives each location its block, in order of first appearance, and its word, in order of its block's list.
  void number_blocks() {
    std::vector<int> numbers(blocks_.size(), -1);
    int next = 0;
    for (Location& location : test_.program.locations) {
      location.block = -1;
      for (std::size_t i = 0; i < blocks_.size(); ++i) {
        const auto word = std::find(blocks_[i].begin(), blocks_[i].end(), location.name);
        if (word == blocks_[i].end()) continue;
        if (numbers[i] < 0) numbers[i] = next++;
        location.block = numbers[i];
        location.word = static_cast<int>(word - blocks_[i].begin());
      }
      if (location.block < 0) location.block = next++;
    }
  }

  // -- Terms of conditions --

  // The register or location that the last reference names.
  [[nodiscard]] ConditionTerm resolve() const {
    return reference_.thread ? resolve_register() : resolve_location();
  }

  [[nodiscard]] ConditionTerm resolve_register() const {
    const std::size_t index = thread_index(*reference_.thread);
    const Thread& thread = test_.program.threads[index];
    const auto known = std::find(thread.registers.begin(), thread.registers.end(), reference_.name.text);
    if (known == thread.registers.end()) {
      source_.fail(reference_.name.place, thread.name + " has no register " + in_quotes(reference_.name.text),
                   suggestion(reference_.name.text, thread.registers));
    }
    const auto number = static_cast<int>(known - thread.registers.begin());
    return {ConditionTerm::Kind::register_, 0, static_cast<int>(index), number};
  }

  [[nodiscard]] ConditionTerm resolve_location() const {
    const Word& word = reference_.name;
    if (is_register_name(word.text)) {
      source_.fail(word.place, "register " + in_quotes(word.text) + " of which thread?",
                   "name it: P0:" + std::string(word.text));
    }
    Names names;
    for (const Location& location : test_.program.locations) {
      if (location.name == word.text) {
        return {ConditionTerm::Kind::location, 0, -1, static_cast<int>(names.size())};
      }
      names.push_back(location.name);
    }
    source_.fail(word.place, "unknown location " + in_quotes(word.text), suggestion(word.text, names));
  }

  void note_observed(const ConditionTerm& term) {
    const auto same = [&](const ConditionTerm& other) {
      return term.kind == other.kind && term.thread == other.thread && term.index == other.index;
    };
    if (std::none_of(test_.observed.begin(), test_.observed.end(), same)) test_.observed.push_back(term);
  }

  Source source_;
  LitmusTest test_;

  // The head.
  std::string_view key_;
  Word entry_;
  std::optional<Word> value_;
  std::map<std::string_view, SourcePlace> systems_;

  // The initial state.
  Reference reference_;
  std::vector<std::pair<Reference, std::int32_t>> initial_registers_;
  std::array<bool, Capacity::locations> initialised_{};
  Names block_;
  std::vector<Names> blocks_;

  // The row of threads.
  Word placement_;
  std::optional<Word> number_;
  Names placed_;
  std::vector<SourcePlace> thread_places_;

  // The rows of instructions.
  std::size_t cell_ = 0;
  WrittenInstruction written_;
  std::vector<ThreadNotes> notes_;

  // The condition.
  std::vector<ConditionTerm> terms_;
  std::vector<Formula> formulas_;
  Comparison comparison_ = Comparison::equal;
  bool has_filter_ = false;
};

// ---- The grammar ----

// What a rule that must match stands for, in "expected ..., found ...", and a remedy.
struct Expectation {
  const char* what = nullptr;
  const char* hint = "";
};
template <typename Rule>
inline constexpr Expectation expectation{};

namespace grammar {

using peg::at;
using peg::eof;
using peg::identifier;
using peg::identifier_first;
using peg::identifier_other;
using peg::keyword;
using peg::must;
using peg::not_at;
using peg::one;
using peg::opt;
using peg::plus;
using peg::seq;
using peg::sor;
using peg::star;
using peg::string;

// (* which (* nest *) *), matched as a whole or not at all.
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
struct line_comment : seq<string<'/', '/'>, star<peg::not_one<'\n'>>> {};
struct ws : star<sor<plus<peg::space>, line_comment, comment>> {};
struct same_line : star<peg::blank> {};

// Matches Rule one level deeper.
template <typename Rule>
struct deeper {
  using rule_t = deeper;
  using subs_t = peg::type_list<Rule>;

  template <peg::apply_mode A, peg::rewind_mode M, template <typename...> class Action,
            template <typename...> class Control, typename ParseInput>
  static bool match(ParseInput& in, Reader& reader) {
    ++reader.nesting;
    reader.check_nesting(in.iterator());
    const bool matched = Control<Rule>::template match<A, M, Action, Control>(in, reader);
    --reader.nesting;
    return matched;
  }
};

struct word : plus<identifier_other> {};
struct number : seq<opt<one<'-'>>, peg::digit, star<identifier_other>> {};
struct equals : one<'='> {};
struct colon : one<':'> {};
struct semicolon : one<';'> {};
struct open_parenthesis : one<'('> {};
struct close_parenthesis : one<')'> {};
struct open_bracket : one<'['> {};
struct close_bracket : one<']'> {};

// "P0:r1", "0:r1", "x" or "[x]".
struct reference_thread : word {};
struct register_name : identifier {};
struct location_name : identifier {};
struct bracketed_name : identifier {};
struct is_register : at<word, ws, colon> {};
struct register_reference : seq<is_register, reference_thread, ws, colon, ws, must<register_name>> {};
struct bracketed : seq<open_bracket, ws, must<bracketed_name>, ws, must<close_bracket>> {};
struct begin_reference : peg::success {};
struct reference : seq<begin_reference, sor<register_reference, bracketed, location_name>> {};

// The head.
struct dialect : plus<sor<identifier_other, one<'-', '+', '.'>>> {};
struct slash : seq<one<'/'>, not_at<one<'/'>>> {};
struct name_character : sor<identifier_other, one<'-', '+', '.', '@', '&', '\'', '[', ']', ',', ':'>, slash,
                            peg::range<static_cast<char>(0x80), static_cast<char>(0xFF)>> {};
struct name : plus<name_character> {};
struct doc : seq<one<'"'>, peg::until<one<'"'>>> {};
struct closed_doc : at<doc> {};
struct doc_string : seq<at<one<'"'>>, must<closed_doc>, doc> {};
struct key : identifier {};
struct entry_word : plus<sor<identifier_other, one<'-', '+', '.'>, slash>> {};
struct entry_name : entry_word {};
struct entry_value : entry_word {};
struct entry : seq<entry_name, opt<same_line, colon, same_line, must<entry_value>>> {};
struct end_of_entries : at<same_line, sor<peg::eolf, one<'\r'>, string<'/', '/'>, string<'(', '*'>>> {};
struct metadata : seq<at<identifier, same_line, equals>, key, same_line, equals, same_line, must<entry>,
                      star<same_line, one<','>, ws, must<entry>>, same_line, must<end_of_entries>> {};
struct head : seq<opt<peg::utf8::bom>, ws, must<dialect>, same_line, must<name>, ws,
                  star<sor<doc_string, metadata>, ws>> {};

// The initial state.
struct block_name : identifier {};
struct block_member : sor<seq<open_bracket, ws, must<block_name>, ws, must<close_bracket>>, block_name> {};
struct begin_block : keyword<'b', 'l', 'o', 'c', 'k'> {};
struct block
    : seq<at<begin_block, ws, sor<identifier_first, one<'['>>>, begin_block, plus<ws, block_member>> {};
struct type : seq<keyword<'i', 'n', 't'>, ws, at<sor<identifier_first, one<'['>>>> {};
struct initial_value : number {};
struct assignment : seq<opt<type>, reference, ws, must<equals>, ws, must<initial_value>> {};
struct open_brace : one<'{'> {};
struct close_brace : one<'}'> {};
struct end_of_initialisation : sor<semicolon, at<close_brace>> {};
struct initialisation : seq<sor<block, assignment>, ws, must<end_of_initialisation>> {};
struct initial_state
    : seq<must<open_brace>, ws, star<sor<semicolon, initialisation>, ws>, must<close_brace>> {};

// The row of threads.
struct thread_name : identifier {};
struct placement_word : identifier {};
struct placement_number : number {};
struct placement : seq<placement_word, opt<ws, placement_number>> {};
struct thread
    : seq<thread_name, opt<ws, one<'@'>, ws, must<placement>, star<ws, one<','>, ws, must<placement>>>> {};
struct end_of_threads : semicolon {};
struct thread_row : seq<must<thread>, star<ws, one<'|'>, ws, must<thread>>, ws, must<end_of_threads>> {};

// The rows of instructions.
struct comparison_symbol : sor<string<'=', '='>, string<'!', '='>, string<'<', '='>, string<'>', '='>,
                               one<'='>, one<'<'>, one<'>'>> {};
struct label : identifier {};
struct labelled : seq<at<identifier, ws, colon>, label, ws, colon> {};
struct mnemonic : seq<identifier_first, star<sor<identifier_other, one<'.'>>>> {};
struct number_operand : number {};
struct name_operand : identifier {};
struct bracketed_operand_name : identifier {};
struct bracketed_operand : seq<open_bracket, ws, must<bracketed_operand_name>, ws, must<close_bracket>> {};
struct operand : sor<number_operand, bracketed_operand, name_operand> {};
struct separator : sor<one<','>, comparison_symbol> {};
struct end_of_cell : at<one<'|', ';'>> {};
struct operands : seq<operand, star<ws, separator, ws, must<operand>>> {};
struct instruction : seq<mnemonic, ws, opt<operands>, ws, must<end_of_cell>> {};
struct cell : seq<ws, opt<labelled, ws>, opt<instruction>> {};
struct bar : one<'|'> {};
struct begin_row : peg::success {};
struct end_of_row : semicolon {};
struct row : seq<begin_row, cell, star<ws, bar, cell>, ws, must<end_of_row>> {};

struct locations_word : keyword<'l', 'o', 'c', 'a', 't', 'i', 'o', 'n', 's'> {};
struct filter_word : keyword<'f', 'i', 'l', 't', 'e', 'r'> {};
struct exists_word : keyword<'e', 'x', 'i', 's', 't', 's'> {};
struct forall_word : keyword<'f', 'o', 'r', 'a', 'l', 'l'> {};
struct after_rows : sor<locations_word, filter_word, exists_word, forall_word, one<'~'>, eof> {};
struct misspelled_word : identifier {};
struct misspelled : seq<at<identifier, ws, open_parenthesis>, misspelled_word> {};
struct rows : star<not_at<after_rows>, sor<misspelled, row>, ws> {};
struct end_of_program : peg::success {};

// Conditions: ~ before /\ before \/.
struct term_number : number {};
struct term_reference : reference {};
struct is_number : at<number, ws, not_at<colon>> {};
struct term : sor<seq<is_number, term_number>, term_reference> {};
struct right_term : term {};
struct comparison : comparison_symbol {};
struct compare : seq<term, ws, must<comparison>, ws, must<right_term>> {};
struct truth_true : keyword<'t', 'r', 'u', 'e'> {};
struct truth_false : keyword<'f', 'a', 'l', 's', 'e'> {};
struct disjunction;
struct unary;
struct parenthesised : seq<open_parenthesis, ws, must<deeper<disjunction>>, ws, must<close_parenthesis>> {};
struct negated : sor<parenthesised, deeper<unary>> {};
struct negation : seq<sor<one<'~'>, keyword<'n', 'o', 't'>>, ws, must<negated>> {};
struct unary : sor<negation, parenthesised, truth_true, truth_false, compare> {};
struct and_symbol : sor<string<'/', '\\'>, string<'&', '&'>> {};
struct or_symbol : sor<string<'\\', '/'>, string<'|', '|'>> {};
struct and_next : seq<and_symbol, ws, must<unary>> {};
struct conjunction : seq<unary, star<ws, and_next>> {};
struct or_next : seq<or_symbol, ws, must<conjunction>> {};
struct disjunction : seq<conjunction, star<ws, or_next>> {};
struct enclosed : at<open_parenthesis> {};
struct formula : seq<must<enclosed>, parenthesised> {};

struct observed : reference {};
struct end_of_observed : sor<semicolon, at<close_bracket>> {};
struct observed_list : star<observed, ws, must<end_of_observed>, ws> {};
struct locations : seq<locations_word, ws, must<open_bracket>, ws, observed_list, must<close_bracket>> {};
struct filter : seq<filter_word, ws, formula> {};
struct exists : exists_word {};
struct negated_exists_word : exists_word {};
struct not_exists : seq<one<'~'>, ws, must<negated_exists_word>> {};
struct forall : forall_word {};
struct question : sor<exists, not_exists, forall> {};
struct condition : seq<must<question>, ws, formula> {};
struct end_of_test : eof {};

struct test : seq<head, initial_state, ws, thread_row, ws, rows, end_of_program,
                  star<sor<locations, filter>, ws>, condition, ws, must<end_of_test>> {};

}  // namespace grammar

template <>
constexpr Expectation expectation<grammar::nested_comment>{"a comment that ends", "close it with '*)'"};
template <>
constexpr Expectation expectation<grammar::dialect>{"a dialect such as HRF"};
template <>
constexpr Expectation expectation<grammar::name>{"the name of the test after its dialect"};
template <>
constexpr Expectation expectation<grammar::closed_doc>{"a doc string that ends", "close it with '\"'"};
template <>
constexpr Expectation expectation<grammar::entry>{"an entry"};
template <>
constexpr Expectation expectation<grammar::entry_value>{"a value after ':'"};
template <>
constexpr Expectation expectation<grammar::end_of_entries>{"',' or the end of the line"};
template <>
constexpr Expectation expectation<grammar::open_brace>{"the initial state in '{' and '}'",
                                                       "it may be empty: { }"};
template <>
constexpr Expectation expectation<grammar::close_brace>{
    "an initialisation or '}'", "initialisations are x = 0; or P0:r0 = 0; or block x y;"};
template <>
constexpr Expectation expectation<grammar::end_of_initialisation>{"';' or '}'"};
template <>
constexpr Expectation expectation<grammar::equals>{"'='"};
template <>
constexpr Expectation expectation<grammar::initial_value>{"an integer"};
template <>
constexpr Expectation expectation<grammar::register_name>{"a register"};
template <>
constexpr Expectation expectation<grammar::bracketed_name>{"a location"};
template <>
constexpr Expectation expectation<grammar::block_name>{"a location"};
template <>
constexpr Expectation expectation<grammar::bracketed_operand_name>{"a location"};
template <>
constexpr Expectation expectation<grammar::open_bracket>{"'['"};
template <>
constexpr Expectation expectation<grammar::close_bracket>{"']'"};
template <>
constexpr Expectation expectation<grammar::thread>{"a thread",
                                                   "threads are named P0, P1, ... from left to right"};
template <>
constexpr Expectation expectation<grammar::placement>{"wg, agent, host, kernel or wave"};
template <>
constexpr Expectation expectation<grammar::end_of_threads>{"',', '|' or ';' after a thread"};
template <>
constexpr Expectation expectation<grammar::operand>{"an operand"};
template <>
constexpr Expectation expectation<grammar::end_of_cell>{"',', '|' or ';' after an instruction"};
template <>
constexpr Expectation expectation<grammar::end_of_row>{"an instruction, '|' or ';'"};
template <>
constexpr Expectation expectation<grammar::end_of_observed>{"';' or ']'"};
template <>
constexpr Expectation expectation<grammar::question>{"a row, or exists, ~exists or forall with a condition"};
template <>
constexpr Expectation expectation<grammar::negated_exists_word>{"exists after '~'"};
template <>
constexpr Expectation expectation<grammar::enclosed>{"a condition in parentheses",
                                                     "such as exists (P0:r0 == 1 /\\ [x] == 2)"};
constexpr Expectation a_condition{"a comparison, true, false, '~' or '('", "such as P0:r0 == 1 or [x] != 0"};
template <>
constexpr Expectation expectation<grammar::deeper<grammar::disjunction>> = a_condition;
template <>
constexpr Expectation expectation<grammar::negated> = a_condition;
template <>
constexpr Expectation expectation<grammar::unary> = a_condition;
template <>
constexpr Expectation expectation<grammar::conjunction> = a_condition;
template <>
constexpr Expectation expectation<grammar::comparison>{"==, !=, <, <=, > or >="};
template <>
constexpr Expectation expectation<grammar::right_term>{"a register, a location or an integer"};
template <>
constexpr Expectation expectation<grammar::close_parenthesis>{"/\\, \\/ or ')'"};
template <>
constexpr Expectation expectation<grammar::end_of_test>{
    "the end of the file after the condition", "the whole condition stands in one pair of parentheses"};

// PEGTL's control: a rule that must match and does not is an error with its expectation.
template <typename Rule>
struct Control : peg::normal<Rule> {
  template <typename ParseInput>
  [[noreturn]] static void raise(const ParseInput& in, Reader& reader) {
    static_assert(expectation<Rule>.what != nullptr, "a rule inside must<> needs an expectation");
    reader.fail_expected(expectation<Rule>.what, expectation<Rule>.hint, in.iterator());
  }
};

// ---- The actions: which words go where ----

template <typename Rule>
struct Action : peg::nothing<Rule> {};

// Hands the matched word to a function of the reader.
template <auto function>
struct Give {
  template <typename ActionInput>
  static void apply(const ActionInput& in, Reader& reader) {
    const SourcePlace place{static_cast<int>(in.iterator().line), static_cast<int>(in.iterator().column)};
    (reader.*function)(Word{in.string_view(), place});
  }
};

template <Spelling spelling>
struct GiveOperand {
  template <typename ActionInput>
  static void apply(const ActionInput& in, Reader& reader) {
    const SourcePlace place{static_cast<int>(in.iterator().line), static_cast<int>(in.iterator().column)};
    reader.operand(Word{in.string_view(), place}, spelling);
  }
};

// Calls a function of the reader, with arguments known here.
template <auto function, auto... arguments>
struct Call {
  static void apply0(Reader& reader) { (reader.*function)(arguments...); }
};

// clang-format off
template <> struct Action<grammar::dialect> : Give<&Reader::dialect> {};
template <> struct Action<grammar::name> : Give<&Reader::name> {};
template <> struct Action<grammar::doc> : Give<&Reader::doc> {};
template <> struct Action<grammar::key> : Give<&Reader::key> {};
template <> struct Action<grammar::entry_name> : Give<&Reader::entry_name> {};
template <> struct Action<grammar::entry_value> : Give<&Reader::entry_value> {};
template <> struct Action<grammar::entry> : Call<&Reader::end_entry> {};

template <> struct Action<grammar::begin_reference> : Call<&Reader::begin_reference> {};
template <> struct Action<grammar::reference_thread> : Give<&Reader::reference_thread> {};
template <> struct Action<grammar::register_name> : Give<&Reader::reference_name> {};
template <> struct Action<grammar::location_name> : Give<&Reader::reference_name> {};
template <> struct Action<grammar::bracketed_name> : Give<&Reader::reference_name> {};
template <> struct Action<grammar::initial_value> : Give<&Reader::initial_value> {};
template <> struct Action<grammar::begin_block> : Call<&Reader::begin_block> {};
template <> struct Action<grammar::block_name> : Give<&Reader::block_member> {};
template <> struct Action<grammar::block> : Call<&Reader::end_block> {};

template <> struct Action<grammar::thread_name> : Give<&Reader::begin_thread> {};
template <> struct Action<grammar::placement_word> : Give<&Reader::placement_word> {};
template <> struct Action<grammar::placement_number> : Give<&Reader::placement_number> {};
template <> struct Action<grammar::placement> : Call<&Reader::end_placement> {};
template <> struct Action<grammar::thread_row> : Call<&Reader::end_thread_row> {};

template <> struct Action<grammar::begin_row> : Call<&Reader::begin_row> {};
template <> struct Action<grammar::bar> : Give<&Reader::next_cell> {};
template <> struct Action<grammar::end_of_row> : Give<&Reader::end_row> {};
template <> struct Action<grammar::label> : Give<&Reader::label> {};
template <> struct Action<grammar::mnemonic> : Give<&Reader::mnemonic> {};
template <> struct Action<grammar::number_operand> : GiveOperand<Spelling::number> {};
template <> struct Action<grammar::name_operand> : GiveOperand<Spelling::name> {};
template <> struct Action<grammar::bracketed_operand_name> : GiveOperand<Spelling::bracketed> {};
template <> struct Action<grammar::separator> : Give<&Reader::separator> {};
template <> struct Action<grammar::instruction> : Call<&Reader::end_instruction> {};
template <> struct Action<grammar::misspelled_word> : Give<&Reader::misspelled_question> {};
template <> struct Action<grammar::end_of_program> : Call<&Reader::end_program> {};

template <> struct Action<grammar::observed> : Call<&Reader::observe> {};
template <> struct Action<grammar::term_reference> : Call<&Reader::reference_term> {};
template <> struct Action<grammar::term_number> : Give<&Reader::constant_term> {};
template <> struct Action<grammar::comparison> : Give<&Reader::comparison> {};
template <> struct Action<grammar::compare> : Call<&Reader::end_comparison> {};
template <> struct Action<grammar::truth_true> : Call<&Reader::truth, true> {};
template <> struct Action<grammar::truth_false> : Call<&Reader::truth, false> {};
template <> struct Action<grammar::negation> : Call<&Reader::negate> {};
template <> struct Action<grammar::and_next> : Call<&Reader::join, Formula::Kind::and_> {};
template <> struct Action<grammar::or_next> : Call<&Reader::join, Formula::Kind::or_> {};
template <> struct Action<grammar::filter> : Call<&Reader::end_filter> {};
template <> struct Action<grammar::exists> : Call<&Reader::quantifier, Quantifier::exists> {};
template <> struct Action<grammar::not_exists> : Call<&Reader::quantifier, Quantifier::not_exists> {};
template <> struct Action<grammar::forall> : Call<&Reader::quantifier, Quantifier::forall> {};
template <> struct Action<grammar::condition> : Call<&Reader::end_condition> {};
// clang-format on

}  // namespace

LitmusTest parse_litmus(std::string_view text, const std::string& file) {
  Reader reader(text, file);
  peg::memory_input<peg::tracking_mode::eager, peg::eol::lf_crlf, const char*> in(text.data(), text.size(),
                                                                                  "");
  const bool matched = peg::parse<grammar::test, Action, Control>(in, reader);
  if (!matched) throw std::logic_error("the litmus grammar gave up without naming an error");
  return reader.take();
}

LitmusTest read_litmus(const std::string& file) {
  const Source whole({}, file);
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(file, error);
  if (!std::filesystem::exists(status)) whole.refuse("no such file");
  if (!std::filesystem::is_regular_file(status)) whole.refuse("not a regular file");
  std::ifstream stream(file, std::ios::binary);
  if (!stream) whole.refuse("the file cannot be opened");
  std::string text(largest_text + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (stream.bad()) whole.refuse("the file cannot be read");
  text.resize(static_cast<std::size_t>(stream.gcount()));
  return parse_litmus(text, file);
}

}  // namespace lockstep
