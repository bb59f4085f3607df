// A wave executes its kernel's steps as far as it can, and what it asks of memory is coalesced to words and
// appended to its thread's code. Where it needs a result, or a slot that is taken, it awaits that; when the
// thread has come so far, the wave goes on.
#include "refimpl/kernels/wave_source.hpp"

#include <algorithm>
#include <bit>
#include <deque>
#include <map>
#include <utility>

namespace lockstep::kernels {

namespace {

// Until nothing is under way, code is kept: slots look there for what they perform.
constexpr std::size_t longest_code = 192;
constexpr std::uint64_t steps_at_once = 4096;
constexpr std::size_t place_of_first_mark = 1;  // behind the wave's dispatch
// Registers; a slot's is that of its number. An access of the wave's own is alone.
constexpr int second_operand = 0;
constexpr int of_own_access = 1;

// Of one word, by some lanes.
struct Access {
  Instruction instruction;
  Lanes a{};
  Lanes b{};
  int to = -1;  // the wave's register, if anything is wanted
  Mask lanes = 0;
  std::array<std::uint8_t, wave_lanes> place{};   // of each lane, in the word
  std::array<std::int32_t, wave_lanes> before{};  // what lanes in front have contributed to the same element
};

constexpr bool gathers(RmwFunction f) {
  return f == RmwFunction::add || f == RmwFunction::subtract || f == RmwFunction::bit_and ||
         f == RmwFunction::bit_or || f == RmwFunction::bit_xor;
}
// What changes nothing.
constexpr std::int32_t neutral(RmwFunction f) {
  return f == RmwFunction::bit_and ? -1 : 0;
}
// Two updates as one; of subtractions the sum is subtracted.
std::int32_t together(RmwFunction f, std::int32_t a, std::int32_t b) {
  Step step;
  step.act = Act::update;
  step.rmw = f == RmwFunction::subtract ? RmwFunction::add : f;
  apply(step, a, b, 0);
  return a;
}

class WaveSource final : public CodeSource, private LaneMemory {
 public:
  explicit WaveSource(std::shared_ptr<const PlacedWaves> placed)
      : placed_(std::move(placed)), plan_(placed_->plan), wave_of_(placed_->threads, -1) {
    waves_.resize(placed_->waves.size());
    for (std::size_t w = 0; w < waves_.size(); ++w) {
      wave_of_[placed_->waves[w].thread] = static_cast<std::int32_t>(w);
      waves_[w].lanes.number = w;
    }
  }

  [[nodiscard]] bool is_at_mark(std::uint32_t thread, const Thread& self, std::size_t place) const override {
    const std::int32_t w = wave_of_[thread];
    if (w < 0 || waves_[static_cast<std::size_t>(w)].ended) return false;
    return place ==
           (waves_[static_cast<std::size_t>(w)].group < 0 ? place_of_first_mark : self.code.size() - 1);
  }

  int write(std::uint32_t thread, Thread& self, const Registers& registers) override {
    const auto number = static_cast<std::size_t>(wave_of_[thread]);
    Wave& wave = waves_[number];
    code_ = &self.code;
    registers_ = &registers;
    int from = -1;
    if (wave.group < 0) {
      begin(wave);
      from = 1;
    } else {
      code_->pop_back();  // the mark
      collect(wave);
      // The thread was in front of the mark, and goes elsewhere.
      if (wave.under_way == 0) from = code_->size() == 2 ? 2 : 1;
    }
    // A slot that has not been used yet is at 0, and goes elsewhere, too.
    if (from > 0) code_->assign(static_cast<std::size_t>(from), {});
    const std::size_t before = code_->size();
    wave.stopped = false;
    if (code_->size() > longest_code) {
      await(wave, wave.under_way);
    } else {
      go_on(wave);
    }
    if (wave.ended) return from;
    // It has to come to the mark from somewhere.
    if (code_->size() == before) pause(1);
    code_->push_back({});
    return from;
  }

 private:
  struct Wave {
    LaneWave lanes;
    int group = -1;
    bool stopped = false;  // until the thread has come to the mark
    bool ended = false;
    bool leaves = false;  // it has come to the end of its group
    std::deque<Access> asked;
    std::vector<Access> of_slot;
    std::uint32_t under_way = 0;  // slots, as bits
    std::uint32_t awaited = 0;
    bool waits = false;  // for an access of its own
    Access own;
    int next_slot = 0;
  };

  [[nodiscard]] const PlacedWave& place_of(const Wave& wave) const {
    return placed_->waves[wave.lanes.number];
  }
  [[nodiscard]] const Launch& launch_of(const Wave& wave) const {
    return plan_.launches[static_cast<std::size_t>(place_of(wave).launch)];
  }

  void begin(Wave& wave) {
    const PlacedWave& at = place_of(wave);
    wave.group = at.place;
    wave.of_slot.resize(static_cast<std::size_t>(placed_->slots));
    begin_group(plan_, launch_of(wave), wave.group, at.wave_of_group, wave.lanes);
  }

  void go_on(Wave& wave) {
    if (wave.leaves && !next_group(wave)) return;
    while (ask(wave) && !wave.stopped) {
      std::uint64_t steps = steps_at_once;
      switch (wave.lanes.run(*this, steps)) {
        case LaneWave::Stop::held:
          break;
        case LaneWave::Stop::awaits:
          await(wave, slots_for(wave, wave.lanes.awaited_register()));
          break;
        case LaneWave::Stop::spent:
          wave.stopped = true;
          break;
        case LaneWave::Stop::barrier:
          order(wave, Opcode::barrier);
          break;
        case LaneWave::Stop::ended:
          wave.leaves = true;
          if (launch_of(wave).groups > wave.group + launch_of(wave).places && wave.lanes.code().meets) {
            // Others of the group may still use its memory.
            order(wave, Opcode::barrier);
          } else if (wave.under_way != 0) {
            await(wave, wave.under_way);
          } else if (!next_group(wave)) {
            return;
          }
          break;
      }
    }
    take_time(wave);
  }
  // Returns whether there is one. Else nothing comes behind what is appended here.
  bool next_group(Wave& wave) {
    wave.leaves = false;
    const Launch& launch = launch_of(wave);
    wave.group += launch.places;
    if (wave.group < launch.groups) {
      begin_group(plan_, launch, wave.group, place_of(wave).wave_of_group, wave.lanes);
      return true;
    }
    take_time(wave);
    Instruction last;
    last.opcode = placed_->waves_end_kernels ? Opcode::kernel_end : Opcode::pause;
    if (placed_->waves_end_kernels) last.order = Order::release;
    code_->push_back(last);
    wave.ended = true;
    wave.lanes = {};
    wave.of_slot = {};
    return false;
  }

  // ---- what lanes ask for ----

  void access(LaneWave& lanes, const Step& step, Mask active) override {
    Wave& wave = waves_[lanes.number];
    plan_.check_elements(lanes, step, active);
    const Array& array = plan_.arrays[static_cast<std::size_t>(step.n)];
    if (array.name.local) {
      access_elements(local_of(wave).data() + array.offset, lanes, step, active);
      return;
    }
    const bool one_by_one = step.act == Act::update && !gathers(step.rmw);
    if (one_by_one && !array.name.padded) {
      fail(step.place,
           "exchanges, minima and maxima are of whole words of 64 bytes here, of which " + array.name.name +
               " has several elements in each",
           "declare it padded, as in: global padded int " + array.name.name + "[...];");
    }
    for_each_lane(active, [&](std::size_t lane) { add(wave, array, step, lane, one_by_one); });
    for (const Access& one : wave.asked) {
      if (step.act == Act::store && !array.name.padded) check_whole(array, step, one);
      if (one.to >= 0) lanes.await(one.to);
    }
    static_cast<void>(ask(wave));
  }
  // A lane takes part in the access of its word, which is made where there is none yet.
  void add(Wave& wave, const Array& array, const Step& step, std::size_t lane, bool one_by_one) {
    const std::int32_t element = wave.lanes.reg(step.a)[lane];
    const std::int32_t location = array.first_location + plan_.word_of(array, element);
    const auto found = one_by_one ? wave.asked.end()
                                  : std::find_if(wave.asked.begin(), wave.asked.end(), [&](const Access& a) {
                                      return a.instruction.location == location;
                                    });
    const bool fresh = found == wave.asked.end();
    Access& one = fresh ? wave.asked.emplace_back() : *found;
    if (fresh) {
      one.instruction = instruction_of(step);
      one.instruction.location = location;
      one.to = step.to;
      if (step.act == Act::update && gathers(step.rmw)) one.a.fill(neutral(step.rmw));
    }
    one.lanes |= Mask{1} << lane;
    const int place = array.name.padded ? 0 : element % lanes_of_word;
    one.place[lane] = static_cast<std::uint8_t>(place);
    if (step.act == Act::load) return;
    const std::int32_t operand = wave.lanes.reg(step.b)[lane];
    const auto set = [&](Lanes& lanes, std::int32_t value) {
      if (array.name.padded) {
        lanes.fill(value);
      } else {
        lanes[static_cast<std::size_t>(place)] = value;
      }
    };
    if (step.act == Act::update && gathers(step.rmw)) {
      one.before[lane] = one.a[static_cast<std::size_t>(place)];
      set(one.a, together(step.rmw, one.before[lane], operand));
      return;
    }
    set(one.a, operand);
    if (step.c >= 0) set(one.b, wave.lanes.reg(step.c)[lane]);
  }
  static Instruction instruction_of(const Step& step) {
    Instruction i;
    i.opcode = step.act == Act::load ? Opcode::load : step.act == Act::store ? Opcode::store : Opcode::rmw;
    i.rmw = step.rmw;
    i.order = step.order;
    i.scope = step.order == Order::plain ? Scope::system : step.scope;
    i.place = step.place;
    return i;
  }
  // Protocols store whole words.
  void check_whole(const Array& array, const Step& step, const Access& one) const {
    const std::int32_t first = (one.instruction.location - array.first_location) * lanes_of_word;
    const std::int32_t there = std::min(lanes_of_word, array.name.size - first);
    std::uint32_t stored = 0;
    for_each_lane(one.lanes, [&](std::size_t lane) { stored |= std::uint32_t{1} << one.place[lane]; });
    if (std::popcount(stored) == there) return;
    fail(step.place,
         "a wave stores " + std::to_string(std::popcount(stored)) + " of the " + std::to_string(there) +
             " elements of " + array.name.name + " from " + std::to_string(first) +
             " on, and words of 64 bytes are the least that is stored here",
         "declare it padded, as in: global padded int " + array.name.name +
             "[...]; or update it by an atomic");
  }

  void fence(LaneWave& lanes, const Step& step) override {
    Wave& wave = waves_[lanes.number];
    order(wave, Opcode::fence, step.order, step.scope);
  }
  void pass_time(LaneWave& lanes, std::int32_t cycles) override {
    if (cycles <= 0) return;
    Wave& wave = waves_[lanes.number];
    take_time(wave);
    pause(cycles);
  }
  [[nodiscard]] bool holds(const LaneWave& lanes) const override { return waves_[lanes.number].stopped; }
  [[noreturn]] void fail(SourcePlace place, const std::string& message,
                         const std::string& hint) const override {
    plan_.fail(place, message, hint);
  }
  std::vector<std::int32_t>& local_of(const Wave& wave) {
    std::vector<std::int32_t>& memory = local_[{place_of(wave).launch, place_of(wave).place}];
    memory.resize(static_cast<std::size_t>(plan_.local_words));
    return memory;
  }

  // ---- code ----

  void pause(std::int32_t cycles) {
    Instruction i;
    i.opcode = Opcode::pause;
    i.a = {false, cycles};
    code_->push_back(i);
  }
  // Each step of a wave that computes takes it a cycle.
  void take_time(Wave& wave) {
    if (wave.lanes.computed() > 0) pause(wave.lanes.take_computed());
  }
  void await(Wave& wave, std::uint32_t slots) {
    wave.stopped = true;
    if (slots == 0) return;
    Instruction i;
    i.opcode = Opcode::await;
    i.a = {false, static_cast<std::int32_t>(slots)};
    code_->push_back(i);
    wave.awaited |= slots;
  }
  // Behind all that is under way.
  void order(Wave& wave, Opcode opcode, Order order = Order::plain, Scope scope = Scope::system) {
    take_time(wave);
    await(wave, wave.under_way);
    Instruction i;
    i.opcode = opcode;
    i.order = order;
    i.scope = scope;
    code_->push_back(i);
  }

  // Appends accesses that have been asked for, in order. Returns false where some are left.
  bool ask(Wave& wave) {
    while (!wave.asked.empty() && !wave.stopped) {
      if (!issue(wave, wave.asked.front())) return false;
      wave.asked.pop_front();
    }
    return wave.asked.empty();
  }
  bool issue(Wave& wave, Access& access) {
    Instruction& i = access.instruction;
    const bool orders = acquires(i.order) || releases(i.order);
    if (orders && wave.under_way != 0) {
      await(wave, wave.under_way);
      return false;
    }
    take_time(wave);
    if (orders || placed_->slots == 0) {
      put(access, of_own_access);
      i.slot = 0;
      code_->push_back(i);
      wave.waits = true;
      wave.own = std::move(access);
      wave.stopped = true;
      return true;
    }
    if (const std::uint32_t same = same_word(wave, i); same != 0) {
      await(wave, same);
      return false;
    }
    const int slot = free_slot(wave);
    if (slot == 0) {
      await(wave, std::uint32_t{1} << static_cast<unsigned>(wave.next_slot));
      return false;
    }
    put(access, slot);
    i.slot = static_cast<std::int16_t>(slot);
    code_->push_back(i);
    wave.under_way |= std::uint32_t{1} << static_cast<unsigned>(slot - 1);
    // Its second operand's register is free again when it has been handed over.
    if (i.b.is_register) wave.stopped = true;
    wave.of_slot[static_cast<std::size_t>(slot - 1)] = std::move(access);
    return true;
  }
  // Sets operands, and says where they and the result are.
  void put(Access& access, int r) {
    Instruction& i = access.instruction;
    if (access.to >= 0) i.destination = static_cast<std::int16_t>(r);
    if (i.opcode == Opcode::load) return;
    i.a = {true, r};
    (*registers_)(r) = access.a;
    if (i.opcode != Opcode::rmw || i.rmw != RmwFunction::compare_swap) return;
    i.b = {true, second_operand};
    (*registers_)(second_operand) = access.b;
  }
  // The next in turn, or 0 where it is taken.
  int free_slot(Wave& wave) const {
    const int slot = wave.next_slot;
    if (((wave.under_way >> static_cast<unsigned>(slot)) & 1U) != 0) return 0;
    wave.next_slot = (slot + 1) % placed_->slots;
    return slot + 1;
  }
  // Accesses to one word stay in order, but for plain loads.
  static std::uint32_t same_word(const Wave& wave, const Instruction& i) {
    const auto reads = [](const Instruction& one) {
      return one.opcode == Opcode::load && one.order == Order::plain;
    };
    std::uint32_t slots = 0;
    for (std::uint32_t bits = wave.under_way; bits != 0; bits &= bits - 1) {
      const auto n = static_cast<unsigned>(std::countr_zero(bits));
      const Instruction& other = wave.of_slot[n].instruction;
      if (other.location == i.location && !(reads(i) && reads(other))) slots |= std::uint32_t{1} << n;
    }
    return slots;
  }
  [[nodiscard]] std::uint32_t slots_for(const Wave& wave, int r) const {
    std::uint32_t slots = 0;
    for (std::uint32_t bits = wave.under_way; bits != 0; bits &= bits - 1) {
      const auto n = static_cast<unsigned>(std::countr_zero(bits));
      if (wave.of_slot[n].to == r) slots |= std::uint32_t{1} << n;
    }
    return slots;
  }

  // What has been awaited is there.
  void collect(Wave& wave) {
    for (std::uint32_t bits = wave.awaited; bits != 0; bits &= bits - 1) {
      const auto n = static_cast<unsigned>(std::countr_zero(bits));
      result(wave, wave.of_slot[n]);
    }
    wave.under_way &= ~wave.awaited;
    wave.awaited = 0;
    if (wave.waits) result(wave, wave.own);
    wave.waits = false;
  }
  void result(Wave& wave, const Access& access) const {
    if (access.to < 0) return;
    const Lanes& word = (*registers_)(access.instruction.destination);
    Vector& to = wave.lanes.reg(access.to);
    for_each_lane(access.lanes, [&](std::size_t lane) {
      std::int32_t value = word[access.place[lane]];
      const RmwFunction f = access.instruction.rmw;
      if (access.instruction.opcode == Opcode::rmw && gathers(f)) {
        Step step;
        step.act = Act::update;
        step.rmw = f;
        apply(step, value, access.before[lane], 0);
      }
      to[lane] = value;
    });
    wave.lanes.arrived(access.to);
  }

  std::shared_ptr<const PlacedWaves> placed_;
  const Plan& plan_;
  std::vector<std::int32_t> wave_of_;
  std::vector<Wave> waves_;
  std::map<std::pair<int, int>, std::vector<std::int32_t>> local_;  // by launch and place
  std::vector<Instruction>* code_ = nullptr;                        // of the wave that goes on
  const Registers* registers_ = nullptr;
};

}  // namespace

std::unique_ptr<CodeSource> wave_source(std::shared_ptr<const PlacedWaves> placed) {
  return std::make_unique<WaveSource>(std::move(placed));
}

std::vector<Instruction> code_to_come(const PlacedWaves& placed) {
  std::vector<Instruction> all{{}};
  for (const Opcode opcode : {Opcode::load, Opcode::store, Opcode::rmw}) {
    for (const int slot : {0, 1}) {
      if (slot > placed.slots) continue;
      Instruction i;
      i.opcode = opcode;
      i.location = 0;
      i.slot = static_cast<std::int16_t>(slot);
      all.push_back(i);
    }
  }
  const bool meets = std::any_of(placed.plan.kernels.begin(), placed.plan.kernels.end(),
                                 [](const LaneCode& code) { return code.meets; });
  for (const Opcode opcode : {Opcode::fence, Opcode::barrier, Opcode::await, Opcode::pause}) {
    if (opcode == Opcode::barrier && !meets) continue;
    Instruction i;
    i.opcode = opcode;
    all.push_back(i);
  }
  if (placed.waves_end_kernels) {
    Instruction i;
    i.opcode = Opcode::kernel_end;
    i.order = Order::release;
    all.push_back(i);
  }
  return all;
}

}  // namespace lockstep::kernels
