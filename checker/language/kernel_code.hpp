// Turns a kernel of the OPENCL and C dialects into instructions.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "checker/language/kernel_syntax.hpp"
#include "checker/language/text.hpp"
#include "spec/program/program.hpp"

namespace lockstep::litmus {

// What the kernels of one test have in common.
struct KernelRules {
  Scope scope = Scope::system;               // where none is written
  std::map<std::string, int> barriers = {};  // numbers of labels that are not B1, B2, ...
};

// Whether a word is part of a type: "int", "volatile", "uint32_t".
bool is_type_word(std::string_view word);

// Fills the code of the kernel's thread. The locations of its parameters exist already.
void write_code(const Source& source, const Kernel& kernel, KernelRules& rules, Program& program);

}  // namespace lockstep::litmus
