// Writing programs for waves: arrays of words laid out over blocks, and code word by word.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>

#include "refimpl/workloads/workload.hpp"

namespace lockstep {

// Words of consecutive locations; a block holds as many as the machine's do.
struct ArrayOfWords {
  int first = 0;
  int size = 0;
  [[nodiscard]] int operator[](int i) const { return first + i; }
};

// The code of one wave.
class WaveCode {
 public:
  explicit WaveCode(Thread& thread) : thread_(thread) {}

  // Registers are made as they are named.
  int reg(const std::string& name) {
    const auto found = std::find(thread_.registers.begin(), thread_.registers.end(), name);
    if (found != thread_.registers.end()) return static_cast<int>(found - thread_.registers.begin());
    thread_.registers.push_back(name);
    thread_.initial_values.push_back(0);
    return static_cast<int>(thread_.registers.size() - 1);
  }
  static Operand constant(std::int32_t n) { return {false, n}; }
  static Operand value(int reg) { return {true, reg}; }

  void load(int reg, int location, Order order = Order::plain, Scope scope = Scope::system) {
    Instruction& i = add(Opcode::load, order, scope);
    i.destination = static_cast<std::int16_t>(reg);
    i.location = location;
  }
  void store(int location, Operand a, Order order = Order::plain, Scope scope = Scope::system) {
    Instruction& i = add(Opcode::store, order, scope);
    i.location = location;
    i.a = a;
  }
  void rmw(RmwFunction function, int location, Operand a, Order order, Scope scope) {
    Instruction& i = add(Opcode::rmw, order, scope);
    i.rmw = function;
    i.location = location;
    i.a = a;
  }
  void arithmetic(ArithmeticFunction function, int reg, Operand a, Operand b) {
    Instruction& i = add(Opcode::arithmetic);
    i.arithmetic = function;
    i.destination = static_cast<std::int16_t>(reg);
    i.a = a;
    i.b = b;
  }
  void barrier() { add(Opcode::barrier); }
  void kernel_begin() { add(Opcode::kernel_begin, Order::acquire); }
  void kernel_end() { add(Opcode::kernel_end, Order::release); }
  // Loads until the word has reached `least`.
  void wait_for(int location, std::int32_t least, Scope scope) {
    const int r = reg("flag");
    const auto start = static_cast<std::int32_t>(thread_.code.size());
    load(r, location, Order::acquire, scope);
    Instruction& i = add(Opcode::branch);
    i.comparison = Comparison::less;
    i.a = value(r);
    i.b = constant(least);
    i.target = start;
  }

 private:
  Instruction& add(Opcode opcode, Order order = Order::plain, Scope scope = Scope::system) {
    Instruction i;
    i.opcode = opcode;
    i.order = order;
    i.scope = scope;
    thread_.code.push_back(i);
    return thread_.code.back();
  }
  Thread& thread_;
};

class WorkloadBuilder {
 public:
  WorkloadBuilder(std::string name, const WorkloadShape& shape) : shape_(shape), random_(shape.seed) {
    workload_.program.name = std::move(name);
  }

  // Block 0 stays empty: it is what a port names before its first request.
  ArrayOfWords array(const std::string& name, int words) {
    const int per_block = shape_.words_per_block;
    const ArrayOfWords made{static_cast<int>(workload_.program.locations.size()), words};
    for (int i = 0; i < words; ++i) {
      workload_.program.locations.push_back(
          {fmt::format("{}[{}]", name, i), 0, next_block_ + i / per_block, i % per_block});
      workload_.initial.push_back(Lanes{});
    }
    next_block_ += (words + per_block - 1) / per_block;
    return made;
  }
  void fill(const ArrayOfWords& array) {
    std::uniform_int_distribution<std::int32_t> digit(0, 999);
    for (int i = 0; i < array.size; ++i) {
      for (std::int32_t& lane : initial(array[i])) lane = digit(random_);
    }
  }
  // The scope at which all of a kernel's work-groups synchronize: they are dealt out to agents in turn.
  [[nodiscard]] Scope across_agents() const { return shape_.agents > 1 ? Scope::system : Scope::agent; }
  Lanes& initial(int location) { return workload_.initial[static_cast<std::size_t>(location)]; }

  Thread& thread(int work_group, int kernel = -1) {
    Thread thread;
    const int number = static_cast<int>(workload_.program.threads.size());
    thread.name = fmt::format("P{}", number);
    thread.placement.wave = number;
    thread.placement.wg = work_group;
    thread.placement.agent = work_group % shape_.agents;
    thread.placement.kernel = kernel;
    workload_.program.threads.push_back(std::move(thread));
    return workload_.program.threads.back();
  }
  void expect(int location, const Lanes& lanes) {
    workload_.outputs.push_back(location);
    workload_.expected.push_back(lanes);
  }
  Workload take() { return std::move(workload_); }

 private:
  WorkloadShape shape_;
  std::mt19937_64 random_;
  Workload workload_;
  int next_block_ = 1;
};

// A grid of waves over words: in turn, each wave takes the words of one access of 64 lanes.
struct Grid {
  static constexpr int words_per_access = 4;
  static constexpr int waves_per_group = 4;
  int waves = 1;
  int words = 0;

  Grid(const WorkloadShape& shape, int words_) : words(words_) {
    const int accesses = (words + words_per_access - 1) / words_per_access;
    waves = std::max(1, std::min(accesses, shape.cus * shape.waves_per_cu));
    if (const auto asked = shape.sizes.find("waves"); asked != shape.sizes.end()) waves = asked->second;
  }
  [[nodiscard]] static int group_of(int wave) { return wave / waves_per_group; }
  template <class F>
  void for_each_word(int wave, F&& f) const {
    for (int base = wave * words_per_access; base < words; base += waves * words_per_access) {
      for (int i = base; i < std::min(words, base + words_per_access); ++i) f(i);
    }
  }
};

template <class F>
Lanes by_lane(F&& f) {
  Lanes lanes{};
  for (std::size_t i = 0; i < lanes.size(); ++i) lanes[i] = f(i);
  return lanes;
}
// As the machine's words do, sums and products wrap around.
inline std::int32_t wrapped(std::int64_t n) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(static_cast<std::uint64_t>(n)));
}

}  // namespace lockstep
