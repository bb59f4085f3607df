// How many bytes a message or an access to memory has: a sum that a machine file states beside a rule, such
// as
//   "8 + mask"                        a header, and the words that the message's mask names
//   "header + mask"                   likewise, with as large a header as the machine file says
//   "block - word[request = store]"   a block, of which a store brings a word
//   "wl3.dirty + cpu.dirty"           what the rule takes away from rows of two tables
// Numbers are headers; words, blocks, masks and marks are data.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spec/program/program.hpp"

namespace lockstep {

struct ByteTerm {
  enum class Kind : std::uint8_t {
    header,  // so many bytes
    word,    // what 16 lanes of 4 bytes access together
    block,
    mask,   // a word for each that the message's mask names
    marks,  // of rows of a table: a word or a block for each mark of the field that the rule takes away
  };
  Kind kind = Kind::header;
  bool subtracted = false;
  unsigned bytes = 0;  // of a header
  std::string table;   // of marks
  std::string field;
  // The term counts where a field of the message, or the operation that the thread asks for (`request`), has
  // one of these values, or none of them; always where no field is named.
  std::string condition;
  bool negated = false;
  std::vector<std::string> values;
};

// Says nothing where it has no terms.
struct ByteCount {
  SourcePlace place;
  std::vector<ByteTerm> terms;
  [[nodiscard]] bool said() const { return !terms.empty(); }
};

// A sum without its place; `header` stands for so many bytes, or means nothing where they are none. On text
// that is no sum returns no terms and says in `wrong` what is the matter.
std::vector<ByteTerm> parse_bytes(std::string_view text, unsigned header, std::string& wrong);

}  // namespace lockstep
