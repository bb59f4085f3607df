// The event queue: a wheel of buckets, one for each tick of the near future, and a heap for what lies beyond.
// Events of one tick come out in the order in which they went in, so that a run depends on nothing but its
// seed.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <queue>
#include <vector>

#include "refimpl/reads.hpp"

namespace lockstep::timed {

// An instance of a rule that is to be tried, a unit or a bank that can take its next one, or a channel of
// memory that can take its next command.
struct Event {
  static constexpr std::uint16_t service = 0xFFFF;
  static constexpr std::uint16_t memory = 0xFFFE;
  static constexpr std::uint16_t bank = 0xFFFD;
  std::uint16_t family = 0;  // of rules with the same parameters; or one of these
  std::uint16_t rule = 0;    // within the family
  std::uint32_t a = 0;       // parameters; of `service` the unit, of `memory` the channel, of `bank` the bank
  std::uint32_t b = 0;
};

class Wheel {
 public:
  Wheel() { slots_.fill({none, none}); }

  [[nodiscard]] bool empty() const { return near_ == 0 && far_.empty(); }
  [[nodiscard]] Tick now() const { return now_; }

  void push(Tick at, const Event& event) {
    if (at - now_ < span) {
      insert(at, event);
    } else {
      far_.push({at, next_far_++, event});
    }
  }
  // The earliest event; time moves on to it.
  Event pop() {
    if (near_ == 0) {
      now_ = far_.top().at;
    } else {
      now_ += distance();
    }
    while (!far_.empty() && far_.top().at - now_ < span) {
      insert(far_.top().at, far_.top().event);
      far_.pop();
    }
    Slot& slot = slots_[now_ % span];
    const std::uint32_t node = slot.first;
    const Event event = nodes_[node].event;
    slot.first = nodes_[node].next;
    if (slot.first == none) {
      slot.last = none;
      occupied_[now_ % span / 64] &= ~(std::uint64_t{1} << now_ % 64);
    }
    nodes_[node].next = free_;
    free_ = node;
    --near_;
    return event;
  }

 private:
  static constexpr Tick span = 1U << 14;
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  struct Node {
    Event event;
    std::uint32_t next = none;
  };
  struct Slot {
    std::uint32_t first;
    std::uint32_t last;
  };
  struct Far {
    Tick at;
    std::uint64_t order;
    Event event;
    bool operator<(const Far& other) const { return at != other.at ? at > other.at : order > other.order; }
  };

  void insert(Tick at, const Event& event) {
    std::uint32_t node = free_;
    if (node == none) {
      node = static_cast<std::uint32_t>(nodes_.size());
      nodes_.emplace_back();
    } else {
      free_ = nodes_[node].next;
    }
    nodes_[node] = {event, none};
    Slot& slot = slots_[at % span];
    if (slot.last == none) {
      slot.first = node;
      occupied_[at % span / 64] |= std::uint64_t{1} << at % 64;
    } else {
      nodes_[slot.last].next = node;
    }
    slot.last = node;
    ++near_;
  }
  // Ticks from now to the first occupied slot.
  [[nodiscard]] Tick distance() const {
    const std::size_t at = now_ % span;
    std::size_t word = at / 64;
    std::uint64_t bits = occupied_[word] >> (at % 64);
    if (bits != 0) return static_cast<Tick>(std::countr_zero(bits));
    Tick passed = 64 - at % 64;
    while (true) {
      word = (word + 1) % occupied_.size();
      bits = occupied_[word];
      if (bits != 0) return passed + static_cast<Tick>(std::countr_zero(bits));
      passed += 64;
    }
  }

  Tick now_ = 0;
  std::size_t near_ = 0;
  std::uint64_t next_far_ = 0;
  std::array<Slot, span> slots_;
  std::array<std::uint64_t, span / 64> occupied_{};
  std::vector<Node> nodes_;
  std::uint32_t free_ = none;
  std::priority_queue<Far> far_;
};

}  // namespace lockstep::timed
