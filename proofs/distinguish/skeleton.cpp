#include "proofs/distinguish/skeleton.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

namespace lockstep::distinguish {

using cat::Base;

namespace {

constexpr std::array<const char*, 8> location_names{"x", "y", "z", "v", "w", "u", "t", "s"};

// The more a reader has to think about it; of equal ones the wider scope.
int cost_of(const Operation& operation) {
  const Instruction& i = operation.instruction;
  const bool is_access = i.opcode == Opcode::load || i.opcode == Opcode::store;
  const auto of_order = [&] {
    switch (i.order) {
      case Order::plain:
        return 0;
      case Order::relaxed:
      case Order::comm:
        return 1;
      case Order::acquire:
      case Order::release:
        return 2;
      case Order::acq_rel:
        return 3;
      case Order::sc:
        return 4;
    }
    return 0;
  };
  return 2 * (of_order() + (is_access ? 0 : 2)) + (i.scope == Scope::system ? 0 : 1);
}

bool is_true(const z3::model& model, const z3::expr& e) {
  return model.eval(e, true).is_true();
}

}  // namespace

Skeleton::Skeleton(const Bits& bits, const Frame& frame, const Tables& tables, const std::set<Base>& bases)
    : bits_(bits),
      frame_(frame),
      tables_(tables),
      bases_(bases),
      slots_(frame.events()),
      locations_((slots_ + 1) / 2),
      possible_(bits.yes()) {
  for (std::size_t k = 0; k < letters().size(); ++k) {
    const auto& kept = tables.distinct_operations();
    if (std::find(kept.begin(), kept.end(), letters()[k].operation) != kept.end()) kept_.push_back(k);
  }
  for (std::size_t t = 0; t < frame.sizes.size(); ++t) {
    for (int i = 0; i < frame.sizes[t]; ++i) {
      slot_.push_back({static_cast<int>(t),
                       i == 0,
                       i + 1 == frame.sizes[t],
                       {},
                       {},
                       bits.no(),
                       bits.no(),
                       bits.no(),
                       bits.no(),
                       bits.no()});
    }
  }
  choose_operations();
  choose_locations();
  choose_dependencies();
  choose_sources();
  choose_last();
  fill_base();
  possible_ = bits_.all(required_);
}

z3::expr Skeleton::fresh(const std::string& name) {
  return bits_.context().bool_const(name.c_str());
}

void Skeleton::at_most_one(const std::vector<z3::expr>& of, std::vector<z3::expr>& needed) const {
  for (std::size_t i = 0; i < of.size(); ++i) {
    for (std::size_t j = i + 1; j < of.size(); ++j) needed.push_back(bits_.neither(bits_.both(of[i], of[j])));
  }
}
void Skeleton::exactly_one(const z3::expr& where, const std::vector<z3::expr>& of) {
  require(bits_.implies(where, bits_.any(of)));
  at_most_one(of, required_);
}
// Among the events from `first` on.
void Skeleton::transitive(const Relation& relation, int first, std::vector<z3::expr>& needed) const {
  for (int i = first; i < size(); ++i) {
    for (int j = first; j < size(); ++j) {
      for (int k = first; k < size(); ++k) {
        if (i == j || j == k || i == k) continue;
        needed.push_back(bits_.implies(bits_.both(relation.at(i, j), relation.at(j, k)), relation.at(i, k)));
      }
    }
  }
}

const z3::expr& Skeleton::is_write(int event) const {
  return event < locations_ ? bits_.yes() : slot_[static_cast<std::size_t>(event - locations_)].writes;
}

z3::expr Skeleton::is_any(int slot, const Letters& of) const {
  std::vector<z3::expr> ways;
  for (std::size_t k = 0; k < kept_.size(); ++k) {
    if (of[kept_[k]]) ways.push_back(slot_[static_cast<std::size_t>(slot)].letter[k]);
  }
  if (ways.size() == kept_.size()) return bits_.yes();
  return bits_.any(ways);
}

// ---- what is chosen of a program
// -----------------------------------------------------------------------

void Skeleton::choose_operations() {
  Letters reads;
  Letters writes;
  for (const std::size_t k : kept_) {
    const EventKind kind = event_of(letters()[k]).kind;
    reads[k] = lockstep::reads(kind);
    writes[k] = lockstep::writes(kind);
  }
  for (int i = 0; i < slots_; ++i) {
    Slot& slot = slot_[static_cast<std::size_t>(i)];
    for (const std::size_t k : kept_) {
      slot.letter.push_back(fresh(fmt::format("letter {} {}", i, k)));
      program_.push_back(slot.letter.back());
      const Letter& letter = letters()[k];
      const int cost = cost_of(operations()[static_cast<std::size_t>(letter.operation)]);
      if (letter.part == 0 && cost > 0) costs_.emplace_back(slot.letter.back(), cost);
    }
    exactly_one(bits_.yes(), slot.letter);
    slot.reads = is_any(i, reads);
    slot.writes = is_any(i, writes);
    slot.accesses = is_any(i, reads | writes);
  }
  // An RMW's read and its write are neighbours.
  for (int i = 0; i < slots_; ++i) {
    const Slot& slot = slot_[static_cast<std::size_t>(i)];
    for (std::size_t k = 0; k < kept_.size(); ++k) {
      const Letter& letter = letters()[kept_[k]];
      const std::size_t parts = operations()[static_cast<std::size_t>(letter.operation)].events.size();
      if (static_cast<std::size_t>(letter.part) + 1 < parts) {
        require(slot.ends
                    ? bits_.neither(slot.letter[k])
                    : bits_.implies(slot.letter[k], slot_[static_cast<std::size_t>(i) + 1].letter[k + 1]));
      }
      if (letter.part > 0) {
        require(slot.opens
                    ? bits_.neither(slot.letter[k])
                    : bits_.implies(slot.letter[k], slot_[static_cast<std::size_t>(i) - 1].letter[k - 1]));
      }
    }
  }
}

// Named in the order in which events come to them.
void Skeleton::choose_locations() {
  same_location_ = Relation(bits_, false, size());
  for (int i = 0; i < slots_; ++i) {
    Slot& slot = slot_[static_cast<std::size_t>(i)];
    for (int l = 0; l < locations_; ++l) {
      slot.at.push_back(fresh(fmt::format("at {} {}", i, l)));
      program_.push_back(slot.at.back());
      require(bits_.implies(slot.at.back(), slot.accesses));
      if (l == 0) continue;
      std::vector<z3::expr> before;
      for (int j = 0; j < i; ++j)
        before.push_back(slot_[static_cast<std::size_t>(j)].at[static_cast<std::size_t>(l) - 1]);
      require(bits_.implies(slot.at.back(), bits_.any(before)));
    }
    exactly_one(slot.accesses, slot.at);
  }
  present_ = Relation(bits_, true, size());
  for (int i = 0; i < slots_; ++i) present_.at(locations_ + i) = bits_.yes();
  for (int l = 0; l < locations_; ++l) {
    std::vector<z3::expr> accesses;
    for (const Slot& slot : slot_) accesses.push_back(slot.at[static_cast<std::size_t>(l)]);
    present_.at(l) = bits_.any(accesses);
    same_location_.at(l, l) = present_.at(l);
    for (int i = 0; i < slots_; ++i) {
      const z3::expr& at = slot_[static_cast<std::size_t>(i)].at[static_cast<std::size_t>(l)];
      same_location_.at(l, locations_ + i) = same_location_.at(locations_ + i, l) = at;
    }
  }
  for (int i = 0; i < slots_; ++i) {
    for (int j = 0; j < slots_; ++j) {
      std::vector<z3::expr> ways;
      for (int l = 0; l < locations_; ++l)
        ways.push_back(bits_.both(slot_[static_cast<std::size_t>(i)].at[static_cast<std::size_t>(l)],
                                  slot_[static_cast<std::size_t>(j)].at[static_cast<std::size_t>(l)]));
      same_location_.at(locations_ + i, locations_ + j) =
          i == j ? slot_[static_cast<std::size_t>(i)].accesses : bits_.any(ways);
    }
  }
  const Relation rmw = from_text(Base::rmw);
  for (int i = 0; i + 1 < slots_; ++i) {
    require(bits_.implies(rmw.at(locations_ + i, locations_ + i + 1),
                          same_location_.at(locations_ + i, locations_ + i + 1)));
  }
}

// One read each that a written value and an address are computed from, and reads that branches follow: as far
// as a model looks at them.
void Skeleton::choose_dependencies() {
  const Relation rmw = from_text(Base::rmw);
  data_ = addr_ = Relation(bits_, false, size());
  const auto depend = [&](Base base, Relation& on, const char* name, auto&& takes_part) {
    if (!bases_.contains(base)) return;
    for (int j = 0; j < slots_; ++j) {
      std::vector<z3::expr> ways;
      for (int i = 0; i < j; ++i) {
        if (slot_[static_cast<std::size_t>(i)].thread != slot_[static_cast<std::size_t>(j)].thread) continue;
        z3::expr& edge = on.at(locations_ + i, locations_ + j);
        edge = fresh(fmt::format("{} {} {}", name, i, j));
        program_.push_back(edge);
        costs_.emplace_back(edge, 2);
        require(bits_.implies(edge, bits_.both(slot_[static_cast<std::size_t>(i)].reads, takes_part(j))));
        require(bits_.neither(bits_.both(edge, rmw.at(locations_ + i, locations_ + j))));
        ways.push_back(edge);
      }
      at_most_one(ways, required_);
    }
  };
  depend(Base::data, data_, "data", [&](int j) { return slot_[static_cast<std::size_t>(j)].writes; });
  depend(Base::addr, addr_, "addr", [&](int j) { return slot_[static_cast<std::size_t>(j)].accesses; });
  // Both halves of an RMW have its address.
  for (int j = 0; j + 1 < slots_; ++j) {
    for (int i = 0; i < j; ++i) {
      require(bits_.implies(rmw.at(locations_ + j, locations_ + j + 1),
                            bits_.same(addr_.at(locations_ + i, locations_ + j),
                                       addr_.at(locations_ + i, locations_ + j + 1))));
    }
  }
  if (!bases_.contains(Base::ctrl)) return;
  for (int i = 0; i < slots_; ++i) {
    Slot& slot = slot_[static_cast<std::size_t>(i)];
    if (slot.ends) continue;
    slot.branches = fresh(fmt::format("branch {}", i));
    program_.push_back(slot.branches);
    costs_.emplace_back(slot.branches, 2);
    require(bits_.implies(slot.branches, slot.reads));
  }
}

// ---- and of its outcome
// --------------------------------------------------------------------------------

void Skeleton::choose_sources() {
  rf_ = Relation(bits_, false, size());
  for (int j = 0; j < slots_; ++j) {
    std::vector<z3::expr> ways;
    for (int i = 0; i < size(); ++i) {
      if (i == locations_ + j) continue;
      z3::expr& edge = rf_.at(i, locations_ + j);
      edge = fresh(fmt::format("rf {} {}", i, j));
      outcome_.push_back(edge);
      require(bits_.implies(edge, bits_.both(is_write(i), slot_[static_cast<std::size_t>(j)].reads)));
      require(bits_.implies(edge, same_location_.at(i, locations_ + j)));
      ways.push_back(edge);
    }
    exactly_one(slot_[static_cast<std::size_t>(j)].reads, ways);
  }
}

void Skeleton::choose_last() {
  for (int i = 0; i < slots_; ++i) {
    Slot& slot = slot_[static_cast<std::size_t>(i)];
    slot.last = fresh(fmt::format("last {}", i));
    outcome_.push_back(slot.last);
    require(bits_.implies(slot.last, slot.writes));
  }
  for (int i = 0; i < slots_; ++i) {
    std::vector<z3::expr> some;
    for (int j = 0; j < slots_; ++j) {
      const z3::expr& same = same_location_.at(locations_ + i, locations_ + j);
      some.push_back(bits_.both(same, slot_[static_cast<std::size_t>(j)].last));
      if (j > i) {
        require(bits_.neither(bits_.both(same, bits_.both(slot_[static_cast<std::size_t>(i)].last,
                                                          slot_[static_cast<std::size_t>(j)].last))));
      }
    }
    require(bits_.implies(slot_[static_cast<std::size_t>(i)].writes, bits_.any(some)));
  }
}

// ---- base sets and relations
// ---------------------------------------------------------------------------

Where Skeleton::where(int from, int to) const {
  if (slot_[static_cast<std::size_t>(from)].thread != slot_[static_cast<std::size_t>(to)].thread)
    return Where::elsewhere;
  return from < to ? Where::before : Where::after;
}

Relation Skeleton::set_of(Base base) const {
  Relation out(bits_, true, size());
  for (int l = 0; l < locations_; ++l)
    out.at(l) = bits_.both(present_.at(l), bits_.constant(tables_.initial_in(base)));
  for (int i = 0; i < slots_; ++i)
    out.at(locations_ + i) = is_any(i, tables_.members(base, slot_[static_cast<std::size_t>(i)].thread));
  return out;
}

Relation Skeleton::relation_of(Base base) const {
  Relation out(bits_, false, size());
  // The same whatever the locations are, or by whether they are one.
  const auto by_location = [&](int i, int j, const auto& value) {
    const z3::expr one = value(true);
    const z3::expr two = value(false);
    if (z3::eq(one, two)) return one;
    const z3::expr& same = same_location_.at(i, j);
    return bits_.either(bits_.both(same, one), bits_.both(bits_.neither(same), two));
  };
  for (int l = 0; l < locations_; ++l) {
    for (int m = 0; m < locations_; ++m) {
      out.at(l, m) =
          bits_.all({present_.at(l), present_.at(m), bits_.constant(tables_.initially(base, l == m))});
    }
    for (int i = 0; i < slots_; ++i) {
      const int e = locations_ + i;
      const int thread = slot_[static_cast<std::size_t>(i)].thread;
      out.at(l, e) = bits_.both(present_.at(l), by_location(l, e, [&](bool same) {
                                  return is_any(i, tables_.after_initial(base, thread, same));
                                }));
      out.at(e, l) = bits_.both(present_.at(l), by_location(e, l, [&](bool same) {
                                  return is_any(i, tables_.before_initial(base, thread, same));
                                }));
    }
  }
  for (int i = 0; i < slots_; ++i) {
    const int from = slot_[static_cast<std::size_t>(i)].thread;
    Letters to_itself;
    for (const std::size_t k : kept_) to_itself[k] = tables_.to_itself(base, from, k);
    out.at(locations_ + i, locations_ + i) = is_any(i, to_itself);
    for (int j = 0; j < slots_; ++j) {
      if (i == j) continue;
      const int to = slot_[static_cast<std::size_t>(j)].thread;
      out.at(locations_ + i, locations_ + j) = by_location(locations_ + i, locations_ + j, [&](bool same) {
        // Letters that are followed by the same ones go together.
        std::map<std::uint64_t, Letters> by_successors;
        for (const std::size_t k : kept_) {
          Letters next = tables_.successors(base, from, to, where(i, j), same, k);
          Letters kept;
          for (const std::size_t one : kept_) kept[one] = next[one];
          by_successors[kept.to_ullong()][k] = true;
        }
        std::vector<z3::expr> ways;
        for (const auto& [next, letters] : by_successors)
          ways.push_back(bits_.both(is_any(i, letters), is_any(j, Letters(next))));
        return bits_.any(ways);
      });
    }
  }
  return out;
}

Relation Skeleton::from_text(Base base) const {
  Relation out(bits_, false, size());
  const auto rmw = [&](int i) {  // the read of one at i, and its write behind it
    std::vector<z3::expr> ways;
    const Slot& slot = slot_[static_cast<std::size_t>(i)];
    if (slot.ends) return bits_.no();
    for (std::size_t k = 0; k < kept_.size(); ++k) {
      const Letter& letter = letters()[kept_[k]];
      if (letter.part == 0 && operations()[static_cast<std::size_t>(letter.operation)].events.size() > 1)
        ways.push_back(slot.letter[k]);
    }
    return bits_.any(ways);
  };
  switch (base) {
    case Base::rmw:
      for (int i = 0; i + 1 < slots_; ++i) out.at(locations_ + i, locations_ + i + 1) = rmw(i);
      return out;
    case Base::same_instruction:
      for (int e = 0; e < size(); ++e) out.at(e, e) = present_.at(e);
      for (int i = 0; i + 1 < slots_; ++i) {
        const int e = locations_ + i;
        out.at(e, e + 1) = out.at(e + 1, e) = rmw(i);
      }
      return out;
    case Base::addr:
      return addr_;
    case Base::data:
      return data_;
    case Base::ctrl:
      for (int i = 0; i < slots_; ++i) {
        for (int j = i + 1; j < slots_; ++j) {
          if (where(i, j) != Where::before) continue;
          // The branch stands behind the whole of an RMW.
          const z3::expr own = j == i + 1 ? rmw(i) : bits_.no();
          out.at(locations_ + i, locations_ + j) =
              bits_.both(slot_[static_cast<std::size_t>(i)].branches, bits_.neither(own));
        }
      }
      return out;
    default:
      return out;
  }
}

void Skeleton::fill_base() {
  for (const Base base : bases_) {
    if (base == Base::rf || base == Base::co || base == Base::sync_fence) continue;
    base_[base] = is_from_text(base) ? from_text(base) : cat::is_set(base) ? set_of(base) : relation_of(base);
  }
}

// ---- choices
// -------------------------------------------------------------------------------------------

Relation Skeleton::total_order(const Source& source, const std::string& name, bool with_initial,
                               std::vector<z3::expr>& possible) const {
  Relation out(bits_, false, size());
  const int first = with_initial ? 0 : locations_;
  for (int i = first; i < size(); ++i) {
    for (int j = i + 1; j < size(); ++j) {
      out.at(i, j) = source(fmt::format("{} {} {}", name, i, j));
      out.at(j, i) = bits_.neither(out.at(i, j));
    }
  }
  transitive(out, first, possible);
  return out;
}

Chosen Skeleton::choose(const cat::Plan& plan, const Source& source, bool own_sources,
                        z3::expr& possible) const {
  std::vector<z3::expr> needed;
  Chosen chosen{rf_, Relation(bits_, false, size()), Relation(bits_, false, size()), {}, {}};
  if (own_sources) {
    for (int j = 0; j < slots_; ++j) {
      const Slot& reader = slot_[static_cast<std::size_t>(j)];
      // What a branch follows, or a value is computed from, is what it was: so are all values, then.
      std::vector<z3::expr> followed{reader.branches};
      for (int k = j + 1; k < slots_; ++k) followed.push_back(data_.at(locations_ + j, locations_ + k));
      const z3::expr is_fixed = bits_.any(followed);
      std::vector<z3::expr> ways;
      for (int i = 0; i < size(); ++i) {
        if (i == locations_ + j) continue;
        z3::expr& edge = chosen.rf.at(i, locations_ + j);
        edge = bits_.both(source(fmt::format("source {} {}", i, j)), reader.reads);
        needed.push_back(bits_.implies(edge, bits_.both(is_write(i), same_location_.at(i, locations_ + j))));
        needed.push_back(bits_.implies(is_fixed, bits_.same(edge, rf_.at(i, locations_ + j))));
        ways.push_back(edge);
      }
      at_most_one(ways, needed);
      needed.push_back(bits_.implies(reader.reads, bits_.any(ways)));
    }
  }
  // Coherence: an order, of which some pairs may be left out where it is partial.
  const Relation order = total_order(source, "order", false, needed);
  Relation related(bits_, false, size());
  for (int i = locations_; i < size(); ++i) {
    for (int j = locations_; j < size(); ++j) {
      if (i == j) continue;
      related.at(i, j) = order.at(i, j);
      if (plan.partial_coherence) {
        related.at(i, j) = bits_.both(related.at(i, j),
                                      source(fmt::format("related {} {}", std::min(i, j), std::max(i, j))));
      }
    }
  }
  for (int l = 0; l < locations_; ++l) {
    for (int i = 0; i < slots_; ++i) {
      chosen.co.at(l, locations_ + i) =
          bits_.both(slot_[static_cast<std::size_t>(i)].writes,
                     slot_[static_cast<std::size_t>(i)].at[static_cast<std::size_t>(l)]);
    }
  }
  for (int i = 0; i < slots_; ++i) {
    const Slot& a = slot_[static_cast<std::size_t>(i)];
    for (int j = 0; j < slots_; ++j) {
      if (i == j) continue;
      const Slot& b = slot_[static_cast<std::size_t>(j)];
      const int from = locations_ + i;
      const int to = locations_ + j;
      chosen.co.at(from, to) = bits_.both(
          related.at(from, to), bits_.both(bits_.both(a.writes, b.writes), same_location_.at(from, to)));
      if (!own_sources) needed.push_back(bits_.neither(bits_.both(a.last, chosen.co.at(from, to))));
    }
  }
  if (plan.partial_coherence) transitive(related, locations_, needed);
  if (plan.uses_fence_order) {
    const Relation fences = total_order(source, "fences", false, needed);
    Letters ordered;
    for (const std::size_t k : kept_) ordered[k] = is_sc_fence(event_of(letters()[k]));
    const Relation& inclusive = base_.at(Base::inclusive);
    for (int i = 0; i < slots_; ++i) {
      for (int j = 0; j < slots_; ++j) {
        if (i == j) continue;
        const int from = locations_ + i;
        const int to = locations_ + j;
        chosen.fence_order.at(from, to) =
            bits_.all({fences.at(from, to), is_any(i, ordered), is_any(j, ordered), inclusive.at(from, to),
                       inclusive.at(to, from)});
      }
    }
  }
  for (std::size_t c = 0; c < plan.choices.size(); ++c) {
    chosen.orders.emplace_back();
    chosen.selected.emplace_back();
    if (plan.choices[c].linearisations) {
      chosen.orders.back() = total_order(source, fmt::format("choice {}", c), true, needed);
      continue;
    }
    std::vector<z3::expr>& selected = chosen.selected.back();
    for (std::size_t k = 0; k < plan.choices[c].constants.size(); ++k)
      selected.push_back(source(fmt::format("selected {} {}", c, k)));
    needed.push_back(bits_.any(selected));
    at_most_one(selected, needed);
  }
  possible = bits_.all(needed);
  return chosen;
}

// ---- programs
// ------------------------------------------------------------------------------------------

Witness Skeleton::witness(const z3::model& model, const std::string& name, const std::string& doc) const {
  auto test = std::make_shared<LitmusTest>();
  test->dialect = "HRF";
  test->name = test->program.name = name;
  test->file = name + ".litmus";
  test->doc = test->program.doc = doc;

  std::vector<std::size_t> letter(static_cast<std::size_t>(slots_));
  std::vector<int> location(static_cast<std::size_t>(slots_), -1);
  std::vector<int> writes_of(static_cast<std::size_t>(locations_), 0);
  std::vector<int> value(static_cast<std::size_t>(size()), 0);
  int used = 0;
  for (int i = 0; i < slots_; ++i) {
    const Slot& slot = slot_[static_cast<std::size_t>(i)];
    for (std::size_t k = 0; k < kept_.size(); ++k) {
      if (is_true(model, slot.letter[k])) letter[static_cast<std::size_t>(i)] = kept_[k];
    }
    for (int l = 0; l < locations_; ++l) {
      if (is_true(model, slot.at[static_cast<std::size_t>(l)])) location[static_cast<std::size_t>(i)] = l;
    }
    const int at = location[static_cast<std::size_t>(i)];
    used = std::max(used, at + 1);
    if (at >= 0 && is_true(model, slot.writes))
      value[static_cast<std::size_t>(locations_ + i)] = ++writes_of[static_cast<std::size_t>(at)];
  }
  for (int j = 0; j < slots_; ++j) {
    for (int i = 0; i < size(); ++i) {
      if (is_true(model, rf_.at(i, locations_ + j)))
        value[static_cast<std::size_t>(locations_ + j)] = value[static_cast<std::size_t>(i)];
    }
  }
  for (int l = 0; l < used; ++l) {
    Location one;
    one.name = location_names.at(static_cast<std::size_t>(l));
    one.block = l;
    test->program.locations.push_back(one);
  }
  std::vector<Formula> wanted;
  Witness found;
  const auto observe = [&](const ConditionTerm& term, int v) {
    test->observed.push_back(term);
    found.outcome.push_back(v);
    Formula leaf;
    leaf.kind = Formula::Kind::compare;
    leaf.left = term;
    leaf.right.value = v;
    wanted.push_back(std::move(leaf));
  };
  std::vector<int> register_of(static_cast<std::size_t>(slots_), -1);
  for (std::size_t t = 0; t < frame_.sizes.size(); ++t) {
    Thread thread;
    thread.name = fmt::format("P{}", t);
    thread.placement = frame_.placements[t];
    const auto fresh_register = [&] {
      thread.registers.push_back(fmt::format("r{}", thread.registers.size()));
      thread.initial_values.push_back(0);
      return static_cast<std::int16_t>(thread.registers.size() - 1);
    };
    const auto computed = [&](ArithmeticFunction function, int source, int operand) {
      Instruction i;
      i.opcode = Opcode::arithmetic;
      i.arithmetic = function;
      i.a = {true, register_of[static_cast<std::size_t>(source)]};
      i.b = {false, operand};
      i.destination = fresh_register();
      thread.code.push_back(i);
      return Operand{true, i.destination};
    };
    for (int s = 0; s < slots_; ++s) {
      if (slot_[static_cast<std::size_t>(s)].thread != static_cast<int>(t)) continue;
      const Letter& of = letters()[letter[static_cast<std::size_t>(s)]];
      if (of.part > 0) continue;
      const Operation& operation = operations()[static_cast<std::size_t>(of.operation)];
      Instruction i = operation.instruction;
      const int write = s + static_cast<int>(operation.events.size()) - 1;
      if (i.location >= 0) i.location = location[static_cast<std::size_t>(s)];
      if (i.opcode == Opcode::store || i.opcode == Opcode::rmw)
        i.a = {false, value[static_cast<std::size_t>(locations_ + write)]};
      for (int from = 0; from < s; ++from) {
        if (is_true(model, data_.at(locations_ + from, locations_ + write))) {
          i.a = computed(ArithmeticFunction::add, from,
                         i.a.value - value[static_cast<std::size_t>(locations_ + from)]);
        }
        if (is_true(model, addr_.at(locations_ + from, locations_ + s)))
          i.index = computed(ArithmeticFunction::bit_and, from, 0);
      }
      if (i.destination >= 0) {
        i.destination = fresh_register();
        register_of[static_cast<std::size_t>(s)] = i.destination;
        observe({ConditionTerm::Kind::register_, 0, static_cast<int>(t), i.destination},
                value[static_cast<std::size_t>(locations_ + s)]);
      }
      thread.code.push_back(i);
      if (!is_true(model, slot_[static_cast<std::size_t>(s)].branches)) continue;
      Instruction branch;
      branch.opcode = Opcode::branch;
      branch.comparison = Comparison::not_equal;
      branch.a = {true, register_of[static_cast<std::size_t>(s)]};
      branch.b = {false, value[static_cast<std::size_t>(locations_ + s)]};
      thread.code.push_back(branch);
    }
    for (Instruction& i : thread.code) {
      if (i.opcode == Opcode::branch) i.target = static_cast<std::int32_t>(thread.code.size());
    }
    test->program.threads.push_back(std::move(thread));
  }
  for (int i = 0; i < slots_; ++i) {
    const int at = location[static_cast<std::size_t>(i)];
    if (at < 0 || writes_of[static_cast<std::size_t>(at)] < 2) continue;
    if (is_true(model, slot_[static_cast<std::size_t>(i)].last))
      observe({ConditionTerm::Kind::location, 0, -1, at}, value[static_cast<std::size_t>(locations_ + i)]);
  }
  if (wanted.size() == 1) {
    test->condition = wanted.front();
  } else if (!wanted.empty()) {
    test->condition.kind = Formula::Kind::and_;
    test->condition.children = wanted;
  }
  test->condition_text = print(test->condition, test->program);
  found.test = std::move(test);
  return found;
}

}  // namespace lockstep::distinguish
