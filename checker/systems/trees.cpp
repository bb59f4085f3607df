#include "checker/systems/trees.hpp"

#include <fmt/format.h>

#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "checker/support/diagnostic.hpp"

namespace lockstep {

void refuse_unlawful(std::string_view system, const recorded::Description& trees) {
  for (const recorded::RecordedRule& rule : trees.rules) {
    if (rule.problems.empty()) continue;
    throw BadInput(fmt::format("the rule '{}' of {} breaks a law of protocol code: it {}", rule.name, system,
                               rule.problems.front()),
                   "its tree says something else than its code does, and reductions and exports rest on the "
                   "tree; the laws are in docs/writing-a-protocol.md, 5");
  }
}

const recorded::Description& trees_of(const SystemEntry& entry, const SystemOptions& options) {
  using Key = std::tuple<std::string_view, std::string, std::vector<std::string>, std::map<std::string, int>>;
  static std::mutex mutex;
  static std::map<Key, recorded::Description> known;
  const std::scoped_lock lock(mutex);
  const Key key{entry.name, options.variant, options.faults, options.sizes};
  auto found = known.find(key);
  if (found == known.end()) {
    recorded::Description trees = entry.describe(options);
    refuse_unlawful(entry.name, trees);
    found = known.emplace(key, std::move(trees)).first;
  }
  return found->second;
}

}  // namespace lockstep
