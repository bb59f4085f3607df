// The Recorded kind: running a rule yields its expression tree, and with it the exact fields it reads and
// writes. Exporters, footprints and `lockstep explain` are readings of these trees.
//
// A field of the state knows its access path; reading it makes a node, assigning it appends a statement to
// the block being recorded. `when` and loops over index types of any size become statements with blocks of
// their own; loops over fixed index types unroll. Copying a field into a local variable records a `let`, so
// that a later change of the field does not change what the variable means.
#pragma once

#include <boost/core/type_name.hpp>
#include <boost/describe.hpp>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "spec/kernel/at_once.hpp"
#include "spec/kernel/index.hpp"
#include "spec/kernel/kind.hpp"
#include "spec/kernel/reflect.hpp"
#include "spec/kernel/rules.hpp"

namespace lockstep {

struct Program;  // spec/program/program.hpp

namespace recorded {

enum class Op : std::uint8_t {
  constant,
  parameter,  // of a rule, a loop or a quantifier
  local,      // bound by a let
  read,       // of a field
  apply,      // of a rigid function
  not_,
  and_,
  or_,
  equal,
  not_equal,
  less,
  less_equal,
  add,
  subtract,
  multiply,
  bit_and,
  bit_or,
  bit_xor,
  select,    // condition, then, else
  some,      // an index as a Maybe
  has,       // whether a Maybe holds one
  value_of,  // the index that a Maybe holds
  forall,    // variable over an index type, body
  exists,
  count,
  contains,  // some entry of a queue satisfies the body
};

struct Node;
using Expression = std::shared_ptr<const Node>;

// memory.rl1(cu_of(t), b).written: names with their indices.
struct Segment {
  std::string name;
  std::vector<Expression> index;
  bool consumed = false;  // the head that a triggered rule consumes, which a later head is not
};
using Path = std::vector<Segment>;

enum class Sort : std::uint8_t { boolean, integer, word, index, maybe, enumeration };

// What an expression stands for: the name of its index type or enumeration, "bool", "int" or "value".
struct Type {
  std::string name;
  bool interchangeable = false;  // an index type that admits equality and nothing else
  Sort sort = Sort::integer;
  bool operator==(const Type&) const = default;
};

// What a state is made of, as a tree.
struct Declaration {
  enum class Kind : std::uint8_t { leaf, record, table, queue };
  Kind kind = Kind::leaf;
  Type type;                         // of a leaf; of a record its name
  std::vector<std::string> members;  // of an enumeration
  int low = 0;                       // of an integer
  int high = 0;
  std::vector<std::string> over;   // index types of a table; the slots of a queue
  std::vector<std::string> names;  // of a record's parts
  std::vector<Declaration> parts;  // of a record; the row of a table or queue
  bool derived = false;            // a function of the other fields, hence not stored
  bool unrolled = false;           // of a table: an Array, whose rows are fields of their own
  bool operator==(const Declaration&) const = default;
};

struct Node {
  Op op = Op::constant;
  Type type;
  std::string text;                  // of a constant, parameter, local or function
  std::string over;                  // index type of a quantifier's variable, or paired up with another
  std::vector<Expression> children;  // operands; a quantifier's is its body
  Path path;                         // of a read, or the queue of a contains
  std::size_t time = 0;              // of a read: how many statements had been recorded
};

struct Statement {
  enum class Kind : std::uint8_t { assign, let, when, for_each, push, push_front, pop };
  Kind kind = Kind::assign;
  Path target;                                          // of an assignment or a queue operation
  std::string name;                                     // of a let or a loop variable
  std::string over;                                     // index type of a loop
  Expression value;                                     // of an assignment or let; the condition of a when
  std::vector<std::pair<std::string, Expression>> row;  // of a push: field and value
  std::vector<Statement> then;
  std::vector<Statement> otherwise;
};

struct RecordedRule {
  std::string name;
  std::string unit;
  std::string source;
  Fairness fairness = Fairness::fair;
  std::vector<std::string>
      parameters;  // index types; the variables have the same names, numbered if repeated
  Path trigger;    // the channel whose head it consumes; empty if spontaneous
  Expression guard;
  std::vector<Statement> action;
  std::set<std::string> reads;  // access paths
  std::set<std::string> writes;
  std::vector<std::string> problems;         // where it breaks a law of protocol code
  const Instruction* instruction = nullptr;  // of a rule that executes one
  int thread = -1;
};

struct RecordedInvariant {
  std::string name;
  Expression predicate;
  std::set<std::string> reads;
};

// What is claimed of a rule (at_once.hpp), and what decides where: over the rule's parameters, whose
// variables have the same names.
struct RecordedClaim {
  std::string rule;
  WhyAtOnce why = WhyAtOnce::leads_ahead;
  Expression where;
  std::set<std::string> reads;
};

struct Description {
  Declaration state;
  std::vector<RecordedRule> rules;
  std::vector<RecordedInvariant> invariants;
  std::vector<RecordedClaim> claims;
  std::vector<std::string> fields;  // every declared field, as a path with index types for indices
};

// A function that a run's placement fixes, by its values.
struct RigidFunction {
  std::string name;
  std::string from;        // index type
  std::string to;          // index type; empty for a set, whose values are 0 and 1
  std::vector<int> image;  // by member of `from`
};

// A family of initial states: the action starts from a state in which every field has its default.
struct RecordedStart {
  std::vector<std::string> parameters;
  std::vector<Statement> action;
};

// A system that needs nothing else: all that explores it has to know. A memory system comes with the threads
// of a program.
struct WholeDescription : Description {
  std::map<std::string, int> extents;  // of every index type
  int value_low = 0;                   // the range of data words
  int value_high = 0;
  std::vector<RigidFunction> functions;
  std::vector<RecordedStart> starts;
  std::vector<RecordedInvariant> assertions;  // judged before the invariants
  std::vector<Statement> restore;             // gives derived fields their values, from their defaults
  Expression proper_end;
  // Of a program, what its outcomes are made of: the registers of each thread and the locations.
  std::shared_ptr<const Program> program;
  std::vector<std::vector<Expression>> final_registers;
  std::vector<Expression> final_locations;
};

// The text of a tree, in C++ syntax.
std::string print(const Expression& expression);
std::string print(const Path& path);
std::string print(const std::vector<Statement>& block, const std::string& indent);

// What a recording is in the middle of.
class Recorder {
 public:
  static Recorder& current() {
    if (active_ == nullptr)
      throw std::logic_error("recorded values exist only while a rule is being recorded");
    return *active_;
  }
  Recorder() : previous_(std::exchange(active_, this)) { blocks_.push_back(&root_); }
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;
  ~Recorder() { active_ = previous_; }

  void begin_guard() { guard_ = true; }
  void end_guard() { guard_ = false; }
  // What `body` answers for a variable that nothing outside of the question knows.
  template <class Body>
  Expression question(Body&& body) {
    ++questions_;
    Expression answer = body();
    --questions_;
    return answer;
  }
  // Whether nothing changes for now, so that what is read needs no keeping.
  [[nodiscard]] bool asks() const { return guard_ || questions_ > 0; }

  void add(Statement statement) {
    if (asks()) {
      problems_.push_back((guard_ ? "its guard writes " : "a question in it writes ") +
                          print(statement.target));
    }
    check_reads(statement);
    ++time_;
    if (!statement.target.empty()) written_.emplace_back(time_, print(statement.target));
    blocks_.back()->push_back(std::move(statement));
  }
  template <class Body>
  std::vector<Statement> block(const Expression& condition, Body&& body) {
    std::vector<Statement> statements;
    blocks_.push_back(&statements);
    conditions_.push_back(condition);
    body();
    conditions_.pop_back();
    blocks_.pop_back();
    return statements;
  }
  void add_block(Statement statement) { blocks_.back()->push_back(std::move(statement)); }

  [[nodiscard]] std::size_t time() const { return time_; }
  [[nodiscard]] std::size_t depth() const { return conditions_.size(); }
  [[nodiscard]] const std::vector<Expression>& conditions() const { return conditions_; }
  std::string fresh(std::string_view name) {
    const int n = ++names_[std::string(name)];
    return n == 1 ? std::string(name) : std::string(name) + std::to_string(n);
  }
  void problem(std::string text) { problems_.push_back(std::move(text)); }

  std::vector<Statement> take_action() { return std::move(root_); }
  std::vector<std::string> take_problems() { return std::move(problems_); }

  // A value that was read before a write of the same field and is used after it would mean two things.
  void check_reads(const Expression& e) {
    if (!e) return;
    if (e->op == Op::read || e->op == Op::contains) {
      const std::string text = print(e->path);
      for (const auto& [when, path] : written_) {
        // A queue is written as a whole and read through its parts.
        if (when > e->time && (text == path || text.starts_with(path + ".")))
          problems_.push_back("uses " + text + " as it was before it changed");
      }
    }
    check_indices(e->path);
    for (const Expression& child : e->children) check_reads(child);
  }

 private:
  void check_reads(const Statement& statement) {
    check_indices(statement.target);
    check_reads(statement.value);
    for (const auto& [name, value] : statement.row) check_reads(value);
  }
  void check_indices(const Path& path) {
    for (const Segment& segment : path) {
      for (const Expression& index : segment.index) check_reads(index);
    }
  }

  inline static thread_local Recorder* active_ = nullptr;
  Recorder* previous_;
  bool guard_ = false;
  int questions_ = 0;  // within one another
  std::size_t time_ = 0;
  std::vector<Statement> root_;
  std::vector<std::vector<Statement>*> blocks_;
  std::vector<Expression> conditions_;
  std::vector<std::pair<std::size_t, std::string>> written_;
  std::map<std::string, int> names_;
  std::vector<std::string> problems_;
};

inline Expression make(Op op, Type type, std::vector<Expression> children, std::string text = {}) {
  auto node = std::make_shared<Node>();
  node->op = op;
  node->type = std::move(type);
  node->children = std::move(children);
  node->text = std::move(text);
  return node;
}
inline Expression constant(Type type, std::string text) {
  return make(Op::constant, std::move(type), {}, std::move(text));
}
inline bool is_constant(const Expression& e, std::string_view text) {
  return e->op == Op::constant && e->text == text;
}

inline const Type bool_type{"bool", false, Sort::boolean};
inline const Type int_type{"int", false, Sort::integer};
inline const Type value_type{"value", false, Sort::word};

inline Declaration leaf(Type type) {
  Declaration declaration;
  declaration.type = std::move(type);
  return declaration;
}

// Constants fold, so that a fault that is off or a variant that is not chosen leaves no trace in a tree.
inline Expression negation(const Expression& a) {
  if (is_constant(a, "true")) return constant(bool_type, "false");
  if (is_constant(a, "false")) return constant(bool_type, "true");
  if (a->op == Op::not_) return a->children[0];
  return make(Op::not_, bool_type, {a});
}
inline Expression conjunction(const Expression& a, const Expression& b) {
  if (is_constant(a, "true") || is_constant(b, "false")) return b;
  if (is_constant(b, "true") || is_constant(a, "false")) return a;
  return make(Op::and_, bool_type, {a, b});
}
inline Expression disjunction(const Expression& a, const Expression& b) {
  if (is_constant(a, "false") || is_constant(b, "true")) return b;
  if (is_constant(b, "false") || is_constant(a, "true")) return a;
  return make(Op::or_, bool_type, {a, b});
}
inline Expression choice(const Expression& condition, const Expression& a, const Expression& b) {
  if (is_constant(condition, "true")) return a;
  if (is_constant(condition, "false")) return b;
  return make(Op::select, a->type, {condition, a, b});
}
inline Expression comparison(Op op, const Expression& a, const Expression& b) {
  if (a->op == Op::constant && b->op == Op::constant && (op == Op::equal || op == Op::not_equal)) {
    return constant(bool_type, (a->text == b->text) == (op == Op::equal) ? "true" : "false");
  }
  return make(op, bool_type, {a, b});
}

// What every scalar shares: it is bound to a field, or it is a value of its own.
class Scalar {
 public:
  static constexpr bool is_leaf = true;

  [[nodiscard]] Expression value() const {
    if (path_.empty()) return value_;
    auto node = std::make_shared<Node>();
    node->op = Op::read;
    node->type = type_;
    node->path = path_;
    node->time = Recorder::current().time();
    return node;
  }
  void bind(Path path) { path_ = std::move(path); }

 protected:
  explicit Scalar(Expression value)
      : type_(value->type), value_(std::move(value)), depth_(Recorder::current().depth()) {}
  Scalar(const Scalar& other)
      : type_(other.type_), value_(copied(other)), depth_(Recorder::current().depth()) {}
  Scalar& operator=(const Scalar& other) {
    if (this != &other) assign(other.value());
    return *this;
  }
  ~Scalar() = default;

  void assign(const Expression& value) {
    Recorder& recorder = Recorder::current();
    if (!path_.empty()) {
      Statement statement;
      statement.target = path_;
      statement.value = value;
      recorder.add(std::move(statement));
      return;
    }
    Expression guarded = value;
    for (std::size_t i = recorder.depth(); i > depth_; --i) {
      guarded = choice(recorder.conditions()[i - 1], guarded, value_);
    }
    value_ = guarded;
  }

 private:
  static Expression copied(const Scalar& other) {
    const Expression value = other.value();
    Recorder& recorder = Recorder::current();
    if (value->op != Op::read || recorder.asks()) return value;
    Statement let;
    let.kind = Statement::Kind::let;
    let.name = recorder.fresh(other.path_.back().name);
    let.value = value;
    const Expression local = make(Op::local, value->type, {}, let.name);
    recorder.add(std::move(let));
    return local;
  }

  Type type_;
  Path path_;  // empty: not a field
  Expression value_;
  std::size_t depth_;
};

}  // namespace recorded

// Closures of every Recorded kind pass expressions: what reads them compiles once.
struct RecordedErased {
  using Member = recorded::Expression;
  using Truth = recorded::Expression;
  using Type = recorded::Type;
  using Channel = recorded::Path;
  static constexpr bool decides = false;
};

template <class SizesType>
class Recorded {
 public:
  using Sizes = SizesType;
  using Erased = RecordedErased;
  using Expression = recorded::Expression;
  using Op = recorded::Op;

  Sizes sizes{};

  // Recordings take place at the sizes of `k`: those of fixed index types unroll.
  explicit Recorded(Sizes s) : sizes(s) {
    sizes.visit([]<class Tag>(Tag, int& size) { extent_of<Tag> = size; });
  }

  template <class A>
  static auto compare(Op op, const A& a, const A& b) {
    return Bool(recorded::comparison(op, a.recorded::Scalar::value(), b.recorded::Scalar::value()));
  }
  template <class A>
  static Expression binary(Op op, const A& a, const A& b) {
    const Expression left = a.recorded::Scalar::value();
    return recorded::make(op, left->type, {left, b.recorded::Scalar::value()});
  }

  struct Bool : recorded::Scalar {
    Bool() : Bool(false) {}
    Bool(bool b) : Scalar(recorded::constant(recorded::bool_type, b ? "true" : "false")) {}
    explicit Bool(Expression e) : Scalar(std::move(e)) {}
    Bool(const Bool&) = default;
    Bool& operator=(const Bool&) = default;
    static recorded::Declaration declaration() { return recorded::leaf(recorded::bool_type); }
    friend Bool operator&&(const Bool& a, const Bool& b) {
      return Bool(recorded::conjunction(a.value(), b.value()));
    }
    friend Bool operator||(const Bool& a, const Bool& b) {
      return Bool(recorded::disjunction(a.value(), b.value()));
    }
    friend Bool operator!(const Bool& a) { return Bool(recorded::negation(a.value())); }
    friend Bool operator==(const Bool& a, const Bool& b) { return compare(Op::equal, a, b); }
    friend Bool operator!=(const Bool& a, const Bool& b) { return compare(Op::not_equal, a, b); }
  };

  struct Number : recorded::Scalar {
    Number(int n) : Scalar(recorded::constant(recorded::int_type, std::to_string(n))) {}
    explicit Number(Expression e) : Scalar(std::move(e)) {}
    Number(const Number&) = default;
    Number& operator=(const Number&) = default;
    friend Number operator+(const Number& a, const Number& b) { return Number(binary(Op::add, a, b)); }
    friend Number operator-(const Number& a, const Number& b) { return Number(binary(Op::subtract, a, b)); }
    friend Bool operator==(const Number& a, const Number& b) { return compare(Op::equal, a, b); }
    friend Bool operator!=(const Number& a, const Number& b) { return compare(Op::not_equal, a, b); }
    friend Bool operator<(const Number& a, const Number& b) { return compare(Op::less, a, b); }
    friend Bool operator<=(const Number& a, const Number& b) { return compare(Op::less_equal, a, b); }
    friend Bool operator>(const Number& a, const Number& b) { return compare(Op::less, b, a); }
    friend Bool operator>=(const Number& a, const Number& b) { return compare(Op::less_equal, b, a); }
  };

  template <int Low, int High>
  struct Int : Number {
    Int() : Number(Low > 0 ? Low : (High < 0 ? High : 0)) {}
    Int(int n) : Number(n) {}
    Int(const Number& n) : Number(n) {}
    Int(const Int&) = default;
    Int& operator=(const Int&) = default;
    static recorded::Declaration declaration() {
      recorded::Declaration declaration = recorded::leaf(recorded::int_type);
      declaration.low = Low;
      declaration.high = High;
      return declaration;
    }
  };

  template <class E>
  struct Enum : recorded::Scalar {
    Enum() : Enum(E{}) {}
    Enum(E e) : Scalar(recorded::constant(type(), boost::describe::enum_to_string(e, "?"))) {}
    explicit Enum(Expression e) : Scalar(std::move(e)) {}
    Enum(const Enum&) = default;
    Enum& operator=(const Enum&) = default;
    static recorded::Type type() { return {boost::core::type_name<E>(), false, recorded::Sort::enumeration}; }
    static recorded::Declaration declaration() {
      recorded::Declaration declaration = recorded::leaf(type());
      boost::mp11::mp_for_each<boost::describe::describe_enumerators<E>>(
          [&](auto member) { declaration.members.emplace_back(member.name); });
      return declaration;
    }
    friend Bool operator==(const Enum& a, const Enum& b) { return compare(Op::equal, a, b); }
    friend Bool operator!=(const Enum& a, const Enum& b) { return compare(Op::not_equal, a, b); }
  };

  template <IndexTag Tag>
  struct Ix : recorded::Scalar {
    using tag = Tag;
    Ix() : Scalar(recorded::constant(type_of<Tag>(), "0")) {}
    explicit Ix(Expression e) : Scalar(std::move(e)) {}
    Ix(const Ix&) = default;
    Ix& operator=(const Ix&) = default;
    static recorded::Declaration declaration() { return recorded::leaf(type_of<Tag>()); }
    friend Bool operator==(const Ix& a, const Ix& b) { return compare(Op::equal, a, b); }
    friend Bool operator!=(const Ix& a, const Ix& b) { return compare(Op::not_equal, a, b); }
    friend Bool operator<(const Ix& a, const Ix& b) requires(!Tag::interchangeable) {
      return compare(Op::less, a, b);
    }
  };

  template <IndexTag Tag>
  struct Maybe : recorded::Scalar {
    Maybe() : Scalar(recorded::constant(maybe_type(), "none")) {}
    Maybe(const Ix<Tag>& i) : Scalar(recorded::make(Op::some, maybe_type(), {i.value()})) {}
    explicit Maybe(Expression e) : Scalar(std::move(e)) {}
    Maybe(const Maybe&) = default;
    Maybe& operator=(const Maybe&) = default;
    static recorded::Declaration declaration() { return recorded::leaf(maybe_type()); }
    [[nodiscard]] Bool has() const {
      return Bool(recorded::make(Op::has, recorded::bool_type, {this->Scalar::value()}));
    }
    [[nodiscard]] Ix<Tag> index() const {
      return Ix<Tag>(recorded::make(Op::value_of, type_of<Tag>(), {this->Scalar::value()}));
    }
    friend Bool operator==(const Maybe& a, const Maybe& b) { return compare(Op::equal, a, b); }
    friend Bool operator!=(const Maybe& a, const Maybe& b) { return compare(Op::not_equal, a, b); }

   private:
    static recorded::Type maybe_type() {
      return {"maybe " + std::string(Tag::name), Tag::interchangeable, recorded::Sort::maybe};
    }
  };

  struct Value : recorded::Scalar {
    Value() : Value(0) {}
    Value(std::int32_t n) : Scalar(recorded::constant(recorded::value_type, std::to_string(n))) {}
    explicit Value(Expression e) : Scalar(std::move(e)) {}
    Value(const Value&) = default;
    Value& operator=(const Value&) = default;
    static recorded::Declaration declaration() { return recorded::leaf(recorded::value_type); }
    friend Bool operator==(const Value& a, const Value& b) { return compare(Op::equal, a, b); }
    friend Bool operator!=(const Value& a, const Value& b) { return compare(Op::not_equal, a, b); }
    friend Bool operator<(const Value& a, const Value& b) { return compare(Op::less, a, b); }
    friend Bool operator>=(const Value& a, const Value& b) { return compare(Op::less_equal, b, a); }
    friend Value operator+(const Value& a, const Value& b) { return Value(binary(Op::add, a, b)); }
    friend Value operator-(const Value& a, const Value& b) { return Value(binary(Op::subtract, a, b)); }
    friend Value operator*(const Value& a, const Value& b) { return Value(binary(Op::multiply, a, b)); }
    friend Value operator&(const Value& a, const Value& b) { return Value(binary(Op::bit_and, a, b)); }
    friend Value operator|(const Value& a, const Value& b) { return Value(binary(Op::bit_or, a, b)); }
    friend Value operator^(const Value& a, const Value& b) { return Value(binary(Op::bit_xor, a, b)); }
  };

  // ---- containers ----------------------------------------------------------------------------------------

  // Always a field; an index makes a row that is bound to the path.
  template <class Row, IndexTag... Tags>
  class Table {
   public:
    static constexpr bool is_table = true;
    Table() = default;
    Row& operator()(const Ix<Tags>&... index) const {
      recorded::Path path = path_;
      path.back().index = {index.value()...};
      rows_.emplace_back();
      bind_to(rows_.back(), std::move(path));
      return rows_.back();
    }
    void bind(recorded::Path path) { path_ = std::move(path); }
    static recorded::Declaration declaration() {
      return rows(recorded::Declaration::Kind::table, declare<Row>(), {std::string(Tags::name)...});
    }
    // For the list of fields: a row whose indices are the names of the index types.
    Row& any() const { return (*this)(variable<Tags>(std::string(Tags::name))...); }
    [[nodiscard]] std::vector<Expression> any_index() const {
      return {recorded::make(Op::parameter, type_of<Tags>(), {}, std::string(Tags::name))...};
    }

   private:
    recorded::Path path_;
    mutable std::deque<Row> rows_;
  };

  // Over a fixed index type: its elements stand each for itself, so it may be part of a message or a
  // variable.
  template <class Row, IndexTag Tag>
  class Array {
   public:
    static_assert(Tag::fixed, "an Array is over a fixed index type");
    Array() : elements_(static_cast<std::size_t>(extent_of<Tag>)) {}
    Array(const Array& other) {
      for (const Row& row : other.elements_) elements_.push_back(row);
    }
    Array& operator=(const Array& other) {
      for (std::size_t i = 0; i < elements_.size(); ++i) elements_[i] = other.elements_[i];
      return *this;
    }
    Row& operator()(const Ix<Tag>& i) { return elements_.at(position(i)); }
    const Row& operator()(const Ix<Tag>& i) const { return elements_.at(position(i)); }
    void bind(const recorded::Path& path) {
      for (std::size_t i = 0; i < elements_.size(); ++i) {
        recorded::Path at = path;
        at.back().index.push_back(recorded::constant(type_of<Tag>(), std::to_string(i)));
        bind_to(elements_[i], std::move(at));
      }
    }
    static recorded::Declaration declaration() {
      recorded::Declaration declaration =
          rows(recorded::Declaration::Kind::table, declare<Row>(), {std::string(Tag::name)});
      declaration.unrolled = true;
      return declaration;
    }
    [[nodiscard]] const std::deque<Row>& elements() const { return elements_; }

   private:
    static std::size_t position(const Ix<Tag>& i) {
      const Expression e = i.value();
      if (e->op != Op::constant) {
        throw std::logic_error("an array over '" + std::string(Tag::name) +
                               "' is indexed by state; use k.at or k.pick");
      }
      return static_cast<std::size_t>(std::stoul(e->text));
    }
    std::deque<Row> elements_;
  };

  template <class Row, IndexTag Slot>
  class Fifo {
   public:
    static constexpr bool is_fifo = true;
    [[nodiscard]] Bool empty() const { return bit("empty"); }
    [[nodiscard]] Bool is_full() const { return bit("full"); }
    [[nodiscard]] const Row& head() const { return entry("head"); }
    // A row bound to one entry of the queue: its head, or "entry" for any.
    [[nodiscard]] const Row& entry(std::string_view which) const {
      rows_.emplace_back();
      bind_to(rows_.back(), extended(which));
      return rows_.back();
    }
    // The head that a triggered rule consumes: what comes to the head after it is another.
    [[nodiscard]] const Row& message() const {
      recorded::Path path = extended("head");
      path.back().consumed = true;
      rows_.emplace_back();
      bind_to(rows_.back(), std::move(path));
      return rows_.back();
    }
    static recorded::Declaration declaration() {
      return rows(recorded::Declaration::Kind::queue, declare<Row>(), {std::string(Slot::name)});
    }
    [[nodiscard]] Bool bit(std::string_view which) const {
      Bool b;
      b.bind(extended(which));
      return Bool(b.value());
    }
    void bind(recorded::Path path) { path_ = std::move(path); }
    [[nodiscard]] const recorded::Path& path() const { return path_; }

   private:
    [[nodiscard]] recorded::Path extended(std::string_view which) const {
      recorded::Path path = path_;
      path.push_back({std::string(which), {}});
      return path;
    }
    recorded::Path path_;
    mutable std::deque<Row> rows_;
  };

  // ---- rigid functions -----------------------------------------------------------------------------------

  template <IndexTag From, IndexTag To>
  struct Map {
    std::string name;
    Ix<To> operator()(const Ix<From>& i) const {
      return Ix<To>(recorded::make(Op::apply, type_of<To>(), {i.value()}, name));
    }
  };
  template <IndexTag Tag>
  struct Set {
    std::string name;
    Bool operator()(const Ix<Tag>& i) const {
      return Bool(recorded::make(Op::apply, recorded::bool_type, {i.value()}, name));
    }
  };

  // ---- control -------------------------------------------------------------------------------------------

  template <class Then>
  static void when(const Bool& condition, Then&& then) {
    when(condition, then, [] {});
  }
  template <class Then, class Else>
  static void when(const Bool& condition, Then&& then, Else&& otherwise) {
    auto& recorder = recorded::Recorder::current();
    const Expression c = condition.value();
    if (recorded::is_constant(c, "true")) return then();
    if (recorded::is_constant(c, "false")) return otherwise();
    recorded::Statement statement;
    statement.kind = recorded::Statement::Kind::when;
    statement.value = c;
    recorder.check_reads(c);
    statement.then = recorder.block(c, then);
    statement.otherwise = recorder.block(recorded::negation(c), otherwise);
    if (!statement.then.empty() || !statement.otherwise.empty()) recorder.add_block(std::move(statement));
  }
  template <class T>
  static T select(const Bool& condition, const T& a, const T& b) {
    return T(recorded::choice(condition.value(), a.value(), b.value()));
  }

  template <class Tag>
  [[nodiscard]] int extent(Tag = {}) const {
    return sizes.template extent<Tag>();
  }
  template <class Tag>
  static Ix<Tag> constant(int i) {
    return Ix<Tag>(recorded::constant(type_of<Tag>(), std::to_string(i)));
  }
  template <class To, class From>
  static Ix<To> same(const Ix<From>& i) {
    auto node = std::make_shared<recorded::Node>();
    node->op = Op::apply;
    node->type = type_of<To>();
    node->text = std::string(To::name) + "_of";
    node->over = From::name;
    node->children = {i.value()};
    return Ix<To>(Expression(node));
  }

  template <class Tag, class F>
  void for_each(Tag, F&& f) const {
    if constexpr (Tag::fixed) {
      for (int i = 0; i < extent<Tag>(); ++i) f(constant<Tag>(i));
    } else {
      auto& recorder = recorded::Recorder::current();
      recorded::Statement statement;
      statement.kind = recorded::Statement::Kind::for_each;
      statement.over = Tag::name;
      statement.name = recorder.fresh(Tag::name);
      statement.then = recorder.block(recorded::constant(recorded::bool_type, "true"),
                                      [&] { f(variable<Tag>(statement.name)); });
      if (!statement.then.empty()) recorder.add_block(std::move(statement));
    }
  }
  template <class Tag, class F>
  Bool forall(Tag, F&& f) const {
    if constexpr (Tag::fixed) {
      Expression all = recorded::constant(recorded::bool_type, "true");
      for (int i = 0; i < extent<Tag>(); ++i)
        all = recorded::conjunction(all, Bool(f(constant<Tag>(i))).value());
      return Bool(all);
    } else {
      return quantified<Tag>(Op::forall, f);
    }
  }
  template <class Tag, class F>
  Bool exists(Tag, F&& f) const {
    if constexpr (Tag::fixed) {
      Expression any = recorded::constant(recorded::bool_type, "false");
      for (int i = 0; i < extent<Tag>(); ++i)
        any = recorded::disjunction(any, Bool(f(constant<Tag>(i))).value());
      return Bool(any);
    } else {
      return quantified<Tag>(Op::exists, f);
    }
  }
  template <class Tag, class F>
  void at(Tag tag, const Ix<Tag>& index, F&& f) const {
    for_each(tag, [&](const Ix<Tag>& i) { when(index == i, [&] { f(i); }); });
  }
  template <class Tag, class F>
  auto pick(Tag, const Ix<Tag>& index, F&& f) const {
    using T = std::remove_cvref_t<decltype(f(index))>;
    Expression result = T(f(constant<Tag>(0))).value();
    for (int i = 1; i < extent<Tag>(); ++i) {
      result = recorded::choice((index == constant<Tag>(i)).value(), T(f(constant<Tag>(i))).value(), result);
    }
    return T(result);
  }

  // ---- queues --------------------------------------------------------------------------------------------

  template <class Row, class Slot>
  [[nodiscard]] static Bool full(const Fifo<Row, Slot>& fifo) {
    return fifo.is_full();
  }
  template <class Row, class Slot>
  static void push(Fifo<Row, Slot>& fifo, const Row& row) {
    queue_statement(recorded::Statement::Kind::push, fifo, &row);
  }
  template <class Row, class Slot>
  static void push_front(Fifo<Row, Slot>& fifo, const Row& row) {
    queue_statement(recorded::Statement::Kind::push_front, fifo, &row);
  }
  template <class Row, class Slot>
  static void pop(Fifo<Row, Slot>& fifo) {
    queue_statement(recorded::Statement::Kind::pop, fifo, static_cast<const Row*>(nullptr));
  }
  template <class Row, class Slot, class F>
  [[nodiscard]] static Bool contains(const Fifo<Row, Slot>& fifo, F&& f) {
    auto node = std::make_shared<recorded::Node>();
    node->op = Op::contains;
    node->type = recorded::bool_type;
    node->path = fifo.path();
    auto& recorder = recorded::Recorder::current();
    node->time = recorder.time();
    node->children = {recorder.question([&] { return Bool(f(fifo.entry("entry"))).value(); })};
    return Bool(Expression(node));
  }
  template <class Row, class Slot, class F>
  static void for_each_queued(const Fifo<Row, Slot>& fifo, F&& f) {
    for (int i = 0; i < extent_of<Slot>; ++i) {
      const std::string slot = "slot" + std::to_string(i);
      when(!fifo.bit("lacks_" + slot), [&] { f(fifo.entry(slot)); });
    }
  }

  template <class Tag>
  static recorded::Type type_of() {
    return {std::string(Tag::name), Tag::interchangeable, recorded::Sort::index};
  }
  template <class Tag>
  static Ix<Tag> variable(const std::string& name) {
    return Ix<Tag>(recorded::make(Op::parameter, type_of<Tag>(), {}, name));
  }

  // ---- as closures without types pass them (rules.hpp) ----------------------------------------------------

  template <class Tag>
  static Ix<Tag> member(const Expression& m) {
    return Ix<Tag>(m);
  }
  template <class Tag>
  static recorded::Type parameter_type() {
    return type_of<Tag>();
  }
  static Expression erased(const Bool& b) { return b.value(); }
  // The head of a channel. That it is taken away is the trigger's to say.
  template <class Row, class Slot>
  static const Row& consume(Fifo<Row, Slot>& fifo) {
    return fifo.message();
  }
  template <class Row, class Slot>
  static recorded::Path channel(const Fifo<Row, Slot>& fifo) {
    return fifo.path();
  }

  template <class X>
  static recorded::Declaration declare() {
    if constexpr (Described<X>) {
      recorded::Declaration record;
      record.kind = recorded::Declaration::Kind::record;
      record.type.name = boost::core::type_name<X>();
      record.derived = DerivedFields<X>;
      using Members = boost::describe::describe_members<X, boost::describe::mod_public>;
      boost::mp11::mp_for_each<Members>([&](auto member) {
        record.names.emplace_back(member.name);
        record.parts.push_back(declare<std::remove_cvref_t<decltype(std::declval<X>().*member.pointer)>>());
      });
      return record;
    } else {
      return X::declaration();
    }
  }

  // Binds every field of x to its access path.
  template <class X>
  static void bind_to(X& x, recorded::Path path) {
    if constexpr (Described<X>) {
      for_each_member(x, [&](auto& member, const char* name) {
        recorded::Path at = path;
        at.push_back({name, {}});
        bind_to(member, std::move(at));
      });
    } else {
      x.bind(std::move(path));
    }
  }

 private:
  template <class Tag>
  inline static thread_local int extent_of = Sizes::template capacity<Tag>();

  template <class Tag, class F>
  static Bool quantified(Op op, F&& f) {
    auto& recorder = recorded::Recorder::current();
    const std::string name = recorder.fresh(Tag::name);
    const Expression body = recorder.question([&] { return Bool(f(variable<Tag>(name))).value(); });
    if (body->op == Op::constant) return Bool(body);
    auto node = std::make_shared<recorded::Node>();
    node->op = op;
    node->type = recorded::bool_type;
    node->text = name;
    node->over = Tag::name;
    node->children = {body};
    return Bool(Expression(node));
  }
  static recorded::Declaration rows(recorded::Declaration::Kind kind, recorded::Declaration row,
                                    std::vector<std::string> over) {
    recorded::Declaration declaration;
    declaration.kind = kind;
    declaration.over = std::move(over);
    declaration.parts = {std::move(row)};
    return declaration;
  }
  template <class Row, class Slot>
  static void queue_statement(recorded::Statement::Kind kind, Fifo<Row, Slot>& fifo, const Row* row) {
    recorded::Statement statement;
    statement.kind = kind;
    statement.target = fifo.path();
    if (row != nullptr) collect(*row, "", statement.row);
    recorded::Recorder::current().add(std::move(statement));
  }
  template <class X>
  static void collect(const X& x, const std::string& name,
                      std::vector<std::pair<std::string, Expression>>& out) {
    if constexpr (Described<X>) {
      for_each_member(x, [&](const auto& member, const char* part) {
        collect(member, name.empty() ? part : name + "." + part, out);
      });
    } else if constexpr (requires { x.elements(); }) {
      int i = 0;
      for (const auto& element : x.elements()) collect(element, name + "(" + std::to_string(i++) + ")", out);
    } else {
      out.emplace_back(name, x.value());
    }
  }
};

namespace recorded {

// Paths of the fields that an expression or a block reads or writes.
void collect_reads(const Expression& expression, std::set<std::string>& reads);
void collect_accesses(const std::vector<Statement>& block, std::set<std::string>& reads,
                      std::set<std::string>& writes);
// Where a tree breaks a law that the types do not already enforce, e.g. an order asked of interchangeable
// indices.
void check_laws(RecordedRule& rule);

// Every declared field of a state, as a path whose indices are the names of the index types.
template <class K, class X>
void list_fields(X& x, const Path& path, std::vector<std::string>& fields) {
  if constexpr (Leaf<X>) {
    fields.push_back(print(path));
  } else if constexpr (Described<X>) {
    for_each_member(x, [&](auto& member, const char* name) {
      Path at = path;
      at.push_back({name, {}});
      list_fields<K>(member, at, fields);
    });
  } else if constexpr (requires { x.any(); }) {
    Path at = path;
    at.back().index = x.any_index();
    list_fields<K>(x.any(), at, fields);
  } else {
    fields.push_back(print(path));  // a queue or an array: one field, as people think of it
  }
}

template <class K, class State>
void list_fields_of(State& state, std::vector<std::string>& fields) {
  K::bind_to(state, {});
  list_fields<K>(state, {}, fields);
}

// Makes a state whose fields know their access paths.
using MakeState = std::function<std::shared_ptr<void>()>;
template <class K, class State>
std::shared_ptr<void> bound_state() {
  auto state = std::make_shared<State>();
  K::bind_to(*state, {});
  return state;
}

// Reads lists of rules, of invariants and of initial states as trees.
void read_rules(const std::vector<RuleValue<RecordedErased>>& rules, const MakeState& make_state,
                std::vector<RecordedRule>& out);
void read_invariants(const std::vector<InvariantValue<RecordedErased>>& invariants,
                     const MakeState& make_state, std::vector<RecordedInvariant>& out);
void read_starts(const std::vector<StartValue<RecordedErased>>& starts, const MakeState& make_state,
                 std::vector<RecordedStart>& out);
void read_claims(const std::vector<AtOnceValue<RecordedErased>>& claims, const MakeState& make_state,
                 std::vector<RecordedClaim>& out);

// The rules and invariants of a system or a part of one, which lists them with rules(r) and invariants(v).
template <class K, class State, class System>
void describe_rules(const System& system, const K& k, Description& description) {
  const Recorder constants;  // which a system may make between its rules
  description.state = K::template declare<State>();
  RuleList<K, State> rules(k);
  system.rules(rules);
  read_rules(rules.values(), bound_state<K, State>, description.rules);
  InvariantList<K, State> invariants;
  system.invariants(invariants);
  read_invariants(invariants.values(), bound_state<K, State>, description.invariants);
}

// What f(state) computes, and what it does.
template <class K, class State, class F>
Expression record_expression(F&& f) {
  Recorder recorder;
  recorder.begin_guard();
  State state;
  K::bind_to(state, {});
  return f(std::as_const(state)).value();
}
template <class K, class State, class F>
std::vector<Statement> record_block(F&& f) {
  Recorder recorder;
  State state;
  K::bind_to(state, {});
  f(state);
  return recorder.take_action();
}

// Fills in what a closed system or a program on a memory system says of itself; sizes and rigid functions are
// the caller's.
template <class System, class K>
void describe_system(const System& system, const K& k, WholeDescription& whole) {
  using State = typename System::State;
  const Recorder constants;  // which a system may make between its rules
  auto sizes = k.sizes;
  sizes.visit([&]<class Tag>(Tag, int& size) { whole.extents[std::string(Tag::name)] = size; });
  describe_rules<K, State>(system, k, whole);
  InvariantList<K, State> assertions;
  if constexpr (requires { system.assertions(assertions); }) system.assertions(assertions);
  read_invariants(assertions.values(), bound_state<K, State>, whole.assertions);
  StartList<K, State> starts(k);
  system.start(starts);
  read_starts(starts.values(), bound_state<K, State>, whole.starts);
  whole.restore = record_block<K, State>([&](State& s) { system.restore(s); });
  whole.proper_end =
      record_expression<K, State>([&](const State& s) { return typename K::Bool(system.proper_end(s)); });
}

}  // namespace recorded

}  // namespace lockstep
