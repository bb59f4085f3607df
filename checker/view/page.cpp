#include "checker/view/page.hpp"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "checker/support/json_text.hpp"

namespace lockstep::view {

std::string page_with(std::string_view page, const nlohmann::json& data) {
  constexpr std::string_view place = "<script id=\"lockstep-data\" type=\"application/json\">null</script>";
  const std::size_t at = page.find(place);
  if (at == std::string_view::npos) throw std::logic_error("the page has no place for its data");
  // Nothing in a text may end the script that it stands in.
  std::string text;
  for (const char c : json_ascii(data)) {
    if (c == '<') {
      text += "\\u003c";
    } else {
      text += c;
    }
  }
  constexpr std::size_t value = place.find("null");
  std::string out(page.substr(0, at + value));
  out += text;
  out += page.substr(at + value + 4);
  return out;
}

}  // namespace lockstep::view
