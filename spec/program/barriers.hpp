// Which barriers of a work-group its threads pass one after the other, all of them at each, so that a phase
// of each thread is all there is to know; and which are counted: they have numbers and participants, a thread
// may arrive and go on, and a barrier opens for any so many that have come.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "spec/program/program.hpp"
#include "spec/program/values.hpp"

namespace lockstep {

namespace barriers {

inline bool is_straight_line(const Thread& thread) {
  return std::none_of(thread.code.begin(), thread.code.end(), [](const Instruction& i) {
    return i.opcode == Opcode::branch || i.opcode == Opcode::jump;
  });
}

// The numbers of a thread's barriers in the order of its code.
inline std::vector<std::int32_t> numbers_of(const Thread& thread) {
  std::vector<std::int32_t> numbers;
  for (const Instruction& i : thread.code) {
    if (i.opcode == Opcode::barrier) numbers.push_back(i.a.value);
  }
  return numbers;
}

// Whether all of a work-group so large wait at a barrier whose number is known.
inline bool is_whole(const Instruction& barrier, std::size_t group) {
  const bool all = barrier.b == Operand{} || barrier.b == Operand{false, static_cast<std::int32_t>(group)};
  return all && !barrier.arrives_only && !barrier.a.is_register;
}

// Whether the threads of a work-group wait for each other at one barrier at a time: they have but one, or
// pass the same ones in the same order. Then the barrier of the group stands for each.
inline bool are_one(const std::vector<const Thread*>& group) {
  std::set<std::int32_t> used;
  bool everywhere = true;
  bool in_order = true;
  for (const Thread* const thread : group) {
    for (const Instruction& i : thread->code) {
      if (i.opcode == Opcode::barrier && !is_whole(i, group.size())) return false;
    }
    const std::vector<std::int32_t> numbers = numbers_of(*thread);
    used.insert(numbers.begin(), numbers.end());
    everywhere = everywhere && !numbers.empty();
    in_order = in_order && is_straight_line(*thread) && numbers == numbers_of(*group.front());
  }
  const bool plain = used.empty() || used == std::set<std::int32_t>{0};
  return plain || (used.size() == 1 && everywhere) || in_order;
}

// The threads of each work-group, by number.
inline std::vector<std::vector<int>> groups_of(const Program& program) {
  std::map<std::pair<int, int>, std::vector<int>> groups;
  for (std::size_t t = 0; t < program.threads.size(); ++t) {
    const Thread& thread = program.threads[t];
    if (thread.placement.host || thread.slot_of >= 0) continue;
    groups[{thread.placement.agent, thread.placement.wg}].push_back(static_cast<int>(t));
  }
  std::vector<std::vector<int>> found;
  for (auto& [place, members] : groups) found.push_back(std::move(members));
  return found;
}

// By thread: whether some run may bring the threads of its work-group to different barriers, for all that
// their code says.
inline std::vector<bool> may_diverge(const Program& program) {
  std::vector<bool> found(program.threads.size());
  for (const std::vector<int>& group : groups_of(program)) {
    const Thread& first = program.threads[static_cast<std::size_t>(group.front())];
    const bool same = std::all_of(group.begin(), group.end(), [&](int t) {
      const Thread& thread = program.threads[static_cast<std::size_t>(t)];
      return numbers_of(thread) == numbers_of(first) &&
             (numbers_of(thread).empty() || is_straight_line(thread));
    });
    for (const int t : group) found[static_cast<std::size_t>(t)] = !same;
  }
  return found;
}

}  // namespace barriers

// The counted barriers of a program. What they keep stands in registers behind the threads' own.
class CountedBarriers {
 public:
  struct Member {
    int thread;
    std::vector<int> places;  // where in its code it waits
    // How often it has arrived without waiting since the barrier opened; -1 where it never does so.
    int arrivals = -1;
  };
  // One of a work-group.
  struct Barrier {
    std::int32_t number;
    int group_size;
    // The register of the first member that is 1 once it has opened; -1 where nobody can be left behind.
    int opened = -1;
    std::vector<Member> members;
  };

  explicit CountedBarriers(const Program& program) : of_thread_(program.threads.size()) {
    for (const Thread& thread : program.threads)
      registers_.push_back(static_cast<int>(thread.registers.size()));
    for (const std::vector<int>& members : barriers::groups_of(program)) {
      std::vector<const Thread*> threads;
      for (const int t : members) threads.push_back(&program.threads[static_cast<std::size_t>(t)]);
      if (!barriers::are_one(threads)) add(program, members);
    }
  }

  [[nodiscard]] bool any() const { return !all_.empty(); }
  [[nodiscard]] const std::vector<Barrier>& all() const { return all_; }
  // Those of the work-groups whose barriers are counted.
  [[nodiscard]] const std::vector<int>& threads() const { return threads_; }
  // The one that a thread comes to at an instruction; nullptr where it is not counted, or no barrier.
  [[nodiscard]] const Barrier* at(int thread, int pc) const {
    const auto& of = of_thread_[static_cast<std::size_t>(thread)];
    const int found = of.empty() ? -1 : of[static_cast<std::size_t>(pc)];
    return found < 0 ? nullptr : &all_[static_cast<std::size_t>(found)];
  }
  // Registers that a thread needs, those included.
  [[nodiscard]] int registers(int thread) const { return registers_[static_cast<std::size_t>(thread)]; }

  // Whether a barrier opens for any so many that come, and not for everybody in turn.
  static bool has_quorum(const Instruction& barrier) { return barrier.b.value > 0; }
  // How many take part.
  static std::int32_t participants(const Barrier& barrier, const Instruction& at) {
    return at.b.value != 0 ? std::abs(at.b.value) : barrier.group_size;
  }

 private:
  void add(const Program& program, const std::vector<int>& group) {
    threads_.insert(threads_.end(), group.begin(), group.end());
    std::map<std::int32_t, int> by_number;
    for (const int t : group) {
      const std::vector<Instruction>& code = program.threads[static_cast<std::size_t>(t)].code;
      std::vector<int>& of = of_thread_[static_cast<std::size_t>(t)];
      of.assign(code.size(), -1);
      for (std::size_t pc = 0; pc < code.size(); ++pc) {
        const Instruction& i = code[pc];
        if (i.opcode != Opcode::barrier) continue;
        const auto [found, fresh] = by_number.emplace(i.a.value, static_cast<int>(all_.size()));
        if (fresh) all_.push_back({i.a.value, static_cast<int>(group.size()), -1, {}});
        of[pc] = found->second;
        Barrier& barrier = all_[static_cast<std::size_t>(found->second)];
        if (barrier.members.empty() || barrier.members.back().thread != t)
          barrier.members.push_back({t, {}, -1});
        Member& member = barrier.members.back();
        if (!i.arrives_only) {
          member.places.push_back(static_cast<int>(pc));
        } else if (member.arrivals < 0) {
          member.arrivals = registers_[static_cast<std::size_t>(t)]++;
        }
        if (has_quorum(i) && barrier.opened < 0)
          barrier.opened = registers_[static_cast<std::size_t>(barrier.members.front().thread)]++;
      }
    }
  }

  std::vector<Barrier> all_;
  std::vector<int> threads_;
  std::vector<std::vector<int>> of_thread_;  // by instruction, into all_; -1, or empty, where there is none
  std::vector<int> registers_;               // by thread
};

namespace barriers {

// What an operand of the instruction at `pc` is in every run, where that can be seen: a register that nothing
// writes, or that the instruction before computes of such.
inline Operand known(const Thread& thread, std::size_t pc, const Operand& operand) {
  if (!operand.is_register) return operand;
  const std::vector<Instruction>& code = thread.code;
  const auto writes = [&](const Instruction& i) {
    return i.destination == operand.value || i.status == operand.value;
  };
  if (std::none_of(code.begin(), code.end(), writes)) {
    const auto r = static_cast<std::size_t>(operand.value);
    return {false, r < thread.initial_values.size() ? thread.initial_values[r] : 0};
  }
  const bool is_target = std::any_of(code.begin(), code.end(), [pc](const Instruction& i) {
    return i.target == static_cast<std::int32_t>(pc);
  });
  if (pc == 0 || is_target || code[pc - 1].opcode != Opcode::arithmetic || !writes(code[pc - 1]))
    return operand;
  const Operand a = known(thread, pc - 1, code[pc - 1].a);
  const Operand b = known(thread, pc - 1, code[pc - 1].b);
  if (a.is_register || b.is_register) return operand;
  return {false, compute(code[pc - 1].arithmetic, a.value, b.value)};
}

inline bool in_one_group(const Thread& a, const Thread& b) {
  if (a.placement.host || a.slot_of >= 0 || b.placement.host || b.slot_of >= 0) return false;
  return a.placement.agent == b.placement.agent && a.placement.wg == b.placement.wg;
}

}  // namespace barriers

// The same program with barriers as the dialects but HRF mean them: one that does not say how many take part
// is for all threads of its work-group that have it. Numbers and participants that registers hold are told
// where they are the same in every run.
inline Program with_known_barriers(Program program) {
  for (Thread& self : program.threads) {
    for (std::size_t pc = 0; pc < self.code.size(); ++pc) {
      Instruction& i = self.code[pc];
      if (i.opcode != Opcode::barrier) continue;
      i.a = barriers::known(self, pc, i.a);
      i.b = barriers::known(self, pc, i.b);
    }
  }
  const auto has = [](const Thread& thread, std::int32_t number) {
    return std::any_of(thread.code.begin(), thread.code.end(), [number](const Instruction& i) {
      return i.opcode == Opcode::barrier && !i.a.is_register && i.a.value == number;
    });
  };
  for (Thread& self : program.threads) {
    for (Instruction& i : self.code) {
      if (i.opcode != Opcode::barrier || i.a.is_register || i.b.is_register || i.b.value != 0) continue;
      std::int32_t all = 0;
      std::int32_t have = 0;
      for (const Thread& other : program.threads) {
        if (!barriers::in_one_group(self, other)) continue;
        ++all;
        if (has(other, i.a.value)) ++have;
      }
      if (have < all) i.b.value = -have;
    }
  }
  return program;
}

}  // namespace lockstep
