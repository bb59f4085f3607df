// Identifiers for an export: the names of the trees where the language allows them, the nearest free ones
// where it does not, each meaning one thing.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spec/kernel/recorded.hpp"

namespace lockstep {

class Names {
 public:
  // Where the language substitutes text, a rule's variable must not be the name of a field.
  enum class Scoping : std::uint8_t { lexical, textual };

  Names(const recorded::WholeDescription& whole, Scoping scoping);

  // "Cu", "Maybe_node", "ReadStage": of a scalar's declaration or of an expression.
  [[nodiscard]] const std::string& scalar(const recorded::Type& type) const;
  // Of a record or a queue.
  [[nodiscard]] const std::string& composite(const recorded::Declaration& declaration) const;
  [[nodiscard]] const std::string& enumerator(const recorded::Type& type, const std::string& member) const;
  // The constant for nothing in a maybe.
  [[nodiscard]] const std::string& none(const recorded::Type& maybe) const;
  [[nodiscard]] const std::string& function(const recorded::RigidFunction& function) const;
  // Of a rule, by its place in the description: an identifier that no other rule has.
  [[nodiscard]] const std::string& rule(std::size_t index) const { return rules_.at(index); }

  [[nodiscard]] std::string field(const std::string& name) const;  // within a record
  // "data(1)" -> ".data[1]"; empty where the row is a scalar.
  [[nodiscard]] std::string row_field(const std::string& path) const;
  [[nodiscard]] std::string variable(const std::string& name) const;  // of a rule, loop or quantifier

  // In order of use: what is used comes before its users.
  [[nodiscard]] const std::vector<recorded::Declaration>& composites() const { return composites_; }
  [[nodiscard]] const std::vector<recorded::Declaration>& enumerations() const { return enumerations_; }
  [[nodiscard]] const std::vector<recorded::Type>& maybes() const { return maybes_; }

  // An identifier like `wanted` that is free, taken from now on.
  std::string claim(const std::string& wanted);

 private:
  void take_variables(const recorded::Declaration& declaration, const std::string& name);
  void collect(const recorded::Declaration& declaration, const std::string& field);
  void name_enumerators();

  std::set<std::string> taken_;
  std::set<std::string> fields_;
  std::map<std::string, std::string> scalars_;  // by sort and name
  std::vector<recorded::Declaration> composites_;
  std::vector<std::string> composite_names_;
  std::vector<recorded::Declaration> enumerations_;
  std::map<std::pair<std::string, std::string>, std::string> enumerators_;
  std::vector<recorded::Type> maybes_;
  std::map<std::string, std::string> nones_;
  std::map<std::pair<std::string, std::string>, std::string> functions_;  // by name and domain
  std::vector<std::string> rules_;
  Scoping scoping_;
};

// The index types of a rule's parameters as its variables are called in the trees: cell, cell2, ...
std::vector<std::string> parameter_names(const std::vector<std::string>& index_types);

// What a rule is called for people: "P0 issues st x, 1", or its name alone.
std::string rule_title(const recorded::RecordedRule& rule, const recorded::WholeDescription& whole);

}  // namespace lockstep
