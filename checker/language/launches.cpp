// Reads the dialect LAUNCHES: a sequence of kernel launches on chiplets, with what each labels, and host
// accesses between them.
//
// Columns are chiplets and rows are launches, one after the other. A cell lists what the kernel's labels give
// that chiplet, by word, so that a range may begin and end within a line.
#include <algorithm>
#include <array>

#include "checker/language/grammar.hpp"
#include "checker/support/diagnostic.hpp"

namespace lockstep::litmus {
namespace {

constexpr int most_words = 1024;
constexpr std::size_t most_launches = 256;

std::string chiplet_name(int chiplet) {
  return "C" + std::to_string(chiplet);
}

Names states() {
  return {listed_states.begin(), listed_states.end()};
}

// Words that mean something else where a structure could stand.
const Names& reserved() {
  static const Names words{"R",    "W",       "host",    "unlabelled", "as",       "line", "stale",
                           "lost", "acquire", "release", "acquires",   "releases", "true", "false",
                           "not",  "labels",  "exists",  "forall",     "filter",   "cus"};
  return words;
}

class LaunchReader : public TestReader {
 public:
  explicit LaunchReader(const Source& source) : TestReader(source, Dialect::launches) {}

  // -- What there is in memory --

  void begin_structure(const Word& word) {
    if (std::find(reserved().begin(), reserved().end(), word.text) != reserved().end()) {
      source_.fail(word.place, "a structure cannot be called " + in_quotes(word.text),
                   "the word means something else: " + list(reserved()));
    }
    if (std::find(launches_.structures.begin(), launches_.structures.end(), word.text) !=
        launches_.structures.end()) {
      source_.fail(word.place, in_quotes(word.text) + " is there twice");
    }
    launches_.structures.emplace_back(word.text);
    structure_place_ = word.place;
    if (launches_.structures.size() == 1) launches_.place = word.place;
    words_ = 1;
  }
  void structure_words(const Word& word) { words_ = at_least_one(word, "a structure has one word at least"); }
  void end_structure() {
    if (launches_.structures.size() > 1 && words_ != launches_.words) {
      source_.fail(structure_place_,
                   in_quotes(launches_.structures.back()) + " has " +
                       count_of(static_cast<std::size_t>(words_), "word") + ", and " +
                       in_quotes(launches_.structures.front()) + " has " + std::to_string(launches_.words),
                   "give all structures of a test the same number of words; a kernel need not label all");
    }
    launches_.words = words_;
  }
  void line(const Word& word) {
    if (line_given_) source_.fail(word.place, "the words of a line are said twice");
    line_given_ = true;
    launches_.line = at_least_one(word, "a line has one word at least");
  }
  void labels(const Word& word) {
    if (launches_.tracked > 0)
      source_.fail(word.place, "the structures that a kernel may label are said twice");
    launches_.tracked = at_least_one(word, "a kernel may label one structure at least");
  }
  void cus(const Word& word) {
    if (cus_given_) source_.fail(word.place, "the CUs of a chiplet are said twice");
    cus_given_ = true;
    launches_.cus = at_least_one(word, "a chiplet has one CU at least");
  }

  // -- The row of chiplets --

  void begin_chiplets() { launches_.chiplets = 0; }
  void chiplet_column(const Word& word) {
    const std::string expected = chiplet_name(launches_.chiplets);
    if (word.text != expected) {
      source_.fail(word.place, "expected chiplet " + expected + ", found " + in_quotes(word.text),
                   "chiplets are named C0, C1, ... from left to right");
    }
    ++launches_.chiplets;
  }

  // -- The rows of launches --

  void begin_launch(const Word& word) {
    const auto same = [&](const Launch& other) { return other.name == word.text; };
    if (std::any_of(launches_.launches.begin(), launches_.launches.end(), same))
      source_.fail(word.place, "two launches are called " + in_quotes(word.text));
    if (launches_.launches.size() == most_launches)
      source_.fail(word.place, "a test has at most " + count_of(most_launches, "launch") + "es");
    Launch& launch = launches_.launches.emplace_back();
    launch.name = word.text;
    launch.place = word.place;
    chiplet_ = 0;
  }
  void goes_on() { current().goes_on = true; }
  void next_cell(const Word& word) {
    if (++chiplet_ < launches_.chiplets) return;
    source_.fail(word.place,
                 "a launch has at most one cell for each of " +
                     count_of(static_cast<std::size_t>(launches_.chiplets), "chiplet"),
                 "name another chiplet in the first row");
  }
  void unlabelled() { current().kind = Launch::Kind::unlabelled; }
  void host(const Word& word) {
    const std::string how = source_.one_of(word, "host access", {"reads", "writes"});
    current().kind = how == "reads" ? Launch::Kind::host_reads : Launch::Kind::host_writes;
  }
  void host_structure(const Word& word) { current().structure = structure(word); }

  void mode(const Word& word) {
    write_ = source_.one_of(word, "access", {"R", "R/W", "host", "unlabelled"}) == "R/W";
    if (word.text == "host" || word.text == "unlabelled") {
      source_.fail(word.place, in_quotes(word.text) + " is a launch of its own",
                   "give it a row and a name: K1: " +
                       std::string(word.text == "host" ? "host reads A ;" : "unlabelled ;"));
    }
    first_.reset();
    last_.reset();
    base_.reset();
  }
  void labelled(const Word& word) { named_ = word; }
  void first_word(const Word& word) { first_ = word; }
  void last_word(const Word& word) { last_ = word; }
  void base(const Word& word) { base_ = word; }
  void end_label() {
    const int owner = structure(named_);
    const int first = first_ ? element(*first_, owner) : 0;
    const int last = last_ ? element(*last_, owner) : (first_ ? first : launches_.words - 1);
    if (last < first) source_.fail(last_->place, "the range ends before it begins");
    const int by = base_ ? structure(*base_) : owner;
    launches_.aliases = launches_.aliases || by != owner;
    check_mode(by);
    for (int word = first; word <= last; ++word) {
      const LaunchLabel label{by, write_, chiplet_, owner * launches_.words + word};
      const auto same = [&](const LaunchLabel& other) {
        return other.structure == by && other.chiplet == chiplet_ && other.word == label.word;
      };
      if (std::any_of(current().labels.begin(), current().labels.end(), same)) {
        source_.fail(named_.place, chiplet_name(chiplet_) + " is given " + std::string(named_.text) + "[" +
                                       std::to_string(word) + "] twice");
      }
      current().labels.push_back(label);
    }
  }
  void end_launch() {
    const Launch& launch = current();
    if (launch.goes_on && launch.kind != Launch::Kind::labelled) {
      source_.fail(launch.place, in_quotes(launch.name) + " cannot go on",
                   "only a kernel with labels goes on while the next is launched");
    }
    if (launch.kind != Launch::Kind::labelled || !launch.labels.empty()) return;
    source_.fail(launch.place, in_quotes(launch.name) + " labels nothing",
                 "a kernel without labels is written " + launch.name + ": unlabelled ;");
  }

 private:
  Launch& current() { return launches_.launches.back(); }

  [[nodiscard]] int at_least_one(const Word& word, const char* why) const {
    const std::int32_t value = source_.constant(word);
    if (value < 1) source_.fail(word.place, why);
    if (value > most_words) source_.fail(word.place, "at most " + std::to_string(most_words));
    return value;
  }

  [[nodiscard]] int element(const Word& word, int owner) const {
    const std::int32_t value = source_.constant(word);
    if (value >= 0 && value < launches_.words) return value;
    const std::string& name = launches_.structures[static_cast<std::size_t>(owner)];
    source_.fail(
        word.place, in_quotes(name) + " has no word " + std::to_string(value),
        "its words are " + name + "[0] to " + name + "[" + std::to_string(launches_.words - 1) + "]");
  }

  // A structure has one mode in a kernel, whatever the chiplet (5.3.2, Tracking).
  void check_mode(int structure) {
    for (const LaunchLabel& other : current().labels) {
      if (other.structure != structure || other.write == write_) continue;
      const std::string& name = launches_.structures[static_cast<std::size_t>(structure)];
      source_.fail(named_.place,
                   in_quotes(name) + " is " + (other.write ? "R/W" : "R") + " in " +
                       chiplet_name(other.chiplet) + " and " + (write_ ? "R/W" : "R") + " here",
                   "a structure has one mode in a kernel: label it R/W, or split it in two structures");
    }
  }

  SourcePlace structure_place_;
  int words_ = 1;
  bool line_given_ = false;
  bool cus_given_ = false;

  int chiplet_ = 0;
  bool write_ = false;
  Word named_;
  std::optional<Word> first_;
  std::optional<Word> last_;
  std::optional<Word> base_;
};

}  // namespace

// ---- What the question names ----

namespace {
// The place of a word among those known; an error with the nearest where it is none of them.
int place_among(const Source& source, const Word& word, const std::string& thing, const Names& known) {
  const std::string name = source.one_of(word, thing, known);
  return static_cast<int>(std::find(known.begin(), known.end(), name) - known.begin());
}
}  // namespace

int TestReader::structure(const Word& word) const {
  return place_among(source_, word, "structure", launches_.structures);
}

int TestReader::chiplet(const Word& word) const {
  Names known;
  for (int c = 0; c < launches_.chiplets; ++c) known.push_back(chiplet_name(c));
  return place_among(source_, word, "chiplet", known);
}

int TestReader::launch(const Word& word) const {
  Names known;
  for (const Launch& one : launches_.launches) known.push_back(one.name);
  return place_among(source_, word, "launch", known);
}

// The term that the last fact names, with all that it needs and nothing else.
LaunchTerm TestReader::fact_asked() const {
  using Kind = LaunchTerm::Kind;
  struct Form {
    std::string_view name;
    Kind kind;
    bool at_chiplet;  // "K1:acquire@C0", so of a launch
  };
  static constexpr std::array forms{
      Form{"stale", Kind::stale, false},       Form{"lost", Kind::lost, false},
      Form{"acquire", Kind::acquire, true},    Form{"release", Kind::release, true},
      Form{"acquires", Kind::acquires, false}, Form{"releases", Kind::releases, false}};
  Names known = launches_.structures;
  for (const Form& form : forms) known.emplace_back(form.name);
  const std::string name = source_.one_of(fact_.name, "word", known);
  const auto* const found =
      std::find_if(forms.begin(), forms.end(), [&](const Form& form) { return form.name == name; });
  const bool of_structure = found == forms.end();
  const bool at_chiplet = of_structure || found->at_chiplet;
  LaunchTerm term;
  term.kind = of_structure ? Kind::state : found->kind;
  if (of_structure) term.structure = structure(fact_.name);
  const std::string example = "such as K1:" + name + "@C0";
  if (at_chiplet && !fact_.launch)
    source_.fail(fact_.name.place, in_quotes(name) + " at which launch?", example);
  if (at_chiplet && !fact_.chiplet)
    source_.fail(fact_.name.place, in_quotes(name) + " in which chiplet?", example);
  if (!at_chiplet && fact_.chiplet) {
    source_.fail(fact_.chiplet->place, in_quotes(name) + " is not about one chiplet",
                 name.ends_with('s') ? "count it, or ask for " + name.substr(0, name.size() - 1) + "@" +
                                           std::string(fact_.chiplet->text)
                                     : "leave out the chiplet");
  }
  if (fact_.launch) term.launch = launch(*fact_.launch);
  if (fact_.chiplet) term.chiplet = chiplet(*fact_.chiplet);
  if (of_structure && !fact_.value) {
    source_.fail(fact_.name.place, "the state of " + in_quotes(name) + " compared with what?",
                 "one of: " + list(states()));
  }
  return term;
}

ConditionTerm TestReader::constant_of(const LaunchTerm& term) const {
  ConditionTerm constant;
  if (!fact_.value) return constant;
  if (term.kind != LaunchTerm::Kind::state) {
    constant.value = source_.constant(*fact_.value);
    return constant;
  }
  constant.name = source_.one_of(*fact_.value, "state", states());
  const auto* const found = std::find(listed_states.begin(), listed_states.end(), constant.name);
  constant.value = static_cast<std::int32_t>(found - listed_states.begin());
  if (comparison_ != Comparison::equal && comparison_ != Comparison::not_equal)
    source_.fail(fact_.value->place, "states have no order", "compare with == or !=");
  return constant;
}

void TestReader::end_fact() {
  const LaunchTerm term = fact_asked();
  auto& observed = launches_.observed;
  auto found = std::find(observed.begin(), observed.end(), term);
  if (found == observed.end()) found = observed.insert(observed.end(), term);
  Formula formula;
  formula.kind = Formula::Kind::compare;
  formula.comparison = fact_.value ? comparison_ : Comparison::not_equal;
  formula.left.kind = ConditionTerm::Kind::shown;
  formula.left.index = static_cast<int>(found - observed.begin());
  if (fact_.launch) formula.left.name = std::string(fact_.launch->text) + ":";
  formula.left.name += fact_.name.text;
  if (fact_.chiplet) formula.left.name += "@" + std::string(fact_.chiplet->text);
  formula.right = constant_of(term);
  note_observed(formula.left);
  formulas_.push_back(std::move(formula));
}

// ---- The grammar ----

namespace grammar {
namespace {

// { A[3]; B[3]; line 3; labels 2; cus 2; }
struct structure_name : identifier {};
struct structure_words : number {};
struct structure
    : seq<structure_name, ws, opt<open_bracket, ws, must<structure_words>, ws, must<close_bracket>>> {};
struct line_words : number {};
struct line : seq<keyword<'l', 'i', 'n', 'e'>, ws, must<line_words>> {};
struct label_count : number {};
struct label_limit : seq<keyword<'l', 'a', 'b', 'e', 'l', 's'>, ws, must<label_count>> {};
struct cu_count : number {};
struct cu_number : seq<keyword<'c', 'u', 's'>, ws, must<cu_count>> {};
struct end_of_part : sor<semicolon, at<close_brace>> {};
struct part : seq<sor<line, label_limit, cu_number, structure>, ws, must<end_of_part>> {};
struct close_memory : close_brace {};
struct open_memory : open_brace {};
struct memory : seq<must<open_memory>, ws, must<part>, ws, star<part, ws>, must<close_memory>> {};

// C0 | C1 ;
struct chiplet_name : identifier {};
struct begin_chiplets : peg::success {};
struct end_of_chiplets : semicolon {};
struct chiplet_row : seq<begin_chiplets, must<chiplet_name>, star<ws, one<'|'>, ws, must<chiplet_name>>, ws,
                         must<end_of_chiplets>> {};

// K0: R A[0..1], R/W B | R A[2] ;
struct mode : sor<seq<one<'R'>, one<'/'>, one<'W'>, not_at<identifier_other>>, identifier> {};
struct labelled_structure : identifier {};
struct first_word : number {};
struct last_word : number {};
struct range : seq<open_bracket, ws, must<first_word>, ws, opt<string<'.', '.'>, ws, must<last_word>, ws>,
                   must<close_bracket>> {};
struct base_name : identifier {};
struct base : seq<keyword<'a', 's'>, ws, must<base_name>> {};
struct label : seq<mode, ws, must<labelled_structure>, opt<ws, range>, opt<ws, base>> {};
struct labels : seq<label, star<ws, one<','>, ws, must<label>>> {};
struct bar : one<'|'> {};
struct cells : seq<opt<labels>, star<ws, bar, ws, opt<labels>>> {};
struct unlabelled : keyword<'u', 'n', 'l', 'a', 'b', 'e', 'l', 'l', 'e', 'd'> {};
struct host_access : identifier {};
struct host_structure : identifier {};
struct host : seq<keyword<'h', 'o', 's', 't'>, ws, must<host_access>, ws, must<host_structure>> {};
struct launch_name : word {};
struct on : keyword<'o', 'n'> {};
struct goes_on : seq<keyword<'g', 'o', 'e', 's'>, ws, must<on>> {};
struct launch_colon : colon {};
struct end_of_launch : semicolon {};
struct launch : seq<launch_name, ws, opt<goes_on, ws>, must<launch_colon>, ws, sor<host, unlabelled, cells>,
                    ws, must<end_of_launch>> {};
struct launches : star<not_at<after_program>, sor<misspelled, launch>, ws> {};
struct launch_or_question : question {};
struct sequence : seq<head, memory, ws, chiplet_row, ws, launches,
                      seq<must<launch_or_question>, ws, condition>, ws, must<end_of_test>> {};

}  // namespace
}  // namespace grammar

// clang-format off
template <> inline constexpr Expectation expectation<grammar::open_memory>{"the structures in '{' and '}'", "such as { A[4]; B[4]; line 2; }"};
template <> inline constexpr Expectation expectation<grammar::part>{"a structure", "such as { A[4]; B[4]; line 2; }"};
template <> inline constexpr Expectation expectation<grammar::close_memory>{"a structure, line, labels, cus or '}'", "such as { A[4]; B[4]; line 2; labels 1; }"};
template <> inline constexpr Expectation expectation<grammar::end_of_part>{"';' or '}'"};
template <> inline constexpr Expectation expectation<grammar::structure_words>{"the number of its words"};
template <> inline constexpr Expectation expectation<grammar::line_words>{"the number of words of a line"};
template <> inline constexpr Expectation expectation<grammar::label_count>{"the number of structures that a kernel may label"};
template <> inline constexpr Expectation expectation<grammar::cu_count>{"the number of CUs of a chiplet"};
template <> inline constexpr Expectation expectation<grammar::chiplet_name>{"a chiplet", "chiplets are named C0, C1, ... from left to right"};
template <> inline constexpr Expectation expectation<grammar::end_of_chiplets>{"'|' or ';' after a chiplet"};
template <> inline constexpr Expectation expectation<grammar::labelled_structure>{"a structure", "such as R A[0..1]"};
template <> inline constexpr Expectation expectation<grammar::first_word>{"a word of the structure", "such as A[0] or A[0..1]"};
template <> inline constexpr Expectation expectation<grammar::last_word>{"the last word of the range", "such as A[0..1]"};
template <> inline constexpr Expectation expectation<grammar::base_name>{"the structure by whose name the words go"};
template <> inline constexpr Expectation expectation<grammar::label>{"R or R/W and a structure"};
template <> inline constexpr Expectation expectation<grammar::host_access>{"reads or writes", "such as host reads A"};
template <> inline constexpr Expectation expectation<grammar::host_structure>{"a structure", "such as host reads A"};
template <> inline constexpr Expectation expectation<grammar::on>{"'on' after 'goes'", "such as K0 goes on: R A[0..1] ;"};
template <> inline constexpr Expectation expectation<grammar::launch_colon>{"':' after the name of a launch", "such as K0: R A[0..1], R/W B | R A[2] ;"};
template <> inline constexpr Expectation expectation<grammar::end_of_launch>{"',', '|' or ';' in a launch"};
template <> inline constexpr Expectation expectation<grammar::launch_or_question>{"a launch, or exists, ~exists or forall with a condition"};

template <> struct Action<grammar::structure_name> : Give<&LaunchReader::begin_structure> {};
template <> struct Action<grammar::structure_words> : Give<&LaunchReader::structure_words> {};
template <> struct Action<grammar::structure> : Call<&LaunchReader::end_structure> {};
template <> struct Action<grammar::line_words> : Give<&LaunchReader::line> {};
template <> struct Action<grammar::label_count> : Give<&LaunchReader::labels> {};
template <> struct Action<grammar::cu_count> : Give<&LaunchReader::cus> {};

template <> struct Action<grammar::begin_chiplets> : Call<&LaunchReader::begin_chiplets> {};
template <> struct Action<grammar::chiplet_name> : Give<&LaunchReader::chiplet_column> {};

template <> struct Action<grammar::launch_name> : Give<&LaunchReader::begin_launch> {};
template <> struct Action<grammar::goes_on> : Call<&LaunchReader::goes_on> {};
template <> struct Action<grammar::bar> : Give<&LaunchReader::next_cell> {};
template <> struct Action<grammar::unlabelled> : Call<&LaunchReader::unlabelled> {};
template <> struct Action<grammar::host_access> : Give<&LaunchReader::host> {};
template <> struct Action<grammar::host_structure> : Give<&LaunchReader::host_structure> {};
template <> struct Action<grammar::mode> : Give<&LaunchReader::mode> {};
template <> struct Action<grammar::labelled_structure> : Give<&LaunchReader::labelled> {};
template <> struct Action<grammar::first_word> : Give<&LaunchReader::first_word> {};
template <> struct Action<grammar::last_word> : Give<&LaunchReader::last_word> {};
template <> struct Action<grammar::base_name> : Give<&LaunchReader::base> {};
template <> struct Action<grammar::label> : Call<&LaunchReader::end_label> {};
template <> struct Action<grammar::launch> : Call<&LaunchReader::end_launch> {};
// clang-format on

LitmusTest read_launches(const Source& source) {
  LaunchReader reader(source);
  return read<grammar::sequence>(source, reader);
}

}  // namespace lockstep::litmus
