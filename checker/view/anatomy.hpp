// What a machine is made of, as far as its rules' trees tell: the units that perform rules, of what there is
// one unit each, and what leads from one unit to another.
//
// A protocol says of a rule which unit performs it, not which of several. That follows from what the unit
// keeps: where most of the fields that its rules write, more than others' do, are rows over an index type,
// and each of its rules says by its parameters which row is meant, there is a unit for each member.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "spec/kernel/recorded.hpp"

namespace lockstep::view {

struct Unit {
  std::string name;
  std::string per;                  // an index type; empty where there is one unit of the name
  std::vector<std::string> rules;   // by name, each once
  std::vector<std::string> fields;  // tables, without indices: what it keeps
};

// What one unit writes and another waits for.
struct Connection {
  std::string from;
  std::string to;
  std::string field;     // "memory.link1", without indices
  bool channel = false;  // messages, which `to` takes away
};

class Anatomy {
 public:
  // `functions` may be empty: of units that parameters determine through them there is then one each.
  explicit Anatomy(const recorded::Description& description,
                   const std::vector<recorded::RigidFunction>& functions = {});

  [[nodiscard]] const std::vector<Unit>& units() const { return units_; }
  [[nodiscard]] const std::vector<Connection>& connections() const { return connections_; }

  // "L1 1": the unit that performs a rule for members of its parameters' index types.
  [[nodiscard]] std::string performer(const std::string& rule,
                                      const std::vector<std::uint8_t>& members) const;
  // "memory.link1(0)": the channel whose head it takes away, where it is triggered.
  [[nodiscard]] std::optional<std::string> channel(const std::string& rule,
                                                   const std::vector<std::uint8_t>& members) const;

 private:
  struct RuleParts {
    const recorded::RecordedRule* rule = nullptr;
    std::size_t unit = 0;
    recorded::Expression member;  // which of its units, over its parameters; null where there is one
  };
  using Members = std::map<std::string, int>;  // by the parameters' names
  static constexpr std::size_t nobody = ~std::size_t{0};
  struct Kept {
    std::size_t unit = nobody;
    std::string table;
    std::set<std::string> over;  // index types
  };

  void find_sames(const recorded::RecordedRule& rule);
  void find_units();
  [[nodiscard]] std::map<std::string, Kept> kept_fields(
      const std::map<std::string, std::size_t>& numbers) const;
  void find_connections();
  [[nodiscard]] bool determines(const recorded::Expression& e) const;
  [[nodiscard]] recorded::Expression reach(const recorded::RecordedRule& rule, const std::string& type) const;
  [[nodiscard]] std::optional<int> value(const recorded::Expression& e, const Members& members) const;
  [[nodiscard]] static Members named(const recorded::RecordedRule& rule,
                                     const std::vector<std::uint8_t>& members);

  std::vector<recorded::RecordedRule> rules_;
  std::map<std::string, RuleParts> by_name_;
  std::vector<recorded::RigidFunction> functions_;
  std::set<std::pair<std::string, std::string>> sames_;  // index types, from and to
  std::vector<Unit> units_;
  std::vector<Connection> connections_;
};

}  // namespace lockstep::view
