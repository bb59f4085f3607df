// A rule as its recorded tree says it: the tree, walked on a run's plain state, in place of the compiled
// rule.
//
// What is compiled and what is recorded come from one header, by two readings. Held against each other, state
// by state, they show that the trees say what the rules do (footprints, exports and `explain` rest on that);
// and a tree that has been changed runs without being compiled (mutation.hpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "checker/footprint/nodes.hpp"
#include "checker/interpret/field_layout.hpp"
#include "spec/kernel/concrete.hpp"
#include "spec/kernel/recorded.hpp"
#include "spec/kernel/rules.hpp"

namespace lockstep {

class TreeRule {
 public:
  // What rules of one run share.
  struct Run {
    FieldLayout layout;
    footprint::Constants constants;
    std::vector<recorded::RigidFunction> functions;
    std::map<std::string, int> extents;
    // As FieldLayout.
    Run(const recorded::WholeDescription& whole, std::vector<footprint::Place> places,
        std::vector<std::byte> defaults)
        : layout(whole, std::move(places), std::move(defaults)),
          constants(whole.state),
          functions(whole.functions),
          extents(whole.extents) {}
  };

  // Throws std::logic_error with the construct where the tree cannot be walked.
  TreeRule(std::shared_ptr<const Run> run, const recorded::RecordedRule& rule);

  // Of parameters' members, as many as a rule may have. Both throw RuleMisuse.
  [[nodiscard]] bool enabled(const std::byte* state, const std::uint8_t* members) const;
  void fire(std::byte* state, const std::uint8_t* members) const;

 private:
  using Number = std::uint32_t;
  // A scalar: of the state, or, where it is a message's that has been taken, of the state before.
  struct Where {
    const FieldPlaces* field = nullptr;
    std::vector<Number> index;  // expressions
    bool before = false;
  };
  enum class Kind : std::uint8_t { constant, variable, read, binary, not_, select, apply, loop, contains };
  struct Node {
    Kind kind = Kind::constant;
    footprint::TermOp op = footprint::TermOp::constant;  // of a binary
    recorded::Op loop = recorded::Op::forall;
    std::int64_t value = 0;  // of a constant; the extent of a loop
    Number variable = 0;
    std::array<Number, 3> children{};
    Where where;  // of a read; of a contains the queue's count
    const recorded::RigidFunction* function = nullptr;
  };
  struct Entry {
    const FieldPlaces* field = nullptr;
    std::vector<int> index;  // within the entry
    Number value = 0;
  };
  struct Step {
    recorded::Statement::Kind kind = recorded::Statement::Kind::assign;
    Where where;  // of a queue its count
    const QueuePlaces* queue = nullptr;
    Number value = 0;
    Number variable = 0;
    int extent = 0;  // of a loop
    std::vector<Entry> row;
    std::vector<Step> then;
    std::vector<Step> otherwise;
  };
  static constexpr std::size_t most_variables = 64;
  struct Frame {
    const std::byte* before = nullptr;
    std::byte* state = nullptr;
    std::array<std::int64_t, most_variables> variables{};
  };

  class Reader;

  [[nodiscard]] std::int64_t evaluate(Number node, Frame& frame) const;
  [[nodiscard]] std::uint32_t place(const Where& where, Frame& frame) const;
  // The first place of a field's rows below these indices, and how many there are.
  [[nodiscard]] static std::pair<std::size_t, std::size_t> rows(const FieldPlaces& field,
                                                                const std::vector<std::int64_t>& index);
  void run(const std::vector<Step>& block, Frame& frame) const;
  void assign(const FieldPlaces& field, std::uint32_t place, std::int64_t value, Frame& frame) const;
  void change_queue(const Step& step, Frame& frame) const;

  std::shared_ptr<const Run> run_;
  std::size_t parameters_ = 0;
  std::vector<Node> nodes_;
  Number guard_ = 0;
  std::vector<Step> trigger_;  // takes its head away, if there is one
  std::vector<Step> action_;
};

// The same as closures of the explorer.
struct TreeClosures {
  ErasedGuard<ConcreteErased> guard;
  ErasedAction<ConcreteErased> action;
};
TreeClosures closures_of(std::shared_ptr<const TreeRule> rule);

}  // namespace lockstep
