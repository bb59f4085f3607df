// Runs each thread on its own. What a read finds stays open: a branch that depends on it is followed both
// ways, and each path keeps the conditions under which it is taken.
//
// A read may find every value that some write may have left. Those are a least fixpoint: initial values,
// constants that the text stores and guesses of what comes out of thin air, then whatever runs write that
// read such values. A chain of reads-from edges visits a write at most once, so as many rounds as there are
// writes are enough.
#include "checker/axiomatic/events.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>

#include "checker/support/diagnostic.hpp"
#include "checker/support/tags.hpp"
#include "spec/program/barriers.hpp"
#include "spec/program/values.hpp"

namespace lockstep {

namespace {

using Bits = ThreadPath::Bits;

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
  [[nodiscard]] const std::vector<std::set<std::int32_t>>& all() const { return sets_; }

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

// Values for the reads that something depends on, under the conditions of a path.
class Assignments {
 public:
  explicit Assignments(const Values& values) : values_(values) {}

  void begin(const Terms& terms, const std::vector<ProgramEvent>& events, std::size_t tries) {
    events_ = &events;
    tries_ = tries;
    evaluation_.begin(terms);
  }

  // Uses each choice of values for `reads` that the reads connected with them by conditions can complete,
  // until `use` returns true. False: there are too many to try.
  template <class Use>
  bool each(Bits reads, const std::vector<PathCondition>& conditions, const Use& use) {
    order_.clear();
    append(reads);
    wanted_ = order_.size();
    std::vector<const PathCondition*> connected;
    Bits all = reads;
    for (bool grown = true; grown;) {
      grown = false;
      for (const PathCondition& condition : conditions) {
        if ((condition.reads & all) == 0 ||
            std::find(connected.begin(), connected.end(), &condition) != connected.end())
          continue;
        connected.push_back(&condition);
        append(condition.reads & ~all);
        all |= condition.reads;
        grown = true;
      }
    }
    complete_at_.assign(order_.size(), {});
    for (const PathCondition* condition : connected) {
      std::size_t last = order_.size() - 1;
      while (((condition->reads >> order_[last]) & 1U) == 0) --last;
      complete_at_[last].push_back(condition);
    }
    out_of_tries_ = false;
    search(0, use);
    return !out_of_tries_;
  }

 private:
  void append(Bits reads) {
    for (; reads != 0; reads &= reads - 1) order_.push_back(std::countr_zero(reads));
  }

  // Whether to stop. Behind the wanted reads, one way to complete them is enough.
  template <class Use>
  bool search(std::size_t k, const Use& use) {
    if (k == wanted_) return (k == order_.size() || completes(k)) && use(evaluation_);
    return try_values(k, [&] { return search(k + 1, use); });
  }
  bool completes(std::size_t k) {
    if (k == order_.size()) return true;
    return try_values(k, [&] { return completes(k + 1); });
  }
  template <class Next>
  bool try_values(std::size_t k, const Next& next) {
    const int location = (*events_)[static_cast<std::size_t>(order_[k])].location;
    for (const std::int32_t v : values_.of(location)) {
      if (tries_ == 0) out_of_tries_ = true;
      if (out_of_tries_) return true;
      --tries_;
      evaluation_.set(order_[k], v);
      const auto holds = [&](const PathCondition* condition) { return condition->holds(evaluation_); };
      if (std::all_of(complete_at_[k].begin(), complete_at_[k].end(), holds) && next()) return true;
    }
    return false;
  }

  const Values& values_;
  const std::vector<ProgramEvent>* events_ = nullptr;
  std::size_t tries_ = 0;
  bool out_of_tries_ = false;
  std::vector<int> order_;
  std::size_t wanted_ = 0;
  std::vector<std::vector<const PathCondition*>> complete_at_;  // by place in the order
  Evaluation evaluation_;
};

// Enumerates the paths of one thread.
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
        limits_(limits),
        assignments_(values) {}

  // Collects into `out`, and what is written beyond the known values into `fresh`.
  void run(ThreadEvents& out, std::set<std::pair<int, std::int32_t>>& fresh) {
    out_ = &out;
    fresh_ = &fresh;
    State s;
    for (const std::int32_t v : self_.initial_values) s.registers.push_back({true, v});
    s.registers.resize(self_.registers.size());
    s.taint.resize(s.registers.size());
    s.visits.resize(self_.code.size());
    step(s);
  }

  // On any path, also one that spins on values that are not known yet.
  [[nodiscard]] std::size_t most_writes() const { return most_writes_; }

 private:
  struct Visit {
    int pc;
    std::vector<PathValue> registers;
    std::size_t events;  // that came before
  };
  struct State {
    int pc = 0;
    int watched = -1;  // the event of the exclusive load that no exclusive store has followed
    std::vector<PathValue> registers;
    std::vector<Bits> taint;  // by register: the reads that its value depends on
    Bits ctrl = 0;
    std::vector<std::int16_t> visits;
    std::vector<Visit> idle;  // targets of backward jumps passed since the last write
    std::vector<ProgramEvent> events;
    std::vector<Bits> addr;
    std::vector<Bits> data;
    std::vector<Bits> control;
    std::vector<PathValue> values;
    std::vector<PathCondition> conditions;
  };

  [[nodiscard]] PathValue value(const State& s, const Operand& o) const {
    return o.is_register ? s.registers[static_cast<std::size_t>(o.value)] : PathValue{true, o.value};
  }
  // Of an operand that settle() has seen to.
  [[nodiscard]] std::int32_t number(const State& s, const Operand& o) const { return value(s, o).is; }
  [[nodiscard]] Bits taint(const State& s, const Operand& o) const {
    return o.is_register ? s.taint[static_cast<std::size_t>(o.value)] : 0;
  }
  void assign(State& s, int destination, PathValue v, Bits taint) const {
    if (destination < 0) return;
    s.registers[static_cast<std::size_t>(destination)] = v;
    s.taint[static_cast<std::size_t>(destination)] = taint;
  }

  ProgramEvent& add(State& s, EventKind kind, const Instruction& at, PathValue value, Bits addr, Bits data) {
    if (s.events.size() == static_cast<std::size_t>(Terms::positions)) {
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

  // ---- conditions

  // Goes on only where one of the comparisons holds. False: it never does here.
  bool require(State& s, std::vector<PathCondition::Compared> any) {
    PathCondition condition;
    for (const auto& one : any) {
      if (!one.a.known || !one.b.known) {
        condition.reads |= terms_->reads(one.a) | terms_->reads(one.b);
      } else if (compare(one.comparison, one.a.is, one.b.is)) {
        return true;
      } else {
        continue;
      }
      condition.any.push_back(one);
    }
    if (condition.any.empty()) return false;
    s.conditions.push_back(std::move(condition));
    bool possible = false;
    assignments_.begin(*terms_, s.events, limits_.tries);
    // What takes too long to tell is left to the search.
    const bool told = assignments_.each(s.conditions.back().reads, s.conditions,
                                        [&](Evaluation&) { return possible = true; });
    return possible || !told;
  }
  bool require(State& s, Comparison comparison, PathValue a, PathValue b) {
    return require(s, {{comparison, a, b}});
  }
  // Up to `most` of them.
  std::set<std::int32_t> possible_values(const State& s, PathValue v, std::size_t most) {
    if (v.known) return {v.is};
    std::set<std::int32_t> found;
    const auto note = [&](Evaluation& evaluation) {
      found.insert(evaluation(v));
      return found.size() >= most;
    };
    assignments_.begin(*terms_, s.events, limits_.tries);
    if (!assignments_.each(terms_->reads(v), s.conditions, note)) {
      throw BadInput(
          fmt::format("'{}' has a value in {} that depends on more than {} choices of what is read",
                      program_.name, self_.name, limits_.tries),
          "use a smaller unrolling bound");
    }
    return found;
  }

  // What addresses and barriers are named by has to be a number: each that it may be is a path of its own.
  // False: it is one.
  bool settle(const State& s, const Operand& o) {
    const PathValue v = value(s, o);
    if (v.known) return false;
    for (const std::int32_t number : possible_values(s, v, limits_.tries)) {
      State next = s;
      next.registers[static_cast<std::size_t>(o.value)] = {true, number};
      if (require(next, Comparison::equal, v, {true, number})) step(std::move(next));
    }
    return true;
  }
  bool settle(const State& s, const Instruction& at) {
    if (is_memory(at.opcode)) return settle(s, at.index);
    return at.opcode == Opcode::barrier && (settle(s, at.a) || settle(s, at.b));
  }

  // ---- instructions

  // Where a thread that is not scheduled any more keeps most from others: before it begins, writes or
  // arrives.
  bool may_stop(const State& s, const Instruction& at) const {
    if (!limits_.stopped || self_.placement.host) return false;
    const bool begins = s.pc == 0 && s.events.empty();
    return begins || at.opcode == Opcode::store || at.opcode == Opcode::rmw || at.opcode == Opcode::barrier;
  }

  // Runs on from a state until the thread ends or has a choice, which it follows by itself.
  void step(State s) {
    while (s.pc < static_cast<int>(self_.code.size())) {
      const Instruction& at = self_.code[static_cast<std::size_t>(s.pc)];
      if (settle(s, at)) return;
      if (may_stop(s, at)) finish(s, PathEnd::stopped);
      auto& visits = s.visits[static_cast<std::size_t>(s.pc)];
      if (++visits > limits_.iterations) {
        finish(s, PathEnd::cut);
        return;
      }
      switch (at.opcode) {
        case Opcode::load:
          if (limits_.each_value) {
            read_each(s, at);
            return;
          }
          load(s, at, Terms::read(s.events.size()));
          break;
        case Opcode::rmw:
          if (limits_.each_value) {
            read_each(s, at);
          } else {
            modify(s, at, Terms::read(s.events.size()));
          }
          return;
        case Opcode::store: {
          if (has(at.tags, Tag::exclusive)) {
            store_conditionally(s, at);
            return;
          }
          ProgramEvent& e = add(s, EventKind::write, at, value(s, at.a), taint(s, at.index), taint(s, at.a));
          locate(e, s, at);
          wrote(s);
          break;
        }
        case Opcode::fence:
          add(s, EventKind::fence, at, {}, 0, 0);
          break;
        case Opcode::barrier:
          barrier(s, at);
          break;
        case Opcode::kernel_begin:
          add(s, EventKind::kernel_begin, at, {}, 0, 0);
          edge(s, Order::acquire);
          break;
        case Opcode::kernel_end:
          add(s, EventKind::kernel_end, at, {}, 0, 0);
          edge(s, Order::release);
          break;
        case Opcode::dispatch:
        case Opcode::await:
        case Opcode::pause:
          break;
        case Opcode::move:
          assign(s, at.destination, value(s, at.a), taint(s, at.a));
          break;
        case Opcode::arithmetic:
          assign(s, at.destination, terms_->arithmetic(at.arithmetic, value(s, at.a), value(s, at.b)),
                 taint(s, at.a) | taint(s, at.b));
          break;
        case Opcode::branch: {
          s.ctrl |= taint(s, at.a) | taint(s, at.b);
          const PathValue a = value(s, at.a);
          const PathValue b = value(s, at.b);
          if (a.known && b.known) {
            if (!compare(at.comparison, a.is, b.is)) break;
            if (!jump(s, at.target)) return;
            continue;
          }
          State taken = s;
          if (require(taken, at.comparison, a, b) && jump(taken, at.target)) step(std::move(taken));
          if (!require(s, opposite(at.comparison), a, b)) return;
          break;
        }
        case Opcode::jump:
          if (!jump(s, at.target)) return;
          continue;
        case Opcode::assertion: {
          State fails = s;
          if (require(fails, opposite(at.comparison), value(s, at.a), value(s, at.b)))
            finish(fails, PathEnd::failed);
          if (!require(s, at.comparison, value(s, at.a), value(s, at.b))) return;
          break;
        }
      }
      ++s.pc;
    }
    finish(s, PathEnd::ended);
  }

  // An iteration that wrote nothing and changed no register can be left out of an execution: what it read
  // constrains, and is not needed. One such iteration is kept, so that checks and flags see it.
  bool jump(State& s, int target) {
    if (target <= s.pc) {
      for (const Visit& before : s.idle) {
        if (before.pc != target) continue;
        if (limits_.endless) go_round(s, before);
        std::vector<PathCondition::Compared> changed;
        for (std::size_t r = 0; r < s.registers.size(); ++r) {
          if (before.registers[r] == s.registers[r]) continue;
          changed.push_back({Comparison::not_equal, before.registers[r], s.registers[r]});
        }
        if (!require(s, std::move(changed))) return false;
      }
      s.idle.push_back({target, s.registers, s.events.size()});
    }
    s.pc = target;
    return true;
  }

  // The same as in a visit before: so it may be for ever.
  void go_round(State s, const Visit& before) {
    for (std::size_t r = 0; r < s.registers.size(); ++r) {
      if (before.registers[r] == s.registers[r]) continue;
      if (!require(s, Comparison::equal, before.registers[r], s.registers[r])) return;
    }
    finish(s, PathEnd::goes_round, static_cast<int>(before.events));
  }

  int accessed(const State& s, const Instruction& at) {
    const std::int64_t location = std::int64_t{at.location} + number(s, at.index);
    const int array = program_.locations[static_cast<std::size_t>(at.location)].array;
    if (location < at.location || location >= at.location + std::max(1, array)) {
      throw BadInput(fmt::format("'{}' accesses {}[{}], and it has {} elements", program_.name,
                                 program_.locations[static_cast<std::size_t>(at.location)].name,
                                 number(s, at.index), array));
    }
    return memory_of(program_, static_cast<int>(location));
  }
  void locate(ProgramEvent& e, const State& s, const Instruction& at) {
    e.location = static_cast<std::int16_t>(accessed(s, at));
    const int named = at.location + number(s, at.index);
    const int address = program_.locations[static_cast<std::size_t>(named)].address;
    e.address = static_cast<std::int16_t>(address >= 0 ? address : named);
  }

  void read_each(const State& s, const Instruction& at) {
    const PathValue here = Terms::read(s.events.size());
    for (const std::int32_t v : values_.of(accessed(s, at))) {
      State next = s;
      next.conditions.push_back({{{Comparison::equal, here, {true, v}}}, terms_->reads(here)});
      if (at.opcode == Opcode::rmw) {
        modify(next, at, {true, v});
        continue;
      }
      load(next, at, {true, v});
      ++next.pc;
      step(std::move(next));
    }
  }
  void load(State& s, const Instruction& at, PathValue found) {
    const Bits here = Bits{1} << s.events.size();
    if (has(at.tags, Tag::exclusive)) s.watched = static_cast<int>(s.events.size());
    ProgramEvent& e = add(s, EventKind::read, at, found, taint(s, at.index), 0);
    locate(e, s, at);
    assign(s, at.destination, found, here);
  }

  // Succeeds, and writes 0 to its register, only where the load before it was of this location; fails, and
  // writes 1, whenever it likes.
  void store_conditionally(const State& s, const Instruction& at) {
    const int location = accessed(s, at);
    State failed = s;
    failed.watched = -1;
    assign(failed, at.destination, {true, 1}, 0);
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
    wrote(next);
    assign(next, at.destination, {}, 0);
    ++next.pc;
    step(std::move(next));
  }

  void modify(const State& s, const Instruction& at, PathValue old) {
    succeed(s, at, old);
    if (at.rmw == RmwFunction::compare_swap) fail(s, at, old);
  }
  void succeed(State s, const Instruction& at, PathValue old) {
    const Bits here = Bits{1} << s.events.size();
    const Bits address = taint(s, at.index);
    ProgramEvent& r = add(s, EventKind::read, at, old, address, 0);
    locate(r, s, at);
    r.order = reading_part(at.order);
    r.tags &= ~only_of_writes;
    r.rmw = true;
    if (at.rmw == RmwFunction::compare_swap && !require(s, Comparison::equal, old, value(s, at.a))) return;
    const bool keeps_nothing = at.rmw == RmwFunction::exchange || at.rmw == RmwFunction::compare_swap;
    const PathValue written = terms_->rmw(at.rmw, old, value(s, at.a), value(s, at.b));
    ProgramEvent& w = add(s, EventKind::write, at, written, address,
                          taint(s, at.a) | taint(s, at.b) | (keeps_nothing ? 0 : here));
    locate(w, s, at);
    w.order = writing_part(at.order);
    w.tags &= ~only_of_reads;
    w.rmw = true;
    const Bits decided_by = here | taint(s, at.a);
    wrote(s);
    assign(s, at.destination, old, here);
    assign(s, at.status, {true, 1}, decided_by);
    ++s.pc;
    step(std::move(s));
  }
  void fail(State s, const Instruction& at, PathValue old) {
    const Bits here = Bits{1} << s.events.size();
    ProgramEvent& r = add(s, EventKind::read, at, old, taint(s, at.index), 0);
    locate(r, s, at);
    r.tags &= ~only_of_writes;
    r.order = at.failure_order == Order::plain ? reading_part(at.order) : at.failure_order;
    if (!at.spurious && !require(s, Comparison::not_equal, old, value(s, at.a))) return;
    const Bits decided_by = here | taint(s, at.a);
    assign(s, at.destination, old, here);
    assign(s, at.status, {true, 0}, decided_by);
    ++s.pc;
    step(std::move(s));
  }

  // After the event of a write.
  void wrote(State& s) {
    s.idle.clear();
    const auto writes = std::count_if(s.events.begin(), s.events.end(),
                                      [](const ProgramEvent& e) { return e.kind == EventKind::write; });
    most_writes_ = std::max(most_writes_, static_cast<std::size_t>(writes));
    const int location = s.events.back().location;
    for (const std::int32_t v : possible_values(s, s.values.back(), limits_.values + 1)) {
      if (values_.of(location).count(v) == 0) fresh_->insert({location, v});
    }
  }

  void edge(State& s, Order order) const {
    s.events.back().order = order;
    s.events.back().scope = Scope::system;
    s.idle.clear();
  }

  void barrier(State& s, const Instruction& at) {
    s.idle.clear();
    std::int16_t occurrence = 0;
    const std::int32_t number = this->number(s, at.a);
    for (const ProgramEvent& e : s.events) {
      const bool counts = e.kind == EventKind::barrier || e.kind == EventKind::barrier_entry;
      occurrence = static_cast<std::int16_t>(occurrence + (counts && e.barrier == number ? 1 : 0));
    }
    const auto one = [&](EventKind kind, Order order) {
      ProgramEvent& e = add(s, kind, at, {}, 0, 0);
      e.order = order;
      e.scope = Scope::wg;
      e.barrier = number;
      e.participants = this->number(s, at.b);
      if (at.b.is_register && e.participants < 1) e.participants = -1;
      e.occurrence = occurrence;
      e.arrives_only = at.arrives_only;
    };
    const bool may_be_left =
        (this->number(s, at.b) > 0 || may_diverge_ || limits_.endless) && !at.arrives_only;
    if (has_one_event_barriers(style_)) {
      one(EventKind::barrier, at.order);
      s.events.back().scope = at.scope;
      if (may_be_left) finish(s, PathEnd::left_behind);
      return;
    }
    one(EventKind::barrier_entry, Order::release);
    if (may_be_left) finish(s, PathEnd::left_behind);
    if (!at.arrives_only) one(EventKind::barrier_exit, Order::acquire);
  }

  void finish(const State& s, PathEnd end, int round = -1) {
    if (out_->paths.size() == limits_.paths) {
      throw BadInput(
          fmt::format("'{}' has more than {} paths through {}", program_.name, limits_.paths, self_.name),
          "use a smaller unrolling bound");
    }
    out_->paths.push_back(
        {s.events, s.addr, s.data, s.control, end, round, s.values, s.registers, s.conditions, terms_});
  }

  const Program& program_;
  const Thread& self_;
  int thread_;
  EventStyle style_;
  bool may_diverge_;
  const Values& values_;
  const UnrollLimits& limits_;
  Assignments assignments_;
  std::shared_ptr<Terms> terms_ = std::make_shared<Terms>();
  ThreadEvents* out_ = nullptr;
  std::set<std::pair<int, std::int32_t>>* fresh_ = nullptr;
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
  events.values = values.all();
  return events;
}

}  // namespace lockstep
