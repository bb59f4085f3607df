// What the Symbolic kind is made of: Z3 terms, the fields of a state as functions of their indices, and the
// path through a rule that is being read.
//
// A field that lies in tables is a function from the tables' indices to its value, held as a closure over the
// function it was before: reading applies it, writing wraps it. So terms stay free of arrays and lambdas,
// whatever a rule writes, and at any size a loop over all members of an index type is one closure.
#pragma once

#include <z3++.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::symbolic {

using Term = z3::expr;
using Arguments = std::vector<Term>;

// Protocol code that has no reading at any size; the text says why.
class Unreadable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The values of a scalar or the members of an index type.
struct Domain {
  enum class Kind : std::uint8_t {
    boolean,
    finite,   // 0 .. size-1, as bit vectors
    any,      // an uninterpreted sort: any number of members
    word,     // a word of data
    integer,  // low .. high
  };
  Kind kind = Kind::boolean;
  std::string name;
  int size = 0;
  int low = 0;
  int high = 0;
  std::vector<std::string> members = {};  // names, for enumerations
};

// A field of the state: what it held before a rule was read, and what it holds now.
struct Cell {
  std::string name;
  std::vector<Domain> indices;
  Domain values;
  std::function<Term(const Arguments&)> before;
  std::function<Term(const Arguments&)> at;
};

// The fields of one state. Fields come into being when they are bound, either as variables or as the state
// that every field has by default.
class Store {
 public:
  enum class Start : std::uint8_t { variables, defaults };
  explicit Store(Start start) : start_(start) {}
  // The same fields with what they hold now.
  Store(const Store& other, Start start);
  [[nodiscard]] Start start() const { return start_; }
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  Cell& cell(const std::string& name, const std::vector<Domain>& indices, const Domain& values,
             const Term& otherwise);
  [[nodiscard]] const std::map<std::string, std::unique_ptr<Cell>>& cells() const { return cells_; }

  // The field, or every field of the part, has variables of its own: it may differ from that of another store
  // whose fields have the same names.
  void set_apart(std::string field) { apart_.push_back(std::move(field)); }
  [[nodiscard]] bool is_apart(std::string_view name) const;

 private:
  Start start_;
  std::vector<std::string> apart_;
  std::map<std::string, std::unique_ptr<Cell>> cells_;
};

// Where a field stands: its name so far, and the indices of the tables around it.
struct Place {
  Store* store = nullptr;
  std::string name;
  Arguments arguments;
  std::vector<Domain> indices;
  [[nodiscard]] Place member(std::string_view part) const;
};

// What a word of data is: 32 bits that wrap around, or a whole number without bound, whose bits nothing is
// known of; or `any`thing at all, of which an RMW makes anything that follows from its function, its operands
// and the word.
enum class Words : std::uint8_t { bits, numbers, any };
// Such that an RMW's function is what it computes.
constexpr Words computed(Words words) {
  return words == Words::any ? Words::numbers : words;
}

// The context of all terms of one thread, and the path through the rule being read.
class Session {
 public:
  explicit Session(bool any_size, Words words = Words::bits);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();
  static Session& current();

  [[nodiscard]] z3::context& context() { return context_; }
  // The state that rules are read on.
  void hold(Store* store) {
    store_ = store;
    frozen_.clear();
  }
  [[nodiscard]] Store& held() const;
  // A copy of that state, which lives until another is held.
  Store& freeze();
  [[nodiscard]] bool any_size() const { return any_size_; }
  [[nodiscard]] Words words() const { return words_; }
  // Whether everything so far is made of bits and truths: no sort without a bound, no whole numbers.
  [[nodiscard]] bool only_bits() const { return only_bits_; }

  [[nodiscard]] z3::sort sort(const Domain& domain);
  // The i-th member of a finite domain; of an uninterpreted one only the 0th, which stands for a default.
  [[nodiscard]] Term member(const Domain& domain, int i);
  [[nodiscard]] Term truth(bool b) { return context_.bool_val(b); }
  // A variable that ranges over the domain.
  [[nodiscard]] Term variable(const Domain& domain, const std::string& name);
  [[nodiscard]] std::string fresh(std::string_view name);
  // One that nothing else mentions, for a quantifier.
  [[nodiscard]] Term unbound(const Domain& domain);
  // A function that is fixed during a run (a placement), applied.
  [[nodiscard]] Term rigid(const std::string& name, const std::vector<Domain>& from, const Domain& to,
                           const Arguments& arguments);
  // The variable of a field at these indices.
  [[nodiscard]] Term base(const std::string& name, const std::vector<Domain>& from, const Domain& to,
                          const Arguments& arguments);

  void write(Cell& cell, const Arguments& arguments, const Term& value);
  // To be told of what a loop's body reads.
  void read(const Cell& cell, const Arguments& arguments);

  // Runs `body` where `condition` holds.
  template <class Body>
  void under(const Term& condition, Body&& body) {
    if (condition.is_false()) return;
    conditions_.push_back(condition);
    body();
    conditions_.pop_back();
  }
  [[nodiscard]] std::size_t depth() const { return conditions_.size(); }
  [[nodiscard]] std::size_t loops() const { return loops_.size(); }
  // The conditions on the path that were met after `depth` of them.
  [[nodiscard]] Term path_since(std::size_t depth);

  // Runs `body` for a member that stands for all members of an index type: what it writes is written to
  // every member's rows. Throws Unreadable where that is not what iterations one after the other come to: an
  // iteration reads what another writes, or two write different values to one row.
  template <class Body>
  void for_all(const Domain& domain, Body&& body) {
    const Term member = begin_loop(domain);
    body(member);
    end_loop();
  }

  // What has to hold wherever a rule comes by here: a queue that is pushed onto has room.
  void require(const Term& what, const std::string& text);
  struct Requirement {
    Term holds;
    std::string text;
  };
  [[nodiscard]] std::vector<Requirement> take_requirements();
  void drop_requirements() { requirements_.clear(); }

 private:
  // A write to every row that `guard` and the given indices select. `rows` are variables for the indices,
  // free in guard, points and value.
  struct Write {
    Cell* cell;
    Arguments rows;
    std::vector<std::optional<Term>> points;
    Term guard;
    Term value;
    Arguments written;  // the indices as the body had them
  };
  struct Read {
    const Cell* cell;
    Arguments arguments;
    Term guard;
  };
  struct Loop {
    Term member;
    std::size_t requirements;
    std::vector<Write> writes;
    std::map<Cell*, std::function<Term(const Arguments&)>> before;
    std::vector<Read> reads;
    std::set<std::vector<unsigned>> known_reads;
  };

  Term begin_loop(const Domain& domain);
  void end_loop();
  void apply(const Write& write);
  void note(const Write& write);
  void note(const Read& read);
  void check_independent(const Loop& loop);
  // Whether the write is to the row with these indices, and what then is written, by the iteration of `by`.
  static Term selects(const Write& write, const Arguments& row, const Term& member, const Term& by);
  static Term value_at(const Write& write, const Arguments& row, const Term& member, const Term& by);
  bool impossible(const Term& conflict);
  Term range(const Term& term, const Domain& domain);
  Term by_cases(const std::string& name, const std::vector<Domain>& from, const Domain& to,
                Arguments arguments, std::size_t next, std::string text);

  z3::context context_;
  bool any_size_;
  bool only_bits_;
  Words words_;
  Session* previous_;
  Store* store_ = nullptr;
  std::vector<std::unique_ptr<Store>> frozen_;
  std::vector<Term> conditions_;
  std::vector<Loop> loops_;
  std::vector<Requirement> requirements_;
  std::map<std::string, int> names_;
  std::map<std::string, z3::func_decl> functions_;
};

// Terms that fold where constants decide them.
Term both(const Term& a, const Term& b);
Term either(const Term& a, const Term& b);
Term negation(const Term& a);
Term equal(const Term& a, const Term& b);
Term choice(const Term& condition, const Term& a, const Term& b);
// The member of another index type at the same place: a function of its own at any size, of which the two
// directions undo each other.
Term paired(const Domain& from, const Domain& to, const Term& member);
// A function of which nothing is known, applied.
Term unknown_function(const char* name, const Domain& to, const Arguments& arguments);
// Of words.
Term less(const Term& a, const Term& b);
enum class Bitwise : std::uint8_t { both, either, one };
Term bitwise(Bitwise operation, const Term& a, const Term& b);

// Whether every field of either state holds the same in both, but for those that may differ, by name.
Term same_but(Store& a, Store& b, const std::function<bool(const std::string&)>& may_differ);

// What every scalar shares: it is bound to a field, or it is a value of its own.
class Scalar {
 public:
  static constexpr bool is_leaf = true;
  [[nodiscard]] Term term() const;

 protected:
  explicit Scalar(Term value);
  Scalar(const Scalar& other);
  Scalar& operator=(const Scalar& other);
  ~Scalar() = default;
  void assign(const Term& value);
  void bind_to_cell(const Place& place, const Domain& values);

 private:
  Cell* cell_ = nullptr;
  Arguments arguments_;
  Term value_;
  std::size_t depth_;
  std::size_t loops_;
};

}  // namespace lockstep::symbolic
