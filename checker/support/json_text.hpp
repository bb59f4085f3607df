// JSON as text that any reader takes: names of files and what stands in them may be in any encoding, and a
// byte that is no UTF-8 becomes U+FFFD instead of ending the command.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace lockstep {

// On one line where `indent` is negative.
std::string json_text(const nlohmann::json& json, int indent = -1);
// Of ASCII alone: the rest is escaped.
std::string json_ascii(const nlohmann::json& json);

}  // namespace lockstep
