#include "checker/footprint/truths.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <unordered_map>

namespace lockstep::footprint {

namespace {

constexpr std::uint32_t chunk = 8;  // bytes of answers that are copied at once

}  // namespace

// Leaves first, since a gate's inputs come before it.
class Truths::Builder {
 public:
  Builder(Truths& out, const std::vector<TermId>& asked) : out_(out), terms_(*out.terms_) {
    for (const TermId term : asked) visit(term);
    number_leaves();
    for (const TermId term : asked) out_.signal_of_.push_back(signal(term));
    out_.size_ = out_.first_gate_ + out_.gates_.size() + chunk;
  }

 private:
  // What a term asks of one byte that holds no negative numbers.
  struct OfByte {
    std::uint32_t place = 0;
    std::uint32_t highest = 0;
  };
  [[nodiscard]] std::optional<OfByte> of_byte(TermId id) const {
    const Term& t = terms_[id];
    const auto byte = [&](const Term& leaf, std::int64_t highest) -> std::optional<OfByte> {
      const Place& place = terms_.places()[leaf.place];
      if (place.bytes != 1 || place.is_signed || highest < 0 || highest > 254) return std::nullopt;
      return OfByte{leaf.place, static_cast<std::uint32_t>(highest)};
    };
    const auto reads_one = [](const Term& leaf) {
      return leaf.op == TermOp::scalar || leaf.op == TermOp::head || leaf.op == TermOp::slot;
    };
    switch (t.op) {
      case TermOp::scalar:
      case TermOp::head:
      case TermOp::slot:
      case TermOp::empty:
        return byte(t, 0);
      case TermOp::full:
        return byte(t, t.extent);
      case TermOp::lacks_slot:
        return byte(t, t.value);
      case TermOp::equal:
      case TermOp::not_equal:
      case TermOp::less:
      case TermOp::less_equal:
        if (reads_one(terms_[t.a]) && terms_.is_constant(t.b)) return byte(terms_[t.a], terms_[t.b].value);
        if (reads_one(terms_[t.b]) && terms_.is_constant(t.a)) return byte(terms_[t.b], terms_[t.a].value);
        return std::nullopt;
      default:
        return std::nullopt;
    }
  }

  void visit(TermId id) {
    if (!seen_.emplace(id, true).second) return;
    const Term& t = terms_[id];
    switch (t.op) {
      case TermOp::and_:
      case TermOp::or_:
        visit(t.a);
        visit(t.b);
        return;
      case TermOp::not_:
      case TermOp::contains:
        visit(t.a);
        return;
      default:
        break;
    }
    if (const auto byte = of_byte(id)) {
      of_place_[byte->place].push_back({id, byte->highest});
    } else {
      others_.push_back(id);
    }
  }

  void number_leaves() {
    Signal next = 0;
    std::size_t bytes = 0;
    for (const Place& place : terms_.places()) bytes = std::max(bytes, place.offset + place.bytes);
    std::vector<std::byte> state(bytes);
    for (auto& [place, asked] : of_place_) {
      Table table;
      table.offset = static_cast<std::uint32_t>(terms_.places()[place].offset);
      for (const Asked& one : asked) table.last = std::max(table.last, one.highest + 1);
      table.first = next;
      table.count = static_cast<std::uint32_t>((asked.size() + chunk - 1) / chunk * chunk);
      table.answers = static_cast<std::uint32_t>(out_.answers_.size());
      out_.answers_.resize(table.answers + std::size_t{table.last + 1} * table.count, 0);
      for (std::size_t i = 0; i < asked.size(); ++i) {
        signal_of_.emplace(asked[i].term, next + static_cast<Signal>(i));
        for (std::uint32_t v = 0; v <= table.last; ++v) {
          state[table.offset] = static_cast<std::byte>(v);
          out_.answers_[table.answers + std::size_t{v} * table.count + i] =
              terms_.evaluate(asked[i].term, state.data()) != 0 ? 1 : 0;
        }
      }
      // What a row is longer than its questions is overwritten by what comes next.
      next += static_cast<Signal>(asked.size());
      out_.tables_.push_back(table);
    }
    for (const TermId id : others_) {
      signal_of_.emplace(id, next);
      out_.others_.push_back({next++, number(id)});
    }
    out_.first_gate_ = next;
  }
  std::uint32_t number(TermId id) {
    if (const auto known = number_of_.find(id); known != number_of_.end()) return known->second;
    Number made{terms_[id]};
    const auto operands = [&](int count) {
      if (count > 0) made.a = number(made.term.a);
      if (count > 1) made.b = number(made.term.b);
      if (count > 2) made.c = number(made.term.c);
    };
    switch (made.term.op) {
      case TermOp::constant:
      case TermOp::scalar:
      case TermOp::head:
      case TermOp::slot:
      case TermOp::empty:
      case TermOp::full:
      case TermOp::lacks_slot:
        break;
      case TermOp::contains:
      case TermOp::not_:
        operands(1);
        break;
      case TermOp::select:
        operands(3);
        break;
      default:
        operands(2);
        break;
    }
    out_.numbers_.push_back(made);
    const auto n = static_cast<std::uint32_t>(out_.numbers_.size() - 1);
    number_of_.emplace(id, n);
    return n;
  }
  Signal signal(TermId id) {
    const auto known = signal_of_.find(id);
    if (known != signal_of_.end()) return known->second;
    const Term& t = terms_[id];
    Signal made = 0;
    switch (t.op) {
      case TermOp::contains:
        made = signal(t.a);
        break;
      case TermOp::not_: {
        const Signal a = signal(t.a);
        made = gate({a, a, 0, 1});
        break;
      }
      default: {
        const Signal a = signal(t.a);
        const Signal b = signal(t.b);
        made = gate({a, b, t.op == TermOp::or_, 0});
        break;
      }
    }
    signal_of_.emplace(id, made);
    return made;
  }
  Signal gate(const Gate& one) {
    out_.gates_.push_back(one);
    return out_.first_gate_ + static_cast<Signal>(out_.gates_.size() - 1);
  }

  Truths& out_;
  const Terms& terms_;
  std::unordered_map<TermId, bool> seen_;
  std::map<std::uint32_t, std::vector<Asked>> of_place_;
  std::vector<TermId> others_;
  std::unordered_map<TermId, Signal> signal_of_;
  std::unordered_map<TermId, std::uint32_t> number_of_;
};

Truths::Truths(const Terms& terms, const std::vector<TermId>& asked) : terms_(&terms) {
  const Builder builder(*this, asked);
}

void Truths::evaluate(const std::byte* state, Room& room) const {
  room.truths.resize(size_);
  room.numbers.resize(numbers_.size());
  std::uint8_t* const truths = room.truths.data();
  for (const Table& table : tables_) {
    const std::uint32_t value = std::min(std::to_integer<std::uint32_t>(state[table.offset]), table.last);
    const std::uint8_t* from = answers_.data() + table.answers + std::size_t{value} * table.count;
    std::uint8_t* to = truths + table.first;
    for (std::uint32_t done = 0; done < table.count; done += chunk)
      std::memcpy(to + done, from + done, chunk);
  }
  std::int64_t* const numbers = room.numbers.data();
  std::int64_t* next = numbers;
  for (const Number& number : numbers_)
    *next++ = terms_->result(number.term, state, numbers[number.a], numbers[number.b], numbers[number.c]);
  for (const Other& other : others_) truths[other.to] = numbers[other.number] != 0 ? 1 : 0;
  std::uint8_t* to = truths + first_gate_;
  for (const Gate& gate : gates_) {
    const std::uint8_t a = truths[gate.a];
    const std::uint8_t b = truths[gate.b];
    *to++ = static_cast<std::uint8_t>(((a & b) | ((a | b) & gate.any)) ^ gate.turned);
  }
}

}  // namespace lockstep::footprint
