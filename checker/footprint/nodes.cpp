#include "checker/footprint/nodes.hpp"

#include <stdexcept>

namespace lockstep::footprint {

using recorded::Node;
using recorded::Op;

Constants::Constants(const recorded::Declaration& state) {
  note_members(state);
}

void Constants::note_members(const recorded::Declaration& declaration) {
  if (!declaration.members.empty()) {
    auto& members = members_[declaration.type.name];
    for (std::size_t i = 0; i < declaration.members.size(); ++i)
      members.emplace(declaration.members[i], static_cast<std::int64_t>(i));
  }
  for (const recorded::Declaration& part : declaration.parts) note_members(part);
}

std::int64_t Constants::of(const Node& constant) const {
  using recorded::Sort;
  if (constant.text == "true") return 1;
  if (constant.text == "false") return 0;
  if (constant.type.sort == Sort::enumeration) {
    const auto type = members_.find(constant.type.name);
    if (type == members_.end()) throw std::logic_error("no members are known of " + constant.type.name);
    return type->second.at(constant.text);
  }
  if (constant.type.sort == Sort::maybe) return constant.text == "none" ? 0 : std::stoll(constant.text) + 1;
  return std::stoll(constant.text);
}

std::optional<TermOp> binary_operator(Op op) {
  switch (op) {
    case Op::and_:
      return TermOp::and_;
    case Op::or_:
      return TermOp::or_;
    case Op::equal:
      return TermOp::equal;
    case Op::not_equal:
      return TermOp::not_equal;
    case Op::less:
      return TermOp::less;
    case Op::less_equal:
      return TermOp::less_equal;
    case Op::add:
      return TermOp::add;
    case Op::subtract:
      return TermOp::subtract;
    case Op::multiply:
      return TermOp::multiply;
    case Op::bit_and:
      return TermOp::bit_and;
    case Op::bit_or:
      return TermOp::bit_or;
    case Op::bit_xor:
      return TermOp::bit_xor;
    default:
      return std::nullopt;
  }
}

RigidFunctions::RigidFunctions(const std::vector<recorded::RigidFunction>& functions) {
  for (const recorded::RigidFunction& f : functions) by_name_.emplace(f.name, &f);
}

const recorded::RigidFunction* RigidFunctions::applied(const Node& node) const {
  // One that pairs up two index types may have the name of one of the placement's.
  const auto found = node.over.empty() ? by_name_.find(node.text) : by_name_.end();
  return found == by_name_.end() ? nullptr : found->second;
}

std::int64_t RigidFunctions::value(const recorded::RigidFunction* function, std::int64_t member) {
  if (function == nullptr) return member;
  const auto at = static_cast<std::size_t>(member);
  return at < function->image.size() ? function->image[at] : 0;
}

}  // namespace lockstep::footprint
