#include "proofs/client_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/describe/enum_to_string.hpp>
#include <vector>

namespace lockstep {

namespace {

using Texts = std::vector<std::string>;

template <class E>
std::string name_of(E value) {
  return boost::describe::enum_to_string(value, "?");
}
void add(Texts& texts, const std::string& text) {
  if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(text);
}

// Requests of one operation: "store of 0, 1 (plain, relaxed, release)".
struct Family {
  std::string operation;
  Texts data;
  Texts orders;
};

}  // namespace

std::string client_text(Watch watch, symbolic::Words words) {
  std::vector<Family> families;
  Texts scopes;
  for (const RequestShape& shape : request_shapes) {
    if (!is_issued(shape, watch)) continue;
    const bool rmw = shape.operation == Operation::rmw;
    const std::string operation = rmw ? name_of(shape.function) : name_of(shape.operation);
    auto family = std::find_if(families.begin(), families.end(),
                               [&](const Family& f) { return f.operation == operation; });
    if (family == families.end()) family = families.insert(family, Family{operation, {}, {}});
    add(family->orders, name_of(shape.order));
    if (rmw || shape.operation == Operation::store) add(family->data, std::to_string(shape.datum));
    if (shape.order != Order::plain) add(scopes, name_of(shape.scope));
  }
  std::string text;
  for (const Family& f : families) {
    text += fmt::format("{}{}{}{} ({})", text.empty() ? "" : ", ", f.operation, f.data.empty() ? "" : " of ",
                        fmt::join(f.data, " or "), fmt::join(f.orders, ", "));
  }
  text += fmt::format(", at {}", fmt::join(scopes, ", "));
  if (watch == Watch::first_word) text += "; of the watched word never 0";
  if (watch == Watch::sum) text += "; the watched word is only loaded and added to";
  if (watch == Watch::parity) text += "; the watched word is only loaded and inverted";
  text += words == symbolic::Words::bits ? "; words of 32 bits" : "; words are whole numbers";
  return text;
}

}  // namespace lockstep
