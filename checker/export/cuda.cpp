// From trees to C++ for graphics processors: a system, and after it a search (search.cu), as one text that
// nvcc compiles, and any C++ compiler for the processors of the machine.
//
// A state is expanded unpacked, as records of bytes; stored states are packed, each field in as many bits as
// its values take. An action changes both, so that nothing is packed but what it writes. Derived fields are
// recomputed after unpacking, for nobody asks before. Whatever leaves the range of its type, finds no room in
// a queue or looks up a row that is none marks the state as broken, which ends the search.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <optional>
#include <utility>

#include "checker/export/export.hpp"
#include "checker/export/indented_text.hpp"
#include "checker/export/names.hpp"
#include "checker/export/terms.hpp"
#include "checker/export/trees.hpp"

namespace lockstep {

namespace {

using recorded::Declaration;
using recorded::Expression;
using recorded::Op;
using recorded::Path;
using recorded::Sort;
using recorded::Statement;
using recorded::Type;
using recorded::WholeDescription;

// The values of a leaf as a state holds them.
struct Range {
  int low = 0;
  int high = 0;
  [[nodiscard]] int bits() const {
    return std::bit_width(static_cast<unsigned>(high) - static_cast<unsigned>(low));
  }
};

// Whether an index can be nothing but a member of its type: a constant, a variable of a rule or a loop, or
// what a rigid function makes of one.
bool is_member(const Expression& index) {
  if (index->op == Op::apply) return is_member(index->children[0]);
  return index->op == Op::constant || index->op == Op::parameter;
}

struct Cuda : Vocabulary {
  std::string entry;  // the slot that a `contains` is asking about

  static constexpr std::string_view equal = "==", and_ = "&&", or_ = "||";

  [[nodiscard]] std::string apply(const recorded::Node& e) const { return applied(e, *this, "{}({})"); }
  // A loop over the members, called where it stands.
  [[nodiscard]] std::string quantifier(const recorded::Node& e) const {
    const std::string variable = names->variable(e.text);
    const std::string body = term(e.children[0], *this);
    const std::string loop =
        fmt::format("LOOP for (int {0} = 0; {0} < {1}; ++{0})", variable, whole->extents.at(e.over));
    switch (e.op) {
      case Op::forall:
        return fmt::format("[&] {{ {} if (!({})) return false; return true; }}()", loop, body);
      case Op::exists:
        return fmt::format("[&] {{ {} if ({}) return true; return false; }}()", loop, body);
      default:
        return fmt::format("[&] {{ int count_ = 0; {} count_ += ({}) ? 1 : 0; return count_; }}()", loop,
                           body);
    }
  }
  [[nodiscard]] std::string contains(const recorded::Node& e) const {
    Cuda inner = *this;
    inner.entry = entry.empty() ? names->variable("slot") + "_" : entry + "_";
    return fmt::format(
        "[&] {{ for (int {0} = 0; {0} < {1}.count; ++{0}) if ({2}) return true; return false; }}()",
        inner.entry, place(e.path), term(e.children[0], inner));
  }
  [[nodiscard]] std::string row(const Expression& index, const std::string& over) const {
    if (is_member(index)) return term(index, *this);
    return fmt::format("row_(state_, {}, {})", term(index, *this), whole->extents.at(over));
  }
  [[nodiscard]] std::string place(const Path& path) const {
    std::string text = "state_";
    for (const Step& step : place_of(path, *whole).steps) {
      switch (step.kind) {
        case Step::Kind::field:
          text += "." + names->field(step.name);
          break;
        case Step::Kind::rows:
          for (std::size_t i = 0; i < step.index.size(); ++i)
            text += fmt::format("[{}]", row(step.index[i], step.over[i]));
          break;
        case Step::Kind::message:
          text = "message";
          break;
        default:
          text = in_queue(step, text, *this);
          break;
      }
    }
    return text;
  }
};

class Writer : private IndentedText {
 public:
  Writer(const WholeDescription& whole, const std::vector<Claim>& claims, const ExportOptions& options)
      : whole_(whole),
        claims_(claims),
        options_(options),
        names_(whole, Names::Scoping::lexical),
        cuda_{{&whole, &names_}, {}} {}

  std::string write() {
    heading();
    line("namespace model {{");
    gap();
    constants();
    records();
    queues();
    restore();
    packing();
    starts();
    for (std::size_t i = 0; i < whole_.rules.size(); ++i) rule(i);
    successors();
    judgement();
    titles();
    line("}}  // namespace model");
    gap();
    return std::move(text_);
  }

 private:
  [[nodiscard]] std::string expression(const Expression& e) const {
    return term(folded(e, {}, whole_), cuda_);
  }
  [[nodiscard]] std::string place(const Path& path) const { return cuda_.place(folded(path, {}, whole_)); }
  // Of a guard or a property, in a function's body.
  [[nodiscard]] std::string body(const Expression& e) const {
    return wrapped(folded(e, {}, whole_), cuda_, "\n      ");
  }
  [[nodiscard]] int extent(const std::string& index) const { return whole_.extents.at(index); }

  // A literal that holds whatever the title does.
  static std::string quoted(const std::string& text) {
    std::string literal = "\"";
    for (const char c : text) {
      if (c == '"' || c == '\\') literal += '\\';
      literal += c;
    }
    return literal + "\"";
  }

  void heading() {
    line("// {}", options_.title);
    line("// Written by `lockstep export` from the rules that Lockstep itself explores: the same states and");
    line("// firings. For graphics processors, or for the processors of a machine without one:");
    line("//   nvcc -O3 -std=c++20 -arch=native -x cu FILE -o search && ./search");
    line("//   g++ -O3 -std=c++20 -march=native -pthread -x c++ FILE -o search && ./search");
    gap();
    line("#include <cstdint>");
    gap();
    line("#ifdef __CUDACC__");
    line("#define BOTH __host__ __device__");
    line("#define UNROLL _Pragma(\"unroll\")");
    line("#define LOOP _Pragma(\"unroll 1\")");
    line("#define ANY_VISIT _Pragma(\"nv_exec_check_disable\")  // one that runs where its caller does");
    line("#else");
    line("#define BOTH");
    line("#define UNROLL");
    line("#define LOOP");
    line("#define ANY_VISIT");
    line("#endif");
    gap();
  }

  // ---- types ---------------------------------------------------------------------------------------------

  void constants() {
    for (const Declaration& enumeration : names_.enumerations()) {
      std::vector<std::string> members;
      for (const std::string& m : enumeration.members)
        members.push_back(names_.enumerator(enumeration.type, m));
      line("enum : int {{ {} }};  // {}", fmt::join(members, ", "), names_.scalar(enumeration.type));
    }
    for (const Type& maybe : names_.maybes())
      line("enum : int {{ {} = 0 }};  // else the member plus 1", names_.none(maybe));
    for (const recorded::RigidFunction& f : whole_.functions) {
      line("BOTH inline int {}(int i) {{", names_.function(f));
      line("  const std::uint8_t image[] = {{{}}};", fmt::join(f.image, ", "));
      line("  return image[i];");
      line("}}");
    }
    gap();
  }

  [[nodiscard]] Range range(const Declaration& leaf) const {
    switch (leaf.type.sort) {
      case Sort::boolean:
        return {0, 1};
      case Sort::integer:
        return {leaf.low, leaf.high};
      case Sort::word:
        return {whole_.value_low, whole_.value_high};
      case Sort::enumeration:
        return {0, static_cast<int>(leaf.members.size()) - 1};
      case Sort::maybe:
        return {0, extent(index_of(leaf.type))};
      case Sort::index:
        break;
    }
    return {0, extent(leaf.type.name) - 1};
  }
  // Twice as wide as its range, so that a step out of it is still seen when the state is packed.
  [[nodiscard]] std::string scalar(const Declaration& leaf) const {
    const Range r = range(leaf);
    if (r.low >= 0 && r.high <= 127) return "std::uint8_t";
    if (r.low >= -16384 && r.high <= 16383) return "std::int16_t";
    return "std::int32_t";
  }
  [[nodiscard]] std::string row_type(const Declaration& row) const {
    return row.kind == Declaration::Kind::leaf ? scalar(row) : names_.composite(row);
  }

  // "std::uint8_t data[2][3] = {{{1, 1, 1}, {1, 1, 1}}}": defaults other than zero are the member's own.
  [[nodiscard]] std::string declared(const Declaration& d, const std::string& name) const {
    const Rows rows = rows_of(d);
    std::string text = row_type(*rows.row) + " " + name;
    for (const std::string& index : rows.over) text += fmt::format("[{}]", extent(index));
    if (rows.row->kind != Declaration::Kind::leaf || default_of(*rows.row) == 0) return text;
    std::string value = std::to_string(default_of(*rows.row));
    for (std::size_t i = rows.over.size(); i-- > 0;) {
      const std::vector<std::string> repeated(static_cast<std::size_t>(extent(rows.over[i])), value);
      value = fmt::format("{{{}}}", fmt::join(repeated, ", "));
    }
    return text + " = " + value;
  }

  void records() {
    for (const Declaration& composite : names_.composites()) {
      line("struct {} {{", names_.composite(composite));
      if (composite.kind == Declaration::Kind::queue) {
        line("  std::uint8_t count;");
        Declaration slots = composite;
        slots.kind = Declaration::Kind::table;
        line("  {};", declared(slots, "slots"));
      } else {
        for (std::size_t i = 0; i < composite.parts.size(); ++i)
          line("  {};", declared(composite.parts[i], names_.field(composite.names[i])));
      }
      line("}};");
    }
    line("struct State {{");
    for (std::size_t i = 0; i < whole_.state.parts.size(); ++i)
      line("  {};", declared(whole_.state.parts[i], names_.field(whole_.state.names[i])));
    line("  mutable bool broken_;  // something left its range; not stored");
    line("}};");
    gap();
    line("BOTH inline int row_(const State& state_, int i, int rows) {{");
    line("  if (i >= 0 && i < rows) return i;");
    line("  state_.broken_ = true;");
    line("  return 0;");
    line("}}");
    gap();
  }

  void queues() {
    for (const Declaration& queue : names_.composites()) {
      if (queue.kind != Declaration::Kind::queue) continue;
      const std::string& name = names_.composite(queue);
      const Declaration& row = queue.parts.front();
      const int capacity = extent(queue.over.front());
      const std::string none = row.kind == Declaration::Kind::leaf
                                   ? fmt::format("{}({})", scalar(row), default_of(row))
                                   : names_.composite(row) + "{}";
      for (const bool front : {false, true}) {
        line("BOTH inline void push_{}{}(State& state_, {}& queue, const {}& row) {{", front ? "front_" : "",
             name, name, row_type(row));
        line("  if (queue.count >= {}) {{", capacity);
        line("    state_.broken_ = true;");
        line("    return;");
        line("  }}");
        if (front) {
          for (int i = capacity - 1; i > 0; --i) line("  queue.slots[{}] = queue.slots[{}];", i, i - 1);
          line("  queue.slots[0] = row;");
          line("  ++queue.count;");
        } else {
          line("  queue.slots[queue.count++] = row;");
        }
        line("}}");
      }
      line("BOTH inline void pop_{0}(State& state_, {0}& queue) {{", name);
      line("  if (queue.count == 0) {{");
      line("    state_.broken_ = true;");
      line("    return;");
      line("  }}");
      line("  --queue.count;");
      for (int i = 0; i + 1 < capacity; ++i) line("  queue.slots[{}] = queue.slots[{}];", i, i + 1);
      line("  queue.slots[{}] = {};", capacity - 1, none);
      line("}}");
    }
    gap();
  }

  // ---- packing -------------------------------------------------------------------------------------------

  // Bits of what is stored of a declaration.
  [[nodiscard]] int bits(const Declaration& d) const {
    if (d.derived) return 0;
    switch (d.kind) {
      case Declaration::Kind::leaf:
        return range(d).bits();
      case Declaration::Kind::queue: {
        const int capacity = extent(d.over.front());
        return std::bit_width(static_cast<unsigned>(capacity)) + capacity * bits(d.parts.front());
      }
      case Declaration::Kind::table: {
        int rows = 1;
        for (const std::string& index : d.over) rows *= extent(index);
        return rows * bits(d.parts.front());
      }
      case Declaration::Kind::record:
        break;
    }
    int sum = 0;
    for (const Declaration& part : d.parts) sum += bits(part);
    return sum;
  }

  // Calls f(place, range, offset as text) for every leaf within loops over rows. `at`: the offset of d.
  template <class Leaf>
  void packed(const Declaration& d, const std::string& text, const std::string& at, int depth, Leaf&& leaf) {
    if (bits(d) == 0 && d.kind != Declaration::Kind::leaf) return;
    switch (d.kind) {
      case Declaration::Kind::leaf:
        if (!d.derived) leaf(text, range(d), at);
        return;
      case Declaration::Kind::record: {
        int offset = 0;
        for (std::size_t i = 0; i < d.parts.size(); ++i) {
          packed(d.parts[i], text + "." + names_.field(d.names[i]), plus(at, offset), depth, leaf);
          offset += bits(d.parts[i]);
        }
        return;
      }
      case Declaration::Kind::queue: {
        const int capacity = extent(d.over.front());
        leaf(text + ".count", Range{0, capacity}, at);
        const int first = std::bit_width(static_cast<unsigned>(capacity));
        over_rows({d.over.front()}, d.parts.front(), text + ".slots", plus(at, first), depth, leaf);
        return;
      }
      case Declaration::Kind::table: {
        const Rows rows = rows_of(d);
        over_rows(rows.over, *rows.row, text, at, depth, leaf);
        return;
      }
    }
  }
  template <class Leaf>
  void over_rows(std::vector<std::string> over, const Declaration& row, const std::string& text,
                 const std::string& at, int depth, Leaf&& leaf) {
    if (over.empty()) return packed(row, text, at, depth, leaf);
    const int rows = extent(over.front());
    over.erase(over.begin());
    int stride = bits(row);
    for (const std::string& index : over) stride *= extent(index);
    const std::string i = fmt::format("i{}", depth);
    line("UNROLL");
    line("for (int {0} = 0; {0} < {1}; ++{0}) {{", i, rows);
    indented([&] {
      over_rows(over, row, fmt::format("{}[{}]", text, i), fmt::format("{} + {} * {}", at, i, stride),
                depth + 1, leaf);
    });
    line("}}");
  }
  static std::string plus(const std::string& at, int offset) {
    if (offset == 0) return at;
    const bool number = at.find_first_not_of("0123456789") == std::string::npos;
    return number ? std::to_string(std::stoi(at) + offset) : fmt::format("{} + {}", at, offset);
  }

  [[nodiscard]] auto set_field() {
    return [this](const std::string& text, const Range& r, const std::string& at) {
      line("set(state_, words_, {}, {}, {}, {}, {});", at, text, r.low, r.high, r.bits());
    };
  }
  // Where the bits of a place begin in a packed state; nothing where it is not stored.
  [[nodiscard]] std::optional<std::string> offset_of(const Path& path) const {
    if (!packs_) return std::nullopt;
    int fixed = 0;
    std::string text;
    for (const Step& step : place_of(folded(path, {}, whole_), whole_).steps) {
      if (step.kind == Step::Kind::field) {
        std::size_t i = 0;
        for (; step.of->names[i] != step.name; ++i) fixed += bits(step.of->parts[i]);
        if (step.of->parts[i].derived) return std::nullopt;
      } else {
        const Rows rows = rows_of(*step.of);
        int stride = bits(*rows.row);
        std::vector<int> strides;
        for (std::size_t i = rows.over.size(); i-- > 0; stride *= extent(rows.over[i]))
          strides.push_back(stride);
        for (std::size_t i = 0; i < step.index.size(); ++i)
          text += fmt::format(" + {} * {}", factor(cuda_.row(step.index[i], step.over[i])),
                              strides[strides.size() - 1 - i]);
      }
    }
    return std::to_string(fixed) + text;
  }
  static std::string factor(const std::string& text) {
    const bool plain = std::all_of(text.begin(), text.end(),
                                   [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
    return plain ? text : "(" + text + ")";
  }

  void packing() {
    const int stored = bits(whole_.state);
    line("constexpr int words = {};  // of a stored state, {} bits", std::max(1, (stored + 31) / 32), stored);
    gap();
    line("BOTH inline std::uint32_t get(const std::uint32_t* words_, int at, int width) {{");
    line("  std::uint32_t value = words_[at / 32] >> (at % 32);");
    line("  if (at % 32 + width > 32) value |= words_[at / 32 + 1] << (32 - at % 32);");
    line("  return width == 32 ? value : value & ((1u << width) - 1);");
    line("}}");
    line("BOTH inline void put(std::uint32_t* words_, int at, int width, std::uint32_t value) {{");
    line("  const std::uint32_t mask = width == 32 ? ~0u : (1u << width) - 1;");
    line("  words_[at / 32] = (words_[at / 32] & ~(mask << (at % 32))) | value << (at % 32);");
    line("  if (at % 32 + width > 32) {{");
    line("    const int low = 32 - at % 32;");
    line("    words_[at / 32 + 1] = (words_[at / 32 + 1] & ~(mask >> low)) | value >> low;");
    line("  }}");
    line("}}");
    line("// A field's value, where it is within its range.");
    line(
        "BOTH inline void set(State& state_, std::uint32_t* words_, int at, int value, int low, int high, "
        "int width) {{");
    line("  if (value < low || value > high) {{");
    line("    state_.broken_ = true;");
    line("  }} else if (width > 0) {{");
    line("    put(words_, at, width, static_cast<std::uint32_t>(value - low));");
    line("  }}");
    line("}}");
    for (const Declaration& queue : names_.composites()) {
      if (queue.kind != Declaration::Kind::queue || bits(queue) == 0) continue;
      const std::string& name = names_.composite(queue);
      line("BOTH inline void pack_{0}(State& state_, const {0}& queue, std::uint32_t* words_, int at) {{",
           name);
      indented([&] { packed(queue, "queue", "at", 0, set_field()); });
      line("}}");
    }
    line("BOTH inline void pack(State& state_, std::uint32_t* words_) {{");
    indented([&] {
      line("for (int i = 0; i < words; ++i) words_[i] = 0;");
      packed(whole_.state, "state_", "0", 0, set_field());
    });
    line("}}");
    gap();
    line("BOTH inline void unpack(const std::uint32_t* words_, State& state_) {{");
    indented([&] {
      line("state_ = State{{}};");
      packed(whole_.state, "state_", "0", 0,
             [&](const std::string& text, const Range& r, const std::string& at) {
               if (r.bits() == 0) return;
               const std::string value = fmt::format("get(words_, {}, {})", at, r.bits());
               line("{} = static_cast<int>({}){};", text, value,
                    r.low == 0 ? "" : fmt::format(" + ({})", r.low));
             });
      line("restore(state_);");
    });
    line("}}");
    gap();
  }

  // ---- rules ---------------------------------------------------------------------------------------------

  void restore() {
    line("// Fields that follow from the others, from their defaults.");
    line("BOTH inline void restore(State& state_) {{");
    indented([&] {
      locals(whole_.restore);
      packs_ = false;
      block(whole_.restore);
      packs_ = true;
    });
    line("}}");
    gap();
  }

  void starts() {
    line("ANY_VISIT");
    line("template <class Visit>");
    line("BOTH void starts(Visit&& visit) {{");
    indented([&] {
      for (const recorded::RecordedStart& family : whole_.starts) {
        over(family.parameters, 0, [&] {
          line("State state_{{}};");
          line("std::uint32_t words_[words];");
          line("pack(state_, words_);");
          locals(family.action);
          block(family.action);
          line("visit(words_, !state_.broken_);");
        });
      }
    });
    line("}}");
    gap();
  }

  // Loops around the body, one for each parameter; a scope where there are none.
  template <class Body>
  void over(const std::vector<std::string>& index_types, std::size_t from, Body&& body) {
    const std::vector<std::string> variables = parameter_names(index_types);
    if (index_types.empty()) line("{{");
    for (std::size_t i = from; i < index_types.size(); ++i) {
      line("LOOP");
      line("for (int {0} = 0; {0} < {1}; ++{0}) {{", names_.variable(variables[i]), extent(index_types[i]));
      indent_ += "  ";
    }
    if (index_types.empty()) indent_ += "  ";
    body();
    for (std::size_t i = from; i < std::max<std::size_t>(index_types.size(), 1); ++i) {
      indent_.resize(indent_.size() - 2);
      line("}}");
    }
  }
  [[nodiscard]] std::string listed(std::size_t rule, std::string_view before) const {
    std::string text;
    for (const std::string& variable : parameter_names(whole_.rules[rule].parameters))
      text += fmt::format(", {}{}", before, names_.variable(variable));
    return text;
  }

  void rule(std::size_t i) {
    const recorded::RecordedRule& rule = whole_.rules[i];
    line("// {}{}{}{}", rule.unit, rule.source.empty() ? "" : "; ", rule.source,
         rule.fairness == Fairness::optional ? "; optional" : "");
    line("BOTH inline bool can_{}(const State& state_{}) {{", names_.rule(i), listed(i, "int "));
    line("  return {};", body(rule.guard));
    line("}}");
    line("BOTH inline void do_{}(State& state_, std::uint32_t* words_{}) {{", names_.rule(i),
         listed(i, "int "));
    indented([&] {
      if (!rule.trigger.empty()) {
        const Declaration& queue = *place_of(rule.trigger, whole_).declaration;
        line("const {} message = {}.slots[0];", row_type(queue.parts.front()), place(rule.trigger));
        line("pop_{}(state_, {});", names_.composite(queue), place(rule.trigger));
        repack(rule.trigger);
      }
      locals(rule.action);
      block(rule.action);
    });
    line("}}");
    gap();
  }

  // Variables that are bound on the way.
  void locals(const std::vector<Statement>& action) {
    std::vector<Local> bound;
    collect_locals(action, bound);
    std::set<std::string> once;
    for (const Local& local : bound) once.insert(names_.variable(local.name));
    for (const std::string& name : once) line("int {} = 0;", name);
  }

  void block(const std::vector<Statement>& statements) {
    for (const Statement& s : statements) statement(s);
  }
  void statement(const Statement& s) {
    switch (s.kind) {
      case Statement::Kind::assign: {
        line("{} = {};", place(s.target), expression(s.value));
        if (const auto at = offset_of(s.target)) {
          const Range r = range(*place_of(s.target, whole_).declaration);
          line("set(state_, words_, {}, {}, {}, {}, {});", *at, place(s.target), r.low, r.high, r.bits());
        }
        return;
      }
      case Statement::Kind::let:
        line("{} = {};", names_.variable(s.name), expression(s.value));
        return;
      case Statement::Kind::when:
        line("if ({}) {{", expression(s.value));
        indented([&] { block(s.then); });
        if (!s.otherwise.empty()) {
          line("}} else {{");
          indented([&] { block(s.otherwise); });
        }
        line("}}");
        return;
      case Statement::Kind::for_each:
        line("LOOP");
        line("for (int {0} = 0; {0} < {1}; ++{0}) {{", names_.variable(s.name), extent(s.over));
        indented([&] { block(s.then); });
        line("}}");
        return;
      case Statement::Kind::push:
      case Statement::Kind::push_front: {
        const Declaration& queue = *place_of(s.target, whole_).declaration;
        line("{{");
        indented([&] {
          line("{} pushed_{{}};", row_type(queue.parts.front()));
          for (const auto& [field, value] : s.row)
            line("pushed_{} = {};", names_.row_field(field), expression(value));
          line("push_{}{}(state_, {}, pushed_);", s.kind == Statement::Kind::push ? "" : "front_",
               names_.composite(queue), place(s.target));
        });
        line("}}");
        repack(s.target);
        return;
      }
      case Statement::Kind::pop:
        line("pop_{}(state_, {});", names_.composite(*place_of(s.target, whole_).declaration),
             place(s.target));
        repack(s.target);
        return;
    }
  }
  void repack(const Path& queue) {
    const auto at = offset_of(queue);
    if (at)
      line("pack_{}(state_, {}, words_, {});", names_.composite(*place_of(queue, whole_).declaration),
           place(queue), *at);
  }

  // The number of an instance among those of its rule, row-major.
  [[nodiscard]] std::string member(std::size_t rule) const {
    std::string text = "0";
    const std::vector<std::string>& types = whole_.rules[rule].parameters;
    const std::vector<std::string> variables = parameter_names(types);
    for (std::size_t i = 0; i < types.size(); ++i) {
      const std::string variable = names_.variable(variables[i]);
      text = i == 0 ? variable : fmt::format("({}) * {} + {}", text, extent(types[i]), variable);
    }
    return text;
  }

  void successors() {
    line(
        "// Calls visit(packed successor, whether it is sound, rule, which instance of it) for each that is "
        "enabled.");
    line("// Whether one of them is no optional one.");
    line("ANY_VISIT");
    line("template <class Visit>");
    line("BOTH bool successors(const State& state_, const std::uint32_t* words_, Visit&& visit) {{");
    indented([&] {
      line("bool live = false;");
      for (std::size_t i = 0; i < whole_.rules.size(); ++i) {
        const recorded::RecordedRule& rule = whole_.rules[i];
        over(rule.parameters, 0, [&] {
          line("if (can_{}(state_{})) {{", names_.rule(i), listed(i, ""));
          indented([&] {
            if (rule.fairness != Fairness::optional) line("live = true;");
            line("State next_ = state_;");
            line("std::uint32_t next_words_[words];");
            line("UNROLL");
            line("for (int i_ = 0; i_ < words; ++i_) next_words_[i_] = words_[i_];");
            line("do_{}(next_, next_words_{});", names_.rule(i), listed(i, ""));
            line("visit(next_words_, !next_.broken_, {}, {});", i, member(i));
          });
          line("}}");
        });
      }
      line("return live;");
    });
    line("}}");
    gap();
  }

  // ---- claims --------------------------------------------------------------------------------------------

  void judgement() {
    line("constexpr int claims = {};", claims_.size());
    line("constexpr bool stops = {};  // where a property fails", options_.purpose == Purpose::verdict);
    gap();
    line("BOTH inline bool at_end(const State& state_) {{");
    line("  return {};", body(whole_.proper_end));
    line("}}");
    gap();
    line("// Calls count(claim, whether it is a failure) for each claim that the state is one of.");
    line("ANY_VISIT");
    line("template <class Count>");
    line("BOTH void judge(const State& state_, bool live, Count&& count) {{");
    indented([&] {
      line("bool holds = true;");
      for (std::size_t i = 0; i < claims_.size(); ++i) {
        const Claim& claim = claims_[i];
        line("// {}", claim.name);
        switch (claim.kind) {
          case Claim::Kind::property:
            line("if (holds && !({})) {{", body(claim.predicate));
            line("  holds = false;");
            line("  count({}, true);", i);
            line("}}");
            break;
          case Claim::Kind::deadlock:
            line("if (!live && !at_end(state_)) count({}, true);", i);
            break;
          case Claim::Kind::reached:
          case Claim::Kind::missed:
            line("if (!live && at_end(state_) && ({})) count({}, false);", expression(claim.predicate), i);
            break;
        }
      }
    });
    line("}}");
    gap();
  }

  void titles() {
    line("constexpr const char* title = {};", quoted(options_.title));
    std::vector<std::string> texts;
    for (const Claim& claim : claims_) texts.push_back(quoted(claim.name));
    line("constexpr const char* claim_titles[] = {{{}}};", fmt::join(texts, ",\n    "));
    texts.clear();
    for (const recorded::RecordedRule& rule : whole_.rules) texts.push_back(quoted(rule_title(rule, whole_)));
    line("constexpr const char* rule_titles[] = {{\n    {}}};", fmt::join(texts, ",\n    "));
    gap();
    line("// The parameters of an instance, by its number: print(\"cu\", 1) for each, from the last on.");
    line("template <class Print>");
    line("void parameters(int rule, int member, Print&& print) {{");
    line("  switch (rule) {{");
    for (std::size_t i = 0; i < whole_.rules.size(); ++i) {
      const std::vector<std::string>& types = whole_.rules[i].parameters;
      if (types.empty()) continue;
      line("    case {}:", i);
      for (std::size_t p = types.size(); p-- > 0;) {
        line("      print({}, member % {});", quoted(types[p]), extent(types[p]));
        line("      member /= {};", extent(types[p]));
      }
      line("      break;");
    }
    line("    default:");
    line("      break;");
    line("  }}");
    line("}}");
    gap();
  }

  const WholeDescription& whole_;
  const std::vector<Claim>& claims_;
  const ExportOptions& options_;
  Names names_;
  Cuda cuda_;
  bool packs_ = true;  // what is written is packed as well
};

}  // namespace

std::string export_cuda(const recorded::WholeDescription& whole, const std::vector<Claim>& claims,
                        const ExportOptions& options) {
  const WholeDescription kept = without_empty_records(whole);
  return Writer(kept, claims, options).write() + std::string(search_text());
}

}  // namespace lockstep
