#include "checker/symmetry/representatives.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>

namespace lockstep::symmetry {

Representatives::Representatives(const PackedLayout& layout, const std::vector<Renaming>& elements,
                                 unsigned words)
    : layout_(layout), words_(words), codes_(1, 0) {
  const auto scalars = static_cast<std::uint32_t>(layout.scalars().size());
  std::map<std::string, std::uint32_t> places;
  std::vector<std::vector<Source>> sources;
  for (const Renaming& element : elements) {
    std::vector<Source>& of = sources.emplace_back(scalars);
    for (std::uint32_t i = 0; i < scalars; ++i) {
      const std::vector<std::uint8_t> codes = layout.codes(i, element);
      std::uint32_t place = 0;
      if (!codes.empty()) {
        const auto [at, fresh] = places.try_emplace(std::string(codes.begin(), codes.end()),
                                                    static_cast<std::uint32_t>(codes_.size()));
        if (fresh) codes_.insert(codes_.end(), codes.begin(), codes.end());
        place = at->second;
      }
      of[layout.target(i, element)] = {i, place};
    }
  }
  for (std::uint32_t i = 0; i < scalars; ++i) {
    if (std::any_of(sources.begin(), sources.end(), [&](const auto& of) { return of[i] != Source{i, 0}; }))
      targets_.push_back(i);
  }
  // Elements by what they put there, one scalar after the other; of those that do the same one.
  std::vector<std::uint32_t> order(elements.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto compare = [&](std::uint32_t a, std::uint32_t b) {
    for (const std::uint32_t t : targets_) {
      if (sources[a][t] != sources[b][t]) return sources[a][t] < sources[b][t];
    }
    return false;
  };
  std::stable_sort(order.begin(), order.end(), compare);
  order.erase(std::unique(order.begin(), order.end(),
                          [&](auto a, auto b) { return !compare(a, b) && !compare(b, a); }),
              order.end());
  elements_ = order;
  // How many there are up to each scalar: stretches end where there get more.
  std::vector<std::uint32_t> part(order.size(), 0);
  std::uint32_t parts = 1;
  for (std::size_t begin = 0; begin < targets_.size();) {
    std::size_t end = begin;
    std::vector<std::uint32_t> finer = part;
    std::uint32_t now = parts;
    // The scalar that tells some apart begins a stretch.
    do {
      std::uint32_t n = 0;
      for (std::size_t i = 0; i < order.size(); ++i) {
        if (i > 0 && (part[i] != part[i - 1] ||
                      sources[order[i]][targets_[end]] != sources[order[i - 1]][targets_[end]]))
          ++n;
        finer[i] = n;
      }
      if (n + 1 != now && end > begin) break;
      now = n + 1;
      part = finer;
      ++end;
    } while (end < targets_.size());
    if (now % parts != 0) throw std::logic_error("renamings are not a group");
    Level& level = levels_.emplace_back();
    level.length = static_cast<std::uint32_t>(end - begin);
    level.fan_out = now / parts;
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (i > 0 && part[i] == part[i - 1]) continue;
      for (std::size_t t = begin; t < end; ++t) level.sources.push_back(sources[order[i]][targets_[t]]);
    }
    parts = now;
    begin = end;
  }
}

std::uint32_t Representatives::represent(std::uint64_t* state, Room& room) const {
  if (targets_.empty()) return 0;
  const std::vector<Scalar>& scalars = layout_.scalars();
  room.codes.resize(scalars.size());
  layout_.unpack(state, room.codes.data());
  const std::uint32_t* const codes = room.codes.data();
  const auto put = [&](Source source) {
    const std::uint32_t code = codes[source.scalar];
    const bool changes = source.codes != 0 && PackedLayout::is_meant(scalars[source.scalar], codes);
    return changes ? std::uint32_t{codes_[source.codes + code]} : code;
  };
  room.least.resize(targets_.size());
  room.nodes.assign(1, 0);
  std::uint32_t* least = room.least.data();
  for (const Level& level : levels_) {
    room.next.clear();
    for (const std::uint32_t node : room.nodes) {
      for (std::uint32_t child = node * level.fan_out; child < (node + 1) * level.fan_out; ++child) {
        const Source* const sources = level.sources.data() + std::size_t{child} * level.length;
        bool less = room.next.empty();
        bool more = false;
        for (std::uint32_t i = 0; i < level.length && !less && !more; ++i) {
          const std::uint32_t code = put(sources[i]);
          less = code < least[i];
          more = code > least[i];
        }
        if (more) continue;
        if (less) {
          room.next.clear();
          for (std::uint32_t i = 0; i < level.length; ++i) least[i] = put(sources[i]);
        }
        if (room.next.size() < most_kept) room.next.push_back(child);
      }
    }
    std::swap(room.nodes, room.next);
    least += level.length;
  }
  for (std::size_t t = 0; t < targets_.size(); ++t) room.codes[targets_[t]] = room.least[t];
  std::fill(state, state + words_, 0);
  layout_.pack(codes, state);
  return elements_[room.nodes.front()];
}

}  // namespace lockstep::symmetry
