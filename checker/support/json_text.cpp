#include "checker/support/json_text.hpp"

#include <nlohmann/json.hpp>

namespace lockstep {

std::string json_text(const nlohmann::json& json, int indent) {
  return json.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string json_ascii(const nlohmann::json& json) {
  return json.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

}  // namespace lockstep
