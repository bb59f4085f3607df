// What a suggested lemma may say: questions of a state's fields, about variables that stand for different
// members of index types, and clauses of them.
//
// Fields are found by name, both among the scalars that the explorer packs and among the cells that the
// prover reads, so nothing here knows of a protocol.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "checker/explore/guard_inputs.hpp"
#include "proofs/terms.hpp"

namespace lockstep::suggest {

// A cell of the prover, without a state.
struct CellShape {
  std::vector<symbolic::Domain> indices;
  symbolic::Domain values;
};
using Cells = std::map<std::string, CellShape>;  // by name

enum class Sort : std::uint8_t { truth, enumeration, index, maybe, word, number };

// A scalar of a state, in every row of the tables that it lies in.
struct Field {
  std::string name;               // as cells have it, node.copy; of a Maybe without .has and .index
  std::vector<std::string> text;  // what people read between the indices: "node(", ").copy"
  std::vector<std::string> over;  // index types of its tables
  Sort sort = Sort::truth;
  std::string type = {};                  // of an index or a Maybe: its index type
  std::vector<std::string> members = {};  // of an enumeration
  int low = 0;                            // of a number
  int high = 0;
};

// How many members index types have, and so where each scalar of a state lies among all.
class Extents {
 public:
  Extents() = default;
  Extents(std::map<std::string, int> of, const std::vector<Field>& fields);
  [[nodiscard]] int of(const std::string& type) const { return of_.at(type); }
  [[nodiscard]] std::size_t scalars() const { return scalars_; }
  // Of the field's row with these indices.
  [[nodiscard]] std::size_t scalar(std::size_t field, const std::vector<int>& row) const;
  // Calls f(row) for each of the field's rows.
  void each_row(const Field& field, const std::function<void(const std::vector<int>&)>& f) const;

 private:
  std::map<std::string, int> of_;
  std::vector<std::size_t> first_;
  std::vector<std::vector<int>> over_;
  std::size_t scalars_ = 0;
};

// A state as numbers: truths are 0 and 1, enumerations and indices count from 0, a Maybe is 0 where it holds
// none, else its index and 1.
using Codes = std::vector<std::int64_t>;

struct Variable {
  std::string name;
  std::string type;
};

// A field in the row that variables name.
struct Use {
  std::size_t field = 0;
  std::vector<std::size_t> row;  // variables
  bool operator==(const Use&) const = default;
};

struct Literal {
  std::size_t atom = 0;
  bool positive = true;
  bool operator==(const Literal&) const = default;
  bool operator<(const Literal& other) const {
    return atom != other.atom ? atom < other.atom : positive < other.positive;
  }
};

// A question of a state, once each variable is a member.
struct Atom {
  enum class Kind : std::uint8_t { holds, is_member, is_variable, has, same, some };
  Kind kind = Kind::holds;
  Use use = {};
  std::int64_t member = 0;          // is_member: its code
  std::size_t variable = 0;         // is_variable; some: the one of which some member is asked for
  Use other = {};                   // same
  std::vector<Literal> inner = {};  // some: what holds of that member, unlike the others of its type
  bool operator==(const Atom&) const = default;
};

// One of them holds, whichever members the variables are. In order.
using Clause = std::vector<Literal>;

using Bits = std::vector<std::uint64_t>;
inline bool bit(const Bits& bits, std::size_t i) {
  return (bits[i / 64] >> (i % 64) & 1U) != 0;
}

// Of a cell's row in some state.
using CellReader = std::function<symbolic::Term(const std::string& cell, const symbolic::Arguments& row)>;

class Vocabulary {
 public:
  // Of the fields that both have, where no index type is open: cells of the prover, and scalars of a model,
  // of which some state has these values, as text and as packed.
  Vocabulary(const Cells& cells, const std::vector<ScalarBits>& scalars,
             const std::vector<std::string>& texts, const std::uint64_t* state);

  [[nodiscard]] const std::vector<Field>& fields() const { return fields_; }
  [[nodiscard]] const std::vector<Variable>& variables() const { return variables_; }
  [[nodiscard]] const std::vector<Atom>& atoms() const { return atoms_; }
  [[nodiscard]] const Extents& explored() const { return explored_; }
  [[nodiscard]] const Extents& proved() const { return proved_; }

  // The scalars of a packed state.
  void unpack(const std::uint64_t* state, Codes& codes) const;
  // What the atoms say of an explored state, for each choice of variables; and of one of the proof's.
  template <class F>
  void ask_explored(const Codes& codes, F&& f) const {
    ask(codes, explored_asking_, f);
  }
  template <class F>
  void ask_proved(const Codes& codes, F&& f) const {
    ask(codes, proved_asking_, f);
  }
  // The questions that only these variables are in; those of some member among them, or not.
  [[nodiscard]] Bits asked_of(const std::vector<std::size_t>& variables, bool of_some) const;

  [[nodiscard]] std::vector<std::size_t> variables_of(const Clause& clause) const;

  // "for all node i, j: i == j || !exclusive_granted || node(i).copy != exclusive"
  [[nodiscard]] std::string text(const Clause& clause) const;
  // The same clause by whichever names of its variables come first.
  [[nodiscard]] Clause canonical(const Clause& clause) const;
  // The part of all states, as a logarithm, that the literals' opposites describe.
  [[nodiscard]] double strength(const Clause& clause) const;
  // Within the current session, which has the index types of `cells`.
  [[nodiscard]] symbolic::Term term(const Clause& clause, const Cells& cells, const CellReader& read) const;

 private:
  struct Placed {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
    std::int64_t offset = 0;  // of what the bits say
  };
  [[nodiscard]] static std::int64_t bits_at(const std::uint64_t* state, const Placed& placed);

  // An atom for some choice of variables: a scalar's code and another's, or a number, with what is added to
  // either so that they compare.
  struct Question {
    std::uint32_t scalar = 0;
    std::uint32_t other = 0;
    std::int64_t number = 0;
    std::int8_t plus = 0;
    std::int8_t plus_other = 0;
    bool compares = false;  // with another scalar
    bool differs = false;   // whether the two are not the same
  };
  struct Asking {
    std::vector<Question> questions;  // of all atoms but those of some member, for one choice, then the next
    // By choice of variables, and by variable: the choices that differ in that one only, or not at all.
    std::vector<std::vector<std::vector<std::size_t>>> others;
  };
  template <class F>
  void ask(const Codes& codes, const Asking& asking, F&& f) const {
    const std::size_t choices = asking.others.size();
    thread_local std::vector<Bits> answers;
    answers.assign(choices, Bits((atoms_.size() + 63) / 64));
    for (std::size_t c = 0; c < choices; ++c) {
      for (std::size_t a = 0; a < plain_; ++a) {
        const Question& q = asking.questions[c * plain_ + a];
        const std::int64_t with = q.compares ? codes[q.other] + q.plus_other : q.number;
        const bool is = (codes[q.scalar] + q.plus == with) != q.differs;
        answers[c][a / 64] |= std::uint64_t{is} << (a % 64);
      }
    }
    for (std::size_t c = 0; c < choices; ++c) {
      for (std::size_t a = plain_; a < atoms_.size(); ++a) {
        const auto& among = asking.others[c][atoms_[a].variable];
        const bool is = std::any_of(among.begin(), among.end(), [&](std::size_t other) {
          return std::all_of(atoms_[a].inner.begin(), atoms_[a].inner.end(), [&](const Literal& literal) {
            return bit(answers[other], literal.atom) == literal.positive;
          });
        });
        answers[c][a / 64] |= std::uint64_t{is} << (a % 64);
      }
    }
    for (const Bits& bits : answers) f(bits);
  }
  [[nodiscard]] Asking asking(const Extents& extents) const;

  void find_fields(const Cells& cells, const std::vector<ScalarBits>& scalars,
                   const std::vector<std::string>& texts, const std::uint64_t* state);
  void find_variables();
  void find_atoms();
  void find_questions_of_some();
  void find_renamings();
  void note_variables(const Atom& atom, std::set<std::size_t>& used) const;
  [[nodiscard]] bool is_last_of_type(std::size_t variable) const;
  [[nodiscard]] std::vector<Use> uses_of(std::size_t field) const;
  [[nodiscard]] bool comparable(const Use& a, const Use& b) const;
  [[nodiscard]] std::string text(const Use& use) const;
  [[nodiscard]] std::string text(const Literal& literal) const;
  [[nodiscard]] std::vector<std::vector<int>> choices(const std::vector<std::size_t>& variables,
                                                      const Extents& extents) const;
  [[nodiscard]] symbolic::Term term(const Atom& atom, const Cells& cells, const CellReader& read,
                                    const symbolic::Arguments& members) const;

  [[nodiscard]] symbolic::Term term_of_some(const Atom& atom, const Cells& cells, const CellReader& read,
                                            symbolic::Arguments members) const;

  std::vector<Field> fields_;
  std::vector<Placed> placed_;  // by scalar of the explored extents
  Extents explored_;
  Extents proved_;
  std::vector<Variable> variables_;
  std::vector<Atom> atoms_;
  std::size_t plain_ = 0;  // atoms, before those of some member
  Asking explored_asking_;
  Asking proved_asking_;
  // Atoms by atom, one for each permutation of variables; none of some for which there is no other.
  std::vector<std::vector<std::size_t>> renamings_;
};

}  // namespace lockstep::suggest
