#include "checker/symmetry/packed_layout.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string_view>

namespace lockstep::symmetry {

namespace {

using recorded::Declaration;
using recorded::Sort;

// Walks what is described as states are walked to be packed (spec/kernel/reflect.hpp).
class Walk {
 public:
  Walk(const recorded::WholeDescription& whole, const std::vector<ScalarBits>& given,
       const std::vector<NotMeant>& not_meant, std::vector<Scalar>& scalars)
      : whole_(whole), given_(given), not_meant_(not_meant), scalars_(scalars) {}

  void of(const Declaration& d, const std::string& path) {
    switch (d.kind) {
      case Declaration::Kind::leaf:
        leaf(d, path);
        break;
      case Declaration::Kind::record:
        if (d.derived) return;
        for (std::size_t i = 0; i < d.parts.size(); ++i)
          of(d.parts[i], path.empty() ? d.names[i] : path + "." + d.names[i]);
        break;
      case Declaration::Kind::table:
        table(d, path, "", 0, static_cast<std::uint32_t>(stored(d.parts.front())));
        break;
      case Declaration::Kind::queue:
        queue(d, path);
        break;
    }
  }

 private:
  [[nodiscard]] std::uint32_t extent(const std::string& type) const {
    return static_cast<std::uint32_t>(whole_.extents.at(type));
  }

  // How many scalars are stored of it.
  [[nodiscard]] std::size_t stored(const Declaration& d) const {
    std::size_t all = d.kind == Declaration::Kind::leaf ? 1 : 0;
    if (d.kind == Declaration::Kind::record && d.derived) return 0;
    for (const Declaration& part : d.parts) all += stored(part);
    for (const std::string& type : d.over) all *= extent(type);
    return all + (d.kind == Declaration::Kind::queue ? 1 : 0);
  }

  void leaf(const Declaration& d, const std::string& path) {
    const std::size_t i = scalars_.size();
    if (i >= given_.size() || given_[i].path != path)
      throw std::logic_error("'" + path + "' is not where it is described");
    Scalar scalar;
    scalar.bits = given_[i].bits;
    scalar.maybe = d.type.sort == Sort::maybe;
    if (d.type.sort == Sort::index) scalar.holds = d.type.name;
    if (scalar.maybe) scalar.holds = d.type.name.substr(std::string_view("maybe ").size());
    if (d.type.sort == Sort::enumeration) members_[static_cast<std::uint32_t>(i)] = &d.members;
    scalar.rows = rows_;
    scalar.counted_by = counted_by_;
    scalar.slot = slot_;
    scalars_.push_back(std::move(scalar));
  }

  void table(const Declaration& d, const std::string& path, const std::string& indices, std::size_t next,
             std::uint32_t row) {
    if (next == d.over.size()) {
      of(d.parts.front(), path + "(" + indices + ")");
      return;
    }
    std::uint32_t stride = row;
    for (std::size_t i = next + 1; i < d.over.size(); ++i) stride *= extent(d.over[i]);
    for (std::uint32_t member = 0; member < extent(d.over[next]); ++member) {
      rows_.push_back({d.over[next], member, stride});
      table(d, path, (indices.empty() ? "" : indices + ",") + std::to_string(member), next + 1, row);
      rows_.pop_back();
    }
  }

  void queue(const Declaration& d, const std::string& path) {
    if (counted_by_ != nowhere) throw std::logic_error("'" + path + "' is a queue within a queue");
    leaf(recorded::leaf(recorded::int_type), path + ".count");
    counted_by_ = static_cast<std::uint32_t>(scalars_.size() - 1);
    for (slot_ = 0; slot_ < extent(d.over.front()); ++slot_) {
      const std::string message = path + "(" + std::to_string(slot_) + ")";
      const std::size_t first = scalars_.size();
      members_.clear();
      of(d.parts.front(), message);
      note_not_meant(without_indices(path), message, first);
    }
    counted_by_ = nowhere;
    slot_ = 0;
  }

  static std::string without_indices(const std::string& path) {
    std::string names;
    int depth = 0;
    for (const char c : path) {
      depth += c == '(' ? 1 : 0;
      if (depth == 0) names += c;
      depth -= c == ')' ? 1 : 0;
    }
    return names;
  }

  // Of the message whose scalars begin with `first`.
  void note_not_meant(const std::string& queue, const std::string& message, std::size_t first) {
    const auto scalar_of = [&](const std::string& field) {
      for (std::size_t i = first; i < scalars_.size(); ++i) {
        if (given_[i].path == message + "." + field) return static_cast<std::uint32_t>(i);
      }
      return nowhere;
    };
    for (const NotMeant& one : not_meant_) {
      if (one.queue != queue) continue;
      const std::uint32_t field = scalar_of(one.field);
      const std::uint32_t kind = scalar_of(one.kind);
      if (field == nowhere || kind == nowhere)
        throw std::logic_error("'" + message + "' has no '" + one.field + "' or '" + one.kind + "'");
      const std::vector<std::string>& members = *members_.at(kind);
      scalars_[field].kind = kind;
      for (std::size_t i = 0; i < members.size(); ++i) {
        if (one.kinds.contains(members[i])) scalars_[field].not_meant_in |= std::uint64_t{1} << i;
      }
    }
  }

  const recorded::WholeDescription& whole_;
  const std::vector<ScalarBits>& given_;
  const std::vector<NotMeant>& not_meant_;
  std::vector<Scalar>& scalars_;
  std::vector<Scalar::Row> rows_;
  std::map<std::uint32_t, const std::vector<std::string>*> members_;  // of a message's enumerations
  std::uint32_t counted_by_ = nowhere;
  std::uint32_t slot_ = 0;
};

}  // namespace

PackedLayout::PackedLayout(const recorded::WholeDescription& whole, const std::vector<ScalarBits>& scalars,
                           const std::vector<NotMeant>& not_meant) {
  Walk(whole, scalars, not_meant, scalars_).of(whole.state, "");
  if (scalars_.size() != scalars.size()) throw std::logic_error("a state has more than is described");
}

std::uint32_t PackedLayout::target(std::uint32_t scalar, const Renaming& renaming) const {
  std::uint32_t at = scalar;
  for (const Scalar::Row& row : scalars_[scalar].rows) {
    const auto found = renaming.find(row.over);
    if (found != renaming.end()) at += (found->second[row.member] - row.member) * row.stride;
  }
  return at;
}

std::vector<std::uint8_t> PackedLayout::codes(std::uint32_t scalar, const Renaming& renaming) const {
  const Scalar& of = scalars_[scalar];
  const auto found = renaming.find(of.holds);
  if (found == renaming.end()) return {};
  std::vector<std::uint8_t> codes;
  if (of.maybe) codes.push_back(0);
  for (const std::uint8_t member : found->second)
    codes.push_back(static_cast<std::uint8_t>(member + (of.maybe ? 1 : 0)));
  for (std::size_t i = 0; i < codes.size(); ++i) {
    if (codes[i] != i) return codes;
  }
  return {};
}

void PackedLayout::rename(const std::uint64_t* state, const Renaming& renaming, unsigned words,
                          std::uint64_t* out) const {
  std::vector<std::uint32_t> before(scalars_.size());
  std::vector<std::uint32_t> after(scalars_.size());
  unpack(state, before.data());
  for (std::uint32_t i = 0; i < scalars_.size(); ++i) {
    const std::vector<std::uint8_t> changed = codes(i, renaming);
    const bool changes = !changed.empty() && is_meant(scalars_[i], before.data());
    after[target(i, renaming)] = changes ? changed.at(before[i]) : before[i];
  }
  std::fill(out, out + words, 0);
  pack(after.data(), out);
}

void PackedLayout::unpack(const std::uint64_t* state, std::uint32_t* codes) const {
  for (const Scalar& scalar : scalars_) {
    const auto [first, count] = scalar.bits;
    if (count == 0) {
      *codes++ = 0;
      continue;
    }
    const std::uint32_t shift = first % 64;
    std::uint64_t bits = state[first / 64] >> shift;
    if (shift + count > 64) bits |= state[first / 64 + 1] << (64 - shift);
    *codes++ = static_cast<std::uint32_t>(bits & ((std::uint64_t{1} << count) - 1));
  }
}

void PackedLayout::pack(const std::uint32_t* codes, std::uint64_t* state) const {
  for (const Scalar& scalar : scalars_) {
    const std::uint64_t code = *codes++;
    const auto [first, count] = scalar.bits;
    if (count == 0) continue;
    const std::uint32_t shift = first % 64;
    state[first / 64] |= code << shift;
    if (shift + count > 64) state[first / 64 + 1] |= code >> (64 - shift);
  }
}

}  // namespace lockstep::symmetry
