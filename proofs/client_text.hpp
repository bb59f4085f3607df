// What the most general client of a memory system may ask (spec/program/client.hpp), in words for a proof's
// title: read off the list of its requests.
#pragma once

#include <string>

#include "proofs/terms.hpp"
#include "spec/program/client.hpp"

namespace lockstep {

std::string client_text(Watch watch, symbolic::Words words);

}  // namespace lockstep
