// Writing programs for waves: arrays of words laid out over blocks, code word by word, and kernels.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "refimpl/workloads/workload.hpp"

namespace lockstep {

// Words of consecutive locations; a block holds as many as the machine's do.
struct ArrayOfWords {
  int first = 0;
  int size = 0;
  [[nodiscard]] int operator[](int i) const { return first + i; }
};

// The code of one wave. Accesses that order nothing are handed to the wave's slots, if it has any, and the
// wave goes on until something needs their results, accesses the same word, or orders memory.
class WaveCode {
 public:
  WaveCode(Program& program, std::size_t thread, int slots)
      : program_(program), thread_(thread), slots_(static_cast<std::size_t>(slots)) {}
  ~WaveCode() {
    // All of them: there is nothing behind it.
    for (Slot& slot : slots_) slot.under_way = true;
    settle();
    code().shrink_to_fit();
  }
  WaveCode(const WaveCode&) = delete;
  WaveCode& operator=(const WaveCode&) = delete;

  // Registers are made as they are named.
  int reg(const std::string& name) {
    auto& registers = thread().registers;
    const auto found = std::find(registers.begin(), registers.end(), name);
    if (found != registers.end()) return static_cast<int>(found - registers.begin());
    registers.push_back(name);
    thread().initial_values.push_back(0);
    return static_cast<int>(registers.size() - 1);
  }
  // name0, name1, ...
  std::vector<int> regs(const std::string& name, int count) {
    std::vector<int> all;
    for (int i = 0; i < count; ++i) all.push_back(reg(fmt::format("{}{}", name, i)));
    return all;
  }
  static Operand constant(std::int32_t n) { return {false, n}; }
  static Operand value(int reg) { return {true, reg}; }

  void load(int reg, int location, Order order = Order::plain, Scope scope = Scope::system) {
    Instruction i = made(Opcode::load, order, scope);
    i.destination = static_cast<std::int16_t>(reg);
    i.location = location;
    access(i);
  }
  void store(int location, Operand a, Order order = Order::plain, Scope scope = Scope::system) {
    Instruction i = made(Opcode::store, order, scope);
    i.location = location;
    i.a = a;
    access(i);
  }
  void rmw(RmwFunction function, int location, Operand a, Order order, Scope scope) {
    Instruction i = made(Opcode::rmw, order, scope);
    i.rmw = function;
    i.location = location;
    i.a = a;
    access(i);
  }
  void arithmetic(ArithmeticFunction function, int reg, Operand a, Operand b) {
    Instruction i = made(Opcode::arithmetic);
    i.arithmetic = function;
    i.destination = static_cast<std::int16_t>(reg);
    i.a = a;
    i.b = b;
    execute(i, reg, {a.is_register ? a.value : -1, b.is_register ? b.value : -1, -1, -1});
  }
  // reg += other
  void add(int reg, int other) { arithmetic(ArithmeticFunction::add, reg, value(reg), value(other)); }
  void barrier() { order(made(Opcode::barrier)); }
  void kernel_begin(Scope scope) { order(made(Opcode::kernel_begin, Order::acquire, scope)); }
  void kernel_end() { order(made(Opcode::kernel_end, Order::release)); }
  void dispatch() { order(made(Opcode::dispatch)); }
  void fence(Order of, Scope scope) { order(made(Opcode::fence, of, scope)); }
  // Takes so many cycles, whatever is under way.
  void pause(std::int32_t cycles) {
    Instruction i = made(Opcode::pause);
    i.a = constant(cycles);
    code().push_back(i);
  }
  // Of a trace, which has no data: what a result is called, and those that are needed; -1: nothing. One name
  // for several accesses is that of all of them.
  static constexpr std::size_t most_needed = 4;
  using Needed = std::array<int, most_needed>;
  struct Traced {
    Opcode opcode = Opcode::load;
    RmwFunction rmw = RmwFunction::exchange;
    Order order = Order::plain;
    Scope scope = Scope::system;
    int result = -1;
    Needed needs{-1, -1, -1, -1};
  };
  void access(const Traced& of, const std::vector<int>& locations) {
    Instruction i = made(of.opcode, of.order, of.scope);
    i.rmw = of.rmw;
    if (of.opcode != Opcode::load) i.a = constant(1);
    // The first waits for earlier accesses of that name, and the others then belong with it.
    await(in_the_way_of(i, of.result, of.needs));
    for (const int location : locations) {
      i.location = location;
      access(i, -1, of.needs, of.result);
    }
  }
  void compute(int result, const Needed& needs) {
    Instruction i = made(Opcode::move);
    i.destination = static_cast<std::int16_t>(reg("x"));
    execute(i, result, needs);
  }
  // Instructions as they are.
  void append(const std::vector<Instruction>& instructions) {
    code().insert(code().end(), instructions.begin(), instructions.end());
  }
  [[nodiscard]] std::size_t number() const { return thread_; }
  // Loads until the word has reached `least`.
  void wait_for(int location, std::int32_t least, Scope scope) {
    settle();
    const int r = reg("flag");
    const auto start = static_cast<std::int32_t>(code().size());
    load(r, location, Order::acquire, scope);
    Instruction i = made(Opcode::branch);
    i.comparison = Comparison::less;
    i.a = value(r);
    i.b = constant(least);
    i.target = start;
    code().push_back(i);
  }

 private:
  struct Slot {
    bool under_way = false;
    int result = -1;  // a register, or what a trace calls it
    int location = -1;
    bool reads_data = false;  // a plain load: in any order with others of its kind
  };

  [[nodiscard]] Thread& thread() { return program_.threads[thread_]; }
  [[nodiscard]] std::vector<Instruction>& code() { return thread().code; }
  static Instruction made(Opcode opcode, Order order = Order::plain, Scope scope = Scope::system) {
    Instruction i;
    i.opcode = opcode;
    i.order = order;
    i.scope = scope;
    return i;
  }

  void access(const Instruction& i) {
    access(i, i.destination, {i.a.is_register ? i.a.value : -1, i.b.is_register ? i.b.value : -1, -1, -1},
           i.destination);
  }
  // What is `replaced` has to be there first; the slot's result is then called `result`.
  void access(Instruction i, int replaced, const Needed& needs, int result) {
    if (slots_.empty() || acquires(i.order) || releases(i.order)) {
      order(i);
      return;
    }
    await(in_the_way_of(i, replaced, needs));
    // Handing it over waits until the slot is free.
    slots_[next_] = {true, result, i.location, reads_data(i)};
    i.slot = static_cast<std::int16_t>(next_ + 1);
    next_ = (next_ + 1) % slots_.size();
    code().push_back(i);
  }
  static bool reads_data(const Instruction& i) { return i.opcode == Opcode::load && i.order == Order::plain; }
  void execute(const Instruction& i, int result, const Needed& needs) {
    await(in_the_way_of(i, result, needs));
    code().push_back(i);
  }
  void order(const Instruction& i) {
    settle();
    code().push_back(i);
  }
  // The slots that have to be done first, as bits: their result is needed or replaced, and accesses to one
  // word stay in order.
  [[nodiscard]] std::uint32_t in_the_way_of(const Instruction& i, int replaced, const Needed& needs) const {
    std::uint32_t bits = 0;
    for (std::size_t n = 0; n < slots_.size(); ++n) {
      const Slot& slot = slots_[n];
      if (!slot.under_way) continue;
      const bool same_result =
          slot.result >= 0 &&
          (replaced == slot.result || std::find(needs.begin(), needs.end(), slot.result) != needs.end());
      const bool same_word =
          is_memory(i.opcode) && i.location == slot.location && !(slot.reads_data && reads_data(i));
      if (same_result || same_word) bits |= std::uint32_t{1} << n;
    }
    return bits;
  }
  void await(std::uint32_t bits) {
    if (bits == 0) return;
    for (std::size_t n = 0; n < slots_.size(); ++n) slots_[n].under_way &= ((bits >> n) & 1U) == 0;
    Instruction i = made(Opcode::await);
    i.a = constant(static_cast<std::int32_t>(bits));
    code().push_back(i);
  }
  void settle() {
    std::uint32_t bits = 0;
    for (std::size_t n = 0; n < slots_.size(); ++n) bits |= std::uint32_t{slots_[n].under_way} << n;
    await(bits);
  }

  Program& program_;
  std::size_t thread_;
  std::vector<Slot> slots_;
  std::size_t next_ = 0;
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
  // One more location, at a place of the caller's choice: in a block from 0 on.
  int word(const std::string& name, int block, int word_of_block) {
    workload_.program.locations.push_back({name, 0, block + 1, word_of_block});
    workload_.initial.push_back(Lanes{});
    return static_cast<int>(workload_.program.locations.size()) - 1;
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

  WaveCode wave(int work_group) {
    return {workload_.program, add_wave(fmt::format("P{}", waves_++), work_group, -1, slots_of_waves()),
            slots_of_waves()};
  }
  // The next kernel, with `write(code, wave)` for each wave. Caches are synchronized at its beginning once on
  // each CU, and at its end likewise or by each wave: waves of their own begin when all that is earlier has
  // ended, the kernel's waves when those have, and waves that end it when these have. What a kernel has
  // written is visible to everybody; what it reads may come from a cache that its agent alone writes to.
  template <class F>
  void kernel(const std::string& what, int waves, int waves_per_group, F&& write) {
    kernel_in_turns(what, waves, waves_per_group, [&](std::deque<WaveCode>& codes) {
      for (int w = 0; w < waves; ++w) write(codes[static_cast<std::size_t>(w)], w);
    });
  }
  // The same with `write(codes)`, where the code of waves does not come wave by wave.
  template <class F>
  void kernel_in_turns(const std::string& what, int waves, int waves_per_group, F&& write) {
    workload_.cus = shape_.cus;
    const int first = 3 * kernels_;
    const std::string name = fmt::format("K{}", kernels_++);
    workload_.kernels.push_back({what, first, first + 2});
    const auto on_each_cu = [&](const char* what, int phase, auto&& edge) {
      const int first_group = new_groups(shape_.cus);
      for (int cu = 0; cu < shape_.cus; ++cu) {
        const int group = first_group + cu;
        WaveCode code(workload_.program,
                      add_wave(fmt::format("{}.{}{}", name, what, cu), group, first + phase, 0), 0);
        edge(code);
      }
    };
    on_each_cu("begin", 0, [&](WaveCode& code) { code.kernel_begin(across_agents()); });
    {
      const int first_group = new_groups((waves + waves_per_group - 1) / waves_per_group);
      std::deque<WaveCode> codes;
      for (int w = 0; w < waves; ++w) {
        const std::size_t number = add_wave(fmt::format("{}.P{}", name, w), first_group + w / waves_per_group,
                                            first + 1, slots_of_waves());
        codes.emplace_back(workload_.program, number, slots_of_waves());
        codes.back().dispatch();
      }
      write(codes);
      if (shape_.waves_end_kernels) {
        for (WaveCode& code : codes) code.kernel_end();
        return;
      }
    }
    on_each_cu("end", 2, [](WaveCode& code) {
      code.dispatch();
      code.kernel_end();
    });
  }
  void expect(int location, const Lanes& lanes) {
    workload_.outputs.push_back(location);
    workload_.expected.push_back(lanes);
  }
  void write_code_by(std::function<std::unique_ptr<CodeSource>()> source) {
    workload_.source = std::move(source);
  }
  [[nodiscard]] std::size_t threads() const { return workload_.program.threads.size(); }
  // With one access under way a wave waits for it, and needs no slot.
  [[nodiscard]] int slots_of_waves() const {
    return shape_.accesses_per_wave > 1 ? shape_.accesses_per_wave : 0;
  }
  Workload take() { return std::move(workload_); }

 private:
  // Work-groups of a kernel are its own: no barrier waits for waves of another. Returns the first, on agent
  // 0.
  int new_groups(int count) {
    const int first = (next_group_ + shape_.agents - 1) / shape_.agents * shape_.agents;
    next_group_ = first + count;
    return first;
  }
  // Returns its number.
  std::size_t add_wave(const std::string& name, int work_group, int kernel, int slots) {
    std::vector<Thread>& threads = workload_.program.threads;
    const std::size_t number = threads.size();
    Thread thread;
    thread.name = name;
    thread.placement.wave = static_cast<int>(number);
    thread.placement.wg = work_group;
    thread.placement.agent = work_group % shape_.agents;
    thread.placement.kernel = kernel;
    threads.push_back(thread);
    thread.slot_of = static_cast<int>(number);
    thread.placement.kernel = -1;
    for (int slot = 1; slot <= slots; ++slot) {
      thread.name = fmt::format("{}.{}", name, slot);
      threads.push_back(thread);
    }
    return number;
  }

  WorkloadShape shape_;
  std::mt19937_64 random_;
  Workload workload_;
  int next_block_ = 1;
  int waves_ = 0;
  int kernels_ = 0;
  int next_group_ = 0;
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
  // Calls f(first, count) for each access of the wave.
  template <class F>
  void for_each_access(int wave, F&& f) const {
    for (int base = wave * words_per_access; base < words; base += waves * words_per_access)
      f(base, std::min(words_per_access, words - base));
  }
};

inline int at(const std::vector<int>& registers, int i) {
  return registers[static_cast<std::size_t>(i)];
}

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
