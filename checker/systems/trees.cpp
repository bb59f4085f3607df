#include "checker/systems/trees.hpp"

#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace lockstep {

const recorded::Description& trees_of(const SystemEntry& entry, const SystemOptions& options) {
  using Key = std::tuple<std::string_view, std::string, std::vector<std::string>, std::map<std::string, int>>;
  static std::mutex mutex;
  static std::map<Key, recorded::Description> known;
  const std::scoped_lock lock(mutex);
  const Key key{entry.name, options.variant, options.faults, options.sizes};
  auto found = known.find(key);
  if (found == known.end()) found = known.emplace(key, entry.describe(options)).first;
  return found->second;
}

}  // namespace lockstep
