// Words, numbers and characters of a litmus test's text.
#include "checker/language/text.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "checker/support/diagnostic.hpp"

namespace lockstep::litmus {
namespace {

constexpr std::size_t longest_quote = 60;

bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// The number of bytes of the UTF-8 character at the start of `text`, 0 where there is none (RFC 3629).
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const auto follows = [&](std::size_t i, unsigned low = 0x80, unsigned high = 0xBF) {
    return byte(i) >= low && byte(i) <= high;
  };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return follows(1) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    const unsigned low = lead == 0xE0 ? 0xA0 : 0x80;
    const unsigned high = lead == 0xED ? 0x9F : 0xBF;
    return follows(1, low, high) && follows(2) ? 3 : 0;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    const unsigned low = lead == 0xF0 ? 0x90 : 0x80;
    const unsigned high = lead == 0xF4 ? 0x8F : 0xBF;
    return follows(1, low, high) && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

}  // namespace

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

bool is_register_name(std::string_view text) {
  return text.starts_with('r') && is_digits(text.substr(1));
}

std::string in_quotes(std::string_view text) {
  if (text.size() <= longest_quote) return "'" + std::string(text) + "'";
  return "'" + std::string(text.substr(0, longest_quote)) + "...'";
}

std::string count_of(std::size_t count, const std::string& thing) {
  return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

std::string list(const Names& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::optional<std::int32_t> to_int32(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const bool hexadecimal = text.starts_with("0x");
  if (hexadecimal) text.remove_prefix(2);
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value, hexadecimal ? 16 : 10);
  if (error != std::errc() || stopped != end || text.starts_with('-')) return std::nullopt;
  if (negative) value = -value;
  if (value < std::numeric_limits<std::int32_t>::min()) return std::nullopt;
  if (value > std::numeric_limits<std::int32_t>::max()) return std::nullopt;
  return static_cast<std::int32_t>(value);
}

void Source::fail(SourcePlace place, std::string message, std::string hint) const {
  throw BadInput(Diagnostic{file_, place, std::move(message), std::move(hint), line_of(text_, place.line)});
}

void Source::refuse(std::string message, SourcePlace place) const {
  throw BadInput(Diagnostic{file_, place, std::move(message), {}, {}});
}

void Source::check() const {
  if (text_.empty()) refuse("the file is empty");
  if (text_.size() > largest_text) refuse("the file is larger than 1 MiB");
  SourcePlace place{1, 1};
  for (std::size_t at = 0; at < text_.size();) {
    if (text_[at] == '\0') refuse("not a text file: it has a NUL byte", place);
    const std::size_t length = character_length(text_.substr(at));
    if (length == 0) refuse("not a text file: invalid UTF-8", place);
    place.column += static_cast<int>(length);
    if (text_[at] == '\n') place = {place.line + 1, 1};
    at += length;
  }
}

std::string Source::found(std::size_t at) const {
  const std::string_view rest = text_.substr(at);
  if (rest.empty()) return "the end of the file";
  const auto end = std::find_if_not(rest.begin(), rest.end(), is_word_character);
  if (end != rest.begin()) return in_quotes(rest.substr(0, static_cast<std::size_t>(end - rest.begin())));
  if (rest.front() == '\n' || rest.front() == '\r') return "the end of the line";
  if (static_cast<unsigned char>(rest.front()) < 0x20 || rest.front() == 0x7F) return "a control character";
  return in_quotes(rest.substr(0, character_length(rest)));
}

std::int32_t Source::constant(const Word& word) const {
  const std::optional<std::int32_t> value = to_int32(word.text);
  if (value) return *value;
  fail(word.place, in_quotes(word.text) + " is not an integer of 32 bits",
       "decimal or 0x hexadecimal, from -2147483648 to 2147483647");
}

std::string Source::one_of(const Word& word, const std::string& thing, const Names& known) const {
  if (std::find(known.begin(), known.end(), word.text) != known.end()) return std::string(word.text);
  fail(word.place, "unknown " + thing + " " + in_quotes(word.text), suggestion(word.text, known));
}

}  // namespace lockstep::litmus
