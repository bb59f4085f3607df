// The parts of a kernel as they were written, in OPENCL and C: kernel_grammar.hpp reads them, kernel_code.cpp
// makes instructions of them. Expressions and statements refer to each other by index, and live in their
// kernel.
#pragma once

#include <cstddef>
#include <vector>

#include "checker/language/text.hpp"

namespace lockstep::litmus {

struct Expression {
  enum class Kind : std::uint8_t {
    number,
    name,     // of a variable, a parameter, or what a function takes by name
    unary,    // * & ! ~ - +
    binary,   // everything with an operand on either side
    element,  // x[1]
    call,
  };
  Kind kind = Kind::number;
  Word word;                          // the number, the name, the operator or the function
  std::vector<std::size_t> operands;  // in the order of the text
};

struct Statement {
  enum class Kind : std::uint8_t {
    block,
    declare,   // expressions: the initial value, if any
    evaluate,  // expressions: one
    assign,    // expressions: what is assigned to, the value; word: the operator
    step,      // x++ and x--
    choose,    // if; expressions: the condition; statements: one or two
    repeat,    // while
    until,     // do while
    count,     // for; statements: before, after each round, body
    leave,     // break
    proceed,   // continue
    end,       // return
  };
  Kind kind = Kind::block;
  Word word;   // a keyword, an operator or a declared name
  Word label;  // of a barrier, empty where there is none
  std::vector<std::size_t> expressions;
  std::vector<std::size_t> statements;
};

// "global atomic_int* x".
struct Parameter {
  Word name;
  Region region = Region::global;
  bool atomic = false;
};

struct Kernel {
  std::size_t thread = 0;
  std::vector<Parameter> parameters;
  std::vector<Expression> expressions;
  std::vector<Statement> statements;
  std::size_t body = 0;  // a block among the statements
};

}  // namespace lockstep::litmus
