// What comes in from a browser: any address is answered, never with a mistake of ours, and conditions on
// states are read or refused. The first byte says which.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "checker/support/diagnostic.hpp"
#include "checker/view/site.hpp"
#include "checker/view/state_condition.hpp"

using namespace lockstep;

namespace {

const std::string token = "0123456789abcdef";

view::Site& site() {
  static view::Site made([] {
    view::SiteOptions options;
    options.token = token;
    options.hosts = {"h"};
    options.page = "<script id=\"lockstep-data\" type=\"application/json\">null</script>";
    options.models = {"sc", "tso"};
    options.tests.push_back(std::make_shared<const LitmusTest>(parse_litmus(
        "HRF t\n{ x = 0; }\n P0@wg 0,agent 0 ;\n st x, 1 ;\n ld r0, x ;\nexists (P0:r0 == 1)\n", "t")));
    options.first = nlohmann::json::array();
    return options;
  }());
  return made;
}

// "name=value&name=value", whatever is in it.
std::multimap<std::string, std::string> parameters_of(const std::string& text) {
  std::multimap<std::string, std::string> parameters;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('&', at), text.size());
    const std::string one = text.substr(at, end - at);
    const std::size_t equals = std::min(one.find('='), one.size());
    parameters.emplace(one.substr(0, equals), equals < one.size() ? one.substr(equals + 1) : "");
    at = end + 1;
  }
  return parameters;
}

void ask(const std::string& text) {
  const std::size_t question = std::min(text.find('?'), text.size());
  view::Request request;
  request.path = text.substr(0, question);
  // Whatever lies behind the token, too.
  if (request.path.starts_with("T")) request.path = "/" + token + request.path.substr(1);
  request.parameters = parameters_of(question < text.size() ? text.substr(question + 1) : "");
  request.host = "h";
  request.posts = text.size() % 2 == 1;
  const view::Answer answer = site().answer(request);
  if (answer.status >= 500) std::abort();
  if (answer.status == 200 && request.path.find(token) != 1) std::abort();
}

void read_condition(const std::string& text) {
  const std::vector<std::pair<std::string, std::string>> fields{{"memory.l1(0,1).present", "true"},
                                                                {"a", "3"}};
  try {
    const view::StateCondition condition(text, fields, nullptr);
    static_cast<void>(condition.holds({fields, {}}));
  } catch (const BadInput&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] % 2 == 0) {
    ask(text);
  } else {
    read_condition(text);
  }
  return 0;
}
