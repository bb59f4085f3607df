// Code that is written as it runs: what a thread does next may depend on what it has loaded.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "spec/program/program.hpp"

namespace lockstep {

// The 16 integers that one coalesced access of a wave moves: one word of the model.
inline constexpr int lanes_of_word = 16;
using Lanes = std::array<std::int32_t, lanes_of_word>;

// Such a thread's code ends with a mark, which is not executed: when the thread comes to it, more code takes
// its place, with a mark at its end, unless nothing is to follow.
class CodeSource {
 public:
  using Registers = std::function<Lanes&(int)>;  // of the thread, by number

  CodeSource() = default;
  CodeSource(const CodeSource&) = delete;
  CodeSource& operator=(const CodeSource&) = delete;
  virtual ~CodeSource() = default;

  // Whether a thread that is at that place of its code has come to a mark.
  [[nodiscard]] virtual bool is_at_mark(std::uint32_t thread, const Thread& self,
                                        std::size_t place) const = 0;
  // The thread has come to the mark: its accesses that it awaited are in its registers, and what stands
  // behind the mark may be set for instructions to come. Returns the place where it goes on, or -1: where the
  // mark was. It has to be another place than that of the instruction that it has just executed.
  virtual int write(std::uint32_t thread, Thread& self, const Registers& registers) = 0;
};

}  // namespace lockstep
