// What a program can end in on a system: for tests that hold one way of exploring against another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "checker/explore/explorer.hpp"
#include "checker/runs/subject.hpp"

namespace lockstep {

// All final registers, then all final locations; one empty end stands for a deadlock.
using Ends = std::set<std::vector<std::int32_t>>;

struct Explored {
  Ends ends;
  std::size_t states = 0;
  bool complete = true;  // within the limit of memory
};

// `memory_limit` in bytes; 0: none.
inline Explored explore_ends(const Program& program, Subject subject, std::size_t memory_limit = 0) {
  subject.program = std::make_shared<const Program>(program);
  const auto model = subject.build_with_program();
  Explored explored;
  ExploreOptions options;
  options.invariants = false;
  options.memory_limit = memory_limit;
  options.on_end = [&](const std::uint64_t* state) {
    std::vector<std::int32_t> end;
    for (std::size_t t = 0; t < program.threads.size(); ++t) {
      for (std::size_t r = 0; r < program.threads[t].registers.size(); ++r)
        end.push_back(model->final_register(state, static_cast<int>(t), static_cast<int>(r)));
    }
    for (std::size_t l = 0; l < program.locations.size(); ++l)
      end.push_back(model->final_location(state, static_cast<int>(l)));
    explored.ends.insert(std::move(end));
  };
  ExploreResult result = explore(*model, options);
  if (result.verdict == Verdict::deadlock) {
    explored.ends.insert(std::vector<std::int32_t>{});
    options.deadlocks = false;
    result = explore(*model, options);
  }
  explored.complete = result.verdict == Verdict::holds;
  explored.states = result.states;
  return explored;
}

}  // namespace lockstep
