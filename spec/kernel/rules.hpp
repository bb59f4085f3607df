// Rules: guarded actions with parameters over index types, performed by a unit of the hardware.
//
// A protocol lists its rules by calling these on whatever reader it is given; the reader decides what a rule
// becomes (an explored transition, an expression tree, ...):
//   rule(rule, parameters, guard, action)
//     spontaneous; see also rule_where_unseen
//   triggered(rule, parameters, channel, guard, action)
//     consumes the head of a channel, which is its message
//   triggered(..., action, unseen)
//     of an urgent link: `unseen` says when delivering at once instead of later is something nobody can tell
//   deferrable(rule, parameters, guard, matters, action)
//     spontaneous and optional; until `matters` holds nobody can tell whether it has fired, so an explorer
//     that is asked to reduce puts it off until then
#pragma once

#include <cstdint>
#include <string_view>

#include "spec/kernel/index.hpp"
#include "spec/program/program.hpp"

namespace lockstep {

enum class Fairness : std::uint8_t {
  fair,      // deliveries, drains: if enabled for ever, happens
  optional,  // a replacement, a spurious wake-up: may never happen
};

// Whether an explorer may take the rule at once instead of interleaving it, when asked to reduce.
enum class Urgency : std::uint8_t {
  none,
  local,  // once enabled it stays enabled, only enables others, and nobody can tell when it happens: a
          // thread's own moves and branches, handing a request to the port, taking an acknowledgement
  link,   // delivers the head of an ordered link that nothing overtakes; at once unless several could be
          // delivered, or the rule's own `unseen` says that somebody could tell
};

struct Rule {
  std::string_view name;
  std::string_view unit = {};    // the hardware component that performs it
  std::string_view source = {};  // place in the paper
  Fairness fairness = Fairness::fair;
  Urgency urgency = Urgency::none;
  const Instruction* instruction = nullptr;  // of a rule that executes one, for narration
  int thread = -1;
  bool asks = false;  // hands a request to the port: the step of a thread that a scheduler may hold back
};

// A named deliberate mistake, off unless asked for.
struct Fault {
  std::string_view name;
  std::string_view what;
  bool exposes_links = false;  // somebody can tell when links deliver: never urgent then
};
struct Variant {
  std::string_view name;
  std::string_view what;
};

// The parameters of a rule: one index type each.
template <IndexTag... Tags>
struct Over {};
template <IndexTag... Tags>
constexpr Over<Tags...> over(Tags...) {
  return {};
}

// Lists a spontaneous rule that is a delivery (Reductions::links), of urgency `local` where `unseen` holds
// and of none elsewhere. That concerns only the reader that takes urgent rules.
template <class Reader, class Parameters, class Guard, class Action, class Unseen>
void rule_where_unseen(Reader& reader, const Rule& rule, Parameters parameters, Guard&& guard,
                       Action&& action, Unseen&& unseen) {
  if constexpr (requires { reader.rule(rule, parameters, guard, action, unseen); }) {
    reader.rule(rule, parameters, guard, action, unseen);
  } else {
    reader.rule(rule, parameters, guard, action);
  }
}

// Presents the rules of a part of a larger state: a memory system inside a machine with threads.
// `Part` is a callable state -> part, for const and non-const states.
template <class Reader, class Part>
class RulesOfPart {
 public:
  RulesOfPart(Reader& reader, Part part) : reader_(reader), part_(part) {}

  template <class... Tags, class Guard, class Action>
  void rule(const Rule& rule, Over<Tags...> parameters, Guard&& guard, Action&& action) {
    reader_.rule(
        rule, parameters, [&](const auto& s, auto... i) { return guard(part_(s), i...); },
        [&](auto& s, auto... i) { action(part_(s), i...); });
  }
  template <class... Tags, class Guard, class Action, class Unseen>
  void rule(const Rule& rule, Over<Tags...> parameters, Guard&& guard, Action&& action, Unseen&& unseen) {
    rule_where_unseen(
        reader_, rule, parameters, [&](const auto& s, auto... i) { return guard(part_(s), i...); },
        [&](auto& s, auto... i) { action(part_(s), i...); },
        [&](const auto& s, auto... i) { return unseen(part_(s), i...); });
  }
  template <class... Tags, class Channel, class Guard, class Action>
  void triggered(const Rule& rule, Over<Tags...> parameters, Channel&& channel, Guard&& guard,
                 Action&& action) {
    reader_.triggered(
        rule, parameters, [&](auto& s, auto... i) -> auto& { return channel(part_(s), i...); },
        [&](const auto& s, auto... rest) { return guard(part_(s), rest...); },
        [&](auto& s, auto... rest) { action(part_(s), rest...); });
  }
  template <class... Tags, class Channel, class Guard, class Action, class Unseen>
  void triggered(const Rule& rule, Over<Tags...> parameters, Channel&& channel, Guard&& guard,
                 Action&& action, Unseen&& unseen) {
    reader_.triggered(
        rule, parameters, [&](auto& s, auto... i) -> auto& { return channel(part_(s), i...); },
        [&](const auto& s, auto... rest) { return guard(part_(s), rest...); },
        [&](auto& s, auto... rest) { action(part_(s), rest...); },
        [&](const auto& s, auto... rest) { return unseen(part_(s), rest...); });
  }
  template <class... Tags, class Guard, class Matters, class Action>
  void deferrable(const Rule& rule, Over<Tags...> parameters, Guard&& guard, Matters&& matters,
                  Action&& action) {
    reader_.deferrable(
        rule, parameters, [&](const auto& s, auto... i) { return guard(part_(s), i...); },
        [&](const auto& s, auto... i) { return matters(part_(s), i...); },
        [&](auto& s, auto... i) { action(part_(s), i...); });
  }
  template <class Predicate>
  void invariant(std::string_view name, Predicate&& predicate) {
    reader_.invariant(name, [&](const auto& s) { return predicate(part_(s)); });
  }

 private:
  Reader& reader_;
  Part part_;
};

}  // namespace lockstep
