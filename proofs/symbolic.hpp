// The Symbolic kind: an integer is a Z3 term, running a rule yields the transition it makes.
//
// At fixed sizes every index type is finite and every field of every row a variable of its own. At any size,
// index types that are not `fixed` are uninterpreted sorts, tables over them are functions, loops are closed
// forms and quantifiers are quantifiers.
#pragma once

#include <boost/describe.hpp>
#include <deque>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "proofs/terms.hpp"
#include "spec/kernel/index.hpp"
#include "spec/kernel/reflect.hpp"
#include "spec/program/values.hpp"

namespace lockstep {

// Closures of every Symbolic kind pass terms: what reads them compiles once.
struct SymbolicErased {
  using Member = symbolic::Term;
  using Truth = symbolic::Term;
  using Type = symbolic::Domain;
  using Channel = void;
  static constexpr bool decides = false;
};

template <class SizesType>
class Symbolic {
 public:
  using Sizes = SizesType;
  using Erased = SymbolicErased;
  using Term = symbolic::Term;
  using Session = symbolic::Session;
  using Domain = symbolic::Domain;
  using Place = symbolic::Place;
  using Scalar = symbolic::Scalar;

  Sizes sizes{};

  // Within the current session; sizes of index types that a proof for any size leaves open are not looked at.
  explicit Symbolic(Sizes s) : sizes(s) {
    sizes.visit([]<class Tag>(Tag, int& size) { extent_of<Tag> = size; });
  }

  template <IndexTag Tag>
  static Domain domain() {
    const bool open = Session::current().any_size() && !Tag::fixed;
    return {open ? Domain::Kind::any : Domain::Kind::finite, std::string(Tag::name), extent_of<Tag>};
  }

  // Of all index types, by name.
  [[nodiscard]] std::map<std::string, Domain> index_types() const {
    std::map<std::string, Domain> all;
    Sizes copy = sizes;
    copy.visit([&]<class Tag>(Tag, int&) { all.emplace(Tag::name, domain<Tag>()); });
    return all;
  }

  // ---- scalars -------------------------------------------------------------------------------------------

  struct Bool : Scalar {
    Bool() : Bool(false) {}
    Bool(bool b) : Scalar(Session::current().truth(b)) {}
    explicit Bool(Term t) : Scalar(std::move(t)) {}
    Bool(const Bool&) = default;
    Bool& operator=(const Bool&) = default;
    void bind(const Place& place) { this->bind_to_cell(place, {Domain::Kind::boolean, "bool"}); }
    friend Bool operator&&(const Bool& a, const Bool& b) { return Bool(symbolic::both(a.term(), b.term())); }
    friend Bool operator||(const Bool& a, const Bool& b) {
      return Bool(symbolic::either(a.term(), b.term()));
    }
    friend Bool operator!(const Bool& a) { return Bool(symbolic::negation(a.term())); }
    friend Bool operator==(const Bool& a, const Bool& b) { return Bool(symbolic::equal(a.term(), b.term())); }
    friend Bool operator!=(const Bool& a, const Bool& b) { return !(a == b); }
  };

  struct Number : Scalar {
    Number(int n) : Scalar(Session::current().member({Domain::Kind::integer, "int"}, n)) {}
    explicit Number(Term t) : Scalar(std::move(t)) {}
    Number(const Number&) = default;
    Number& operator=(const Number&) = default;
    friend Number operator+(const Number& a, const Number& b) { return Number(a.term() + b.term()); }
    friend Number operator-(const Number& a, const Number& b) { return Number(a.term() - b.term()); }
    friend Bool operator==(const Number& a, const Number& b) {
      return Bool(symbolic::equal(a.term(), b.term()));
    }
    friend Bool operator!=(const Number& a, const Number& b) { return !(a == b); }
    friend Bool operator<(const Number& a, const Number& b) { return Bool(a.term() < b.term()); }
    friend Bool operator<=(const Number& a, const Number& b) { return Bool(a.term() <= b.term()); }
    friend Bool operator>(const Number& a, const Number& b) { return b < a; }
    friend Bool operator>=(const Number& a, const Number& b) { return b <= a; }
  };

  template <int Low, int High>
  struct Int : Number {
    Int() : Number(Low > 0 ? Low : (High < 0 ? High : 0)) {}
    Int(int n) : Number(n) {}
    Int(const Number& n) : Number(n) {}
    Int(const Int&) = default;
    Int& operator=(const Int& other) {
      require_range(other.term());
      Number::operator=(other);
      return *this;
    }
    void bind(const Place& place) {
      this->bind_to_cell(place, {Domain::Kind::integer, "int", High - Low + 1, Low, High});
    }

   private:
    static void require_range(const Term& t) {
      Session::current().require(t >= Low && t <= High, "a number stays in its range");
    }
  };

  template <class E>
  struct Enum : Scalar {
    static Domain domain() {
      Domain d{Domain::Kind::finite, "enum", static_cast<int>(members())};
      boost::mp11::mp_for_each<boost::describe::describe_enumerators<E>>(
          [&](auto member) { d.members.emplace_back(member.name); });
      return d;
    }
    Enum() : Enum(E{}) {}
    Enum(E e) : Scalar(Session::current().member(domain(), static_cast<int>(e))) {}
    explicit Enum(Term t) : Scalar(std::move(t)) {}
    Enum(const Enum&) = default;
    Enum& operator=(const Enum&) = default;
    void bind(const Place& place) { this->bind_to_cell(place, domain()); }
    friend Bool operator==(const Enum& a, const Enum& b) { return Bool(symbolic::equal(a.term(), b.term())); }
    friend Bool operator!=(const Enum& a, const Enum& b) { return !(a == b); }

   private:
    static constexpr std::size_t members() {
      return boost::mp11::mp_size<boost::describe::describe_enumerators<E>>::value;
    }
  };

  template <IndexTag TagType>
  struct Ix : Scalar {
    using Tag = TagType;
    Ix() : Scalar(Session::current().member(Symbolic::domain<Tag>(), 0)) {}
    explicit Ix(Term t) : Scalar(std::move(t)) {}
    Ix(const Ix&) = default;
    Ix& operator=(const Ix&) = default;
    void bind(const Place& place) { this->bind_to_cell(place, Symbolic::domain<Tag>()); }
    friend Bool operator==(const Ix& a, const Ix& b) { return Bool(symbolic::equal(a.term(), b.term())); }
    friend Bool operator!=(const Ix& a, const Ix& b) { return !(a == b); }
    friend Bool operator<(const Ix& a, const Ix& b) requires(!Tag::interchangeable) {
      return Bool(z3::ult(a.term(), b.term()));
    }
  };

  // An index or nothing: whether there is one, and which.
  template <IndexTag Tag>
  struct Maybe {
    static constexpr bool is_leaf = true;
    Maybe() : has_(false) {}
    Maybe(const Ix<Tag>& i) : has_(true), index_(i) {}
    void bind(const Place& place) {
      has_.bind(place.member("has"));
      index_.bind(place.member("index"));
    }
    [[nodiscard]] Bool has() const { return has_; }
    [[nodiscard]] Ix<Tag> index() const { return index_; }
    friend Bool operator==(const Maybe& a, const Maybe& b) {
      return a.has_ == b.has_ && (!a.has_ || a.index_ == b.index_);
    }
    friend Bool operator!=(const Maybe& a, const Maybe& b) { return !(a == b); }

   private:
    Bool has_;
    Ix<Tag> index_;
  };

  struct Value : Scalar {
    static Domain domain() { return {Domain::Kind::word, "value"}; }
    Value() : Value(0) {}
    Value(std::int32_t n) : Scalar(Session::current().member(domain(), n)) {}
    explicit Value(Term t) : Scalar(std::move(t)) {}
    Value(const Value&) = default;
    Value& operator=(const Value&) = default;
    void bind(const Place& place) { this->bind_to_cell(place, domain()); }
    friend Bool operator==(const Value& a, const Value& b) {
      return Bool(symbolic::equal(a.term(), b.term()));
    }
    friend Bool operator!=(const Value& a, const Value& b) { return !(a == b); }
    friend Bool operator<(const Value& a, const Value& b) { return Bool(symbolic::less(a.term(), b.term())); }
    friend Bool operator>=(const Value& a, const Value& b) { return !(a < b); }
    friend Value operator+(const Value& a, const Value& b) { return Value(a.term() + b.term()); }
    friend Value operator-(const Value& a, const Value& b) { return Value(a.term() - b.term()); }
    friend Value operator*(const Value& a, const Value& b) { return Value(a.term() * b.term()); }
    friend Value operator&(const Value& a, const Value& b) {
      return Value(symbolic::bitwise(symbolic::Bitwise::both, a.term(), b.term()));
    }
    friend Value operator|(const Value& a, const Value& b) {
      return Value(symbolic::bitwise(symbolic::Bitwise::either, a.term(), b.term()));
    }
    friend Value operator^(const Value& a, const Value& b) {
      return Value(symbolic::bitwise(symbolic::Bitwise::one, a.term(), b.term()));
    }
  };

  // ---- containers ----------------------------------------------------------------------------------------

  // Always a field; an index makes a row that is bound to its place.
  template <class Row, IndexTag... Tags>
  class Table {
   public:
    Row& operator()(const Ix<Tags>&... index) const {
      Place place = place_;
      (place.arguments.push_back(index.term()), ...);
      (place.indices.push_back(domain<Tags>()), ...);
      rows_.emplace_back();
      bind_to(rows_.back(), place);
      return rows_.back();
    }
    void bind(const Place& place) { place_ = place; }

   private:
    Place place_;
    mutable std::deque<Row> rows_;
  };

  // Over a fixed index type: its elements stand each for itself, so it may be part of a message or a
  // variable.
  template <class Row, IndexTag Tag>
  class Array {
   public:
    static_assert(Tag::fixed, "an Array is over a fixed index type");
    Array() : elements_(static_cast<std::size_t>(extent_of<Tag>)) {}
    Array(const Array&) = default;
    Array& operator=(const Array& other) {
      for (std::size_t i = 0; i < elements_.size(); ++i) elements_[i] = other.elements_[i];
      return *this;
    }
    Row& operator()(const Ix<Tag>& i) { return elements_.at(position(i)); }
    const Row& operator()(const Ix<Tag>& i) const { return elements_.at(position(i)); }
    void bind(const Place& place) {
      for (std::size_t i = 0; i < elements_.size(); ++i) {
        Place element = place;
        element.name += "[" + std::to_string(i) + "]";
        bind_to(elements_[i], element);
      }
    }

   private:
    static std::size_t position(const Ix<Tag>& i) {
      const Term t = i.term();
      if (!t.is_numeral()) {
        throw symbolic::Unreadable("an array over '" + std::string(Tag::name) +
                                   "' is indexed by state; use k.at or k.pick");
      }
      return static_cast<std::size_t>(t.get_numeral_int());
    }
    std::deque<Row> elements_;
  };

  template <class Row, IndexTag Slot>
  class Fifo {
   public:
    Fifo() : slots_(static_cast<std::size_t>(extent_of<Slot>)) {}
    [[nodiscard]] Bool empty() const { return Bool(symbolic::equal(count_.term(), number(0))); }
    [[nodiscard]] Bool is_full() const {
      return Bool(symbolic::equal(count_.term(), number(static_cast<int>(slots_.size()))));
    }
    // Whether the slot holds an entry.
    [[nodiscard]] Bool holds(std::size_t slot) const {
      return Bool(z3::ugt(count_.term(), number(static_cast<int>(slot))));
    }
    [[nodiscard]] const Row& head() const { return slots_.front(); }
    void bind(const Place& place) {
      count_.bind_count(place.member("count"));
      for (std::size_t i = 0; i < slots_.size(); ++i) {
        Place slot = place;
        slot.name += "[" + std::to_string(i) + "]";
        bind_to(slots_[i], slot);
      }
    }

   private:
    friend class Symbolic;
    struct Count : Scalar {
      Count() : Scalar(number(0)) {}
      void bind_count(const Place& place) { this->bind_to_cell(place, domain()); }
      void set(const Term& t) { this->assign(t); }
    };
    static Domain domain() { return {Domain::Kind::finite, "count", extent_of<Slot> + 1}; }
    static Term number(int n) { return Session::current().member(domain(), n); }
    Count count_;
    std::deque<Row> slots_;
  };

  // ---- rigid functions -----------------------------------------------------------------------------------

  template <IndexTag From, IndexTag To>
  struct Map {
    std::string name;
    Ix<To> operator()(const Ix<From>& i) const {
      return Ix<To>(Session::current().rigid(name, {domain<From>()}, domain<To>(), {i.term()}));
    }
  };
  template <IndexTag Tag>
  struct Set {
    std::string name;
    Bool operator()(const Ix<Tag>& i) const {
      return Bool(
          Session::current().rigid(name, {domain<Tag>()}, {Domain::Kind::boolean, "bool"}, {i.term()}));
    }
  };

  // ---- control -------------------------------------------------------------------------------------------

  template <class Then>
  static void when(const Bool& condition, Then&& then) {
    Session::current().under(condition.term(), then);
  }
  template <class Then, class Else>
  static void when(const Bool& condition, Then&& then, Else&& otherwise) {
    const Term holds = condition.term();
    Session::current().under(holds, then);
    Session::current().under(symbolic::negation(holds), otherwise);
  }
  template <class T>
  static T select(const Bool& condition, const T& a, const T& b) {
    return T(symbolic::choice(condition.term(), a.term(), b.term()));
  }
  template <class Tag>
  [[nodiscard]] int extent(Tag = {}) const {
    return domain<Tag>().kind == Domain::Kind::any ? std::numeric_limits<int>::max() : extent_of<Tag>;
  }
  template <class Tag>
  static Ix<Tag> constant(int i) {
    return Ix<Tag>(Session::current().member(domain<Tag>(), i));
  }
  // A function of its own at any size; the two directions undo each other.
  template <class To, class From>
  static Ix<To> same(const Ix<From>& i) {
    const Domain from = domain<From>();
    const Domain to = domain<To>();
    return Ix<To>(symbolic::paired(from, to, i.term()));
  }

  template <class Tag, class F>
  void for_each(Tag, F&& f) const {
    const Domain d = domain<Tag>();
    if (d.kind == Domain::Kind::any) {
      Session::current().for_all(d, [&](const Term& member) { f(Ix<Tag>(member)); });
    } else {
      for (int i = 0; i < d.size; ++i) f(constant<Tag>(i));
    }
  }
  template <class Tag, class F>
  Bool forall(Tag, F&& f) const {
    const Domain d = domain<Tag>();
    if (d.kind == Domain::Kind::any) {
      const Term member = Session::current().unbound(d);
      const Term body = Bool(f(Ix<Tag>(member))).term();
      return is_constant(body) ? Bool(body) : Bool(z3::forall(member, body));
    }
    Bool all(true);
    for (int i = 0; i < d.size; ++i) all = all && Bool(f(constant<Tag>(i)));
    return all;
  }
  template <class Tag, class F>
  Bool exists(Tag, F&& f) const {
    const Domain d = domain<Tag>();
    if (d.kind == Domain::Kind::any) {
      const Term member = Session::current().unbound(d);
      const Term body = Bool(f(Ix<Tag>(member))).term();
      return is_constant(body) ? Bool(body) : Bool(z3::exists(member, body));
    }
    Bool any(false);
    for (int i = 0; i < d.size; ++i) any = any || Bool(f(constant<Tag>(i)));
    return any;
  }
  template <class Tag, class F>
  Number count(Tag, F&& f) const {
    const Domain d = domain<Tag>();
    if (d.kind == Domain::Kind::any) {
      throw symbolic::Unreadable("a count over '" + d.name + "' has no meaning at any size; ask with forall");
    }
    Number n(0);
    for (int i = 0; i < d.size; ++i) n = n + select(Bool(f(constant<Tag>(i))), Number(1), Number(0));
    return n;
  }
  template <class Tag, class F>
  void at(Tag tag, const Ix<Tag>& index, F&& f) const {
    for_each(tag, [&](const Ix<Tag>& i) { when(index == i, [&] { f(i); }); });
  }
  template <class Tag, class F>
  auto pick(Tag, const Ix<Tag>& index, F&& f) const {
    using T = std::remove_cvref_t<decltype(f(index))>;
    T result(f(constant<Tag>(0)));
    for (int i = 1; i < extent<Tag>(); ++i) {
      const Ix<Tag> here = constant<Tag>(i);
      result = select(index == here, T(f(here)), result);
    }
    return result;
  }

  // ---- queues --------------------------------------------------------------------------------------------

  template <class Row, class Slot>
  [[nodiscard]] static Bool full(const Fifo<Row, Slot>& fifo) {
    return fifo.is_full();
  }
  template <class Row, class Slot>
  static void push(Fifo<Row, Slot>& fifo, const Row& row) {
    needs_room(fifo);
    const Term count = fifo.count_.term();
    for (std::size_t i = 0; i < fifo.slots_.size(); ++i) {
      when(Bool(symbolic::equal(count, fifo.number(static_cast<int>(i)))), [&] { fifo.slots_[i] = row; });
    }
    fifo.count_.set(count + fifo.number(1));
  }
  template <class Row, class Slot>
  static void push_front(Fifo<Row, Slot>& fifo, const Row& row) {
    needs_room(fifo);
    for (std::size_t i = fifo.slots_.size() - 1; i > 0; --i) fifo.slots_[i] = Row(fifo.slots_[i - 1]);
    fifo.slots_[0] = row;
    fifo.count_.set(fifo.count_.term() + fifo.number(1));
  }
  template <class Row, class Slot>
  static void pop(Fifo<Row, Slot>& fifo) {
    Session::current().require((!fifo.empty()).term(), "a queue that is popped holds something");
    for (std::size_t i = 0; i + 1 < fifo.slots_.size(); ++i) fifo.slots_[i] = Row(fifo.slots_[i + 1]);
    fifo.slots_.back() = Row{};
    fifo.count_.set(fifo.count_.term() - fifo.number(1));
  }
  template <class Row, class Slot, class F>
  [[nodiscard]] static Bool contains(const Fifo<Row, Slot>& fifo, F&& f) {
    Bool any(false);
    for (std::size_t i = 0; i < fifo.slots_.size(); ++i) any = any || (fifo.holds(i) && f(fifo.slots_[i]));
    return any;
  }
  template <class Row, class Slot, class F>
  static void for_each_queued(const Fifo<Row, Slot>& fifo, F&& f) {
    for (std::size_t i = 0; i < fifo.slots_.size(); ++i) when(fifo.holds(i), [&] { f(fifo.slots_[i]); });
  }

  // The part of a state as it is now, whatever is assigned later; `path` leads to it from the whole.
  template <class Part>
  static Part snapshot(const Part&, std::string_view path) {
    Part part;
    bind_to(part, Place{&Session::current().freeze(), std::string(path), {}, {}});
    return part;
  }

  // Gives x a value that nothing is known of: variables of that name. The same name means the same value.
  template <class X>
  static void make_anything(X& x, const std::string& name) {
    const auto variable = [&](const Domain& domain) { return Session::current().variable(domain, name); };
    if constexpr (Described<X>) {
      for_each_member(x, [&](auto& member, const char* part) { make_anything(member, name + "." + part); });
    } else if constexpr (requires { X::domain(); }) {
      x = X(variable(X::domain()));
    } else if constexpr (requires { typename X::Tag; }) {
      x = X(variable(domain<typename X::Tag>()));
    } else {
      static_assert(std::is_same_v<X, Bool>,
                    "what may be anything is made of truths, enumerations, indices and words");
      x = X(variable({Domain::Kind::boolean, "bool"}));
    }
  }

  // Binds every field of x to its place.
  template <class X>
  static void bind_to(X& x, const Place& place) {
    if constexpr (Described<X>) {
      for_each_member(x, [&](auto& member, const char* name) { bind_to(member, place.member(name)); });
    } else {
      x.bind(place);
    }
  }

  // ---- as closures without types pass them (rules.hpp) ----------------------------------------------------

  template <class Tag>
  static Ix<Tag> member(const Term& m) {
    return Ix<Tag>(m);
  }
  template <class Tag>
  static Domain parameter_type() {
    return domain<Tag>();
  }
  static Term erased(const Bool& b) { return b.term(); }
  // The head of a channel, taken away.
  template <class Row, class Slot>
  static Row consume(Fifo<Row, Slot>& fifo) {
    Row message = fifo.head();
    pop(fifo);
    return message;
  }

 private:
  template <class Tag>
  inline static thread_local int extent_of = Sizes::template capacity<Tag>();

  static bool is_constant(const Term& t) { return t.is_true() || t.is_false(); }
  template <class Row, class Slot>
  static void needs_room(const Fifo<Row, Slot>& fifo) {
    Session::current().require((!fifo.is_full()).term(), "a queue that is pushed onto has room");
  }
};

// What an RMW leaves in memory: computed, or anything, as words are.
template <class Sizes, class Request>
typename Symbolic<Sizes>::Value rmw_result(const Symbolic<Sizes>&, const Request& request,
                                           const typename Symbolic<Sizes>::Value& old) {
  using K = Symbolic<Sizes>;
  using Value = typename K::Value;
  struct Computed {
    using Value = typename K::Value;
    static Value select(const typename K::Bool& condition, const Value& a, const Value& b) {
      return K::select(condition, a, b);
    }
  };
  if (symbolic::Session::current().words() != symbolic::Words::any)
    return rmw_result(Computed{}, request, old);
  return Value(symbolic::unknown_function(
      "rmw-result", Value::domain(),
      {request.function.term(), Value(request.a).term(), Value(request.b).term(), old.term()}));
}

}  // namespace lockstep
