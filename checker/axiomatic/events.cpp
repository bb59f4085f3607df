// Runs each thread on its own, letting every read find every value that some write may have left.
//
// Those values are a least fixpoint: initial values, constants that the text stores and guesses of what comes
// out of thin air, then whatever runs write that read such values. A chain of reads-from edges visits a write
// at most once, so as many rounds as there are writes are enough.
#include "checker/axiomatic/events.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "checker/support/diagnostic.hpp"
#include "checker/support/tags.hpp"
#include "spec/program/barriers.hpp"
#include "spec/program/values.hpp"

namespace lockstep {

namespace {

using Bits = ThreadPath::Bits;

// The value that an RMW leaves where it succeeds.
std::int32_t modified(const Instruction& at, std::int32_t old, std::int32_t a, std::int32_t b) {
  struct {
    RmwFunction function;
    std::int64_t a;
    std::int64_t b;
  } const request{at.rmw, a, b};
  return to_register(rmw_result(Numbers{}, request, std::int64_t{old}));
}

Order reading_part(Order order) {
  if (order == Order::acq_rel) return Order::acquire;
  return order == Order::release ? Order::relaxed : order;
}
Order writing_part(Order order) {
  if (order == Order::acq_rel) return Order::release;
  return order == Order::acquire ? Order::relaxed : order;
}

// Of names for the same memory, the one that events bear.
int memory_of(const Program& program, int location) {
  const int memory = program.locations[static_cast<std::size_t>(location)].memory;
  return memory >= 0 ? memory : location;
}

class Values {
 public:
  Values(const Program& program, const std::set<std::int32_t>& guesses) : sets_(program.locations.size()) {
    for (std::size_t i = 0; i < sets_.size(); ++i) sets_[i].insert(program.locations[i].initial_value);
    for (const Thread& thread : program.threads) {
      for (const Instruction& i : thread.code) {
        const bool depends = (i.opcode == Opcode::store && i.a.is_register) ||
                             (i.opcode == Opcode::rmw && (i.a.is_register || i.b.is_register));
        if (depends) {
          for (const std::int32_t guess : guesses) seed(program, i, guess);
        }
        if (i.opcode == Opcode::store && !i.a.is_register) seed(program, i, i.a.value);
        if (i.opcode != Opcode::rmw) continue;
        if (i.rmw == RmwFunction::exchange && !i.a.is_register) seed(program, i, i.a.value);
        if (i.rmw == RmwFunction::compare_swap && !i.b.is_register) seed(program, i, i.b.value);
      }
    }
  }
  [[nodiscard]] const std::set<std::int32_t>& of(int location) const {
    return sets_[static_cast<std::size_t>(location)];
  }
  bool add(int location, std::int32_t value) {
    return sets_[static_cast<std::size_t>(location)].insert(value).second;
  }

 private:
  void seed(const Program& program, const Instruction& i, std::int32_t value) {
    const int last = i.index.is_register ? program.locations[static_cast<std::size_t>(i.location)].array : 1;
    const int first = i.index.is_register ? 0 : i.index.value;
    for (int k = first; k < first + last; ++k) {
      if (i.location + k < static_cast<int>(sets_.size())) add(memory_of(program, i.location + k), value);
    }
  }
  std::vector<std::set<std::int32_t>> sets_;
};

// Enumerates the runs of one thread.
class Runner {
 public:
  Runner(const Program& program, int thread, EventStyle style, const Values& values,
         const UnrollLimits& limits)
      : program_(program),
        self_(program.threads[static_cast<std::size_t>(thread)]),
        thread_(thread),
        style_(style),
        may_diverge_(flags_divergence(style) &&
                     barriers::may_diverge(program)[static_cast<std::size_t>(thread)]),
        values_(values),
        limits_(limits) {}

  // Collects into `out`, and what is written beyond the known values into `fresh`.
  void run(ThreadEvents& out, std::set<std::pair<int, std::int32_t>>& fresh) {
    out_ = &out;
    fresh_ = &fresh;
    State s;
    s.registers = self_.initial_values;
    s.registers.resize(self_.registers.size());
    s.taint.resize(s.registers.size());
    s.visits.resize(self_.code.size());
    step(s);
  }

  // On any run, also one that spins on values that are not known yet.
  [[nodiscard]] std::size_t most_writes() const { return most_writes_; }

 private:
  struct Visit {
    int pc;
    std::vector<std::int32_t> registers;
  };
  struct State {
    int pc = 0;
    int watched = -1;  // the event of the exclusive load that no exclusive store has followed
    std::vector<std::int32_t> registers;
    std::vector<Bits> taint;  // by register: the reads that its value depends on
    Bits ctrl = 0;
    std::vector<std::int16_t> visits;
    std::vector<Visit> idle;  // targets of backward jumps passed since the last write
    std::vector<ProgramEvent> events;
    std::vector<Bits> addr;
    std::vector<Bits> data;
    std::vector<Bits> control;
    std::vector<std::int32_t> values;
  };

  [[nodiscard]] std::int32_t value(const State& s, const Operand& o) const {
    return o.is_register ? s.registers[static_cast<std::size_t>(o.value)] : o.value;
  }
  [[nodiscard]] Bits taint(const State& s, const Operand& o) const {
    return o.is_register ? s.taint[static_cast<std::size_t>(o.value)] : 0;
  }
  void assign(State& s, int destination, std::int32_t v, Bits taint) const {
    if (destination < 0) return;
    s.registers[static_cast<std::size_t>(destination)] = v;
    s.taint[static_cast<std::size_t>(destination)] = taint;
  }

  ProgramEvent& add(State& s, EventKind kind, const Instruction& at, std::int32_t value, Bits addr,
                    Bits data) {
    if (s.events.size() == 64) {
      throw BadInput(fmt::format("'{}' has paths of more than 64 events in {}", program_.name, self_.name),
                     "use a smaller unrolling bound");
    }
    ProgramEvent e;
    e.kind = kind;
    e.thread = static_cast<std::int16_t>(thread_);
    e.instruction = static_cast<std::int16_t>(s.pc);
    e.order = at.order;
    e.scope = at.scope;
    e.region = at.region;
    e.tags = at.tags;
    s.events.push_back(e);
    s.addr.push_back(addr);
    s.data.push_back(data);
    s.control.push_back(s.ctrl);
    s.values.push_back(value);
    return s.events.back();
  }

  // Runs on from a state until the thread ends or has a choice, which it follows by itself.
  void step(State s) {
    while (s.pc < static_cast<int>(self_.code.size())) {
      const Instruction& at = self_.code[static_cast<std::size_t>(s.pc)];
      auto& visits = s.visits[static_cast<std::size_t>(s.pc)];
      if (++visits > limits_.iterations) {
        finish(s, End::cut);
        return;
      }
      switch (at.opcode) {
        case Opcode::load:
        case Opcode::rmw:
          read(s, at);
          return;
        case Opcode::store: {
          if (has(at.tags, Tag::exclusive)) {
            store_conditionally(s, at);
            return;
          }
          const int location = accessed(s, at);
          ProgramEvent& e = add(s, EventKind::write, at, value(s, at.a), taint(s, at.index), taint(s, at.a));
          locate(e, s, at);
          wrote(s, location, value(s, at.a));
          break;
        }
        case Opcode::fence:
          add(s, EventKind::fence, at, 0, 0, 0);
          break;
        case Opcode::barrier:
          barrier(s, at);
          break;
        case Opcode::kernel_begin:
          add(s, EventKind::kernel_begin, at, 0, 0, 0);
          edge(s, Order::acquire);
          break;
        case Opcode::kernel_end:
          add(s, EventKind::kernel_end, at, 0, 0, 0);
          edge(s, Order::release);
          break;
        case Opcode::dispatch:
        case Opcode::await:
          break;
        case Opcode::move:
          assign(s, at.destination, value(s, at.a), taint(s, at.a));
          break;
        case Opcode::arithmetic:
          assign(s, at.destination, compute(at.arithmetic, value(s, at.a), value(s, at.b)),
                 taint(s, at.a) | taint(s, at.b));
          break;
        case Opcode::branch:
          s.ctrl |= taint(s, at.a) | taint(s, at.b);
          if (compare(at.comparison, value(s, at.a), value(s, at.b))) {
            if (!jump(s, at.target)) return;
            continue;
          }
          break;
        case Opcode::jump:
          if (!jump(s, at.target)) return;
          continue;
        case Opcode::assertion:
          if (!compare(at.comparison, value(s, at.a), value(s, at.b))) {
            finish(s, End::failed);
            return;
          }
          break;
      }
      ++s.pc;
    }
    finish(s, End::normal);
  }

  // An iteration that wrote nothing and changed no register can be left out of an execution: what it read
  // constrains, and is not needed. One such iteration is kept, so that checks and flags see it.
  bool jump(State& s, int target) {
    if (target <= s.pc) {
      const auto same = [&](const Visit& v) { return v.pc == target && v.registers == s.registers; };
      if (std::any_of(s.idle.begin(), s.idle.end(), same)) return false;
      s.idle.push_back({target, s.registers});
    }
    s.pc = target;
    return true;
  }

  int accessed(const State& s, const Instruction& at) {
    const std::int64_t location = std::int64_t{at.location} + value(s, at.index);
    const int array = program_.locations[static_cast<std::size_t>(at.location)].array;
    if (location < at.location || location >= at.location + std::max(1, array)) {
      throw BadInput(fmt::format("'{}' accesses {}[{}], and it has {} elements", program_.name,
                                 program_.locations[static_cast<std::size_t>(at.location)].name,
                                 value(s, at.index), array));
    }
    return memory_of(program_, static_cast<int>(location));
  }
  void locate(ProgramEvent& e, const State& s, const Instruction& at) {
    e.location = static_cast<std::int16_t>(accessed(s, at));
    const int named = at.location + value(s, at.index);
    const int address = program_.locations[static_cast<std::size_t>(named)].address;
    e.address = static_cast<std::int16_t>(address >= 0 ? address : named);
  }

  void read(const State& s, const Instruction& at) {
    const int location = accessed(s, at);
    const Bits here = Bits{1} << s.events.size();
    for (const std::int32_t v : values_.of(location)) {
      if (at.opcode == Opcode::load) {
        State next = s;
        ProgramEvent& e = add(next, EventKind::read, at, v, taint(s, at.index), 0);
        locate(e, s, at);
        assign(next, at.destination, v, here);
        if (has(at.tags, Tag::exclusive)) next.watched = static_cast<int>(s.events.size());
        ++next.pc;
        step(std::move(next));
        continue;
      }
      const bool fails = at.rmw == RmwFunction::compare_swap && v != value(s, at.a);
      if (!fails) modify(s, at, location, v);
      if (fails || (at.rmw == RmwFunction::compare_swap && at.spurious)) fail(s, at, v);
    }
  }

  // Succeeds, and writes 0 to its register, only where the load before it was of this location; fails, and
  // writes 1, whenever it likes.
  void store_conditionally(const State& s, const Instruction& at) {
    const int location = accessed(s, at);
    State failed = s;
    failed.watched = -1;
    assign(failed, at.destination, 1, 0);
    ++failed.pc;
    step(std::move(failed));
    const auto load = static_cast<std::size_t>(s.watched);
    if (s.watched < 0 || s.events[load].location != location) return;
    State next = s;
    next.watched = -1;
    next.events[load].rmw = true;
    ProgramEvent& w = add(next, EventKind::write, at, value(s, at.a), taint(s, at.index), taint(s, at.a));
    locate(w, s, at);
    w.rmw = true;
    wrote(next, location, value(s, at.a));
    assign(next, at.destination, 0, 0);
    ++next.pc;
    step(std::move(next));
  }

  void modify(const State& s, const Instruction& at, int location, std::int32_t v) {
    State next = s;
    const Bits here = Bits{1} << s.events.size();
    const Bits address = taint(s, at.index);
    ProgramEvent& r = add(next, EventKind::read, at, v, address, 0);
    locate(r, s, at);
    r.order = reading_part(at.order);
    r.tags &= ~only_of_writes;
    r.rmw = true;
    const bool keeps_nothing = at.rmw == RmwFunction::exchange || at.rmw == RmwFunction::compare_swap;
    const std::int32_t written = modified(at, v, value(s, at.a), value(s, at.b));
    ProgramEvent& w = add(next, EventKind::write, at, written, address,
                          taint(s, at.a) | taint(s, at.b) | (keeps_nothing ? 0 : here));
    locate(w, s, at);
    w.order = writing_part(at.order);
    w.tags &= ~only_of_reads;
    w.rmw = true;
    wrote(next, location, written);
    assign(next, at.destination, v, here);
    assign(next, at.status, 1, here | taint(s, at.a));
    ++next.pc;
    step(std::move(next));
  }
  void fail(const State& s, const Instruction& at, std::int32_t v) {
    State next = s;
    const Bits here = Bits{1} << s.events.size();
    ProgramEvent& r = add(next, EventKind::read, at, v, taint(s, at.index), 0);
    locate(r, s, at);
    r.tags &= ~only_of_writes;
    r.order = at.failure_order == Order::plain ? reading_part(at.order) : at.failure_order;
    assign(next, at.destination, v, here);
    assign(next, at.status, 0, here | taint(s, at.a));
    ++next.pc;
    step(std::move(next));
  }

  void wrote(State& s, int location, std::int32_t v) {
    s.idle.clear();
    const auto writes = std::count_if(s.events.begin(), s.events.end(),
                                      [](const ProgramEvent& e) { return e.kind == EventKind::write; });
    most_writes_ = std::max(most_writes_, static_cast<std::size_t>(writes));
    if (values_.of(location).count(v) == 0) fresh_->insert({location, v});
  }

  void edge(State& s, Order order) const {
    s.events.back().order = order;
    s.events.back().scope = Scope::system;
    s.idle.clear();
  }

  void barrier(State& s, const Instruction& at) {
    s.idle.clear();
    std::int16_t occurrence = 0;
    const std::int32_t number = value(s, at.a);
    for (const ProgramEvent& e : s.events) {
      const bool counts = e.kind == EventKind::barrier || e.kind == EventKind::barrier_entry;
      occurrence = static_cast<std::int16_t>(occurrence + (counts && e.barrier == number ? 1 : 0));
    }
    const auto one = [&](EventKind kind, Order order) {
      ProgramEvent& e = add(s, kind, at, 0, 0, 0);
      e.order = order;
      e.scope = Scope::wg;
      e.barrier = number;
      e.participants = value(s, at.b);
      if (at.b.is_register && e.participants < 1) e.participants = -1;
      e.occurrence = occurrence;
      e.arrives_only = at.arrives_only;
    };
    const bool may_be_left = (value(s, at.b) > 0 || may_diverge_) && !at.arrives_only;
    if (has_one_event_barriers(style_)) {
      one(EventKind::barrier, at.order);
      s.events.back().scope = at.scope;
      if (may_be_left) finish(s, End::left_behind);
      return;
    }
    one(EventKind::barrier_entry, Order::release);
    if (may_be_left) finish(s, End::left_behind);
    if (!at.arrives_only) one(EventKind::barrier_exit, Order::acquire);
  }

  enum class End : std::uint8_t { normal, failed, cut, left_behind };
  void finish(const State& s, End end) {
    const bool cut = end == End::cut;
    const bool left_behind = end == End::left_behind;
    ThreadPath* path = nullptr;
    for (ThreadPath& known : out_->paths) {
      if (known.cut == cut && known.left_behind == left_behind && known.events == s.events &&
          known.addr == s.addr && known.data == s.data && known.ctrl == s.control) {
        path = &known;
        break;
      }
    }
    if (path == nullptr) {
      out_->paths.push_back({s.events, s.addr, s.data, s.control, cut, left_behind, 0, {}, {}, {}});
      path = &out_->paths.back();
    }
    if (++runs_ > limits_.runs) {
      throw BadInput(
          fmt::format("'{}' has more than {} runs of {} alone", program_.name, limits_.runs, self_.name),
          "use a smaller unrolling bound");
    }
    ++path->runs;
    path->values.insert(path->values.end(), s.values.begin(), s.values.end());
    path->registers.insert(path->registers.end(), s.registers.begin(), s.registers.end());
    path->failed.push_back(end == End::failed);
  }

  const Program& program_;
  const Thread& self_;
  int thread_;
  EventStyle style_;
  bool may_diverge_;
  const Values& values_;
  const UnrollLimits& limits_;
  ThreadEvents* out_ = nullptr;
  std::set<std::pair<int, std::int32_t>>* fresh_ = nullptr;
  std::size_t runs_ = 0;
  std::size_t most_writes_ = 0;
};

}  // namespace

ProgramEvents unroll(const Program& program, EventStyle style, const UnrollLimits& limits,
                     const std::set<std::int32_t>& guesses) {
  Values values(program, guesses);
  ProgramEvents events;
  for (std::size_t round = 0;; ++round) {
    events = {};
    std::set<std::pair<int, std::int32_t>> fresh;
    std::size_t most_writes = 0;
    for (std::size_t t = 0; t < program.threads.size(); ++t) {
      events.threads.emplace_back();
      Runner runner(program, static_cast<int>(t), style, values, limits);
      runner.run(events.threads.back(), fresh);
      most_writes += runner.most_writes();
    }
    if (fresh.empty() || round > most_writes) break;
    for (const auto& [location, value] : fresh) {
      values.add(location, value);
      if (values.of(location).size() > limits.values) {
        throw BadInput(fmt::format("'{}' may leave more than {} values in {}", program.name, limits.values,
                                   program.locations[static_cast<std::size_t>(location)].name),
                       "use a smaller unrolling bound");
      }
    }
  }
  return events;
}

}  // namespace lockstep
