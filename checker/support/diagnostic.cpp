// Turns a Diagnostic into text for a terminal, and finds the name that somebody probably meant.
//
// The text is what a compiler prints: place and message, the source line with a caret under the column,
// and the remedy. Columns count bytes, as lexers do; the caret counts characters, as people do. Near names
// are found by edit distance (optimal string alignment: insert, delete, replace, swap neighbours), blind to
// case, so that `aquire`, `ACQUIRE` and `acquier` all lead to `acquire`.
#include "checker/support/diagnostic.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

namespace lockstep {
namespace {

constexpr std::size_t widest_excerpt = 140;     // bytes of a source line that are shown
constexpr std::size_t before_caret = 70;        // of these, at most so many before the caret
constexpr std::size_t longest_meant_name = 64;  // nothing longer is a misspelling of anything
constexpr std::size_t most_listed = 12;         // candidates in "one of: ..."

bool continues_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

bool is_control(char byte) {
  return static_cast<unsigned char>(byte) < 0x20U || byte == 0x7F;
}

// The part of a line that surrounds the caret, and what stands in front of the caret below it.
struct Excerpt {
  std::string line;
  std::string padding;
};

// Moves a cut to the start of a UTF-8 character.
std::size_t character_start(std::string_view line, std::size_t at) {
  while (at > 0 && at < line.size() && continues_character(line[at])) --at;
  return std::min(at, line.size());
}

Excerpt excerpt_around(std::string_view line, std::size_t caret) {
  caret = std::min(caret, line.size());
  const std::size_t cut = line.size() <= widest_excerpt || caret <= before_caret ? 0 : caret - before_caret;
  const std::size_t first = character_start(line, cut);
  const std::size_t last = character_start(line, std::min(line.size(), first + widest_excerpt));
  Excerpt excerpt;
  if (first > 0) excerpt.line = excerpt.padding = "...";
  if (first > 0) std::fill(excerpt.padding.begin(), excerpt.padding.end(), ' ');
  for (std::size_t at = first; at < last; ++at) {
    const char shown = line[at] != '\t' && is_control(line[at]) ? '?' : line[at];
    excerpt.line += shown;
    if (at < caret && !continues_character(shown)) excerpt.padding += shown == '\t' ? '\t' : ' ';
  }
  if (last < line.size()) excerpt.line += "...";
  return excerpt;
}

std::string place_text(const Diagnostic& diagnostic) {
  std::string text = diagnostic.file.empty() ? "" : diagnostic.file + ":";
  if (diagnostic.place.line > 0) text += std::to_string(diagnostic.place.line) + ":";
  if (diagnostic.place.line > 0 && diagnostic.place.column > 0) {
    text += std::to_string(diagnostic.place.column) + ":";
  }
  return text.empty() ? text : text + " ";
}

std::string source_text(const Diagnostic& diagnostic) {
  const int column = std::max(diagnostic.place.column, 1);
  const Excerpt excerpt = excerpt_around(diagnostic.source_line, static_cast<std::size_t>(column - 1));
  const std::string number = std::to_string(diagnostic.place.line);
  std::string text = "\n " + number + " | " + excerpt.line;
  if (diagnostic.place.column > 0) {
    text += "\n " + std::string(number.size(), ' ') + " | " + excerpt.padding + "^";
  }
  return text;
}

std::string lower_case(std::string_view name) {
  std::string lower(name);
  for (char& letter : lower) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return lower;
}

// Optimal string alignment distance, by rows of the usual table.
std::size_t edit_distance(std::string_view left, std::string_view right) {
  std::vector<std::size_t> two_above(right.size() + 1);
  std::vector<std::size_t> above(right.size() + 1);
  std::vector<std::size_t> row(right.size() + 1);
  for (std::size_t j = 0; j <= right.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= left.size(); ++i) {
    std::swap(two_above, above);
    std::swap(above, row);
    row[0] = i;
    for (std::size_t j = 1; j <= right.size(); ++j) {
      const std::size_t replaced = above[j - 1] + (left[i - 1] == right[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1];
      if (swapped) row[j] = std::min(row[j], two_above[j - 2] + 1);
    }
  }
  return row[right.size()];
}

// Up to one edit for each three letters, and always something of the name left.
std::size_t most_edits(std::string_view name, std::string_view candidate) {
  const std::size_t longest = std::max(name.size(), candidate.size());
  return std::min(std::max<std::size_t>(1, longest / 3), longest - 1);
}

std::string joined(std::span<const std::string> names) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < most_listed; ++i) {
    if (i > 0) text += ", ";
    text += names[i];
  }
  return names.size() > most_listed ? text + ", ..." : text;
}

}  // namespace

std::string Diagnostic::text() const {
  std::string text = place_text(*this) + "error: " + message;
  if (place.line > 0 && !source_line.empty()) text += source_text(*this);
  if (!hint.empty()) text += "\nhint: " + hint;
  return text;
}

BadInput::BadInput(Diagnostic diagnostic)
    : std::runtime_error(diagnostic.text()), diagnostic_(std::move(diagnostic)) {}

BadInput::BadInput(std::string message, std::string hint)
    : BadInput(Diagnostic{{}, {}, std::move(message), std::move(hint), {}}) {}

std::string line_of(std::string_view text, int number) {
  std::size_t start = 0;
  for (int skipped = 1; skipped < number && start != std::string_view::npos; ++skipped) {
    start = text.find('\n', start);
    if (start != std::string_view::npos) ++start;
  }
  if (number < 1 || start == std::string_view::npos) return {};
  std::string line(text.substr(start, text.find('\n', start) - start));
  if (line.ends_with('\r')) line.pop_back();
  return line;
}

std::string nearest(std::string_view name, std::span<const std::string> candidates) {
  if (name.empty() || name.size() > longest_meant_name) return {};
  const std::string lower = lower_case(name);
  std::string best;
  std::size_t fewest = longest_meant_name;
  for (const std::string& candidate : candidates) {
    if (candidate.empty() || candidate.size() > longest_meant_name) continue;
    if (candidate == name) return candidate;
    const std::size_t edits = edit_distance(lower, lower_case(candidate));
    if (edits > 0 && edits > most_edits(name, candidate)) continue;
    if (best.empty() || edits < fewest) best = candidate, fewest = edits;
  }
  return best;
}

std::string suggestion(std::string_view name, std::span<const std::string> candidates) {
  const std::string meant = nearest(name, candidates);
  if (!meant.empty()) return "did you mean '" + meant + "'?";
  return candidates.empty() ? std::string() : "one of: " + joined(candidates);
}

}  // namespace lockstep
