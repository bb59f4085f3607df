// What the readers of all dialects share: the head of a test, its initial state, its question, and the
// threads, registers and locations that these name.
//
// A reader takes the words of a test in the order of the text. Each public function is called by one rule
// of a grammar (grammar.hpp); the comments say which words it takes. What a dialect reads in between, its
// threads and their code, is in columns.cpp, processors.cpp and kernels.cpp; a sequence of launches in
// launches.cpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checker/language/test.hpp"
#include "checker/language/text.hpp"

namespace lockstep::litmus {

enum class Dialect : std::uint8_t { hrf, ptx, opencl, c, launches, vulkan, x86, x86_64, aarch64, riscv };
enum class ClaimKind : std::uint8_t { section, meeting, final_value };

// "HRF", "PTX", "OPENCL", "C", "LAUNCHES", "VULKAN", "X86", "X86_64", "AArch64", "RISCV".
const Names& dialect_names();

inline constexpr std::array all_comparisons{Comparison::equal,   Comparison::not_equal,
                                            Comparison::less,    Comparison::greater_equal,
                                            Comparison::greater, Comparison::less_equal};

// "P0:r1", "x", "[x]" or "x[1]".
struct Reference {
  std::optional<Word> thread;
  Word name;
  std::optional<Word> element;
  bool bracketed = false;
};

class TestReader : public ReaderOfSource {
 public:
  TestReader(const Source& source, Dialect dialect) : ReaderOfSource(source), dialect_(dialect) {
    test_.file = source.file();
  }

  LitmusTest take();

  // HRF and LAUNCHES say everything; people's tests in the other dialects leave things out and carry more in
  // their heads.
  [[nodiscard]] bool is_strict() const { return dialect_ == Dialect::hrf || is_launches(); }
  [[nodiscard]] bool is_loose() const { return !is_strict(); }
  [[nodiscard]] bool is_launches() const { return dialect_ == Dialect::launches; }
  [[nodiscard]] bool is_program() const { return !is_launches(); }
  [[nodiscard]] bool is_kernels() const { return dialect_ == Dialect::opencl || dialect_ == Dialect::c; }
  [[nodiscard]] bool is_ptx() const { return dialect_ == Dialect::ptx; }
  [[nodiscard]] bool is_vulkan() const { return dialect_ == Dialect::vulkan; }
  [[nodiscard]] bool is_processor() const { return dialect_ >= Dialect::x86; }
  // What is initialised may be named with its type alone, and is 0.
  [[nodiscard]] bool may_be_declared() const { return is_kernels() || is_processor(); }
  // A test of the public suites may have no name.
  [[nodiscard]] bool may_have_no_name() const { return is_vulkan(); }

  // A test may leave the question out where it says what else is to be judged.
  [[nodiscard]] bool may_have_no_question() const {
    return is_loose() || !claims_.empty() || !test_.expected_progress.empty();
  }

  // -- The head of the test --

  void head_word(const Word&);
  void name(const Word& word);
  void doc(const Word& word);
  void key(const Word& word);
  void entry_name(const Word& word);
  void entry_value(const Word& word) { value_ = word; }
  void end_entry();
  void begin_claim(ClaimKind kind) { claims_.emplace_back().kind = kind; }
  void claim_name(const Word& word);
  void claim_number(const Word& word) { claims_.back().number = word; }
  void begin_part() { claims_.back().parts.emplace_back(); }
  void claim_thread(const Word& word) { claims_.back().parts.back().thread = word; }
  void claim_label(const Word& word, int which);
  void claim_weight(const Word& word) { claims_.back().parts.back().weight = word; }
  void claim_location() { claims_.back().location = reference_; }

  // -- The initial state --

  void begin_reference() { reference_ = {}; }
  void reference_thread(const Word& word) { reference_.thread = word; }
  void reference_name(const Word& word) { reference_.name = word; }
  void register_name(const Word& word);
  void bracketed_name(const Word& word);
  void element(const Word& word) { reference_.element = word; }

  void begin_initialisation();
  void type_word(const Word& word);
  void pointer_star(const Word& word) { pointer_ = word; }
  void initial_value(const Word& word) { initial_values_.push_back(source_.constant(word)); }
  void initial_address(const Word& word) { address_ = word; }
  void end_initialisation();

  // "y @ generic aliases x": another name for the memory of x, at an address of its own where it is generic.
  void alias_sign(const Word& word);
  void alias_proxy(const Word& word) { alias_proxy_ = word; }
  void alias_target(const Word& word, bool bracketed);
  void end_alias();
  // "ssw 0 1" in braces of their own: what the first thread does comes before what the second does.
  void check_ssw(const Word& brace) const;
  void ssw_thread(const Word& word) { ssw_.push_back(word); }

  void begin_block() { block_.clear(); }
  void block_member(const Word& word, bool bracketed);
  void end_block() { blocks_.push_back(block_); }

  // -- The question --

  [[noreturn]] void misspelled_question(const Word& word) const;
  void observe() { note_observed(resolve()); }
  void reference_term();
  void constant_term(const Word& word);
  void comparison(const Word& word);
  void end_comparison();
  // "stale", "K1:acquire@C0" or "K1:A@C0 == dirty": what a sequence of launches has shown.
  void begin_fact() { fact_ = {}; }
  void fact_launch(const Word& word) { fact_.launch = word; }
  void fact_name(const Word& word) { fact_.name = word; }
  void fact_chiplet(const Word& word) { fact_.chiplet = word; }
  void fact_value(const Word& word) { fact_.value = word; }
  void end_fact();
  void truth(bool value);
  void negate();
  void join(Formula::Kind kind);
  void end_filter();
  void quantifier(Quantifier quantifier) { test_.quantifier = quantifier; }
  void end_condition();
  void no_condition();

 protected:
  ~TestReader() = default;

  [[nodiscard]] Program& program() { return test_.program; }
  [[nodiscard]] const Program& program() const { return test_.program; }

  // The next thread, which has to have the name that its number gives it.
  Thread& add_thread(const Word& word);

  // The location of that name, created where it is new. A bracketed name is a location whatever it reads.
  std::size_t location(const Word& word, bool bracketed = false);
  [[nodiscard]] std::optional<std::size_t> find_location(std::string_view name) const;

  // The register of that name in a thread, created where it is new.
  std::size_t register_of(Thread& thread, const Word& word) const;
  [[nodiscard]] static std::optional<std::size_t> find_register(const Thread& thread, std::string_view name);

  // The number of the thread written as P0 or 0.
  [[nodiscard]] std::optional<std::size_t> find_thread(const Word& word) const;
  [[nodiscard]] std::size_t thread_index(const Word& word) const;
  [[noreturn]] void fail_thread(const Word& word) const;

  // The initial values of registers in the order of the text, and which were given to a thread already.
  struct InitialRegister {
    Reference reference;
    std::int32_t value = 0;
    std::optional<Word> address;  // in place of a value: the location that it points to
    bool taken = false;
  };
  std::vector<InitialRegister> initial_registers_;
  void initialise_register(std::size_t thread, const InitialRegister& initial);

  // Registers with an initial value that is the address of a location, by thread and name.
  [[nodiscard]] const Word* address_in(std::size_t thread, std::string_view name) const;

  // Whether a register holds an address, of which a program says no value. Kernels compare addresses.
  [[nodiscard]] virtual bool holds_address(std::size_t thread, std::string_view name) const;

  // Parameters of kernels, by thread and name. A condition takes one for a register that holds its address.
  std::vector<std::pair<std::size_t, std::string>> pointers_;

  // Turns what was claimed in the head into claims of the program; `place_of(thread, label)`.
  void resolve_claims(const std::function<int(std::size_t, const Word&)>& place_of);

  // After the last word of the program: gives each location its block and each kernel its marks.
  void finish_program();

  // In place of a program.
  Launches launches_;
  [[nodiscard]] int structure(const Word& word) const;
  [[nodiscard]] int chiplet(const Word& word) const;

  Dialect dialect_;

 private:
  Formula pop_formula();
  [[nodiscard]] const Word& value(const std::string& expected) const;
  void add_expected_race();
  void add_expectation();
  void add_expected_progress();
  void initialise_location();
  void resolve_ssw();
  [[nodiscard]] bool is_same_again(std::size_t location) const;
  void check_register_name(const Word& word) const;
  void number_blocks();
  [[nodiscard]] ConditionTerm resolve();
  [[nodiscard]] ConditionTerm resolve_register();
  [[nodiscard]] ConditionTerm resolve_location() const;
  void note_observed(const ConditionTerm& term);

  LitmusTest test_;

  // A claim as it was written.
  struct ClaimPart {
    Word thread;
    std::array<Word, 2> labels;
    std::optional<Word> weight;
  };
  struct WrittenClaim {
    ClaimKind kind = ClaimKind::section;
    Word name;
    Word number;
    std::vector<ClaimPart> parts;
    Reference location;
  };
  [[nodiscard]] std::string new_claim_name(const WrittenClaim& claim, Names& known) const;
  void add_section(const WrittenClaim& claim, std::string name,
                   const std::function<int(std::size_t, const Word&)>& place_of);
  void add_meeting(const WrittenClaim& claim, std::string name,
                   const std::function<int(std::size_t, const Word&)>& place_of);

  // The head.
  std::vector<WrittenClaim> claims_;
  std::string_view key_;
  Word entry_;
  std::optional<Word> value_;
  std::map<std::string_view, SourcePlace> systems_;

  // The initial state.
  Reference reference_;
  Region region_ = Region::global;
  bool plain_ = false;
  std::optional<Word> pointer_;
  std::optional<Word> address_;
  Word alias_sign_;
  std::optional<Word> alias_proxy_;
  std::pair<Word, bool> alias_target_;
  std::vector<Word> ssw_;  // pairs
  std::vector<std::int32_t> initial_values_;
  std::vector<bool> initialised_;
  std::vector<std::pair<std::size_t, std::string>> registers_initialised_;  // thread and name
  std::vector<std::pair<std::pair<std::size_t, std::string>, Word>> addresses_;
  Names block_;
  std::vector<Names> blocks_;

  // The question.
  std::vector<ConditionTerm> terms_;
  std::vector<Formula> formulas_;
  Comparison comparison_ = Comparison::equal;
  bool has_filter_ = false;
  struct Fact {
    std::optional<Word> launch;
    Word name;
    std::optional<Word> chiplet;
    std::optional<Word> value;
  };
  Fact fact_;
  [[nodiscard]] LaunchTerm fact_asked() const;
  [[nodiscard]] int launch(const Word& word) const;
  [[nodiscard]] ConditionTerm constant_of(const LaunchTerm& term) const;
};

// What a processor's dialect calls a register, whichever of its names is given; empty where it has none of
// that name.
std::string_view register_of_processor(Dialect dialect, std::string_view name);

// The readers of columns (HRF, PTX, VULKAN; X86, X86_64, AArch64, RISCV), of kernels (OPENCL, C) and of
// launches.
LitmusTest read_columns(const Source& source, Dialect dialect);
LitmusTest read_processors(const Source& source, Dialect dialect);
LitmusTest read_kernels(const Source& source, Dialect dialect);
LitmusTest read_launches(const Source& source);

}  // namespace lockstep::litmus
