// Writing programs in C++: words of memory, threads, and the instructions of each in the order of its code.
//
//   Assembler program("mutex");
//   const Word lock = program.word("lock");
//   const Claim inside = program.section("one is in the critical section", 1);
//   CodeOf thread = program.thread({.wg = 0});
//   thread.wait_cas(lock, 0, 1, acquire(Scope::agent));
//   thread.enter(inside);
//   ...
//
// What it makes prints and reads back in the HRF dialect. It checks what would otherwise be found out late:
// a label that stands nowhere, a mark without its counterpart. Who runs it knows how much a machine holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spec/program/machine.hpp"
#include "spec/program/program.hpp"

namespace lockstep::sync {

struct Word {
  int index = -1;
};
struct Register {
  int index = -1;
};
struct Label {
  int number = -1;
};
// A section or a meeting that threads mark their code with.
struct Claim {
  int number = -1;
};

// A register or a constant.
struct Value {
  Operand operand;
  Value(int constant) : operand{false, constant} {}
  Value(Register r) : operand{true, r.index} {}
};

struct Access {
  Order order = Order::plain;
  Scope scope = Scope::system;
};
inline constexpr Access plain{};
constexpr Access relaxed(Scope scope) {
  return {Order::relaxed, scope};
}
constexpr Access acquire(Scope scope) {
  return {Order::acquire, scope};
}
constexpr Access release(Scope scope) {
  return {Order::release, scope};
}
constexpr Access acq_rel(Scope scope) {
  return {Order::acq_rel, scope};
}

// The code of one thread. Registers are named as they print: `%ticket`.
class CodeOf {
 public:
  CodeOf(Program& program, int thread) : program_(&program), thread_(thread) {}

  [[nodiscard]] int number() const { return thread_; }

  Register reg(std::string name, int initial = 0) {
    self().registers.push_back(std::move(name));
    self().initial_values.push_back(initial);
    return {static_cast<int>(self().registers.size()) - 1};
  }

  void load(Register to, Word from, Access access = plain) {
    Instruction& i = access_to(Opcode::load, from, access);
    i.destination = destination(to);
  }
  void store(Word to, Value value, Access access = plain) {
    access_to(Opcode::store, to, access).a = value.operand;
  }
  // Without somebody to take the old value.
  void update(RmwFunction f, Word at, Value a, Access access) {
    Instruction& i = access_to(Opcode::rmw, at, access);
    i.rmw = f;
    i.a = a.operand;
  }
  void update(RmwFunction f, Register old, Word at, Value a, Access access) {
    update(f, at, a, access);
    last().destination = destination(old);
  }
  void cas(Register old, Word at, Value expected, Value wanted, Access access) {
    update(RmwFunction::compare_swap, old, at, expected, access);
    last().b = wanted.operand;
  }

  // Waiting atomics: done again until they have read what they expect.
  void wait_load(Register to, Word from, Value expected, Access access) {
    load(to, from, access);
    last().waits = true;
    last().a = expected.operand;
  }
  void wait_cas(Word at, Value expected, Value wanted, Access access) {
    update(RmwFunction::compare_swap, at, expected, access);
    last().b = wanted.operand;
    last().waits = true;
  }

  void fence(Access access) {
    Instruction& i = add(Opcode::fence);
    i.order = access.order;
    i.scope = access.scope;
  }
  // A fence, unless the instruction before is the same one.
  void fence_once(Access access) {
    const std::vector<Instruction>& code = self().code;
    const bool there = !code.empty() && code.back().opcode == Opcode::fence &&
                       code.back().order == access.order && code.back().scope == access.scope;
    if (!there || labelled_here()) fence(access);
  }
  void barrier() { add(Opcode::barrier); }

  void move(Register to, Value value) {
    Instruction& i = add(Opcode::move);
    i.destination = destination(to);
    i.a = value.operand;
  }
  void compute(ArithmeticFunction f, Register to, Value a, Value b) {
    Instruction& i = add(Opcode::arithmetic);
    i.arithmetic = f;
    i.destination = destination(to);
    i.a = a.operand;
    i.b = b.operand;
  }
  void pause(Value cycles) { add(Opcode::pause).a = cycles.operand; }
  void add(Register to, Value a, Value b) { compute(ArithmeticFunction::add, to, a, b); }
  void subtract(Register to, Value a, Value b) { compute(ArithmeticFunction::subtract, to, a, b); }

  void branch(Value a, Comparison comparison, Value b, Label target) {
    Instruction& i = add(Opcode::branch);
    i.comparison = comparison;
    i.a = a.operand;
    i.b = b.operand;
    i.target = target.number;
  }
  void branch_equal(Value a, Value b, Label target) { branch(a, Comparison::equal, b, target); }
  void branch_unequal(Value a, Value b, Label target) { branch(a, Comparison::not_equal, b, target); }
  void jump(Label target) { add(Opcode::jump).target = target.number; }
  void require(Value a, Comparison comparison, Value b) {
    Instruction& i = add(Opcode::assertion);
    i.comparison = comparison;
    i.a = a.operand;
    i.b = b.operand;
  }

  // A label to jump to, which stands somewhere later; and one that stands here.
  Label label() {
    places_.push_back(nowhere);
    return {static_cast<int>(places_.size()) - 1};
  }
  void place(Label label) { places_.at(static_cast<std::size_t>(label.number)) = here(); }
  Label here_is() {
    const Label made = label();
    place(made);
    return made;
  }

  // The thread is in the section from the completion of the instruction before until it comes to the one
  // after `exit`.
  void enter(Claim section, int weight = 1) {
    sections(section).stretches.push_back({thread_, here(), nowhere, weight});
  }
  void exit(Claim section) {
    for (Stretch& stretch : sections(section).stretches) {
      if (stretch.thread == thread_ && stretch.end == nowhere) {
        stretch.end = here();
        return;
      }
    }
    throw std::logic_error("the thread is not in the section that it exits");
  }
  // All that comes before is done before anybody leaves. It stands in front of the barrier's first
  // instruction: the arrival itself is seen by others before its thread has its answer.
  void arrive(Claim meeting) { meetings(meeting).participants.push_back({thread_, here(), nowhere}); }
  void leave(Claim meeting) {
    for (Rendezvous::Participant& p : meetings(meeting).participants) {
      if (p.thread == thread_ && p.leave == nowhere) {
        p.leave = here();
        return;
      }
    }
    throw std::logic_error("the thread has not arrived at the meeting that it leaves");
  }

  void finish() {
    Thread& thread = self();
    if (thread.placement.kernel >= 0) add(Opcode::kernel_end);
    for (Instruction& i : thread.code) {
      if (i.opcode != Opcode::branch && i.opcode != Opcode::jump) continue;
      i.target = places_.at(static_cast<std::size_t>(i.target));
      if (i.target == nowhere) throw std::logic_error("a label stands nowhere");
    }
  }

 private:
  static constexpr int nowhere = -1;

  [[nodiscard]] Thread& self() const { return program_->threads[static_cast<std::size_t>(thread_)]; }
  [[nodiscard]] int here() const { return static_cast<int>(self().code.size()); }
  [[nodiscard]] Instruction& last() const { return self().code.back(); }
  [[nodiscard]] bool labelled_here() const {
    for (const int place : places_) {
      if (place == here()) return true;
    }
    return false;
  }
  [[nodiscard]] Section& sections(Claim claim) const {
    return program_->sections[static_cast<std::size_t>(claim.number)];
  }
  [[nodiscard]] Rendezvous& meetings(Claim claim) const {
    return program_->meetings[static_cast<std::size_t>(claim.number)];
  }
  static std::int16_t destination(Register r) { return static_cast<std::int16_t>(r.index); }

  Instruction& add(Opcode opcode) {
    Instruction& i = self().code.emplace_back();
    i.opcode = opcode;
    return i;
  }
  Instruction& access_to(Opcode opcode, Word word, Access access) {
    Instruction& i = add(opcode);
    i.location = word.index;
    i.order = access.order;
    i.scope = access.scope;
    return i;
  }

  Program* program_;
  int thread_;
  std::vector<int> places_;  // of labels, by number
};

class Assembler {
 public:
  explicit Assembler(std::string name, std::string doc = "") {
    program_.name = std::move(name);
    program_.doc = std::move(doc);
  }

  // A word in a block of its own, or in the block of another.
  Word word(std::string name, int initial = 0) { return add(std::move(name), initial, blocks_++, 0); }
  Word word_beside(Word other, std::string name, int initial = 0) {
    const int block = location(other).block;
    int words = 0;
    for (const Location& l : program_.locations) words += l.block == block ? 1 : 0;
    if (words == WordTag::capacity) throw std::logic_error("the block is full");
    return add(std::move(name), initial, block, words);
  }
  // Words in as few blocks as hold them.
  std::vector<Word> words_together(const std::string& name, int count, int initial = 0) {
    std::vector<Word> made;
    for (int i = 0; i < count; ++i) {
      const std::string own = name + std::to_string(i);
      made.push_back(i % WordTag::capacity == 0 ? word(own, initial)
                                                : word_beside(made.back(), own, initial));
    }
    return made;
  }

  Claim section(std::string name, int capacity) {
    program_.sections.push_back({std::move(name), capacity, {}});
    return {static_cast<int>(program_.sections.size()) - 1};
  }
  Claim meeting(std::string name) {
    program_.meetings.push_back({std::move(name), {}});
    return {static_cast<int>(program_.meetings.size()) - 1};
  }
  void finally(std::string name, Word word, int value) {
    program_.final_values.push_back({std::move(name), word.index, value});
  }

  // The same, named after the word: "lock is 0 in the end".
  void finally(Word word, int value) {
    finally(location(word).name + " is " + std::to_string(value) + " in the end", word, value);
  }

  // The next thread, in a wave of its own. A thread of a kernel begins and ends with it.
  CodeOf thread(Placement at) {
    const int number = static_cast<int>(program_.threads.size());
    at.wave = number;
    Thread& made = program_.threads.emplace_back();
    made.name = "P" + std::to_string(number);
    made.placement = at;
    if (at.kernel >= 0) made.code.emplace_back().opcode = Opcode::kernel_begin;
    return {program_, number};
  }

  Program take() {
    for (const Section& section : program_.sections) {
      for (const Stretch& stretch : section.stretches) {
        if (stretch.end < 0) throw std::logic_error("a thread never exits its section");
      }
    }
    for (const Rendezvous& meeting : program_.meetings) {
      for (const Rendezvous::Participant& p : meeting.participants) {
        if (p.leave < 0) throw std::logic_error("a thread never leaves the meeting");
      }
    }
    return std::move(program_);
  }

 private:
  [[nodiscard]] const Location& location(Word word) const {
    return program_.locations[static_cast<std::size_t>(word.index)];
  }
  Word add(std::string name, int initial, int block, int word) {
    program_.locations.push_back(
        {.name = std::move(name), .initial_value = initial, .block = block, .word = word});
    return {static_cast<int>(program_.locations.size()) - 1};
  }

  Program program_;
  int blocks_ = 0;
};

}  // namespace lockstep::sync
