// Errors for people: what was expected, what was found, where, and the nearest valid name.
//
// Anything that a user gave us and that we can't use ends in a BadInput, which the command prints with
// exit status 2. The text is complete: file, line, column, the source line and a caret, and a remedy.
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "spec/program/program.hpp"

namespace lockstep {

struct Diagnostic {
  std::string file;         // as the user named it; empty where the input is not a file
  SourcePlace place;        // line 0: the whole file
  std::string message;      // "unknown instruction 'lod'"
  std::string hint;         // "did you mean 'ld'?", may be empty
  std::string source_line;  // the text of that line, may be empty

  // "file:line:column: error: message" with the source line, a caret and the hint on lines of their own.
  [[nodiscard]] std::string text() const;
};

class BadInput : public std::runtime_error {
 public:
  explicit BadInput(Diagnostic diagnostic);
  explicit BadInput(std::string message, std::string hint = {});
  [[nodiscard]] const Diagnostic& diagnostic() const { return diagnostic_; }

 private:
  Diagnostic diagnostic_;
};

// The text of a line, counted from 1, without its end; empty where there is none. For
// Diagnostic::source_line.
std::string line_of(std::string_view text, int number);

// The candidate nearest to `name` by edit distance, or empty when none is near enough to be meant.
std::string nearest(std::string_view name, std::span<const std::string> candidates);

// "did you mean 'x'?" for the nearest candidate, else "one of: a, b, c", for Diagnostic::hint.
std::string suggestion(std::string_view name, std::span<const std::string> candidates);

}  // namespace lockstep
