// Decides clauses by conflicts that it learns from, for a search whose own rules become clauses where they
// are broken (solver.hpp): unit propagation over two watched literals, learning at the first unique
// implication point, decisions on what conflicts were about last, restarts, at which half of what was learned
// is forgotten when there is too much of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lockstep {

// A variable, or its negation.
class Literal {
 public:
  constexpr Literal() = default;
  constexpr explicit Literal(int variable, bool holds = true) : code_(2 * variable + (holds ? 0 : 1)) {}
  [[nodiscard]] constexpr int variable() const { return code_ / 2; }
  [[nodiscard]] constexpr bool positive() const { return code_ % 2 == 0; }
  [[nodiscard]] constexpr std::size_t index() const { return static_cast<std::size_t>(code_); }
  constexpr Literal operator!() const { return Literal(variable(), !positive()); }
  constexpr bool operator==(const Literal&) const = default;

 private:
  int code_ = 0;
};

class Clauses {
 public:
  void clear();
  // Decided after those that came before, until conflicts say otherwise. `phase`: what a decision first makes
  // of it.
  int add_variable(bool phase);
  [[nodiscard]] int variables() const { return static_cast<int>(value_.size()); }
  // Of literals that may all be false already: then the next propagate() ends in this conflict.
  void add(std::vector<Literal> clause);

  [[nodiscard]] bool is_true(Literal l) const { return value_of(l) > 0; }
  [[nodiscard]] bool is_false(Literal l) const { return value_of(l) < 0; }
  [[nodiscard]] bool is_open(Literal l) const { return value_of(l) == 0; }
  [[nodiscard]] int level_of(Literal l) const { return level_[static_cast<std::size_t>(l.variable())]; }
  [[nodiscard]] int level() const { return static_cast<int>(level_begin_.size()); }
  // What is true, in the order in which it became so.
  [[nodiscard]] const std::vector<Literal>& trail() const { return trail_; }
  // How much of it holds whatever is decided.
  [[nodiscard]] std::size_t settled() const {
    return level_begin_.empty() ? trail_.size() : level_begin_.front();
  }

  // Draws the consequences. Conflicts are resolved by taking decisions back; false: there is no way left.
  bool propagate();
  // Decides the open variable that conflicts were about last, or says that there is none.
  bool decide();
  // To be called now and then; takes all decisions back when it is time, and says so.
  bool restart_if_due();
  // How much of the trail has been there ever since this was asked last.
  std::size_t kept();
  [[nodiscard]] std::uint64_t conflicts() const { return conflicts_; }

 private:
  static constexpr int none = -1;
  struct Clause {
    std::uint32_t begin;
    std::uint32_t size;
    std::uint32_t levels;  // of what was learned: how many took part; 0 of what was given
  };
  struct Watch {
    int clause;
    Literal other;  // of the clause: where it is true, there is nothing to do
  };

  [[nodiscard]] int value_of(Literal l) const {
    const int v = value_[static_cast<std::size_t>(l.variable())];
    return l.positive() ? v : -v;
  }
  std::span<Literal> literals(int clause) {
    const Clause& c = clauses_[static_cast<std::size_t>(clause)];
    return {literals_.data() + c.begin, c.size};
  }
  void store(std::span<const Literal> clause, std::uint32_t levels);
  void attach(int clause);
  void assign(Literal l, int reason);
  int conflict();  // the clause that is false, or none
  int propagate(Literal broken);
  bool resolve(int conflict);
  void shorten(std::vector<Literal>& learned);
  void back_to(int level);
  void forget();

  // Variables by when a conflict was about them last.
  void unlink(int variable);
  void put_in_front(int variable);

  std::vector<Literal> literals_;
  std::vector<Clause> clauses_;
  std::vector<std::vector<Watch>> watching_;  // by literal
  std::vector<std::int8_t> value_;            // by variable: 1 true, -1 false
  std::vector<bool> phase_;
  std::vector<int> level_;
  std::vector<int> reason_;
  std::vector<bool> seen_;
  std::vector<int> newer_;
  std::vector<int> older_;
  std::vector<std::uint64_t> stamp_;  // larger where newer
  int newest_ = none;
  int oldest_ = none;
  int next_ = none;  // none newer than this is open
  std::uint64_t last_stamp_ = std::uint64_t{1} << 32U;
  std::uint64_t first_stamp_ = std::uint64_t{1} << 32U;

  std::vector<Literal> trail_;
  std::vector<std::size_t> level_begin_;
  std::size_t head_ = 0;
  std::size_t kept_ = 0;
  std::vector<int> fresh_;  // clauses to be looked at before anything is propagated
  bool contradiction_ = false;
  std::uint64_t conflicts_ = 0;
  std::uint64_t restart_at_ = 0;
  std::uint64_t restarts_ = 0;
  std::size_t learned_ = 0;
  std::size_t most_learned_ = 0;
};

}  // namespace lockstep
