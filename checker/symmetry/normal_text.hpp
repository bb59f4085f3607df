// Recorded trees as texts that do not depend on what means nothing: the order of operands that commute and of
// statements that nobody can tell apart, and the names of variables. Two trees of one text do the same.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "checker/symmetry/messages.hpp"
#include "spec/kernel/recorded.hpp"

namespace lockstep::symmetry {

// What each member of an index type becomes, by the type's name; those of types that are not in it stay.
using Renaming = std::map<std::string, std::vector<std::uint8_t>>;

// With the members that it names renamed, but for those in messages that are not meant. A parameter of a rule
// stands for any member. A rule's name, unit and source are not what it does, and are not in it.
std::string normal_text(const recorded::RecordedRule& rule, const Renaming& renaming,
                        const std::vector<NotMeant>& not_meant);
std::string normal_text(const recorded::Expression& expression, const Renaming& renaming);

// What trees name, but for what is not meant.
class Mentions {
 public:
  explicit Mentions(const std::vector<NotMeant>& not_meant) : not_meant_(not_meant) {}
  void of(const recorded::RecordedRule& rule);
  void of(const recorded::Expression& expression);

  std::set<std::pair<std::string, int>> members;             // an index type, and one of it
  std::map<std::string, bool> types;                         // index types; are members interchangeable?
  std::set<std::string> functions;                           // rigid ones
  std::set<std::pair<std::string, std::string>> taken_over;  // from which to which type a number is taken

 private:
  void of(const recorded::Path& path);
  void of(const std::vector<recorded::Statement>& block);
  const std::vector<NotMeant>& not_meant_;
};

}  // namespace lockstep::symmetry
