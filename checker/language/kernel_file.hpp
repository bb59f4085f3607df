// Files of kernels: sizes, arrays, graphs, kernels in a part of OpenCL C, and a main function that launches
// them (refimpl/kernels/README.md).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "checker/language/kernel_syntax.hpp"
#include "checker/language/text.hpp"

namespace lockstep::kernels {

// As it was written. Words point into `text`.
struct KernelFile {
  struct Size {
    litmus::Word name;
    std::int32_t standard = 0;
    std::string_view what;
  };
  // An expression, with all that it refers to.
  struct Expression {
    litmus::Kernel syntax;
    std::size_t root = 0;
  };
  struct Array {
    litmus::Word name;
    bool local = false;
    bool padded = false;
    bool unchecked = false;
    Expression size;
    std::optional<Expression> initial;
  };
  struct MadeGraph {
    litmus::Word name;
    Expression how;
  };
  struct Function {
    litmus::Word name;
    bool is_kernel = false;
    std::vector<litmus::Word> parameters;
    litmus::Kernel syntax;
  };

  std::string name;  // of the file
  std::string text;
  std::string_view what;  // its first comment
  std::vector<Size> sizes;
  std::vector<MadeGraph> graphs;
  std::vector<Array> arrays;
  std::vector<Function> functions;
  [[nodiscard]] litmus::Source source() const { return {text, name}; }
};

// Throws BadInput with the place of what is not understood. Stays where it is, for its words point into it.
std::shared_ptr<const KernelFile> read_kernel_file(const std::string& file);

// "saxpy.cl", in whatever folder, or the name of one that is shipped.
bool names_kernel_file(std::string_view name);
std::vector<std::string> shipped_kernel_files();  // their names, sorted
// The file that a name means.
std::string kernel_file_of(std::string_view name);

}  // namespace lockstep::kernels
