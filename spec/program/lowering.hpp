// Programs in which some instructions have become several, for tools that know less than programs say.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "spec/program/program.hpp"

namespace lockstep::lowering {

// A target in the code that is being written; other targets are places in the code as it was.
constexpr int written_place(std::size_t place) {
  return -2 - static_cast<int>(place);
}

// Of each instruction of each thread, the place of the one that it has come from.
using Origins = std::vector<std::vector<int>>;

// Of an instruction.
struct Place {
  Thread& self;
  std::size_t thread;
  std::size_t pc;
};

// The same program, claims included, after `write(place, instruction, code)` has appended to `code` what
// takes the place of each instruction of each thread.
template <class Write>
Program rewritten(Program program, Write&& write, Origins* origins = nullptr) {
  std::vector<std::vector<int>> now;  // by thread: the new place of each old one, the end included
  for (std::size_t t = 0; t < program.threads.size(); ++t) {
    Thread& thread = program.threads[t];
    std::vector<Instruction> code;
    std::vector<int>& places = now.emplace_back();
    if (origins != nullptr) origins->emplace_back();
    for (const Instruction& old : std::exchange(thread.code, {})) {
      places.push_back(static_cast<int>(code.size()));
      write(Place{thread, t, places.size() - 1}, old, code);
      if (origins != nullptr) origins->back().resize(code.size(), static_cast<int>(places.size()) - 1);
    }
    places.push_back(static_cast<int>(code.size()));
    for (Instruction& i : code) {
      if (i.target >= 0) {
        i.target = places[static_cast<std::size_t>(i.target)];
      } else if (i.target < -1) {
        i.target = -2 - i.target;
      }
    }
    thread.code = std::move(code);
  }
  const auto move = [&](int thread, int& place) {
    place = now[static_cast<std::size_t>(thread)][static_cast<std::size_t>(place)];
  };
  for (Section& section : program.sections) {
    for (Stretch& stretch : section.stretches) {
      move(stretch.thread, stretch.begin);
      move(stretch.thread, stretch.end);
    }
  }
  for (Rendezvous& meeting : program.meetings) {
    for (Rendezvous::Participant& p : meeting.participants) {
      move(p.thread, p.arrive);
      move(p.thread, p.leave);
    }
  }
  return program;
}

}  // namespace lockstep::lowering
