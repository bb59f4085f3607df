// Threads as columns: what the readers of all dialects that write them so share, and the grammar of the rows.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checker/language/grammar.hpp"
#include "checker/support/diagnostic.hpp"

namespace lockstep::litmus {

// Takes cells from left to right and row by row, each to the end of its thread's code.
class RowReader : public TestReader {
 public:
  using TestReader::TestReader;

  virtual void label(const Word& word) = 0;
  virtual void mnemonic(const Word& word) = 0;

  void begin_row() { cell_ = 0; }

  void next_cell(const Word& bar) {
    ++cell_;
    if (cell_ < program().threads.size()) return;
    const std::string threads = count_of(program().threads.size(), "thread");
    source_.fail(bar.place, "this row has more cells than there are threads: " + threads);
  }

  void end_row(const Word& semicolon) {
    const std::size_t threads = program().threads.size();
    if (cell_ + 1 == threads) return;
    source_.fail(
        semicolon.place,
        "this row has " + count_of(cell_ + 1, "cell") + ", and there are " + count_of(threads, "thread"),
        "separate cells with '|'; a cell may be empty");
  }

 protected:
  ~RowReader() = default;

  struct Label {
    int target = 0;
    SourcePlace place;
  };
  struct Jump {
    std::size_t instruction = 0;
    Word label;
  };
  struct Places {
    std::map<std::string_view, Label> labels;
    std::vector<Jump> jumps;
  };

  [[nodiscard]] std::size_t cell() const { return cell_; }
  [[nodiscard]] Thread& thread() { return program().threads[cell_]; }

  void add_column() { places_.emplace_back(); }

  // In front of the next instruction of the thread.
  void add_label(const Word& word) {
    const int target = static_cast<int>(thread().code.size());
    const auto [known, added] = places_[cell_].labels.insert({word.text, {target, word.place}});
    if (added) return;
    source_.fail(word.place, "label " + in_quotes(word.text) + " is defined twice in " + thread().name,
                 "first defined on line " + std::to_string(known->second.place.line));
  }
  // Of the next instruction.
  void add_jump(const Word& label) { places_[cell_].jumps.push_back({thread().code.size(), label}); }

  // When every label is known.
  void set_targets() {
    for (std::size_t i = 0; i < places_.size(); ++i) {
      for (const Jump& jump : places_[i].jumps) {
        program().threads[i].code[jump.instruction].target = place_of(i, jump.label);
      }
    }
  }
  [[nodiscard]] int place_of(std::size_t index, const Word& word) const {
    const auto label = places_[index].labels.find(word.text);
    if (label == places_[index].labels.end()) fail_label(index, word);
    return label->second.target;
  }

 private:
  [[noreturn]] void fail_label(std::size_t index, const Word& word) const {
    Names known;
    for (const auto& [name, label] : places_[index].labels) known.emplace_back(name);
    const std::string& thread = program().threads[index].name;
    source_.fail(word.place, "unknown label " + in_quotes(word.text) + " in " + thread,
                 known.empty() ? thread + " has no labels" : suggestion(word.text, known));
  }

  std::size_t cell_ = 0;
  std::vector<Places> places_;  // by thread
};

namespace grammar {

struct label : identifier {};
struct labelled : seq<at<identifier, ws, colon>, label, ws, colon> {};
struct mnemonic : seq<identifier_first, star<sor<identifier_other, one<'.'>>>> {};
struct bar : one<'|'> {};
struct end_of_cell : at<one<'|', ';'>> {};
struct begin_row : peg::success {};
struct end_of_row : semicolon {};
template <typename Instruction>
struct written : seq<Instruction, ws, must<end_of_cell>> {};
template <typename Instruction>
struct cell : seq<ws, opt<labelled, ws>, opt<written<Instruction>>> {};
template <typename Instruction>
struct row : seq<begin_row, cell<Instruction>, star<ws, bar, cell<Instruction>>, ws, must<end_of_row>> {};

}  // namespace grammar

// clang-format off
template <> inline constexpr Expectation expectation<grammar::end_of_cell>{"',', '|' or ';' after an instruction"};
template <> inline constexpr Expectation expectation<grammar::end_of_row>{"an instruction, '|' or ';'"};

template <> struct Action<grammar::label> : Give<&RowReader::label> {};
template <> struct Action<grammar::mnemonic> : Give<&RowReader::mnemonic> {};
template <> struct Action<grammar::begin_row> : Call<&RowReader::begin_row> {};
template <> struct Action<grammar::bar> : Give<&RowReader::next_cell> {};
template <> struct Action<grammar::end_of_row> : Give<&RowReader::end_row> {};
// clang-format on

}  // namespace lockstep::litmus
