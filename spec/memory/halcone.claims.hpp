// What an explorer may take at once on HALCONE: the replacement of a copy whose lease has run out. Every
// guard asks whether a copy is valid, and clocks never run backwards while it is there, so it is like no
// copy.
#pragma once

#include <array>
#include <string_view>

#include "spec/kernel/at_once.hpp"
#include "spec/memory/halcone.hpp"

namespace lockstep::halcone {

template <class K>
struct Claims {
  using P = Protocol<K>;
  using Bool = typename K::Bool;
  using State = typename P::State;
  using Cu = typename P::Cu;
  using Agent = typename P::Agent;
  using Block = typename P::Block;
  using Line = typename P::Line;

  const P& memory;

  static constexpr std::array<std::string_view, 2> differ{"l1", "l2"};

  void at_once(AtOnceList<K, State>& list) const {
    // As printed a response that ends a lock keeps the words of the copy: that this is never one that has run
    // out would have to be shown first.
    if (memory.fault("expired-copy-read") || memory.fault("hit-keeps-words") || memory.printed()) return;
    list.at_once("L1 replaces a block", over(cus, blocks),
                 [self = *this](const State& s, Cu c, Block b) { return !self.memory.readable1(s, c, b); });
    list.at_once(
        "L2 replaces a block", over(agents, blocks),
        [self = *this](const State& s, Agent a, Block b) { return !self.memory.readable2(s, a, b); });
  }

  // What keeps_up rests on, whatever the client does.
  void lemmas(InvariantList<K, State>& v) const {
    v.invariant("a copy that is absent holds nothing", [self = *this](const State& s) {
      return self.memory.k.forall(blocks, [&](const Block& b) {
        return self.memory.k.forall(cus, [&](const Cu& c) {
          return s.l1(c, b).present || self.empty(s.l1(c, b));
        }) && self.memory.k.forall(agents, [&](const Agent& a) {
          return s.l2(a, b).present || self.empty(s.l2(a, b));
        });
      });
    });
  }

  // Ahead lacks nothing but copies that cannot be read.
  [[nodiscard]] Bool keeps_up(const State& behind, const State& ahead) const {
    const K& k = memory.k;
    const auto lacks = [&](const Line& has, const Line& line, const Bool& readable) {
      return same(has, line) || (empty(line) && !line.present && !has.locked && !readable);
    };
    return k.forall(blocks, [&](const Block& b) {
      return k.forall(cus, [&](const Cu& c) {
        return lacks(behind.l1(c, b), ahead.l1(c, b), memory.readable1(behind, c, b));
      }) && k.forall(agents, [&](const Agent& a) {
        return lacks(behind.l2(a, b), ahead.l2(a, b), memory.readable2(behind, a, b));
      });
    });
  }

 private:
  [[nodiscard]] Bool empty(const Line& line) const {
    return !line.locked && line.wts == 0 && line.rts == 0 &&
           memory.k.forall(words, [&](const auto& w) { return line.data(w) == typename K::Value(0); });
  }
  [[nodiscard]] Bool same(const Line& a, const Line& b) const {
    return a.present == b.present && a.locked == b.locked && a.wts == b.wts && a.rts == b.rts &&
           memory.same(a.data, b.data);
  }
};

}  // namespace lockstep::halcone
