// Reading sums of bytes: terms joined by + and -, each a number, a name or TABLE.FIELD, with a condition in
// brackets behind it.
#include "refimpl/bytes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

namespace lockstep {

namespace {

constexpr unsigned most_bytes = 1 << 20;

class Reader {
 public:
  Reader(std::string_view text, unsigned header) : text_(text), header_(header) {}

  std::vector<ByteTerm> sum(std::string& wrong) {
    std::vector<ByteTerm> terms;
    bool subtracted = false;
    do {
      terms.push_back(term());
      terms.back().subtracted = subtracted;
      skip_spaces();
      subtracted = !rest_.empty() && rest_.front() == '-';
    } while (wrong_.empty() && (take('+') || take('-')));
    if (wrong_.empty() && !rest_.empty()) wrong_ = fmt::format("'{}' follows its end", rest_);
    wrong = wrong_;
    if (!wrong_.empty()) terms.clear();
    return terms;
  }

 private:
  void skip_spaces() {
    while (!rest_.empty() && rest_.front() == ' ') rest_.remove_prefix(1);
  }
  bool take(char c) {
    skip_spaces();
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  std::string name() {
    skip_spaces();
    const auto end = std::find_if(rest_.begin(), rest_.end(), [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && c != '.';
    });
    std::string result(rest_.begin(), end);
    rest_.remove_prefix(result.size());
    return result;
  }

  ByteTerm term() {
    ByteTerm t;
    const std::string what = name();
    if (what.empty()) {
      fail("a term is missing");
    } else if (std::isdigit(static_cast<unsigned char>(what.front())) != 0) {
      const auto [end, error] = std::from_chars(what.data(), what.data() + what.size(), t.bytes);
      if (error != std::errc() || end != what.data() + what.size() || t.bytes > most_bytes)
        fail(fmt::format("'{}' is not a number of bytes", what));
    } else if (what == "header") {
      t.bytes = header_;
      if (header_ == 0) fail("the machine has no header_bytes");
    } else if (what == "word") {
      t.kind = ByteTerm::Kind::word;
    } else if (what == "block") {
      t.kind = ByteTerm::Kind::block;
    } else if (what == "mask") {
      t.kind = ByteTerm::Kind::mask;
    } else if (const auto dot = what.find('.'); dot != std::string::npos) {
      t.kind = ByteTerm::Kind::marks;
      t.table = what.substr(0, dot);
      t.field = what.substr(dot + 1);
    } else {
      fail(fmt::format("'{}' is none of header, word, block, mask and TABLE.FIELD", what));
    }
    if (wrong_.empty() && take('[')) condition(t);
    return t;
  }
  void condition(ByteTerm& t) {
    t.condition = name();
    t.negated = take('!');
    if (t.condition.empty() || !take('=')) {
      fail("in brackets stands FIELD = VALUE or FIELD != VALUE");
      return;
    }
    do {
      t.values.push_back(name());
      if (t.values.back().empty()) fail("in brackets a value is missing");
    } while (take('|'));
    if (!take(']')) fail("the bracket is not closed");
  }
  void fail(std::string what) {
    if (wrong_.empty()) wrong_ = std::move(what);
  }

  std::string_view text_;
  unsigned header_;
  std::string_view rest_ = text_;
  std::string wrong_;
};

}  // namespace

std::vector<ByteTerm> parse_bytes(std::string_view text, unsigned header, std::string& wrong) {
  return Reader(text, header).sum(wrong);
}

}  // namespace lockstep
