#include "checker/systems/wakes.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "checker/systems/trees.hpp"

namespace lockstep {

namespace {

using Wakes = RuleEngine::Wakes;

// A path without its indices: "port(thread).request.block" is "port.request.block".
std::string field_of(std::string_view path) {
  std::string field;
  int depth = 0;
  for (const char c : path) {
    if (c == '(' || c == '[') ++depth;
    if (depth == 0) field += c;
    if (c == ')' || c == ']') --depth;
  }
  return field;
}
std::set<std::string> fields_of(const std::set<std::string>& paths) {
  std::set<std::string> fields;
  for (const std::string& path : paths) fields.insert(field_of(path));
  return fields;
}
bool is_part_of(std::string_view part, std::string_view whole) {
  return part.starts_with(whole) && (part.size() == whole.size() || part[whole.size()] == '.');
}
bool meet(const std::set<std::string>& written, const std::set<std::string>& read) {
  return std::any_of(written.begin(), written.end(), [&](const std::string& w) {
    return std::any_of(read.begin(), read.end(),
                       [&](const std::string& r) { return is_part_of(w, r) || is_part_of(r, w); });
  });
}

// Of a memory system, by the names of its rules: the claims that each wakes, in the order of the description.
struct Matrix {
  std::vector<std::string> claims;  // rules
  std::unordered_map<std::string, Wakes> wakes;
};

Matrix matrix_of(const recorded::Description& description) {
  Matrix matrix;
  std::vector<std::set<std::string>> looked_at;
  for (const recorded::RecordedClaim& claim : description.claims) {
    if (claim.why == WhyAtOnce::waits) continue;
    matrix.claims.push_back(claim.rule);
    std::set<std::string>& fields = looked_at.emplace_back(fields_of(claim.reads));
    for (const recorded::RecordedRule& rule : description.rules) {
      if (rule.name != claim.rule) continue;
      std::set<std::string> reads;
      recorded::collect_reads(rule.guard, reads);
      if (!rule.trigger.empty()) reads.insert(recorded::print(rule.trigger));
      fields.merge(fields_of(reads));
    }
  }
  // What a thread's own moves depend on.
  const std::set<std::string> port{"port"};
  for (const recorded::RecordedRule& rule : description.rules) {
    const std::set<std::string> written = fields_of(rule.writes);
    Wakes& wakes = matrix.wakes[rule.name];
    for (std::size_t i = 0; i < std::min(looked_at.size(), RuleEngine::most_claims); ++i) {
      if (meet(written, looked_at[i])) wakes |= Wakes{1} << i;
    }
    if (meet(written, port)) wakes |= RuleEngine::wakes_moves;
  }
  return matrix;
}

}  // namespace

std::vector<Wakes> wakes_of(const SystemEntry& entry, const SystemOptions& options,
                            std::span<const RuleEngine::RuleOf> rules,
                            std::span<const AtOnceValue<ConcreteErased>> claims) {
  std::vector<Wakes> wakes(rules.size(), RuleEngine::wakes_all);
  if (entry.describe == nullptr) return wakes;
  const Matrix& matrix = derived_from_trees<Matrix>(entry, options, matrix_of);
  // Of the described claims only some may be used.
  std::vector<std::size_t> described;
  for (const auto& claim : claims) {
    const auto found = std::find(matrix.claims.begin(), matrix.claims.end(), claim.rule);
    if (found == matrix.claims.end()) return wakes;
    described.push_back(static_cast<std::size_t>(found - matrix.claims.begin()));
  }
  for (std::size_t r = 0; r < rules.size(); ++r) {
    const auto found = matrix.wakes.find(std::string(rules[r].rule.name));
    if (found == matrix.wakes.end()) continue;
    wakes[r] = found->second & RuleEngine::wakes_moves;
    for (std::size_t i = 0; i < described.size(); ++i) {
      if ((found->second >> described[i] & 1) != 0) wakes[r] |= Wakes{1} << i;
    }
  }
  return wakes;
}

}  // namespace lockstep
