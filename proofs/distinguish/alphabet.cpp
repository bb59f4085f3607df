#include "proofs/distinguish/alphabet.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <stdexcept>

namespace lockstep::distinguish {

namespace {

using cat::Base;

constexpr EventStyle style = EventStyle::hrf;
constexpr std::array scopes{Scope::system, Scope::agent, Scope::wg};

Instruction instruction(Opcode opcode, Order order, Scope scope) {
  Instruction i;
  i.opcode = opcode;
  i.order = order;
  i.scope = scope;
  if (opcode != Opcode::fence) i.location = 0;
  if (opcode == Opcode::load || opcode == Opcode::rmw) i.destination = 0;
  return i;
}

Program two_locations() {
  Program program;
  for (const char* name : {"x", "y"}) {
    Location location;
    location.name = name;
    location.block = static_cast<int>(program.locations.size());
    program.locations.push_back(location);
  }
  return program;
}

std::vector<ProgramEvent> events_of(const Instruction& i) {
  Program program = two_locations();
  Thread thread;
  thread.name = "P0";
  thread.registers = {"r0"};
  thread.initial_values = {0};
  thread.code = {i};
  program.threads.push_back(thread);
  return unroll(program, style).threads.front().paths.front().events;
}

std::vector<Operation> all_operations() {
  struct Kind {
    Opcode opcode;
    std::vector<Order> orders;
  };
  const std::array kinds{
      Kind{Opcode::load, {Order::plain, Order::relaxed, Order::acquire, Order::sc}},
      Kind{Opcode::store, {Order::plain, Order::relaxed, Order::release, Order::sc}},
      Kind{Opcode::rmw, {Order::relaxed, Order::acquire, Order::release, Order::acq_rel, Order::sc}},
      Kind{Opcode::fence, {Order::acquire, Order::release, Order::acq_rel, Order::sc}},
  };
  std::vector<Operation> all;
  for (const Kind& kind : kinds) {
    for (const Order order : kind.orders) {
      for (const Scope scope : scopes) {
        const Instruction i = instruction(kind.opcode, order, scope);
        all.push_back({i, events_of(i)});
        if (order == Order::plain) break;
      }
    }
  }
  return all;
}

std::vector<Letter> all_letters() {
  std::vector<Letter> all;
  for (std::size_t o = 0; o < operations().size(); ++o) {
    for (std::size_t p = 0; p < operations()[o].events.size(); ++p)
      all.push_back({static_cast<int>(o), static_cast<int>(p)});
  }
  if (all.size() > most_letters) throw std::logic_error("more letters than a set of them holds");
  return all;
}

bool has_bit(const std::vector<std::uint64_t>& rows, int words, int from, int to) {
  return ((rows[static_cast<std::size_t>(from * words + to / 64)] >> (to % 64)) & 1U) != 0;
}

}  // namespace

bool is_from_text(Base base) {
  switch (base) {
    case Base::rf:
    case Base::co:
    case Base::sync_fence:
    case Base::rmw:
    case Base::same_instruction:
    case Base::addr:
    case Base::data:
    case Base::ctrl:
      return true;
    default:
      return false;
  }
}

const std::vector<Operation>& operations() {
  static const std::vector<Operation> all = all_operations();
  return all;
}
const std::vector<Letter>& letters() {
  static const std::vector<Letter> all = all_letters();
  return all;
}
const ProgramEvent& event_of(const Letter& letter) {
  return operations()[static_cast<std::size_t>(letter.operation)]
      .events[static_cast<std::size_t>(letter.part)];
}

// ---- frames
// ------------------------------------------------------------------------------------------------

int Frame::events() const {
  return std::accumulate(sizes.begin(), sizes.end(), 0);
}

namespace {

// Agents and work-groups by number of first appearance.
using Seats = std::vector<std::pair<int, int>>;

Seats renamed(const Seats& seats) {
  std::map<int, int> agents;
  std::map<std::pair<int, int>, int> groups;
  Seats out;
  for (const auto& [agent, group] : seats) {
    const int a = agents.try_emplace(agent, static_cast<int>(agents.size())).first->second;
    const int g = groups.try_emplace({agent, group}, static_cast<int>(groups.size())).first->second;
    out.emplace_back(a, g);
  }
  return out;
}

// Whether no exchange of threads of equal size gives the same seats in an earlier order.
bool is_first(const std::vector<int>& sizes, const Seats& seats) {
  std::vector<std::size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), 0);
  do {
    Seats other;
    bool fits = true;
    for (std::size_t t = 0; t < order.size(); ++t) {
      fits = fits && sizes[order[t]] == sizes[t];
      other.push_back(seats[order[t]]);
    }
    if (fits && renamed(other) < seats) return false;
  } while (std::next_permutation(order.begin(), order.end()));
  return true;
}

void place(const std::vector<int>& sizes, Seats& seats, std::vector<Frame>& out) {
  if (seats.size() == sizes.size()) {
    if (!is_first(sizes, seats)) return;
    Frame frame{sizes, {}};
    for (std::size_t t = 0; t < seats.size(); ++t) {
      Placement p;
      p.wave = static_cast<int>(t);
      p.agent = seats[t].first;
      p.wg = seats[t].second;
      frame.placements.push_back(p);
    }
    out.push_back(std::move(frame));
    return;
  }
  int agents = 0;
  int groups = 0;
  for (const auto& [agent, group] : seats) {
    agents = std::max(agents, agent + 1);
    groups = std::max(groups, group + 1);
  }
  std::set<std::pair<int, int>> choices(seats.begin(), seats.end());
  for (int a = 0; a <= agents; ++a) choices.emplace(a, groups);
  for (const auto& choice : choices) {
    seats.push_back(choice);
    place(sizes, seats, out);
    seats.pop_back();
  }
}

void distribute(int events, int threads, std::vector<int>& sizes, std::vector<Frame>& out) {
  if (events == 0) {
    Seats seats;
    place(sizes, seats, out);
    return;
  }
  if (threads == 0) return;
  for (int size = std::min(events, sizes.empty() ? events : sizes.back()); size > 0; --size) {
    sizes.push_back(size);
    distribute(events - size, threads - 1, sizes, out);
    sizes.pop_back();
  }
}

}  // namespace

std::vector<Frame> frames(int events, int most_threads) {
  std::vector<Frame> out;
  std::vector<int> sizes;
  distribute(events, most_threads, sizes, out);
  return out;
}

// ---- tables
// ------------------------------------------------------------------------------------------------

Tables::Tables(const Frame& frame, const std::set<Base>& bases) {
  for (const Base base : bases) {
    if (is_from_text(base)) continue;
    if (cat::is_set(base)) {
      sets_[base];
    } else {
      relations_[base];
    }
  }
  const int threads = static_cast<int>(frame.sizes.size());
  for (int from = 0; from < threads; ++from) {
    for (int to = 0; to < threads; ++to) probe(frame, from, to);
  }
  tell_apart();
}

// All letters on one location as events of the first thread, and on either as events of the second.
void Tables::probe(const Frame& frame, int from, int to) {
  Program program = two_locations();
  for (const Placement& placement : frame.placements) {
    Thread thread;
    thread.placement = placement;
    program.threads.push_back(thread);
  }
  Execution execution;
  execution.program = &program;
  execution.style = style;
  const auto add = [&](ProgramEvent e, int thread, int location) {
    e.thread = static_cast<std::int16_t>(thread);
    if (e.location >= 0) e.location = e.address = static_cast<std::int16_t>(location);
    execution.events.push_back(e);
  };
  for (const int location : {0, 1}) {
    ProgramEvent initial;
    initial.kind = EventKind::initial;
    initial.location = 0;
    add(initial, -1, location);
  }
  const int count = static_cast<int>(letters().size());
  for (const auto& [thread, location] : {std::pair{from, 0}, std::pair{to, 0}, std::pair{to, 1}}) {
    for (const Letter& letter : letters()) add(event_of(letter), thread, location);
  }
  const auto n = execution.events.size();
  execution.partner.assign(n, -1);
  execution.round.assign(n, -1);
  const int words = execution.words();
  const int first = 2;                                                            // of the events of `from`
  const auto second = [&](bool same) { return first + (same ? 1 : 2) * count; };  // and of `to`
  std::vector<std::uint64_t> rows(n * static_cast<std::size_t>(words));

  for (auto& [base, set] : sets_) {
    execution.fill(base, rows.data());
    set.initial = has_bit(rows, words, 0, 0);
    Letters& members = set.members[from];
    for (int k = 0; k < count; ++k) members[static_cast<std::size_t>(k)] = has_bit(rows, words, 0, first + k);
  }
  for (auto& [base, relation] : relations_) {
    execution.fill(base, rows.data());
    const auto holds = [&](int i, int j) { return has_bit(rows, words, i, j); };
    relation.initially = {holds(0, 1), holds(0, 0)};
    for (int k = 0; k < count; ++k) {
      const auto letter = static_cast<std::size_t>(k);
      relation.to_itself[from][letter] = holds(first + k, first + k);
      for (const bool same : {false, true}) {
        relation.after_initial[{to, same}][letter] = holds(0, second(same) + k);
        relation.before_initial[{to, same}][letter] = holds(second(same) + k, 0);
      }
    }
    for (const bool same : {false, true}) {
      for (const Where where : {Where::elsewhere, Where::before, Where::after}) {
        if ((from == to) == (where == Where::elsewhere)) continue;
        auto& table = relation.rows[{from, to, static_cast<int>(where), same}];
        for (int a = 0; a < count; ++a) {
          for (int b = 0; b < count; ++b) {
            // Of one thread the first group precedes the second.
            const bool holds_here = where == Where::after ? holds(second(same) + a, first + b)
                                                          : holds(first + a, second(same) + b);
            table[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)] = holds_here;
          }
        }
      }
    }
  }
}

void Tables::tell_apart() {
  std::vector<std::vector<std::uint64_t>> seen_of(letters().size());
  const auto note = [&](const Letters& bits) {
    identity_.push_back(bits.to_ullong());
    for (std::size_t k = 0; k < letters().size(); ++k) seen_of[k].push_back(bits[k] ? 1 : 0);
  };
  for (const auto& [base, set] : sets_) {
    for (const auto& [thread, members] : set.members) note(members);
  }
  for (const auto& [base, relation] : relations_) {
    for (const auto& [key, bits] : relation.after_initial) note(bits);
    for (const auto& [key, bits] : relation.before_initial) note(bits);
    for (const auto& [key, bits] : relation.to_itself) note(bits);
    for (const auto& [key, table] : relation.rows) {
      for (std::size_t a = 0; a < letters().size(); ++a) {
        identity_.push_back(table[a].to_ullong());
        seen_of[a].push_back(table[a].to_ullong());
        Letters column;
        for (std::size_t b = 0; b < letters().size(); ++b) column[b] = table[b][a];
        seen_of[a].push_back(column.to_ullong());
      }
    }
  }
  // What the search itself looks at.
  for (std::size_t k = 0; k < letters().size(); ++k) {
    const ProgramEvent& e = event_of(letters()[k]);
    seen_of[k].push_back(static_cast<std::uint64_t>(e.kind));
    seen_of[k].push_back(is_sc_fence(e) ? 1 : 0);
  }
  std::set<std::vector<std::uint64_t>> seen;
  for (std::size_t o = 0; o < operations().size(); ++o) {
    std::vector<std::uint64_t> of_operation;
    for (std::size_t k = 0; k < letters().size(); ++k) {
      if (letters()[k].operation != static_cast<int>(o)) continue;
      of_operation.insert(of_operation.end(), seen_of[k].begin(), seen_of[k].end());
    }
    if (seen.insert(std::move(of_operation)).second) distinct_.push_back(static_cast<int>(o));
  }
}

Letters Tables::members(Base set, int thread) const {
  return sets_.at(set).members.at(thread);
}
Letters Tables::successors(Base relation, int from, int to, Where where, bool same_location,
                           std::size_t letter) const {
  return relations_.at(relation).rows.at({from, to, static_cast<int>(where), same_location})[letter];
}
bool Tables::initial_in(Base set) const {
  return sets_.at(set).initial;
}
bool Tables::initially(Base relation, bool same_location) const {
  return relations_.at(relation).initially[same_location ? 1 : 0];
}
Letters Tables::after_initial(Base relation, int thread, bool same_location) const {
  return relations_.at(relation).after_initial.at({thread, same_location});
}
Letters Tables::before_initial(Base relation, int thread, bool same_location) const {
  return relations_.at(relation).before_initial.at({thread, same_location});
}
bool Tables::to_itself(Base relation, int thread, std::size_t letter) const {
  return relations_.at(relation).to_itself.at(thread)[letter];
}

}  // namespace lockstep::distinguish
