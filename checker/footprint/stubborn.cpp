// A set grows from a seed, an enabled fair instance. What is in it and enabled brings along every access that
// conflicts with one of its own; what is in it and not enabled brings along whatever may make one of the
// conditions that it lacks true.
#include "checker/footprint/stubborn.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <stdexcept>

namespace lockstep::footprint {

namespace {

constexpr std::uint32_t none = ~std::uint32_t{0};

// An answer as it is kept: the instances in the set by then, the signal, its truth.
constexpr std::size_t most_counted = 255;
constexpr std::uint32_t most_signals = 1U << 23U;
std::uint32_t answer_of(std::size_t instances, std::uint32_t signal, std::uint32_t truth) {
  return static_cast<std::uint32_t>(std::min(instances, most_counted)) << 24U | signal << 1U | truth;
}
std::uint32_t instances_in(std::uint32_t answer) {
  return answer >> 24U;
}
std::uint32_t signal_in(std::uint32_t answer) {
  return (answer >> 1U) & (most_signals - 1);
}
std::uint32_t truth_in(std::uint32_t answer) {
  return answer & 1U;
}

// How many of a set another lacks.
std::uint32_t missing(const std::uint64_t* set, const std::uint64_t* other, std::size_t words) {
  std::uint64_t count = 0;
  for (std::size_t w = 0; w < words; ++w)
    count += static_cast<std::uint64_t>(std::popcount(set[w] & ~other[w]));
  return static_cast<std::uint32_t>(count);
}

bool changes_queue(AccessKind kind) {
  return kind == AccessKind::push || kind == AccessKind::pop;
}

}  // namespace

// Whether the access may make the truth of the term that.
bool StubbornSets::may_make(TermId id, bool truth, const Access& by, bool enabling) const {
  const Terms& terms = footprints_->terms();
  const Term& t = terms[id];
  const bool queue = changes_queue(by.kind);
  const auto compared = [&](bool equal) {
    const Term& left = terms[t.a];
    if (!terms.is_constant(t.b) || (left.op != TermOp::scalar && left.op != TermOp::head))
      return std::pair{false, false};
    if (left.op == TermOp::head) {
      // Of a queue that holds something, a push leaves the head; it makes that of an empty one.
      const bool may =
          by.kind == AccessKind::pop || (by.kind == AccessKind::push && (enabling || loose_[left.location]));
      return std::pair{true, left.location == by.location && may};
    }
    if (left.location != by.location || queue) return std::pair{true, false};
    if (!by.is_constant) return std::pair{true, true};
    return std::pair{true, ((by.constant == terms[t.b].value) == equal) == truth};
  };
  switch (t.op) {
    case TermOp::constant:
      return false;
    case TermOp::not_:
      return may_make(t.a, !truth, by, enabling);
    case TermOp::and_:
    case TermOp::or_:
      return may_make(t.a, truth, by, enabling) || may_make(t.b, truth, by, enabling);
    case TermOp::scalar:
      if (t.location != by.location || queue) return false;
      return !by.is_constant || (by.constant != 0) == truth;
    case TermOp::equal:
    case TermOp::not_equal:
      if (const auto [known, may] = compared(t.op == TermOp::equal); known) return may;
      break;
    case TermOp::empty:
      return queue && t.location == by.location && by.kind == (truth ? AccessKind::pop : AccessKind::push);
    case TermOp::contains:
      if (!queue || t.location != by.location) break;
      return truth ? by.kind == AccessKind::push && may_hold(t.b, by) : by.kind == AccessKind::pop;
    case TermOp::full:
      return queue && t.location == by.location && by.kind == (truth ? AccessKind::push : AccessKind::pop);
    default:
      break;
  }
  // Whatever it rests on.
  for (const Location l : footprints_->reads_of(id)) {
    if (queue ? (l >= by.location && l < by.location + Footprints::aspects) : l == by.location) return true;
  }
  return false;
}

// Whether a predicate on an entry may hold of the one that is pushed: it is said of the first slot.
bool StubbornSets::may_hold(TermId id, const Access& push) const {
  const Terms& terms = footprints_->terms();
  const Term& t = terms[id];
  // The values that a side may have, or none where it may have any.
  const auto values = [&](TermId side) -> std::vector<std::int64_t> {
    const Term& s = terms[side];
    if (s.op == TermOp::constant) return {s.value};
    if (s.op != TermOp::slot) return {};
    const auto found = std::find_if(push.row.begin(), push.row.end(),
                                    [&](const auto& field) { return field.first == s.place; });
    return found == push.row.end() ? std::vector<std::int64_t>{} : found->second;
  };
  const auto some = [](const std::vector<std::int64_t>& all, auto&& holds) {
    return all.empty() || std::any_of(all.begin(), all.end(), holds);
  };
  switch (t.op) {
    case TermOp::and_:
      return may_hold(t.a, push) && may_hold(t.b, push);
    case TermOp::or_:
      return may_hold(t.a, push) || may_hold(t.b, push);
    case TermOp::equal:
    case TermOp::not_equal: {
      const auto other = values(t.b);
      return some(values(t.a), [&](std::int64_t x) {
        return some(other, [&](std::int64_t y) { return (x == y) == (t.op == TermOp::equal); });
      });
    }
    case TermOp::constant:
    case TermOp::slot:
      return some(values(id), [](std::int64_t x) { return x != 0; });
    case TermOp::not_:
      return some(values(t.a), [](std::int64_t x) { return x == 0; });
    default:
      return true;
  }
}

// Whether two accesses that both take place cannot change places.
bool StubbornSets::conflict(const Access& x, const Access& y) const {
  if (x.kind == AccessKind::read && y.kind == AccessKind::read) return false;
  if (changes_queue(x.kind) && changes_queue(y.kind)) return x.location == y.location && x.kind == y.kind;
  if (changes_queue(x.kind)) return conflict(y, x);
  if (changes_queue(y.kind)) {  // x reads an aspect of the queue
    if (x.location < y.location || x.location >= y.location + Footprints::aspects) return false;
    // Who reads a head, reads that of a queue that holds something.
    return x.location - y.location != Footprints::head || y.kind == AccessKind::pop || loose_[y.location];
  }
  if (x.location != y.location) return false;
  return x.kind == AccessKind::read || y.kind == AccessKind::read || !x.is_constant || !y.is_constant ||
         x.constant != y.constant;
}

StubbornSets::AtomId StubbornSets::atom(TermId term) {
  const auto at = std::lower_bound(atom_ids_.begin(), atom_ids_.end(), std::pair{term, AtomId{0}});
  if (at != atom_ids_.end() && at->first == term) return at->second;
  const auto id = static_cast<AtomId>(atoms_.size());
  atoms_.push_back(term);
  atom_ids_.insert(at, {term, id});
  return id;
}

StubbornSets::NodeId StubbornSets::node(std::uint32_t of_case, const std::vector<TermId>& conditions) {
  Node one{of_case, guards_[of_case]};
  for (const TermId condition : conditions) {
    const AtomId id = atom(condition);
    if (std::find(one.atoms.begin(), one.atoms.end(), id) == one.atoms.end()) one.atoms.push_back(id);
  }
  nodes_.push_back(std::move(one));
  return static_cast<NodeId>(nodes_.size() - 1);
}

StubbornSets::StubbornSets(std::shared_ptr<const Footprints> footprints, std::vector<bool> fair,
                           const std::vector<TermId>& watched, const std::vector<const std::byte*>& initial,
                           const std::vector<bool>& reset)
    : footprints_(std::move(footprints)), fair_(std::move(fair)) {
  const auto& cases = footprints_->cases();
  note_loose_heads();
  for (const Case& one : cases) {
    auto& guard = guards_.emplace_back();
    for (const TermId term : one.guard) guard.push_back(atom(term));
  }
  // The node of a case by itself has the case's number.
  for (std::uint32_t c = 0; c < cases.size(); ++c) node(c, {});
  accessors_.resize(footprints_->locations());
  guarding_.resize(footprints_->locations());
  note_accessors();
  accesses_.resize(cases.size());
  for (std::uint32_t c = 0; c < cases.size(); ++c) {
    std::map<std::pair<std::uint32_t, std::vector<TermId>>, bool> known;
    for (const Access& access : cases[c].accesses) {
      if (access.of_condition) continue;
      const std::uint32_t conflicts = conflicts_of(access);
      if (conflicts_[conflicts].empty() ||
          !known.emplace(std::pair{conflicts, access.conditions}, true).second)
        continue;
      ClassifiedAccess one{conflicts, access.kind != AccessKind::read, {}};
      for (const TermId condition : access.conditions) one.conditions.push_back(atom(condition));
      accesses_[c].push_back(std::move(one));
    }
  }
  enablers_.resize(atoms_.size());
  falsifiers_.resize(atoms_.size());
  const auto makers = [&](TermId term, bool truth) {
    std::vector<NodeId> found;
    for (const Location l : footprints_->reads_of(term)) {
      for (const Accessor& accessor : accessors_[l]) {
        if (accessor.access->kind != AccessKind::read && may_make(term, truth, *accessor.access, truth))
          found.push_back(accessor.node);
      }
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  };
  for (AtomId a = 0; a < atoms_.size(); ++a) {
    enablers_[a] = makers(atoms_[a], true);
    falsifiers_[a] = makers(atoms_[a], false);
  }
  keep_what_may_happen(initial, reset);
  for (auto& of_case : accesses_) {
    for (ClassifiedAccess& access : of_case) {
      std::stable_sort(access.conditions.begin(), access.conditions.end(),
                       [&](AtomId a, AtomId b) { return enablers_[a].size() < enablers_[b].size(); });
    }
  }
  for (Node& n : nodes_) {
    std::stable_sort(n.atoms.begin(), n.atoms.end(),
                     [&](AtomId a, AtomId b) { return enablers_[a].size() < enablers_[b].size(); });
  }
  std::vector<NodeId> breakers;
  for (const TermId claim : watched) {
    const std::vector<NodeId> of_claim = makers(claim, false);
    breakers.insert(breakers.end(), of_claim.begin(), of_claim.end());
  }
  pack_sets(breakers);
  note_truths();
  if (truths_->size() > most_signals) throw std::length_error("more conditions than are numbered");
}

// Queues whose heads are looked at where nothing says that they hold something.
void StubbornSets::note_loose_heads() {
  loose_.assign(footprints_->locations(), false);
  const Terms& terms = footprints_->terms();
  for (const Case& one : footprints_->cases()) {
    std::set<Location> held;
    std::set<Location> looked_at;
    const auto look = [&](TermId term) {
      for (const Location l : footprints_->reads_of(term)) {
        if (footprints_->is_queue(l)) looked_at.insert(l);
      }
    };
    for (const TermId atom : one.guard) {
      const Term& t = terms[atom];
      if (t.op == TermOp::not_ && terms[t.a].op == TermOp::empty) held.insert(terms[t.a].location);
      look(atom);
    }
    for (const Access& access : one.accesses) {
      if (access.kind == AccessKind::read && footprints_->is_queue(access.location))
        looked_at.insert(access.location);
      for (const TermId condition : access.conditions) look(condition);
    }
    for (const Location l : looked_at) {
      if (l >= Footprints::head && footprints_->aspect(l) == Footprints::head &&
          !held.contains(l - Footprints::head))
        loose_[l - Footprints::head] = true;
    }
  }
}

// Forgets nodes that no run realises: those one of whose atoms is false at first and is made true by no node
// that some run may realise.
void StubbornSets::keep_what_may_happen(const std::vector<const std::byte*>& initial,
                                        const std::vector<bool>& reset) {
  std::vector<bool> possible(atoms_.size(), false);
  for (AtomId a = 0; a < atoms_.size(); ++a) {
    for (const std::byte* state : initial)
      possible[a] = possible[a] || footprints_->terms().evaluate(atoms_[a], state) != 0;
    // Of several fields some may be reset; a field alone is then what it was at first.
    std::set<Location> read;
    bool any_reset = false;
    for (const Location l : footprints_->reads_of(atoms_[a])) {
      read.insert(footprints_->unit_of(l));
      any_reset = any_reset || (!reset.empty() && reset[l]);
    }
    possible[a] = possible[a] || (any_reset && (read.size() > 1 || initial.size() > 1));
  }
  std::vector<bool> live(nodes_.size(), false);
  for (bool grows = true; grows;) {
    grows = false;
    for (NodeId n = 0; n < nodes_.size(); ++n) {
      const auto& atoms = nodes_[n].atoms;
      if (live[n] || !std::all_of(atoms.begin(), atoms.end(), [&](AtomId a) { return possible[a]; }))
        continue;
      live[n] = grows = true;
    }
    for (AtomId a = 0; a < atoms_.size(); ++a) {
      if (possible[a]) continue;
      possible[a] = std::any_of(enablers_[a].begin(), enablers_[a].end(), [&](NodeId n) { return live[n]; });
      grows = grows || possible[a];
    }
  }
  for (auto* lists : {&enablers_, &falsifiers_, &conflicts_}) {
    for (auto& list : *lists) std::erase_if(list, [&](NodeId n) { return !live[n]; });
  }
  live_ = std::move(live);
}

void StubbornSets::pack_sets(const std::vector<NodeId>& breakers) {
  std::vector<std::uint32_t> bit_of(nodes_.size(), none);
  std::vector<std::vector<NodeId>> having(atoms_.size());
  for (NodeId n = 0; n < nodes_.size(); ++n) {
    if (!live_[n]) continue;
    const std::vector<AtomId>& atoms = nodes_[n].atoms;
    bit_of[n] = static_cast<std::uint32_t>(case_of_bit_.size());
    case_of_bit_.push_back(nodes_[n].of_case);
    first_atom_.push_back(static_cast<std::uint32_t>(atoms_of_bits_.size()));
    atoms_of_bits_.insert(atoms_of_bits_.end(), atoms.begin(), atoms.end());
    for (const AtomId a : atoms) having[a].push_back(n);
  }
  first_atom_.push_back(static_cast<std::uint32_t>(atoms_of_bits_.size()));
  words_ = (case_of_bit_.size() + 63) / 64;
  const auto add_to = [&](std::uint64_t* set, const std::vector<NodeId>& list) {
    for (const NodeId n : list) {
      if (bit_of[n] != none) set[bit_of[n] / 64] |= std::uint64_t{1} << (bit_of[n] % 64);
    }
  };
  const auto pack = [&](const std::vector<std::vector<NodeId>>& lists) {
    std::vector<std::uint64_t> sets(lists.size() * words_, 0);
    for (std::size_t i = 0; i < lists.size(); ++i) add_to(&sets[i * words_], lists[i]);
    return sets;
  };
  enabling_ = pack(enablers_);
  having_ = pack(having);
  falsifying_ = pack(falsifiers_);
  conflicting_ = pack(conflicts_);
  disabling_.assign(guards_.size() * words_, 0);
  for (std::size_t c = 0; c < guards_.size(); ++c) {
    for (const AtomId a : guards_[c]) add_to(&disabling_[c * words_], falsifiers_[a]);
  }
  watched_.assign(words_, 0);
  add_to(watched_.data(), breakers);
}

// Of the atoms that a set may ask: those of what may happen.
void StubbornSets::note_truths() {
  std::vector<bool> used(atoms_.size(), false);
  const auto use = [&](const std::vector<AtomId>& atoms) {
    for (const AtomId a : atoms) used[a] = true;
  };
  for (NodeId n = 0; n < nodes_.size(); ++n) {
    if (live_[n]) use(nodes_[n].atoms);
  }
  for (std::uint32_t c = 0; c < guards_.size(); ++c) {
    if (!live_[c]) continue;
    for (const ClassifiedAccess& access : accesses_[c]) use(access.conditions);
  }
  std::vector<TermId> asked;
  signal_of_.assign(atoms_.size(), 0);
  for (AtomId a = 0; a < atoms_.size(); ++a) {
    if (used[a]) asked.push_back(atoms_[a]);
  }
  truths_ = std::make_unique<const Truths>(footprints_->terms(), asked);
  std::size_t next = 0;
  for (AtomId a = 0; a < atoms_.size(); ++a) {
    if (used[a]) signal_of_[a] = truths_->signal(next++);
  }
}

void StubbornSets::note_accessors() {
  const auto& cases = footprints_->cases();
  for (std::uint32_t c = 0; c < cases.size(); ++c) {
    std::map<std::vector<TermId>, NodeId> known{{{}, c}};
    for (const Access& access : cases[c].accesses) {
      auto found = known.find(access.conditions);
      if (found == known.end()) found = known.emplace(access.conditions, node(c, access.conditions)).first;
      if (changes_queue(access.kind)) {
        for (std::size_t i = 0; i < Footprints::aspects; ++i)
          accessors_[access.location + i].push_back({found->second, &access});
      } else {
        accessors_[access.location].push_back({found->second, &access});
      }
    }
    for (const TermId term : cases[c].guard) {
      for (const Location l : footprints_->reads_of(term)) guarding_[l].emplace_back(c, term);
    }
  }
}

// The nodes that cannot change places with an access of this class.
std::uint32_t StubbornSets::conflicts_of(const Access& access) {
  const AccessClass key{access.kind, access.location, access.is_constant, access.constant, access.row};
  const auto at = std::lower_bound(class_ids_.begin(), class_ids_.end(), std::pair{key, std::uint32_t{0}});
  if (at != class_ids_.end() && at->first == key) return at->second;
  std::vector<NodeId> found;
  const std::size_t reach = changes_queue(access.kind) ? Footprints::aspects : 1;
  for (std::size_t i = 0; i < reach; ++i) {
    for (const Accessor& other : accessors_[access.location + i]) {
      if (conflict(access, *other.access)) found.push_back(other.node);
    }
    if (access.kind == AccessKind::read) continue;
    for (const auto& [of_case, term] : guarding_[access.location + i]) {
      if (may_make(term, false, access, false)) found.push_back(of_case);
    }
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  const auto id = static_cast<std::uint32_t>(conflicts_.size());
  conflicts_.push_back(std::move(found));
  class_ids_.insert(at, {key, id});
  return id;
}

void StubbornSets::add(const std::uint64_t* nodes, Room& room) const {
  for (std::size_t w = 0; w < words_; ++w) {
    const std::uint64_t fresh = nodes[w] & ~room.members[w];
    room.members[w] |= fresh;
    for (std::uint64_t rest = fresh & ~room.settled[w]; rest != 0; rest &= rest - 1)
      room.waiting.push_back(
          static_cast<std::uint32_t>(w * 64 + static_cast<std::size_t>(std::countr_zero(rest))));
  }
}

void StubbornSets::settle(AtomId lacking, Room& room) const {
  const std::uint64_t* const having = &having_[lacking * words_];
  for (std::size_t w = 0; w < words_; ++w) room.settled[w] |= having[w];
  add(&enabling_[lacking * words_], room);
}

bool StubbornSets::ask(AtomId atom, Room& room) const {
  const Truths::Signal signal = signal_of_[atom];
  const std::uint8_t truth = room.of_atoms.truths[signal];
  if (room.asked[atom] != room.now) {
    room.asked[atom] = room.now;
    room.answers.push_back(answer_of(room.enabled.size(), signal, truth));
  }
  return truth != 0;
}

bool StubbornSets::build(std::uint32_t seed, std::size_t limit, Room& room) const {
  ++room.now;
  std::fill(room.members.begin(), room.members.end(), 0U);
  std::fill(room.settled.begin(), room.settled.end(), 0U);
  room.waiting.clear();
  room.enabled.clear();
  room.answers.clear();
  const auto take = [&](std::uint32_t of_case) {
    if (room.chosen[of_case] == room.now) return true;
    room.chosen[of_case] = room.now;
    room.enabled.push_back(footprints_->cases()[of_case].instance);
    if (room.enabled.size() >= limit) return false;
    add(&disabling_[of_case * words_], room);
    for (const ClassifiedAccess& access : accesses_[of_case]) {
      const auto lacks = [&](AtomId a) { return !ask(a, room); };
      const auto lacking = std::find_if(access.conditions.begin(), access.conditions.end(), lacks);
      if (lacking == access.conditions.end()) {
        add(&conflicting_[access.conflicts * words_], room);
        for (const AtomId a : access.conditions) add(&falsifying_[a * words_], room);
      } else if (access.changes) {
        // It stays undone as long as one of its conditions stays false.
        settle(*lacking, room);
      }
    }
    return true;
  };
  if (!take(seed)) return false;
  add(watched_.data(), room);
  // What came last is looked at first: that keeps to what a cause needs, before others bring along theirs.
  while (!room.waiting.empty()) {
    const std::uint32_t bit = room.waiting.back();
    room.waiting.pop_back();
    const std::uint32_t of_case = case_of_bit_[bit];
    if (room.chosen[of_case] == room.now || (room.settled[bit / 64] >> (bit % 64) & 1U) != 0) continue;
    // Of the conditions that it lacks, the one that brings the least along. Those that would bring more are
    // not asked: the fewer answers a set rests on, the more often it is found again.
    const std::span atoms(atoms_of_bits_.begin() + first_atom_[bit],
                          atoms_of_bits_.begin() + first_atom_[bit + 1]);
    room.costs.resize(atoms.size());
    for (std::size_t i = 0; i < atoms.size(); ++i)
      room.costs[i] = missing(&enabling_[atoms[i] * words_], room.members.data(), words_);
    AtomId least = none;
    for (std::size_t asked = 0; asked < atoms.size() && least == none; ++asked) {
      const auto cheapest = std::min_element(room.costs.begin(), room.costs.end());
      *cheapest = none;
      const AtomId a = atoms[static_cast<std::size_t>(cheapest - room.costs.begin())];
      if (!ask(a, room)) least = a;
    }
    if (least != none) {
      settle(least, room);
    } else if (!take(of_case)) {
      return false;
    }
  }
  return true;
}

void StubbornSets::forget(Room& room) const {
  room.roots.assign(guards_.size(), Room::unknown);
  room.stretches.clear();
  room.given.clear();
  room.kept.clear();
}

// Adds what was just asked to the tree of the seed.
void StubbornSets::remember(std::uint32_t seed, bool whole, Room& room) const {
  // Rather than to learn nothing more: states that are explored one after the other are alike.
  constexpr std::size_t most = std::size_t{1} << 24U;  // answers; 64 MiB
  if (room.given.size() + room.answers.size() > most) forget(room);
  // The last stretch of an answered path: what is left of the answers, and the set.
  const auto rest = [&](std::size_t from) {
    Room::Stretch end{static_cast<std::uint32_t>(room.given.size()),
                      static_cast<std::uint32_t>(room.answers.size() - from)};
    room.given.insert(room.given.end(), room.answers.begin() + static_cast<std::ptrdiff_t>(from),
                      room.answers.end());
    end.size = static_cast<std::uint32_t>(room.enabled.size());
    if (whole) {
      end.next[0] = static_cast<std::uint32_t>(room.kept.size());
      room.kept.insert(room.kept.end(), room.enabled.begin(), room.enabled.end());
    }
    return end;
  };
  const auto add_stretch = [&](const Room::Stretch& stretch) {
    room.stretches.push_back(stretch);
    return static_cast<std::uint32_t>(room.stretches.size() - 1);
  };
  std::uint32_t at = room.roots[seed];
  if (at == Room::unknown) {
    room.roots[seed] = add_stretch(rest(0));
    return;
  }
  for (std::size_t done = 0;;) {
    Room::Stretch stretch = room.stretches[at];
    std::uint32_t same = 0;
    while (same < stretch.count && done < room.answers.size() &&
           room.given[stretch.first + same] == room.answers[done]) {
      ++same;
      ++done;
    }
    if (done == room.answers.size()) {
      // It was given up sooner than this time, or is now: what is known of the longer one stays.
      if (same == stretch.count && stretch.asks == Room::unknown)
        room.stretches[at] = [&] {
          Room::Stretch end = rest(done);
          end.first = stretch.first;
          end.count = stretch.count;
          return end;
        }();
      return;
    }
    const std::uint32_t answer = room.answers[done];
    if (same < stretch.count) {
      // The other answer to a question within the stretch, which ends there.
      const std::uint32_t other = room.given[stretch.first + same];
      Room::Stretch before{stretch.first, same, signal_in(other)};
      before.size = instances_in(other);
      stretch.first += same + 1;
      stretch.count -= same + 1;
      before.next[truth_in(other)] = add_stretch(stretch);
      before.next[truth_in(answer)] = add_stretch(rest(done + 1));
      room.stretches[at] = before;
      return;
    }
    if (stretch.asks == Room::unknown) {
      // It had been given up here.
      stretch.asks = signal_in(answer);
      stretch.size = instances_in(answer);
      stretch.next = {Room::unknown, Room::unknown};
      stretch.next[truth_in(answer)] = add_stretch(rest(done + 1));
      room.stretches[at] = stretch;
      return;
    }
    ++done;
    const std::uint32_t next = stretch.next[truth_in(answer)];
    if (next == Room::unknown) {
      stretch.next[truth_in(answer)] = add_stretch(rest(done));
      room.stretches[at] = stretch;
      return;
    }
    at = next;
  }
}

bool StubbornSets::find(std::uint32_t seed, std::size_t limit, Room& room) const {
  const std::uint8_t* const truths = room.of_atoms.truths.data();
  for (std::uint32_t at = room.roots[seed]; at != Room::unknown;) {
    const Room::Stretch& stretch = room.stretches[at];
    const std::uint32_t* given = room.given.data() + stretch.first;
    const std::uint32_t* const end = given + stretch.count;
    while (given != end && truths[signal_in(*given)] == truth_in(*given)) ++given;
    if (given != end) {
      if (instances_in(*given) >= limit) return false;
      break;
    }
    if (stretch.asks != Room::unknown) {
      at = stretch.next[truths[stretch.asks]];
      if (at == Room::unknown && stretch.size >= limit) return false;
      continue;
    }
    if (stretch.size >= limit) return false;
    if (stretch.next[0] == Room::unknown) break;
    const auto first = room.kept.begin() + stretch.next[0];
    room.enabled.assign(first, first + stretch.size);
    return true;
  }
  const bool whole = build(seed, limit, room);
  remember(seed, whole, room);
  return whole;
}

std::size_t StubbornSets::choose(const std::byte* state, std::span<std::uint32_t> enabled, Room& room) const {
  if (enabled.size() < 2) return enabled.size();
  if (room.members.size() != words_ || room.chosen.size() != guards_.size() ||
      room.now > none - enabled.size() - 1) {
    room.members.assign(words_, 0);
    room.settled.assign(words_, 0);
    room.chosen.assign(guards_.size(), 0);
    room.asked.assign(atoms_.size(), 0);
    forget(room);
    room.now = 0;
  }
  truths_->evaluate(state, room.of_atoms);
  room.best.assign(enabled.begin(), enabled.end());
  bool reduced = false;
  for (const std::uint32_t instance : enabled) {
    if (!fair_[instance]) continue;
    std::uint32_t seed = none;
    const auto [first, last] = footprints_->cases_of(instance);
    for (std::uint32_t c = first; c < last && seed == none; ++c) {
      const auto in_case = [&](AtomId a) { return holds(a, room); };
      if (live_[c] && std::all_of(guards_[c].begin(), guards_[c].end(), in_case)) seed = c;
    }
    // A tree that says otherwise than the rule is a mistake of ours: nothing is left out then.
    if (seed == none) return enabled.size();
    if (!find(seed, room.best.size(), room)) continue;
    room.best = room.enabled;
    reduced = true;
    if (room.best.size() == 1) break;
  }
  if (!reduced) return enabled.size();
  std::sort(room.best.begin(), room.best.end());
  std::copy(room.best.begin(), room.best.end(), enabled.begin());
  return room.best.size();
}

}  // namespace lockstep::footprint
