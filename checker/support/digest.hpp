// A text in a word, for journals and links: equal texts have equal ones, and others hardly ever.
#pragma once

#include <string>
#include <string_view>

namespace lockstep {

// 16 hexadecimal digits.
std::string digest(std::string_view text);

}  // namespace lockstep
