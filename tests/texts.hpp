// Litmus tests as texts, for tests of the readers of dialects.
#pragma once

#include <catch2/catch.hpp>
#include <string>

#include "checker/language/test.hpp"
#include "checker/support/diagnostic.hpp"

template <>
struct Catch::StringMaker<lockstep::SourcePlace> {
  static std::string convert(const lockstep::SourcePlace& place) {
    return std::to_string(place.line) + ":" + std::to_string(place.column);
  }
};

namespace lockstep {

inline LitmusTest parse(const std::string& text) {
  return parse_litmus(text, "t.litmus");
}

// The first thread's code in HRF, one instruction a line.
inline std::string code(const std::string& text) {
  const Program program = parse(text).program;
  std::string lines;
  for (const Instruction& instruction : program.threads[0].code) {
    lines += (lines.empty() ? "" : "\n") + print_instruction(instruction, program, 0);
  }
  return lines;
}

// What is said of a text that is no test.
inline Diagnostic error_of(const std::string& text) {
  try {
    parse(text);
  } catch (const BadInput& bad) {
    return bad.diagnostic();
  }
  FAIL("accepted: " << text);
  return {};
}
inline std::string message_of(const std::string& text) {
  return error_of(text).message;
}
inline std::string hint_of(const std::string& text) {
  return error_of(text).hint;
}

}  // namespace lockstep
