// From a blueprint to a name, a key and a test.
#include "checker/generate/blueprint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>

namespace lockstep::generate {

namespace {

constexpr std::array<std::string_view, Blueprint::most_locations> location_names{"x", "y", "z", "v", "w"};

std::string_view short_word(Scope scope) {
  constexpr std::array<std::string_view, 4> words{"wv", "wg", "ag", "sy"};
  return words.at(static_cast<std::size_t>(scope));
}

std::span<const PlannedThread> threads_of(const Blueprint& blueprint) {
  return {blueprint.thread.data(), static_cast<std::size_t>(blueprint.threads)};
}
std::span<const Access> accesses_of(const PlannedThread& thread) {
  return {thread.accesses.data(), static_cast<std::size_t>(thread.count)};
}

// ---- names -----------------------------------------------------------------------------------------------

std::string access_word(const Access& access) {
  std::string text = access.role == Role::read ? "R" : "W";
  switch (access.flavour) {
    case Flavour::plain:
      return text;
    case Flavour::synchronizing:
      break;
    case Flavour::strong:
      text += "sc";
      break;
    case Flavour::update:
      text += "rmw";
      break;
    case Flavour::acquiring_update:
      text += "rmwacq";
      break;
    case Flavour::releasing_update:
      text += "rmwrel";
      break;
  }
  return text.append(short_word(access.scope));
}

std::string link_word(const Link& link) {
  std::string text = "po";
  if (link.dependency == Dependency::guard) text = "guard";
  if (link.dependency == Dependency::data) text = "data";
  if (link.fenced) text.append("_f").append(short_word(link.fence));
  return text;
}

// From a thread's last access to the next thread's first.
std::string_view edge_word(const PlannedThread& here, const PlannedThread& next) {
  if (here.kernel == 0 && next.kernel == 1) return "ke";
  const Access& from = accesses_of(here).back();
  const Access& to = next.accesses[0];
  if (from.role == Role::read) return "fr";
  return to.role == Role::read ? "rf" : "co";
}

std::string seat_word(const Seat& seat) {
  if (seat.host) return "h";
  return std::string(1, static_cast<char>('a' + seat.group)) + std::to_string(seat.agent);
}

// What stands in front of a thread's first access, with the location for a straight program.
std::string thread_word(const PlannedThread& thread, bool with_locations) {
  const auto word = [&](std::size_t i) {
    const Access& access = thread.accesses[i];
    std::string text = access_word(access);
    if (with_locations) text.append("_").append(location_names.at(static_cast<std::size_t>(access.location)));
    return text;
  };
  std::string text;
  if (thread.warms >= 0) text = fmt::format("{}{}-", thread.bystander ? "by" : "warm", thread.warms + 1);
  text += word(0);
  if (thread.count == 1) return text;
  text += "-" + link_word(thread.link);
  if (with_locations && thread.link.dependency == Dependency::guard)
    text += std::to_string(thread.link.expected);
  return text + "-" + word(1);
}

// ---- programs --------------------------------------------------------------------------------------------

Order order_of(const Access& access) {
  switch (access.flavour) {
    case Flavour::plain:
      return Order::plain;
    case Flavour::synchronizing:
      return access.role == Role::read ? Order::acquire : Order::release;
    case Flavour::strong:
      return Order::sc;
    case Flavour::update:
      return Order::acq_rel;
    case Flavour::acquiring_update:
      return Order::acquire;
    case Flavour::releasing_update:
      return Order::release;
  }
  return Order::plain;
}

class Builder {
 public:
  explicit Builder(const Blueprint& blueprint) : blueprint_(blueprint) {}

  LitmusTest build() {
    test_.dialect = "HRF";
    test_.name = name_of(blueprint_);
    test_.file = test_.name + ".litmus";
    const std::string shape = shape_of(blueprint_);
    test_.doc = shape.empty() ? "Generated." : "Generated, of the shape " + shape + ".";
    test_.program.name = test_.name;
    test_.program.doc = test_.doc;
    add_locations();
    for (const PlannedThread& thread : threads_of(blueprint_)) add_thread(thread);
    for (const PlannedThread& thread : threads_of(blueprint_)) {
      if (thread.bystander) add_bystander(thread);
    }
    number_blocks();
    ask();
    return std::move(test_);
  }

 private:
  void add_locations() {
    for (int i = 0; i < blueprint_.locations; ++i) {
      Location location;
      location.name = location_names.at(static_cast<std::size_t>(i));
      test_.program.locations.push_back(std::move(location));
    }
  }

  // The word that is read only to bring a location's block into a cache.
  int neighbour_of(int location) {
    int& neighbour = neighbours_.at(static_cast<std::size_t>(location));
    if (neighbour < 0) {
      neighbour = static_cast<int>(test_.program.locations.size());
      Location word;
      word.name = std::string(location_names.at(static_cast<std::size_t>(location))) + "n";
      test_.program.locations.push_back(std::move(word));
    }
    return neighbour;
  }

  void number_blocks() {
    auto& locations = test_.program.locations;
    for (int i = 0; i < blueprint_.locations; ++i) {
      const auto at = static_cast<std::size_t>(i);
      locations[at].block = blueprint_.one_block ? 0 : i;
      locations[at].word = blueprint_.one_block ? i : 0;
      if (neighbours_[at] < 0) continue;
      Location& neighbour = locations[static_cast<std::size_t>(neighbours_[at])];
      neighbour.block = locations[at].block;
      neighbour.word = 1;
    }
  }

  [[nodiscard]] int next_thread() const { return static_cast<int>(test_.program.threads.size()); }

  [[nodiscard]] Thread seated(const Seat& seat) const {
    Thread thread;
    thread.name = "P" + std::to_string(next_thread());
    thread.placement.wave = next_thread();
    thread.placement.host = seat.host;
    if (!seat.host) {
      thread.placement.wg = seat.group;
      thread.placement.agent = seat.agent;
    }
    return thread;
  }

  void add_thread(const PlannedThread& planned) {
    const int number = next_thread();
    Thread thread = seated(planned.seat);
    thread.placement.kernel = planned.kernel;
    if (planned.kernel >= 0) add_mark(Opcode::kernel_begin, thread);
    if (planned.warms >= 0 && !planned.bystander) add_warming(planned, thread);
    add_access(planned.accesses[0], {}, number, thread);
    if (planned.count == 2) add_second(planned, number, thread);
    const auto end = static_cast<std::int32_t>(thread.code.size());
    for (Instruction& i : thread.code) {
      if (i.opcode == Opcode::branch) i.target = end;
    }
    if (planned.kernel >= 0) add_mark(Opcode::kernel_end, thread);
    test_.program.threads.push_back(std::move(thread));
  }
  void add_bystander(const PlannedThread& planned) {
    Thread thread = seated(planned.seat);
    add_warming(planned, thread);
    test_.program.threads.push_back(std::move(thread));
  }
  static void add_mark(Opcode opcode, Thread& thread) {
    Instruction mark;
    mark.opcode = opcode;
    thread.code.push_back(mark);
  }
  void add_warming(const PlannedThread& planned, Thread& thread) {
    Instruction load;
    load.opcode = Opcode::load;
    load.location = neighbour_of(planned.accesses[static_cast<std::size_t>(planned.warms)].location);
    load.destination = fresh(thread);
    observe_register(next_thread(), load.destination);
    thread.code.push_back(load);
  }

  void add_second(const PlannedThread& planned, int number, Thread& thread) {
    const Access& second = planned.accesses[1];
    const Operand read{true, thread.code.back().destination};
    if (planned.link.fenced) {
      Instruction fence;
      fence.opcode = Opcode::fence;
      fence.order = Order::acq_rel;
      fence.scope = planned.link.fence;
      thread.code.push_back(fence);
    }
    std::optional<Operand> stored;
    if (planned.link.dependency == Dependency::guard) {
      Instruction branch;
      branch.opcode = Opcode::branch;
      branch.comparison = Comparison::not_equal;
      branch.a = read;
      branch.b = {false, planned.link.expected};
      thread.code.push_back(branch);
    } else if (planned.link.dependency == Dependency::data) {
      Instruction add;
      add.opcode = Opcode::arithmetic;
      add.arithmetic = ArithmeticFunction::add;
      add.destination = fresh(thread);
      add.a = read;
      add.b = {false, second.value - planned.link.expected};
      thread.code.push_back(add);
      stored = Operand{true, add.destination};
    }
    add_access(second, stored, number, thread);
  }

  void add_access(const Access& access, std::optional<Operand> stored, int number, Thread& thread) {
    Instruction i;
    i.order = order_of(access);
    if (i.order != Order::plain) i.scope = access.scope;
    i.location = access.location;
    if (has_register(access)) {
      i.destination = fresh(thread);
      observe_register(number, i.destination);
      if (access.role == Role::read) want_register(number, i.destination, access.value);
    }
    i.opcode = is_update(access.flavour)   ? Opcode::rmw
               : access.role == Role::read ? Opcode::load
                                           : Opcode::store;
    if (i.opcode == Opcode::rmw && access.role == Role::read) {
      i.rmw = RmwFunction::add;
      i.a = {false, 0};
    } else if (i.opcode != Opcode::load) {
      i.a = stored.value_or(Operand{false, access.value});
    }
    thread.code.push_back(i);
    if (writes(access)) ++writers_.at(static_cast<std::size_t>(access.location));
  }

  static std::int16_t fresh(Thread& thread) {
    thread.registers.push_back("r" + std::to_string(thread.registers.size()));
    thread.initial_values.push_back(0);
    return static_cast<std::int16_t>(thread.registers.size() - 1);
  }

  void observe_register(int thread, int index) {
    test_.observed.push_back({ConditionTerm::Kind::register_, 0, thread, index});
  }
  void want_register(int thread, int index, int value) {
    want({ConditionTerm::Kind::register_, 0, thread, index}, value);
  }
  void want(const ConditionTerm& term, int value) {
    Formula leaf;
    leaf.kind = Formula::Kind::compare;
    leaf.left = term;
    leaf.right.value = value;
    wanted_.push_back(std::move(leaf));
  }

  void ask() {
    for (int i = 0; i < blueprint_.locations; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const ConditionTerm term{ConditionTerm::Kind::location, 0, -1, i};
      if (writers_[at] >= 2 || blueprint_.last[at] != Blueprint::unobserved) test_.observed.push_back(term);
      if (blueprint_.last[at] != Blueprint::unobserved) want(term, blueprint_.last[at]);
    }
    if (!blueprint_.cycle || wanted_.empty()) {
      test_.quantifier = Quantifier::forall;
    } else if (wanted_.size() == 1) {
      test_.condition = wanted_.front();
    } else {
      test_.condition.kind = Formula::Kind::and_;
      test_.condition.children = wanted_;
    }
    test_.condition_text = print(test_.condition, test_.program);
  }

  const Blueprint& blueprint_;
  LitmusTest test_;
  std::array<int, Blueprint::most_locations> neighbours_{-1, -1, -1, -1, -1};
  std::array<int, Blueprint::most_locations> writers_{};
  std::vector<Formula> wanted_;
};

// ---- keys ------------------------------------------------------------------------------------------------

// Numbers things in order of first appearance.
template <std::size_t N>
class Renumbering {
 public:
  Renumbering() { number_.fill(-1); }
  char operator()(int thing) {
    auto& number = number_.at(static_cast<std::size_t>(thing));
    if (number < 0) number = next_++;
    return static_cast<char>('0' + number);
  }

 private:
  std::array<std::int8_t, N> number_{};
  std::int8_t next_ = 0;
};

// The blueprint's program with its threads in one order, everything else numbered by first appearance.
Key key_in_order(const Blueprint& blueprint, std::span<const std::size_t> order) {
  constexpr std::size_t most_values = 16;
  Renumbering<Blueprint::most_threads> agents;
  Renumbering<Blueprint::most_threads> groups;
  Renumbering<Blueprint::most_locations> locations;
  std::array<Renumbering<most_values>, Blueprint::most_locations> values;
  for (auto& of_location : values) of_location(0);  // the initial value stays what it is
  Key key(1, blueprint.one_block ? 'b' : 'o');
  const auto value = [&](const Access& access, int v) {
    key += values.at(static_cast<std::size_t>(access.location))(v);
  };
  for (const std::size_t t : order) {
    const PlannedThread& thread = blueprint.thread[t];
    key += '|';
    if (thread.seat.host) {
      key += 'h';
    } else {
      key += agents(thread.seat.agent);
      key += groups(thread.seat.group);
    }
    if (thread.kernel >= 0) key += thread.kernel == 0 ? 'k' : 'K';
    for (std::size_t i = 0; i < static_cast<std::size_t>(thread.count); ++i) {
      const Access& access = thread.accesses[i];
      if (i == 1) {
        key += link_word(thread.link);
        if (thread.link.dependency != Dependency::none) value(thread.accesses[0], thread.link.expected);
      }
      key += access_word(access);
      key += locations(access.location);
      if (access.role == Role::write) value(access, access.value);
    }
    if (thread.warms >= 0) {
      key += thread.bystander ? 'B' : 'w';
      key += locations(thread.accesses[static_cast<std::size_t>(thread.warms)].location);
    }
  }
  return key;
}

// ---- shapes ----------------------------------------------------------------------------------------------

struct Shape {
  std::string_view cycle;  // roles and edges from some thread on, as in a name without flavours
  std::string_view name;
};
constexpr std::array shapes{
    Shape{"W-W+rf+R-R+fr", "MP"},
    Shape{"W-R+fr+W-R+fr", "SB"},
    Shape{"R-W+rf+R-W+rf", "LB"},
    Shape{"W-W+rf+R-W+co", "S"},
    Shape{"W-W+co+W-R+fr", "R"},
    Shape{"W-W+co+W-W+co", "2+2W"},
    Shape{"W+rf+R-W+rf+R-R+fr", "WRC"},
    Shape{"W+rf+R-R+fr+W-R+fr", "RWC"},
    Shape{"W+rf+R-W+rf+R-W+co", "WWC"},
    Shape{"W+rf+R-W+co+W-W+co", "WRW+2W"},
    Shape{"W+rf+R-W+co+W-R+fr", "WRW+WR"},
    Shape{"W+rf+R-R+fr+W-W+co", "WRR+2W"},
    Shape{"W+rf+R-R+fr+W+rf+R-R+fr", "IRIW"},
    Shape{"W+rf+R-R+fr+W+rf+R-W+co", "IRRWIW"},
    Shape{"W+rf+R-W+co+W+rf+R-W+co", "IRWIW"},
    Shape{"W-W+rf+R-W+rf+R-R+fr", "ISA2"},
    Shape{"W-W+rf+R-R+fr+W-R+fr", "W+RWC"},
    Shape{"W-R+fr+W-R+fr+W-R+fr", "3.SB"},
    Shape{"R-W+rf+R-W+rf+R-W+rf", "3.LB"},
    Shape{"W-W+co+W-W+co+W-W+co", "3.2W"},
    Shape{"W-W+rf+R-W+co+W-W+co", "Z6.0"},
    Shape{"W-W+rf+R-W+rf+R-W+co", "Z6.2"},
    Shape{"W-W+rf+R-W+co+W-R+fr", "Z6.1"},
    Shape{"W-W+rf+R-R+fr+W-W+co", "Z6.4"},
    Shape{"W-W+co+W-W+co+W-R+fr", "Z6.3"},
    Shape{"W-W+co+W-R+fr+W-R+fr", "Z6.5"},
    Shape{"R-R+fr+W+rf", "CoRR"},
    Shape{"W-R+fr+W+co", "CoWR"},
    Shape{"R-W+co+W+rf", "CoRW"},
    Shape{"W-W+co+W+co", "CoWW"},
    Shape{"W-W+rf+R+fr", "CoWW+R"},
};

}  // namespace

std::string name_of(const Blueprint& blueprint) {
  std::string text;
  const auto threads = threads_of(blueprint);
  for (std::size_t t = 0; t < threads.size(); ++t) {
    if (!text.empty()) text += '+';
    text += thread_word(threads[t], !blueprint.cycle);
    if (!blueprint.cycle) continue;

    text.append("+").append(edge_word(threads[t], threads[(t + 1) % threads.size()]));
  }
  text += '.';
  for (const PlannedThread& thread : threads) text += seat_word(thread.seat);
  if (blueprint.one_block) text += ".block";
  return text;
}

std::string shape_of(const Blueprint& blueprint) {
  if (!blueprint.cycle) return {};
  const auto threads = threads_of(blueprint);
  for (std::size_t first = 0; first < threads.size(); ++first) {
    std::string text;
    for (std::size_t t = 0; t < threads.size(); ++t) {
      const PlannedThread& thread = threads[(first + t) % threads.size()];
      const PlannedThread& next = threads[(first + t + 1) % threads.size()];
      if (!text.empty()) text += '+';
      text += thread.accesses[0].role == Role::read ? 'R' : 'W';
      if (thread.count == 2) text += thread.accesses[1].role == Role::read ? "-R" : "-W";
      text.append("+").append(edge_word(thread, next));
    }
    for (const Shape& shape : shapes) {
      if (shape.cycle == text) return std::string(shape.name);
    }
  }
  return {};
}

std::shared_ptr<const LitmusTest> to_test(const Blueprint& blueprint) {
  return std::make_shared<const LitmusTest>(Builder(blueprint).build());
}

std::string print_test(const LitmusTest& test) {
  std::string text =
      fmt::format("{} {}\n\"{}\"\n{}", test.dialect, test.name, test.doc, print_program(test.program));
  std::string observed;
  for (const ConditionTerm& term : test.observed) observed += print(term, test.program) + "; ";
  if (!observed.empty()) {
    std::erase(observed, '[');
    std::erase(observed, ']');
    observed.pop_back();
    text += fmt::format("locations [{}]\n", observed);
  }
  return text + fmt::format("{} {}\n", test.quantifier == Quantifier::forall ? "forall" : "exists",
                            test.condition_text);
}

Key canonical_key(const Blueprint& blueprint) {
  std::vector<std::size_t> order(static_cast<std::size_t>(blueprint.threads));
  std::iota(order.begin(), order.end(), 0);
  Key least;
  do {
    Key key = key_in_order(blueprint, order);
    if (least.empty() || key < least) least = std::move(key);
  } while (std::next_permutation(order.begin(), order.end()));
  return least;
}

}  // namespace lockstep::generate
