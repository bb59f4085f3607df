#include "checker/interpret/field_layout.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace lockstep {

namespace {

// "memory.link1(0)(1).kind" as names, "memory.link1.kind", and indices, 0 and 1.
std::pair<std::string, std::vector<int>> taken_apart(std::string_view path) {
  std::pair<std::string, std::vector<int>> parts;
  for (std::size_t at = 0; at < path.size();) {
    if (path[at] != '(' && path[at] != ',') {
      if (path[at] != ')') parts.first += path[at];
      ++at;
      continue;
    }
    const char* const first = path.data() + at + 1;
    const auto [end, error] = std::from_chars(first, path.data() + path.size(), parts.second.emplace_back());
    if (error != std::errc{}) throw std::logic_error("no field is called '" + std::string(path) + "'");
    at = static_cast<std::size_t>(end - path.data());
  }
  return parts;
}

}  // namespace

FieldLayout::FieldLayout(const recorded::WholeDescription& whole, std::vector<footprint::Place> places,
                         std::vector<std::byte> defaults)
    : places_(std::move(places)), defaults_(std::move(defaults)) {
  // A state lists its scalars row by row.
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const auto [names, indices] = taken_apart(places_[i].path);
    FieldPlaces& field = fields_[{names, indices.size()}];
    field.extents.resize(indices.size(), 0);
    for (std::size_t d = 0; d < indices.size(); ++d)
      field.extents[d] = std::max(field.extents[d], indices[d] + 1);
    field.numbers.push_back(static_cast<std::uint32_t>(i));
  }
  for (const auto& [name, field] : fields_) {
    std::size_t all = 1;
    for (const int extent : field.extents) all *= static_cast<std::size_t>(extent);
    if (all != field.numbers.size()) throw std::logic_error("'" + name.first + "' is not a table of rows");
  }
  note(whole, whole.state, "", 0);
}

void FieldLayout::note(const recorded::WholeDescription& whole, const recorded::Declaration& declaration,
                       const std::string& names, std::size_t indices) {
  using Kind = recorded::Declaration::Kind;
  switch (declaration.kind) {
    case Kind::leaf:
      if (const auto found = fields_.find({names, indices});
          found != fields_.end() && declaration.low < declaration.high) {
        found->second.ranged = true;
        found->second.low = declaration.low;
        found->second.high = declaration.high;
      }
      break;
    case Kind::record:
      for (std::size_t i = 0; i < declaration.parts.size(); ++i)
        note(whole, declaration.parts[i], names + (names.empty() ? "" : ".") + declaration.names[i], indices);
      break;
    case Kind::table:
      note(whole, declaration.parts.front(), names, indices + declaration.over.size());
      break;
    case Kind::queue: {
      note(whole, declaration.parts.front(), names, indices + 1);
      QueuePlaces& queue = queues_[names];
      queue.count = &field(names + ".count", indices);
      queue.leading = indices;
      queue.capacity = whole.extents.at(declaration.over.front());
      for (const auto& [name, field] : fields_) {
        const bool within = name.first == names || name.first.starts_with(names + ".");
        if (within && name.second > indices) queue.scalars.push_back(&field);
      }
      break;
    }
  }
}

const FieldPlaces& FieldLayout::field(const std::string& names, std::size_t indices) const {
  const auto found = fields_.find({names, indices});
  if (found == fields_.end()) throw std::logic_error("no field '" + names + "'");
  return found->second;
}

const QueuePlaces* FieldLayout::queue(const recorded::Path& path, std::size_t& segments) const {
  std::string names;
  for (segments = 0; segments < path.size();) {
    names += (segments == 0 ? "" : ".") + path[segments].name;
    ++segments;
    if (const auto found = queues_.find(names); found != queues_.end()) return &found->second;
  }
  return nullptr;
}

void FieldLayout::write(std::uint32_t place, std::int64_t value, std::byte* state) const {
  const footprint::Place& at = places_[place];
  const auto put = [&](auto number) { std::memcpy(state + at.offset, &number, sizeof number); };
  switch (at.bytes) {
    case 1:
      put(static_cast<std::uint8_t>(value));
      break;
    case 2:
      put(static_cast<std::uint16_t>(value));
      break;
    default:
      put(static_cast<std::int32_t>(value));
  }
}

}  // namespace lockstep
