// Why German's protocol is coherent, for any number of nodes: what the home believes of a node follows from
// what the node holds and what is on its way between the two.
#pragma once

#include "spec/examples/german.hpp"

namespace lockstep::german {

template <class Protocol>
struct Lemmas {
  using State = typename Protocol::State;
  using Node = typename Protocol::Node;
  using PerNode = typename Protocol::PerNode;

  const Protocol& p;

  template <class V>
  void lemmas(V& v) const {
    const auto each = [&](std::string_view name, auto claim) {
      v.invariant(name, [this, claim](const State& s) {
        return p.k.forall(nodes, [&](Node i) { return claim(s, s.node(i)); });
      });
    };
    each("the home knows every copy, grant and invalidation", [](const State&, const PerNode& n) {
      return n.sharer || (n.copy == Permission::invalid && n.grant == Grant::none && !n.acknowledgement &&
                          !n.to_invalidate);
    });
    each("an exclusive copy or grant has been noted", [](const State& s, const PerNode& n) {
      return s.exclusive_granted || (n.copy != Permission::exclusive && n.grant != Grant::exclusive);
    });
    v.invariant("beside an exclusive grant the home knows no other node", [=, this](const State& s) {
      return p.k.forall(nodes, [&](Node i) {
        return p.k.forall(nodes, [&](Node j) {
          return !s.exclusive_granted || i == j || !s.node(i).sharer || !s.node(j).sharer;
        });
      });
    });
    each("the node of an exclusive grant has it, is getting it, or has given it up",
         [](const State& s, const PerNode& n) {
           return !s.exclusive_granted || !n.sharer || n.copy == Permission::exclusive ||
                  n.grant == Grant::exclusive || n.acknowledgement;
         });
    each("a node is invalidated for a request that needs it", [](const State& s, const PerNode& n) {
      return (n.grant != Grant::invalidate && !n.acknowledgement) ||
             s.current_request == Request::exclusive ||
             (s.current_request == Request::shared && s.exclusive_granted);
    });
    each("a node is invalidated once", [](const State&, const PerNode& n) {
      return !n.acknowledgement ||
             (n.copy == Permission::invalid && n.grant == Grant::none && !n.to_invalidate);
    });
    each("an invalidation on its way is not still to be sent",
         [](const State&, const PerNode& n) { return n.grant != Grant::invalidate || !n.to_invalidate; });
    each("a grant on its way contradicts nothing", [](const State& s, const PerNode& n) {
      return (n.grant != Grant::exclusive || n.copy == Permission::invalid) &&
             (n.grant != Grant::shared || !s.exclusive_granted);
    });
    each("a grant carries current data", [](const State& s, const PerNode& n) {
      return (n.grant != Grant::shared && n.grant != Grant::exclusive) || n.grant_data == s.auxiliary;
    });
    each("the owner's acknowledgement carries current data", [](const State& s, const PerNode& n) {
      return !s.exclusive_granted || !n.acknowledgement || n.acknowledgement_data == s.auxiliary;
    });
  }
};

}  // namespace lockstep::german
