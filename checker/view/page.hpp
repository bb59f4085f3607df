// The page in the browser, one HTML text with all that it needs, built from view/.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace lockstep::view {

// As it was built; its data are null.
std::string_view page();
// With its data.
std::string page_with(std::string_view page, const nlohmann::json& data);

}  // namespace lockstep::view
