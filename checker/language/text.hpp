// The text of a litmus test: its words and where they stand, and how to complain about them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spec/program/program.hpp"

namespace lockstep::litmus {

constexpr std::size_t largest_text = std::size_t{1} << 20U;

// A piece of the text and where it stands.
struct Word {
  std::string_view text;
  SourcePlace place;
};

using Names = std::vector<std::string>;

bool is_digits(std::string_view text);

// "r0", "r17": what HRF and PTX take for a register.
bool is_register_name(std::string_view text);

// The text in quotes, cut where it is long.
std::string in_quotes(std::string_view text);

// "1 word", "2 words".
std::string count_of(std::size_t count, const std::string& thing);

// "a, b, c".
std::string list(const Names& names);

// Decimal or 0x hexadecimal, with an optional sign; empty where it is malformed or does not fit.
std::optional<std::int32_t> to_int32(std::string_view text);

class Source {
 public:
  Source(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  [[nodiscard]] std::string_view text() const { return text_; }
  [[nodiscard]] const std::string& file() const { return file_; }

  [[noreturn]] void fail(SourcePlace place, std::string message, std::string hint = {}) const;

  // About the file as a whole, or a place in it whose line cannot be shown.
  [[noreturn]] void refuse(std::string message, SourcePlace place = {}) const;

  // Refuses what no dialect could make sense of.
  void check() const;

  // Names what stands at an offset, for "expected ..., found ...".
  [[nodiscard]] std::string found(std::size_t at) const;

  // The integer that a word spells, refused where it is none or does not fit.
  [[nodiscard]] std::int32_t constant(const Word& word) const;

  // The word itself where it is one of those known; else an error that names the nearest.
  [[nodiscard]] std::string one_of(const Word& word, const std::string& thing, const Names& known) const;

 private:
  std::string_view text_;
  const std::string& file_;
};

constexpr int deepest_nesting = 200;

// What every grammar asks of its reader (grammar.hpp).
class ReaderOfSource {
 public:
  explicit ReaderOfSource(const Source& source) : source_(source) {}

  [[noreturn]] void fail_expected(const char* expected, const char* hint, std::size_t byte,
                                  SourcePlace place) const {
    source_.fail(place, std::string("expected ") + expected + ", found " + source_.found(byte), hint);
  }

  // Bounds the grammar's recursion.
  int nesting = 0;
  void check_nesting(SourcePlace place) const {
    if (nesting <= deepest_nesting) return;
    source_.fail(place, "nested too deeply: at most " + count_of(deepest_nesting, "level"));
  }

 protected:
  ~ReaderOfSource() = default;

  const Source& source_;
};

}  // namespace lockstep::litmus
