// From trees to Promela, as SPIN reads it.
//
// One process takes one rule after the other. An instance of a rule is one d_step, so that one firing is one
// transition; what a rule needs for itself is hidden, so that stored states differ in the system's fields
// only. Where fields follow from others, a rule and their recomputation are one atomic step, of which SPIN
// stores the end. Loops and quantifiers are written out, for Promela has none in expressions; tables are of
// one dimension, for Promela has no others.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
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

struct Promela : Vocabulary {
  int entry = -1;  // the slot that a `contains` is asking about

  static constexpr std::string_view equal = "==", and_ = "&&", or_ = "||";

  [[nodiscard]] std::string apply(const recorded::Node& e) const { return applied(e, *this, "{}[{}]"); }
  [[nodiscard]] static std::string choice(const std::string& c, const std::string& a, const std::string& b) {
    return fmt::format("({} -> {} : {})", c, a, b);
  }
  // Written out: one term for each member.
  [[nodiscard]] std::string quantifier(const recorded::Node& e) const {
    Expression all = recorded::constant(recorded::bool_type, e.op == Op::forall ? "true" : "false");
    if (e.op == Op::count) throw std::logic_error("Promela has no count");
    for (int i = 0; i < whole->extents.at(e.over); ++i) {
      const Expression one = folded(e.children[0], {{e.text, i}}, *whole);
      all = e.op == Op::forall ? recorded::conjunction(all, one) : recorded::disjunction(all, one);
    }
    return is_binary(all) ? "(" + term(all, *this) + ")" : term(all, *this);
  }
  [[nodiscard]] std::string contains(const recorded::Node& e) const {
    const std::string queue = place(e.path);
    std::string text;
    Promela inner = *this;
    const int capacity = whole->extents.at(place_of(e.path, *whole).declaration->over.front());
    for (inner.entry = 0; inner.entry < capacity; ++inner.entry) {
      text += fmt::format("{}({}.count > {} && ({}))", text.empty() ? "" : " || ", queue, inner.entry,
                          term(e.children[0], inner));
    }
    return "(" + text + ")";
  }
  [[nodiscard]] std::string place(const Path& path) const {
    std::string text;
    bool consumed = false;
    for (const Step& step : place_of(path, *whole).steps) {
      switch (step.kind) {
        case Step::Kind::field:
          text += (text.empty() ? "" : consumed ? "_" : ".") + names->field(step.name);
          break;
        case Step::Kind::rows:
          text += consumed ? fmt::format("_{}", flat_index(step)) : fmt::format("[{}]", flat_index(step));
          break;
        case Step::Kind::message:
          text = "message";
          consumed = true;
          break;
        default:
          text = in_queue(step, text, *this);
          break;
      }
    }
    return text;
  }
  // Row-major: (cu, block) is cu * blocks + block.
  [[nodiscard]] std::string flat_index(const Step& rows) const {
    std::string text;
    for (std::size_t i = 0; i < rows.index.size(); ++i) {
      const std::string one = term(rows.index[i], *this);
      text = i == 0 ? one : fmt::format("({}) * {} + {}", text, whole->extents.at(rows.over[i]), one);
    }
    const bool literal = std::all_of(rows.index.begin(), rows.index.end(),
                                     [](const Expression& e) { return e->op == Op::constant; });
    if (!literal || rows.index.size() == 1) return text;
    int flat = 0;
    for (std::size_t i = 0; i < rows.index.size(); ++i) {
      flat = flat * whole->extents.at(rows.over[i]) + std::stoi(rows.index[i]->text);
    }
    return std::to_string(flat);
  }
};

// The fields of the consumed head that an action reads.
void collect_message_reads(const Expression& e, std::vector<Path>& reads);
void collect_message_reads(const Path& path, std::vector<Path>& reads) {
  for (const recorded::Segment& segment : path) {
    for (const Expression& index : segment.index) collect_message_reads(index, reads);
  }
  if (std::any_of(path.begin(), path.end(), [](const auto& segment) { return segment.consumed; })) {
    reads.push_back(path);
  }
}
void collect_message_reads(const Expression& e, std::vector<Path>& reads) {
  if (!e) return;
  collect_message_reads(e->path, reads);
  for (const Expression& child : e->children) collect_message_reads(child, reads);
}
void collect_message_reads(const std::vector<Statement>& block, std::vector<Path>& reads) {
  for (const Statement& s : block) {
    collect_message_reads(s.value, reads);
    collect_message_reads(s.target, reads);
    for (const auto& [name, value] : s.row) collect_message_reads(value, reads);
    collect_message_reads(s.then, reads);
    collect_message_reads(s.otherwise, reads);
  }
}

class Writer : private IndentedText {
 public:
  Writer(const WholeDescription& whole, const std::vector<Claim>& claims, const ExportOptions& options)
      : whole_(whole),
        claims_(claims),
        options_(options),
        names_(whole, Names::Scoping::textual),
        promela_{{&whole, &names_}, -1} {}

  std::string write() {
    heading();
    constants();
    types();
    variables();
    queues();
    if (has_derived(whole_.state)) restore();
    for (std::size_t i = 0; i < whole_.rules.size(); ++i) rule(i);
    properties();
    if (options_.purpose == Purpose::progress) {
      processes();
    } else {
      process();
    }
    return std::move(text_);
  }

 private:
  [[nodiscard]] std::string expression(const Expression& e) const {
    return term(folded(e, bindings_, whole_), promela_);
  }
  [[nodiscard]] std::string place(const Path& path) const {
    return promela_.place(folded(path, bindings_, whole_));
  }
  // Of a guard or a property, in a macro.
  [[nodiscard]] std::string body(const Expression& e) const {
    return wrapped(folded(e, bindings_, whole_), promela_, " \\\n  ");
  }
  [[nodiscard]] int extent(const std::string& index) const { return whole_.extents.at(index); }

  void heading() {
    line("/* {}", options_.title);
    line(" * Written by `lockstep export` from the rules that Lockstep itself explores: the same states and");
    line(" * firings, but for the state before the initial states and the steps to them. To run:");
    line(" *   spin -a FILE && gcc -O2 -DSAFETY -DNOREDUCE -DVECTORSZ=65536 -o pan pan.c && ./pan -m1000000");
    line(" * and, for the way to what it found, with the claim's name at the end: spin -t FILE");
    line(" */");
    gap();
  }

  void constants() {
    for (const Declaration& enumeration : names_.enumerations()) {
      line("/* {} */", names_.scalar(enumeration.type));
      for (std::size_t i = 0; i < enumeration.members.size(); ++i) {
        line("#define {} {}", names_.enumerator(enumeration.type, enumeration.members[i]), i);
      }
    }
    for (const Type& maybe : names_.maybes()) {
      line("#define {} 0 /* else the member plus 1 */", names_.none(maybe));
    }
    gap();
    for (const recorded::RigidFunction& function : whole_.functions) {
      line("hidden byte {}[{}] = {{ {} }};", names_.function(function), function.image.size(),
           fmt::join(function.image, ", "));
    }
    gap();
  }

  // The smallest of Promela's types that holds a scalar.
  [[nodiscard]] std::string scalar(const Declaration& leaf) const {
    switch (leaf.type.sort) {
      case Sort::boolean:
        return "bool";
      case Sort::integer:
        return holding(leaf.low, leaf.high);
      case Sort::word:
        return holding(whole_.value_low, whole_.value_high);
      default:
        return "byte";
    }
  }
  static std::string holding(int low, int high) {
    if (low >= 0 && high <= 255) return "byte";
    if (low >= -32768 && high <= 32767) return "short";
    return "int";
  }

  // "byte data[2]".
  [[nodiscard]] std::string declared(const Declaration& d, const std::string& name) const {
    const Rows rows = rows_of(d);
    std::string text =
        (rows.row->kind == Declaration::Kind::leaf ? scalar(*rows.row) : names_.composite(*rows.row)) + " " +
        name;
    int size = 1;
    for (const std::string& index : rows.over) size *= extent(index);
    if (!rows.over.empty()) text += fmt::format("[{}]", size);
    if (rows.row->kind == Declaration::Kind::leaf && default_of(*rows.row) != 0) {
      text += fmt::format(" = {}", default_of(*rows.row));
    }
    return text;
  }

  void types() {
    for (const Declaration& composite : names_.composites()) {
      std::vector<std::string> parts;
      if (composite.kind == Declaration::Kind::queue) {
        const Declaration& row = composite.parts.front();
        parts.emplace_back("byte count");
        parts.push_back(fmt::format("{} slots[{}]",
                                    row.kind == Declaration::Kind::leaf ? scalar(row) : names_.composite(row),
                                    extent(composite.over.front())));
      } else {
        for (std::size_t i = 0; i < composite.parts.size(); ++i) {
          parts.push_back(declared(composite.parts[i], names_.field(composite.names[i])));
        }
      }
      line("typedef {} {{", names_.composite(composite));
      line("  {}", fmt::join(parts, ";\n  "));
      line("}}");
    }
    gap();
  }

  void variables() {
    for (std::size_t i = 0; i < whole_.state.parts.size(); ++i) {
      line("{};", declared(whole_.state.parts[i], names_.field(whole_.state.names[i])));
    }
    gap();
    std::set<std::string> hidden;
    const auto locals_of = [&](const std::vector<Statement>& action) {
      std::vector<Local> locals;
      collect_locals(action, locals);
      for (const Local& local : locals) hidden.insert(names_.variable(local.name));
    };
    for (const recorded::RecordedRule& rule : whole_.rules) {
      locals_of(rule.action);
      for (const Path& read : message_reads(rule.action)) hidden.insert(promela_.place(read));
    }
    for (const recorded::RecordedStart& start : whole_.starts) locals_of(start.action);
    locals_of(whole_.restore);
    if (!hidden.empty()) line("/* What one step of a rule needs for itself: not part of the state. */");
    for (const std::string& name : hidden) line("hidden int {};", name);
    gap();
  }

  // Each field of the consumed head that an action reads, once.
  [[nodiscard]] std::vector<Path> message_reads(const std::vector<Statement>& action) const {
    std::vector<Path> reads;
    collect_message_reads(action, reads);
    std::map<std::string, Path> by_name;
    for (const Path& read : reads) by_name.emplace(promela_.place(read), read);
    std::vector<Path> once;
    for (const auto& [name, read] : by_name) once.push_back(read);
    return once;
  }

  // Promela copies no records: queues move field by field.
  void queues() {
    for (const Declaration& queue : names_.composites()) {
      if (queue.kind != Declaration::Kind::queue) continue;
      const std::string& name = names_.composite(queue);
      const int capacity = extent(queue.over.front());
      std::vector<std::string> down;  // every row takes the place of the one before it
      std::vector<std::string> up;
      std::vector<std::string> last;
      for_each_leaf_of(
          queue.parts.front(), "", whole_, [&](const Declaration& leaf, const std::string& path) {
            const std::string field = names_.row_field(path);
            for (int i = 0; i + 1 < capacity; ++i) {
              down.push_back(fmt::format("q.slots[{}]{} = q.slots[{}]{}", i, field, i + 1, field));
            }
            for (int i = capacity - 1; i > 0; --i) {
              up.push_back(fmt::format("q.slots[{}]{} = q.slots[{}]{}", i, field, i - 1, field));
            }
            last.push_back(fmt::format("q.slots[{}]{} = {}", capacity - 1, field, default_of(leaf)));
          });
      down.insert(down.end(), last.begin(), last.end());
      line("#define POP_{}(q) {}; q.count = q.count - 1", name, fmt::join(down, "; "));
      line("#define MAKE_ROOM_{}(q) {}{}q.count = q.count + 1", name, fmt::join(up, "; "),
           up.empty() ? "" : "; ");
    }
    gap();
  }

  static bool has_derived(const Declaration& d) {
    return d.derived || std::any_of(d.parts.begin(), d.parts.end(), has_derived);
  }

  void restore() {
    line("/* Fields that follow from the others. */");
    line("inline restore() {{");
    indented([&] {
      line("d_step {{");
      indented([&] {
        derived_defaults(whole_.state, "");
        block(whole_.restore);
        line("skip");
      });
      line("}}");
    });
    line("}}");
    gap();
  }
  void derived_defaults(const Declaration& d, const std::string& at) {
    if (d.kind == Declaration::Kind::leaf) {
      return;
    } else if (d.kind == Declaration::Kind::record && d.derived) {
      for_each_leaf_of(d, "", whole_, [&](const Declaration& leaf, const std::string& path) {
        line("{}{} = {};", at, names_.row_field(path), default_of(leaf));
      });
    } else if (d.kind == Declaration::Kind::record) {
      for (std::size_t i = 0; i < d.parts.size(); ++i) {
        derived_defaults(d.parts[i], (at.empty() ? "" : at + ".") + names_.field(d.names[i]));
      }
    } else if (d.kind == Declaration::Kind::table && has_derived(d)) {
      const Rows rows = rows_of(d);
      int size = 1;
      for (const std::string& index : rows.over) size *= extent(index);
      for (int i = 0; i < size; ++i) derived_defaults(*rows.row, fmt::format("{}[{}]", at, i));
    }
  }

  [[nodiscard]] std::string parameters(const std::vector<std::string>& index_types) const {
    std::vector<std::string> variables = parameter_names(index_types);
    for (std::string& variable : variables) variable = names_.variable(variable);
    return fmt::format("{}", fmt::join(variables, ", "));
  }

  void rule(std::size_t i) {
    const recorded::RecordedRule& rule = whole_.rules[i];
    const std::string variables = parameters(rule.parameters);
    line("/* {}{}{}{}{}{} */", rule_title(rule, whole_), rule.unit.empty() ? "" : ": ", rule.unit,
         rule.source.empty() ? "" : "; ", rule.source,
         rule.fairness == Fairness::optional ? "; optional" : "");
    line("#define CAN_{}({}) ({})", names_.rule(i), variables, body(rule.guard));
    line("inline {}({}) {{", names_.rule(i), variables);
    indented([&] {
      line("d_step {{ CAN_{}({}) ->", names_.rule(i), variables);
      indented([&] {
        if (!rule.trigger.empty()) {
          for (const Path& read : message_reads(rule.action)) {
            Path head = read;
            for (recorded::Segment& segment : head) segment.consumed = false;
            line("{} = {};", place(read), place(head));
          }
          line("POP_{}({});", names_.composite(*place_of(rule.trigger, whole_).declaration),
               place(rule.trigger));
        }
        block(rule.action);
        line("skip");
      });
      line("}}");
    });
    line("}}");
    gap();
  }

  void block(const std::vector<Statement>& statements) {
    for (const Statement& s : statements) statement(s);
  }
  void statement(const Statement& s) {
    switch (s.kind) {
      case Statement::Kind::assign:
        line("{} = {};", place(s.target), expression(s.value));
        return;
      case Statement::Kind::let:
        line("{} = {};", names_.variable(s.name), expression(s.value));
        return;
      case Statement::Kind::when:
        when(s);
        return;
      case Statement::Kind::for_each:
        for (int i = 0; i < extent(s.over); ++i) {
          bindings_[s.name] = i;
          block(s.then);
        }
        bindings_.erase(s.name);
        return;
      case Statement::Kind::push:
      case Statement::Kind::push_front:
        push(s);
        return;
      case Statement::Kind::pop:
        line("POP_{}({});", names_.composite(*place_of(s.target, whole_).declaration), place(s.target));
        return;
    }
  }
  void when(const Statement& s) {
    const Expression condition = folded(s.value, bindings_, whole_);
    if (recorded::is_constant(condition, "true")) return block(s.then);
    if (recorded::is_constant(condition, "false")) return block(s.otherwise);
    line("if");
    line(":: {} ->", term(condition, promela_));
    indented([&] {
      block(s.then);
      line("skip");
    });
    line(":: else ->");
    indented([&] {
      block(s.otherwise);
      line("skip");
    });
    line("fi;");
  }
  void push(const Statement& s) {
    const std::string queue = place(s.target);
    const std::string& name = names_.composite(*place_of(s.target, whole_).declaration);
    const bool front = s.kind == Statement::Kind::push_front;
    // The row may say what the queue held before it made room.
    std::set<std::string> reads;
    for (const auto& [field, value] : s.row) recorded::collect_reads(value, reads);
    const std::string self = recorded::print(s.target) + ".";
    if (front &&
        std::any_of(reads.begin(), reads.end(), [&](const auto& r) { return r.starts_with(self); })) {
      throw std::logic_error("a row that is put ahead of the queue it reads");
    }
    if (front) line("MAKE_ROOM_{}({});", name, queue);
    for (const auto& [field, value] : s.row) {
      line("{}.slots[{}]{} = {};", queue, front ? "0" : queue + ".count", names_.row_field(field),
           expression(value));
    }
    if (!front) line("{}.count = {}.count + 1;", queue, queue);
  }

  // ---- claims and the process ----------------------------------------------------------------------------

  // Calls f with the arguments of every instance of a rule.
  template <class F>
  void instances(const std::vector<std::string>& index_types, F&& f, std::vector<int> chosen = {}) const {
    if (chosen.size() == index_types.size()) return f(fmt::format("{}", fmt::join(chosen, ", ")));
    for (int i = 0; i < extent(index_types[chosen.size()]); ++i) {
      chosen.push_back(i);
      instances(index_types, f, chosen);
      chosen.pop_back();
    }
  }

  void properties() {
    std::vector<std::string> live;
    for (std::size_t i = 0; i < whole_.rules.size(); ++i) {
      if (whole_.rules[i].fairness == Fairness::optional) continue;
      instances(whole_.rules[i].parameters, [&](const std::string& arguments) {
        live.push_back(fmt::format("CAN_{}({})", names_.rule(i), arguments));
      });
    }
    line("/* Some rule that is not optional is enabled. */");
    line("#define LIVE ({})", live.empty() ? "false" : fmt::format("{}", fmt::join(live, " || \\\n  ")));
    line("#define AT_END ({})", body(whole_.proper_end));
    gap();
    std::string before;
    for (std::size_t i = 0; i < claims_.size(); ++i) {
      const Claim& claim = claims_[i];
      line("/* {} */", claim.name);
      switch (claim.kind) {
        case Claim::Kind::property:
          line("#define HOLDS_{} ({})", i, body(claim.predicate));
          line("#define CLAIM_{} ({}!HOLDS_{})", i, before, i);
          before += fmt::format("HOLDS_{} && ", i);
          break;
        case Claim::Kind::deadlock:
          line("#define CLAIM_{} (!LIVE && !AT_END)", i);
          break;
        case Claim::Kind::reached:
        case Claim::Kind::missed:
          line("#define CLAIM_{} (!LIVE && AT_END && ({}))", i, expression(claim.predicate));
          break;
      }
    }
    gap();
  }

  // One process a thread, with what memory does for it, and one for what belongs to no thread.
  void processes() {
    const int threads = extent("thread");
    for (int t = -1; t < threads; ++t) {
      if (!has_rules(t)) continue;
      line("proctype {}() {{", t < 0 ? "hardware" : fmt::format("thread_{}", t));
      indented([&] {
        line("end:");
        line("do");
        for (const bool derived : {false, true}) options_of_rules(derived, t);
        line("od");
      });
      line("}}");
      gap();
    }
    line("init {{");
    indented([&] {
      line("atomic {{");
      indented([&] {
        starts();
        for (int t = 0; t < threads; ++t) {
          if (has_rules(t)) line("run thread_{}();", t);
        }
        if (has_rules(-1)) line("run hardware();");
      });
      line("}}");
    });
    line("}}");
    gap();
    line("/* Accepts the runs on which the goal is not reached, or not again and again. */");
    line("#define GOAL ({})", options_.progress_of < 0 ? "AT_END" : getting_on(options_.progress_of));
    line("never {{");
    if (options_.progress_of >= 0) {
      line("before:");
      line("  do");
      line("  :: !GOAL -> goto accept");
      line("  :: true");
      line("  od;");
    }
    line("accept:");
    line("  do");
    line("  :: !GOAL");
    line("  od");
    line("}}");
  }

  // The thread whose process takes an instance of a rule.
  [[nodiscard]] int process_of(std::size_t rule, const std::string& arguments) const {
    const recorded::RecordedRule& r = whole_.rules[rule];
    if (r.thread >= 0) return r.thread;
    return !r.parameters.empty() && r.parameters.front() == "thread" ? std::stoi(arguments) : -1;
  }
  [[nodiscard]] bool has_rules(int process) const {
    bool any = false;
    for (std::size_t i = 0; i < whole_.rules.size(); ++i) {
      instances(whole_.rules[i].parameters,
                [&](const std::string& arguments) { any |= process_of(i, arguments) == process; });
    }
    return any;
  }
  // The thread is within a section of the program, or has ended.
  [[nodiscard]] std::string getting_on(int thread) const {
    const std::vector<Expression> self{
        recorded::constant({"thread", true, recorded::Sort::index}, std::to_string(thread))};
    const std::string ended = place({{"memory", {}}, {"port", self}, {"ended", {}}});
    const std::string pc = place({{"context", self}, {"pc", {}}});
    std::string text = ended;
    for (const Section& section : whole_.program->sections) {
      for (const Stretch& s : section.stretches) {
        if (s.thread == thread) text += fmt::format(" || ({0} >= {1} && {0} < {2})", pc, s.begin, s.end);
      }
    }
    return text;
  }

  void process() {
    line("active proctype system() {{");
    indented([&] {
      starts();
      line("end: /* to stop here is no mistake: what is a deadlock, its claim says */");
      line("do");
      for (const bool derived : {false, true}) options_of_rules(derived, std::nullopt);
      line("/* Enabled in the states of a claim only, which they do not leave. */");
      for (std::size_t i = 0; i < claims_.size(); ++i) {
        if (options_.purpose == Purpose::count) {
          line(":: d_step {{ CLAIM_{} -> printf(\"{}\\n\"); skip }}", i, promela_mark(i));
        } else if (claims_[i].kind != Claim::Kind::missed) {
          line(":: d_step {{ CLAIM_{} -> printf(\"{}\\n\"); assert(false) }}", i, quoted(claims_[i].name));
        }
      }
      line("od");
    });
    line("}}");
  }

  static std::string quoted(const std::string& name) {
    std::string text;
    for (const char c : name) {
      if (c == '"' || c == '\\') text += '\\';
      text += c == '%' ? "%%" : std::string(1, c);
    }
    return text;
  }

  void starts() {
    line("if");
    for (const recorded::RecordedStart& family : whole_.starts) {
      const std::vector<std::string> variables = parameter_names(family.parameters);
      std::vector<int> members;
      start(family, variables, members);
    }
    line("fi;");
  }
  void start(const recorded::RecordedStart& family, const std::vector<std::string>& variables,
             std::vector<int>& members) {
    if (members.size() < variables.size()) {
      for (int i = 0; i < extent(family.parameters[members.size()]); ++i) {
        members.push_back(i);
        bindings_[variables[members.size() - 1]] = i;
        start(family, variables, members);
        members.pop_back();
      }
      bindings_.erase(variables[members.size()]);
      return;
    }
    line(":: d_step {{");
    indented([&] {
      block(family.action);
      line("skip");
    });
    line("}}");
  }

  // Rules after which derived fields are recomputed share one recomputation. Of one process, or of all.
  void options_of_rules(bool derived, std::optional<int> process) {
    std::vector<std::string> calls;
    for (std::size_t i = 0; i < whole_.rules.size(); ++i) {
      if (touches_derived(whole_.rules[i].action, whole_) != derived) continue;
      instances(whole_.rules[i].parameters, [&](const std::string& arguments) {
        if (process && process_of(i, arguments) != *process) return;
        calls.push_back(fmt::format("{}({})", names_.rule(i), arguments));
      });
    }
    if (calls.empty()) return;
    if (!derived) {
      for (const std::string& call : calls) line(":: {}", call);
      return;
    }
    line(":: atomic {{");
    indented([&] {
      line("if");
      for (const std::string& call : calls) line(":: {}", call);
      line("fi;");
      line("restore()");
    });
    line("}}");
  }

  const WholeDescription& whole_;
  const std::vector<Claim>& claims_;
  const ExportOptions& options_;
  Names names_;
  Promela promela_;
  Bindings bindings_;
};

}  // namespace

std::string export_promela(const recorded::WholeDescription& whole, const std::vector<Claim>& claims,
                           const ExportOptions& options) {
  const WholeDescription kept = without_empty_records(whole);
  return Writer(kept, claims, options).write();
}

}  // namespace lockstep
