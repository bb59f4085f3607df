// German's directory protocol: any number of caching nodes, one home, one cache line.
//
// The home grants shared copies to many nodes or one exclusive copy; before it grants what conflicts it
// invalidates the sharers and waits for their acknowledgements. `auxiliary` holds the last value written and
// exists for the properties only. Every field is reset where it loses its meaning, so that two states that
// behave alike are one state.
//
// Source: Chou, Mannava and Park, "A simple method for parameterized verification of cache coherence
// protocols", FMCAD 2004, which states the protocol S. German proposed as a challenge in 2000.
#pragma once

#include <array>
#include <boost/describe.hpp>
#include <string_view>

#include "spec/kernel/choice.hpp"
#include "spec/kernel/index.hpp"
#include "spec/kernel/rules.hpp"

namespace lockstep::german {

struct NodeTag : Indices<"node", 8> {};
struct DataTag : Indices<"value", 8> {};
inline constexpr NodeTag nodes{};
inline constexpr DataTag values{};

enum class Permission : std::uint8_t { invalid, shared, exclusive };
enum class Request : std::uint8_t { none, shared, exclusive };
enum class Grant : std::uint8_t { none, invalidate, shared, exclusive };
BOOST_DESCRIBE_ENUM(Permission, invalid, shared, exclusive)
BOOST_DESCRIBE_ENUM(Request, none, shared, exclusive)
BOOST_DESCRIBE_ENUM(Grant, none, invalidate, shared, exclusive)

inline constexpr std::array faults{
    Fault{"grant-without-invalidating", "the home grants exclusive access while sharers remain"},
    Fault{"keep-copy", "a node acknowledges an invalidation but keeps its copy"},
    Fault{"forget-sharer", "the home does not note a node that it grants a shared copy"},
    Fault{"drop-write-back", "the home ignores the data in an acknowledgement from the exclusive owner"},
};

template <class K>
struct Protocol : ClosedSystem<K, faults> {
  using Base = ClosedSystem<K, faults>;
  using Base::Base, Base::k, Base::fault;
  using Bool = typename K::Bool;
  using Node = typename K::template Ix<NodeTag>;
  using Data = typename K::template Ix<DataTag>;
  using MaybeNode = typename K::template Maybe<NodeTag>;
  using MaybeData = typename K::template Maybe<DataTag>;
  template <class E>
  using Enum = typename K::template Enum<E>;

  // What belongs to one node: its copy, its three channels of one message, and the home's two bits about it.
  struct PerNode {
    Enum<Permission> copy;
    MaybeData data;
    Enum<Request> request;  // node -> home
    Enum<Grant> grant;      // home -> node
    MaybeData grant_data;
    Bool acknowledgement;            // node -> home
    MaybeData acknowledgement_data;  // of an exclusive copy given up
    Bool to_invalidate;              // home: an invalidation is still to be sent
    Bool sharer;                     // home: may hold a copy
    BOOST_DESCRIBE_CLASS(PerNode, (),
                         (copy, data, request, grant, grant_data, acknowledgement, acknowledgement_data,
                          to_invalidate, sharer),
                         (), ())
  };
  struct State {
    typename K::template Table<PerNode, NodeTag> node;
    Bool exclusive_granted;
    Enum<Request> current_request;
    MaybeNode current_node;
    MaybeData memory;
    MaybeData auxiliary;
    BOOST_DESCRIBE_CLASS(State, (),
                         (node, exclusive_granted, current_request, current_node, memory, auxiliary), (), ())
  };
  using Rules = RuleList<K, State>;
  using Invariants = InvariantList<K, State>;
  using Start = StartList<K, State>;

  void start(Start& s) const {
    s.start(over(values), [](State& state, Data d) {
      state.memory = d;
      state.auxiliary = d;
    });
  }

  void rules(Rules& r) const {
    r.rule(
        {.name = "stores", .unit = "node", .fairness = Fairness::optional}, over(nodes, values),
        [](const State& s, Node i, Data) { return s.node(i).copy == Permission::exclusive; },
        [](State& s, Node i, Data d) {
          s.node(i).data = d;
          s.auxiliary = d;
        });
    r.rule(
        {.name = "asks for a shared copy", .unit = "node"}, over(nodes),
        [](const State& s, Node i) {
          return s.node(i).request == Request::none && s.node(i).copy == Permission::invalid;
        },
        [](State& s, Node i) { s.node(i).request = Request::shared; });
    r.rule(
        {.name = "asks for the exclusive copy", .unit = "node"}, over(nodes),
        [](const State& s, Node i) {
          return s.node(i).request == Request::none && s.node(i).copy != Permission::exclusive;
        },
        [](State& s, Node i) { s.node(i).request = Request::exclusive; });
    r.rule(
        {.name = "takes up a request", .unit = "home"}, over(nodes),
        [](const State& s, Node i) {
          return s.current_request == Request::none && s.node(i).request != Request::none;
        },
        [=, this](State& s, Node i) {
          s.current_request = s.node(i).request;
          s.current_node = i;
          s.node(i).request = Request::none;
          k.for_each(nodes, [&](Node j) { s.node(j).to_invalidate = s.node(j).sharer; });
        });
    r.rule(
        {.name = "sends an invalidation", .unit = "home"}, over(nodes),
        [](const State& s, Node i) {
          return s.node(i).grant == Grant::none && s.node(i).to_invalidate &&
                 (s.current_request == Request::exclusive ||
                  (s.current_request == Request::shared && s.exclusive_granted));
        },
        [](State& s, Node i) {
          s.node(i).grant = Grant::invalidate;
          s.node(i).to_invalidate = false;
        });
    r.rule(
        {.name = "gives up its copy", .unit = "node"}, over(nodes),
        [](const State& s, Node i) {
          return s.node(i).grant == Grant::invalidate && !s.node(i).acknowledgement;
        },
        [=, this](State& s, Node i) {
          auto& node = s.node(i);
          node.grant = Grant::none;
          node.acknowledgement = true;
          k.when(node.copy == Permission::exclusive, [&] { node.acknowledgement_data = node.data; });
          if (fault("keep-copy")) return;
          node.copy = Permission::invalid;
          node.data = MaybeData{};
        });
    r.rule(
        {.name = "takes an acknowledgement", .unit = "home"}, over(nodes),
        [](const State& s, Node i) {
          return s.node(i).acknowledgement && s.current_request != Request::none;
        },
        [=, this](State& s, Node i) {
          auto& node = s.node(i);
          node.acknowledgement = false;
          node.sharer = false;
          k.when(s.exclusive_granted, [&] {
            s.exclusive_granted = false;
            if (!fault("drop-write-back")) s.memory = node.acknowledgement_data;
          });
          node.acknowledgement_data = MaybeData{};
        });
    r.rule(
        {.name = "grants a shared copy", .unit = "home"}, over(nodes),
        [](const State& s, Node i) {
          return s.current_request == Request::shared && s.current_node == MaybeNode(i) &&
                 s.node(i).grant == Grant::none && !s.exclusive_granted;
        },
        [=, this](State& s, Node i) {
          s.node(i).grant = Grant::shared;
          s.node(i).grant_data = s.memory;
          if (!fault("forget-sharer")) s.node(i).sharer = true;
          finish(s);
        });
    r.rule(
        {.name = "grants the exclusive copy", .unit = "home"}, over(nodes),
        [=, this](const State& s, Node i) {
          const Bool alone = fault("grant-without-invalidating")
                                 ? Bool(true)
                                 : k.forall(nodes, [&](Node j) { return !s.node(j).sharer; });
          return s.current_request == Request::exclusive && s.current_node == MaybeNode(i) &&
                 s.node(i).grant == Grant::none && !s.exclusive_granted && alone;
        },
        [=](State& s, Node i) {
          s.node(i).grant = Grant::exclusive;
          s.node(i).grant_data = s.memory;
          s.node(i).sharer = true;
          s.exclusive_granted = true;
          finish(s);
        });
    r.rule(
        {.name = "receives a shared copy", .unit = "node"}, over(nodes),
        [](const State& s, Node i) { return s.node(i).grant == Grant::shared; },
        [](State& s, Node i) { receive(s.node(i), Permission::shared); });
    r.rule(
        {.name = "receives the exclusive copy", .unit = "node"}, over(nodes),
        [](const State& s, Node i) { return s.node(i).grant == Grant::exclusive; },
        [](State& s, Node i) { receive(s.node(i), Permission::exclusive); });
  }

  void invariants(Invariants& v) const {
    v.invariant("an exclusive copy is the only copy", [=, this](const State& s) {
      return k.forall(nodes, [&](Node i) {
        return k.forall(nodes, [&](Node j) {
          return i == j || s.node(i).copy != Permission::exclusive || s.node(j).copy == Permission::invalid;
        });
      });
    });
    v.invariant("memory is current unless a copy is exclusive",
                [](const State& s) { return s.exclusive_granted || s.memory == s.auxiliary; });
    v.invariant("every copy is current", [=, this](const State& s) {
      return k.forall(nodes, [&](Node i) {
        return s.node(i).copy == Permission::invalid || s.node(i).data == s.auxiliary;
      });
    });
  }

  void restore(State&) const {}
  [[nodiscard]] bool proper_end(const State&) const { return false; }

 private:
  static void finish(State& s) {
    s.current_request = Request::none;
    s.current_node = MaybeNode{};
  }
  static void receive(PerNode& node, Permission permission) {
    node.copy = permission;
    node.data = node.grant_data;
    node.grant = Grant::none;
    node.grant_data = MaybeData{};
  }
};

struct Info : SystemInfo<faults> {
  static constexpr std::string_view name = "german";
  static constexpr std::string_view what = "German's directory protocol, the tutorial's example (FMCAD 2004)";
  static constexpr int place = 90;              // among the systems, where people read of them
  static constexpr bool is_cited_whole = true;  // no rule has a place of its own in the literature
  // What exists for the invariants only, and what ignoring is the fault.
  static constexpr bool is_unread(std::string_view field, std::string_view, std::string_view fault) {
    return field == "auxiliary" || (field == "node(node).acknowledgement_data" && fault == "drop-write-back");
  }
  template <class Capacities>
  using Sizes = SizesWithin<Capacities, NodeTag, DataTag>;
  template <class S>
  static constexpr void default_sizes(S& sizes, int) {
    sizes.template set<NodeTag>(4);
    sizes.template set<DataTag>(2);
  }
  template <class K>
  using Closed = Protocol<K>;
};

}  // namespace lockstep::german
