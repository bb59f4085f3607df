// Text that is written line by line, at a depth.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

namespace lockstep {

class IndentedText {
 protected:
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    text_ += indent_ + fmt::format(format, std::forward<Args>(args)...) + "\n";
  }
  void gap() { text_ += "\n"; }
  template <class Body>
  void indented(Body&& body) {
    indent_ += "  ";
    body();
    indent_.resize(indent_.size() - 2);
  }

  std::string text_;
  std::string indent_;
};

}  // namespace lockstep
