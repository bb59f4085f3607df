#include "checker/generate/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "checker/generate/blueprint.hpp"
#include "checker/support/diagnostic.hpp"

namespace lockstep::generate {

namespace {

constexpr std::array<std::string_view, 3> short_names{"x", "y", "z"};
constexpr int most_locations = static_cast<int>(short_names.size());
constexpr int most_values = 4;

std::size_t position(int i) {
  return static_cast<std::size_t>(i);
}

// Calls f(instruction) in the order of the text.
template <class Program, class F>
void for_each_instruction(Program& program, F&& f) {
  for (std::size_t t = 0; t < position(program.threads); ++t) {
    for (std::size_t i = 0; i < position(program.sizes[t]); ++i) f(program.code[t][i]);
  }
}

// New numbers in the order of first appearance.
class Renaming {
 public:
  Renaming() {
    locations_.fill(-1);
    for (auto& of_location : values_) {
      of_location.fill(-1);
      of_location[0] = 0;
    }
    next_value_.fill(1);
  }
  void rename(Axb& axb) {
    if (axb.location < 0) return;
    const auto old = position(axb.location);
    axb.location = location(old);
    axb.check = value(old, axb.check);
    axb.exchange = value(old, axb.exchange);
  }

 private:
  std::int8_t location(std::size_t old) {
    if (locations_.at(old) < 0) locations_[old] = next_location_++;
    return locations_[old];
  }
  std::int8_t value(std::size_t location, std::int8_t old) {
    if (old < 0) return old;
    std::int8_t& now = values_.at(location).at(position(old));
    if (now < 0) now = next_value_[location]++;
    return now;
  }

  std::array<std::int8_t, most_locations> locations_{};
  std::array<std::array<std::int8_t, most_values>, most_locations> values_{};
  std::int8_t next_location_ = 0;
  std::array<std::int8_t, most_locations> next_value_{};
};

// What the instruction at a place can be, the plainest first.
std::vector<Axb> choices_at(const ProgressSpace& space, int size, int at) {
  std::vector<Axb> all{Axb{}};
  const auto small = [](int i) { return static_cast<std::int8_t>(i); };
  for (int l = 0; l < space.locations; ++l) {
    for (int v = 0; v < space.values; ++v) all.push_back({small(l), -1, small(v), -1});
  }
  for (int l = 0; l < space.locations; ++l) {
    for (int check = 0; check < space.values; ++check) {
      for (int exchange = -1; exchange < space.values; ++exchange) {
        for (int target = 0; target <= size; ++target) {
          // To the next instruction it goes whatever it checks.
          if (target != at + 1) all.push_back({small(l), small(check), small(exchange), small(target)});
        }
      }
    }
  }
  return all;
}

std::string word(const Axb& axb, int size) {
  if (axb.location < 0) return "N";
  const std::string_view location = short_names.at(position(axb.location));
  if (!branches(axb)) return fmt::format("W{}{}", location, axb.exchange);
  const std::string target = axb.target == size ? "e" : fmt::format("{}", axb.target);
  if (axb.exchange < 0) return fmt::format("R{}{}.{}", location, axb.check, target);
  return fmt::format("X{}{}w{}.{}", location, axb.check, axb.exchange, target);
}

// The instructions of one thread; `first_of[i]` is where the i-th one's begin.
Thread thread_of(const ProgressProgram& program, int number) {
  Thread thread;
  thread.name = fmt::format("P{}", number);
  thread.placement.wave = number;
  thread.placement.wg = number;
  const auto t = position(number);
  const int size = program.sizes.at(t);
  const auto instruction = [](Opcode opcode, Order order, std::int32_t location) {
    Instruction i;
    i.opcode = opcode;
    i.order = order;
    i.scope = order == Order::plain ? Scope::system : Scope::agent;
    i.location = location;
    return i;
  };
  std::vector<std::int32_t> first_of;
  for (int i = 0; i < size; ++i) {
    const Axb& axb = program.code.at(t).at(position(i));
    first_of.push_back(static_cast<std::int32_t>(thread.code.size()));
    const std::int32_t location = std::max<std::int32_t>(0, axb.location);
    if (!branches(axb) && axb.exchange >= 0) {
      thread.code.push_back(instruction(Opcode::store, Order::release, location));
      thread.code.back().a.value = axb.exchange;
      continue;
    }
    if (thread.registers.empty()) {
      thread.registers.emplace_back("r0");
      thread.initial_values.push_back(0);
    }
    const bool exchanges = axb.exchange >= 0;
    thread.code.push_back(exchanges ? instruction(Opcode::rmw, Order::acq_rel, location)
                                    : instruction(Opcode::load, Order::acquire, location));
    thread.code.back().destination = 0;
    if (exchanges) thread.code.back().a.value = axb.exchange;
    if (!branches(axb)) continue;
    Instruction branch = instruction(Opcode::branch, Order::plain, -1);
    branch.comparison = Comparison::equal;
    branch.a = {true, 0};
    branch.b = {false, axb.check};
    branch.target = axb.target;  // among AXBs, until all are placed
    thread.code.push_back(branch);
  }
  first_of.push_back(static_cast<std::int32_t>(thread.code.size()));
  for (Instruction& i : thread.code) {
    if (i.opcode == Opcode::branch) i.target = first_of[position(i.target)];
  }
  return thread;
}

void require(bool holds, const std::string& what, int found) {
  if (!holds) throw BadInput(fmt::format("{}, not {}", what, found));
}

}  // namespace

ProgressPrograms::ProgressPrograms(const ProgressSpace& space) : space_(space) {
  require(space.threads >= 1 && space.threads <= ProgressProgram::most_threads,
          fmt::format("progress tests have 1 to {} threads", ProgressProgram::most_threads), space.threads);
  require(space.instructions >= space.threads && space.instructions <= ProgressProgram::most_instructions,
          fmt::format("progress tests of {} threads have {} to {} instructions", space.threads, space.threads,
                      ProgressProgram::most_instructions),
          space.instructions);
  require(space.locations >= 1 && space.locations <= most_locations,
          fmt::format("progress tests have 1 to {} locations", most_locations), space.locations);
  require(space.values >= 2 && space.values <= most_values,
          fmt::format("progress tests have 2 to {} values", most_values), space.values);
  const int longest = space.instructions - space.threads + 1;
  for (int size = 1; size <= longest; ++size) {
    auto& places = choices_.emplace_back();
    for (int at = 0; at < size; ++at) places.push_back(choices_at(space, size, at));
  }
  Split split;
  const auto share = [&](auto&& self, int thread, int left) -> void {
    if (thread == space.threads) {
      if (left != 0) return;
      split.candidates = 1;
      for (int t = 0; t < space.threads; ++t) {
        const int size = split.sizes.at(position(t));
        for (int at = 0; at < size; ++at) split.candidates *= choices(size, at).size();
      }
      candidates_ += split.candidates;
      splits_.push_back(split);
      return;
    }
    for (int size = 1; size <= std::min(left, longest); ++size) {
      split.sizes.at(position(thread)) = static_cast<std::int8_t>(size);
      self(self, thread + 1, left - size);
    }
  };
  share(share, 0, space.instructions);
}

const std::vector<Axb>& ProgressPrograms::choices(int size, int at) const {
  return choices_.at(position(size - 1)).at(position(at));
}

// A number in mixed radix, its last digit the last instruction.
ProgressProgram ProgressPrograms::candidate(std::uint64_t number) const {
  auto split = splits_.begin();
  while (number >= split->candidates) number -= (split++)->candidates;
  ProgressProgram program;
  program.threads = static_cast<std::int8_t>(space_.threads);
  program.sizes = split->sizes;
  for (int t = space_.threads; t-- > 0;) {
    const int size = split->sizes.at(position(t));
    for (int at = size; at-- > 0;) {
      const std::vector<Axb>& all = choices(size, at);
      program.code.at(position(t)).at(position(at)) = all[number % all.size()];
      number /= all.size();
    }
  }
  return program;
}

void ProgressPrograms::enumerate(std::uint64_t begin, std::uint64_t end,
                                 const std::function<void(const ProgressProgram&)>& take) const {
  for (std::uint64_t number = begin; number < std::min(end, candidates_); ++number) {
    const ProgressProgram program = candidate(number);
    if (is_canonical(program)) take(program);
  }
}

bool is_canonical(const ProgressProgram& program) {
  return canonical(program) == program;
}

ProgressProgram canonical(const ProgressProgram& program) {
  ProgressProgram renamed = program;
  Renaming renaming;
  for_each_instruction(renamed, [&](Axb& axb) { renaming.rename(axb); });
  return renamed;
}

ProgressProgram reordered(const ProgressProgram& program, std::span<const std::size_t> order) {
  ProgressProgram turned = program;
  for (std::size_t t = 0; t < order.size(); ++t) {
    turned.sizes.at(t) = program.sizes.at(order[t]);
    turned.code.at(t) = program.code.at(order[t]);
  }
  return turned;
}

ProgressProgram unordered(const ProgressProgram& program) {
  std::vector<std::size_t> order(position(program.threads));
  std::iota(order.begin(), order.end(), 0);
  ProgressProgram least = canonical(program);
  while (std::next_permutation(order.begin(), order.end())) {
    least = std::min(least, canonical(reordered(program, order)));
  }
  return least;
}

// Every instruction can go on to the next, so none is out of reach, and any that goes back is on a loop.
bool has_loop(const ProgressProgram& program) {
  for (std::size_t t = 0; t < position(program.threads); ++t) {
    for (int at = 0; at < program.sizes.at(t); ++at) {
      const Axb& axb = program.code.at(t).at(position(at));
      if (branches(axb) && axb.target <= at) return true;
    }
  }
  return false;
}

int weight(const ProgressProgram& program) {
  int sum = 0;
  for_each_instruction(program, [&](const Axb& axb) {
    if (!branches(axb)) {
      sum += axb.exchange < 0 ? 2 : 1;
    } else {
      sum += axb.exchange < 0 ? 3 : 5;
    }
  });
  return sum;
}

std::string name_of(const ProgressProgram& program) {
  std::string text;
  for (std::size_t t = 0; t < position(program.threads); ++t) {
    if (t > 0) text += '+';
    for (std::size_t i = 0; i < position(program.sizes.at(t)); ++i) {
      if (i > 0) text += '-';
      text += word(program.code.at(t).at(i), program.sizes.at(t));
    }
  }
  return text;
}

std::shared_ptr<const LitmusTest> to_test(const ProgressProgram& program) {
  auto test = std::make_shared<LitmusTest>();
  test->dialect = "HRF";
  test->name = name_of(program);
  test->file = test->name + ".litmus";
  test->doc = "Generated: does it terminate?";
  test->program.name = test->name;
  test->program.doc = test->doc;
  int locations = 1;
  for_each_instruction(program, [&](const Axb& axb) { locations = std::max(locations, axb.location + 1); });
  for (int l = 0; l < locations; ++l) {
    Location location;
    location.name = short_names.at(position(l));
    location.block = l;
    test->program.locations.push_back(std::move(location));
  }
  for (int t = 0; t < program.threads; ++t) test->program.threads.push_back(thread_of(program, t));
  test->quantifier = Quantifier::forall;
  test->condition_text = print(test->condition, test->program);
  return test;
}

std::string print_test(const LitmusTest& test, const std::string& progress) {
  std::string text = print_test(test);
  const std::size_t head = text.find('\n', text.find('\n') + 1) + 1;
  text.insert(head, fmt::format("Progress={}\n", progress));
  return text;
}

}  // namespace lockstep::generate
