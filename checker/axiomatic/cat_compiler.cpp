// Interprets a model's definitions once, with nodes of the plan in the place of relations: functions are
// applied, procedures called, recursion over relations becomes a fixpoint node.
#include "checker/axiomatic/cat_compiler.hpp"

#include <algorithm>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "checker/support/diagnostic.hpp"
#include "checker/support/home.hpp"

namespace lockstep::cat {

const std::vector<BaseName>& base_names() {
  static const std::vector<BaseName> names{
      {"_", Base::universe},
      {"R", Base::reads},
      {"W", Base::writes},
      {"M", Base::memory},
      {"F", Base::fences},
      {"B", Base::barriers},
      {"IW", Base::initial},
      {"I", Base::initial},
      {"RMW", Base::rmws},
      {"NA", Base::plain},
      {"PLN", Base::plain},
      {"A", Base::atomic},
      {"RLX", Base::relaxed},
      {"ACQ", Base::acquire},
      {"REL", Base::release},
      {"ACQ_REL", Base::acq_rel},
      {"SC", Base::sc},
      {"WAVE", Base::scope_wave},
      {"WI", Base::scope_work_item},
      {"WG", Base::scope_wg},
      {"CTA", Base::scope_wg},
      {"AGENT", Base::scope_agent},
      {"GPU", Base::scope_agent},
      {"DV", Base::scope_agent},
      {"SYS", Base::scope_system},
      {"ALL", Base::scope_system},
      {"GLOBAL", Base::global},
      {"LOCAL", Base::local},
      {"NAL", Base::non_atomic},
      {"EF", Base::entry},
      {"XF", Base::exit},
      {"HOST", Base::host},
      {"ATOM", Base::atomic},
      {"CBAR", Base::barriers},
      {"SC0", base_of(Tag::sc0)},
      {"SC1", base_of(Tag::sc1)},
      {"SC2", base_of(Tag::sc2)},
      {"SC3", base_of(Tag::sc3)},
      {"SEMSC0", base_of(Tag::semsc0)},
      {"SEMSC1", base_of(Tag::semsc1)},
      {"SEMSC2", base_of(Tag::semsc2)},
      {"SEMSC3", base_of(Tag::semsc3)},
      {"AV", base_of(Tag::av)},
      {"VIS", base_of(Tag::vis)},
      {"SEMAV", base_of(Tag::semav)},
      {"SEMVIS", base_of(Tag::semvis)},
      {"NONPRIV", base_of(Tag::nonpriv)},
      {"AVDEVICE", base_of(Tag::avdevice)},
      {"VISDEVICE", base_of(Tag::visdevice)},
      {"SG", base_of(Tag::in_sg)},
      {"QF", base_of(Tag::in_qf)},
      {"SUR", base_of(Tag::surface)},
      {"TEX", base_of(Tag::texture)},
      {"CON", base_of(Tag::constant)},
      {"ALIAS", base_of(Tag::alias)},
      {"GEN", Base::generic},
      {"X", base_of(Tag::exclusive)},
      {"Q", base_of(Tag::acquire_pc)},
      {"L", Base::releasing_writes},
      {"Acq", Base::acquire_accesses},
      {"Rel", Base::release_accesses},
      {"AcqRel", Base::sc_accesses},
      {"MFENCE", base_of(Tag::mfence)},
      {"LFENCE", base_of(Tag::lfence)},
      {"SFENCE", base_of(Tag::sfence)},
      {"DMB.SY", base_of(Tag::dmb_sy)},
      {"DMB.LD", base_of(Tag::dmb_ld)},
      {"DMB.ST", base_of(Tag::dmb_st)},
      {"DMB.ISH", base_of(Tag::dmb_ish)},
      {"DMB.ISHLD", base_of(Tag::dmb_ishld)},
      {"DMB.ISHST", base_of(Tag::dmb_ishst)},
      {"DSB.SY", base_of(Tag::dsb_sy)},
      {"DSB.LD", base_of(Tag::dsb_ld)},
      {"DSB.ST", base_of(Tag::dsb_st)},
      {"DSB.ISH", base_of(Tag::dsb_ish)},
      {"DSB.ISHLD", base_of(Tag::dsb_ishld)},
      {"DSB.ISHST", base_of(Tag::dsb_ishst)},
      {"ISB", base_of(Tag::isb)},
      {"Fence.r.r", base_of(Tag::fence_r_r)},
      {"Fence.r.w", base_of(Tag::fence_r_w)},
      {"Fence.r.rw", base_of(Tag::fence_r_rw)},
      {"Fence.w.r", base_of(Tag::fence_w_r)},
      {"Fence.w.w", base_of(Tag::fence_w_w)},
      {"Fence.w.rw", base_of(Tag::fence_w_rw)},
      {"Fence.rw.r", base_of(Tag::fence_rw_r)},
      {"Fence.rw.w", base_of(Tag::fence_rw_w)},
      {"Fence.rw.rw", base_of(Tag::fence_rw_rw)},
      {"Fence.tso", base_of(Tag::fence_tso)},
      {"id", Base::identity},
      {"po", Base::po},
      {"rf", Base::rf},
      {"co", Base::co},
      {"loc", Base::loc},
      {"vloc", Base::address},
      {"int", Base::internal},
      {"ext", Base::external},
      {"rmw", Base::rmw},
      {"amo", Base::rmw},
      {"addr", Base::addr},
      {"data", Base::data},
      {"ctrl", Base::ctrl},
      {"swave", Base::same_wave},
      {"swg", Base::same_wg},
      {"scta", Base::same_wg},
      {"sagent", Base::same_agent},
      {"sgpu", Base::same_agent},
      {"sdv", Base::same_agent},
      {"ssg", Base::same_subgroup},
      {"sqf", Base::same_queue_family},
      {"ssw", Base::system_synchronizes},
      {"sr", Base::inclusive},
      {"contains", Base::contains},
      {"syncbar", Base::syncbar},
      {"sync_barrier", Base::syncbar},
      {"sync_fence", Base::sync_fence},
      {"kernel", Base::kernel},
      {"si", Base::same_instruction},
  };
  return names;
}

namespace {

// Names of sets and relations that other tools have for machines, languages and operations that no dialect
// here knows: of nothing that a test could have done.
bool is_name_of_others(std::string_view name) {
  static const std::set<std::string_view> names{
      // locks, memory management, loops and faults
      "LK", "LS", "UL", "UF", "RU", "LF", "LKR", "LKW", "RLK", "FW", "ALLOC", "FREE", "SRCU", "SPINLOOP",
      "TERMINATION", "ASSUME", "ASSERT", "FAULT", "Exc_F", "T", "PTE", "PA", "VA", "TLBI", "INV", "IC", "DC",
      "SPEC", "crit", "rcu-rscs", "lk-rmw", "casdep", "inv-domain", "alloc", "ptr", "free", "sync-rcu",
      // orders and fences of other CPUs, and of Linux
      "EX", "STRONG", "NoRet", "Noreturn", "SYNC", "LWSYNC", "ISYNC", "EIEIO", "DMB", "DSB", "DMB.OSH",
      "DMB.OSHLD", "DMB.OSHST", "DMB.NSH", "DMB.NSHLD", "DMB.NSHST", "DSB.OSH", "DSB.OSHLD", "DSB.OSHST",
      "DSB.NSH", "DSB.NSHLD", "DSB.NSHST", "Fence.i", "Sc", "Once", "Acquire", "Release", "Deref", "Mb",
      "Rmb", "Wmb", "Rcu-lock", "Rcu-unlock", "Sync-rcu", "Srcu-lock", "Srcu-unlock", "Sync-srcu",
      "Before-atomic", "After-atomic", "After-spinlock", "After-unlock-lock", "Marked", "Plain",
      // within an instruction
      "iico_data", "iico_ctrl", "iico_order", "idd", "ctrlDirect", "sm", "same-instance", "partial-po"};
  return names.count(name) != 0;
}

// What a model of a processor calls A, where the others say it of atomics.
std::optional<Base> a_of_processor(std::string_view title) {
  if (title.starts_with("AArch64") || title.starts_with("ARM")) return Base::acquiring_reads;
  if (title.starts_with("X86")) return Base::rmws;
  return std::nullopt;
}

// Titles by which a model asks for orders of writes that relate no more than its own checks want related.
bool has_partial_coherence(std::string_view title) {
  static const std::set<std::string_view> words{"PTX", "SPIRV", "VULKAN", "Vulkan"};
  return words.count(title.substr(0, title.find(' '))) != 0;
}

}  // namespace

// ---- reading ----

namespace {

namespace fs = std::filesystem;

std::string models_folder() {
  return shipped("spec/models").string();
}

std::string read_text(const std::string& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) throw BadInput(Diagnostic{path, {}, "not a regular file", {}, {}});
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw BadInput(Diagnostic{path, {}, "the file cannot be opened", {}, {}});
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

}  // namespace

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(models_folder(), error)) {
    const fs::path& path = entry.path();
    if (path.extension() != ".cat") continue;
    names.push_back(path.stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string model_title(const std::string& name) {
  const std::string title = read_model(name).file->title;
  const std::size_t quote = title.find('"');
  return quote == std::string::npos ? title : title.substr(quote + 1, title.rfind('"') - quote - 1);
}

void add_library_path(Source& source) {
  source.path.push_back(models_folder());
  source.path.push_back(models_folder() + "/lib");
}

Source read_model(const std::string& name_or_path, const std::vector<std::string>& include_path) {
  std::error_code error;
  std::string path = name_or_path;
  if (!name_or_path.ends_with(".cat") && !fs::exists(path, error)) {
    path = models_folder() + "/" + name_or_path + ".cat";
    if (name_or_path.find('/') != std::string::npos || !fs::exists(path, error)) {
      throw BadInput("unknown model '" + name_or_path + "'", suggestion(name_or_path, model_names()));
    }
  }
  if (!fs::exists(path, error)) throw BadInput(Diagnostic{path, {}, "no such file", {}, {}});
  Source source;
  source.file = std::make_shared<const File>(parse(read_text(path), path));
  source.path.push_back(fs::path(path).parent_path().string());
  source.path.insert(source.path.end(), include_path.begin(), include_path.end());
  add_library_path(source);
  return source;
}

namespace {

std::optional<fs::path> find_included(const Source& source, const std::string& name) {
  std::error_code error;
  for (const std::string& folder : source.path) {
    const fs::path path = (folder.empty() ? fs::path(".") : fs::path(folder)) / name;
    if (fs::exists(path, error)) return path;
  }
  return {};
}

std::string library_path() {
  return models_folder() + "/lib/stdlib.cat";
}

void add_included(const std::vector<Statement>& statements, const Source& source, std::set<std::string>& seen,
                  std::string& text) {
  for (const Statement& statement : statements) {
    add_included(statement.body, source, seen, text);
    add_included(statement.otherwise, source, seen, text);
    if (statement.kind != StatementKind::include) continue;
    const auto path = find_included(source, statement.names[0]);
    if (!path || !seen.insert(path->string()).second) continue;
    const File file = parse(read_text(path->string()), path->string());
    text += file.text;
    add_included(file.statements, source, seen, text);
  }
}

}  // namespace

std::string whole_text(const Source& source) {
  std::string text = source.file->text + read_text(library_path());
  std::set<std::string> seen;
  add_included(source.file->statements, source, seen, text);
  return text;
}

// ---- values ----

namespace {

struct Value;
struct Env {
  std::string name;
  std::shared_ptr<const Value> value;
  const Env* parent = nullptr;
};

struct Closure {
  Pattern parameter;
  std::vector<Pattern> more;  // further parameters
  const Expr* body = nullptr;
  const Env* env = nullptr;
  const File* file = nullptr;
};

struct ProcedureValue {
  const Statement* statement = nullptr;
  const Env* env = nullptr;
  const File* file = nullptr;
};

enum class Primitive : std::uint8_t {
  domain,
  range,
  generate_cos,
  generate_partial_cos,
  linearisations,
  cross,
  classes,
  classes_loc
};

struct Value {
  enum class Kind : std::uint8_t {
    set,
    relation,
    nothing,
    tuple,
    function,
    primitive,
    procedure,
    event,
    pair,
    tag,
    collection,
    orders,
    coherence
  };
  Kind kind = Kind::nothing;
  int node = -1;                // of a set or relation
  std::vector<Value> elements;  // of a tuple or collection
  Closure closure;
  ProcedureValue procedure;
  Primitive primitive = Primitive::domain;
  int event = -1;   // of an event; of a pair, its first
  int event2 = -1;  // of a pair
  std::string tag;
  int other = -1;        // of orders: the relation that they include (`node` is the set)
  bool partial = false;  // of coherence
};

std::string_view word(Value::Kind kind) {
  switch (kind) {
    case Value::Kind::set:
      return "a set";
    case Value::Kind::relation:
      return "a relation";
    case Value::Kind::nothing:
      return "the empty set";
    case Value::Kind::tuple:
      return "a tuple";
    case Value::Kind::function:
    case Value::Kind::primitive:
      return "a function";
    case Value::Kind::procedure:
      return "a procedure";
    case Value::Kind::event:
      return "an event";
    case Value::Kind::pair:
      return "a pair of events";
    case Value::Kind::tag:
      return "a tag";
    case Value::Kind::collection:
      return "a set of sets";
    case Value::Kind::orders:
    case Value::Kind::coherence:
      return "a set of orders";
  }
  return "";
}

// ---- the compiler ----

constexpr int deepest_application = 400;
constexpr int most_applications = 1'000'000;
constexpr std::size_t largest_collection = 20'000;

class Compiler {
 public:
  Compiler(const Source& source, Structure* structure) : source_(source), structure_(structure) {}

  Plan run() {
    for (const BaseName& base : base_names()) base_of_[base.name] = base.base;
    if (const auto a = a_of_processor(source_.file->title)) base_of_["A"] = *a;
    for (const auto& [name, primitive] : primitives()) {
      Value v;
      v.kind = Value::Kind::primitive;
      v.primitive = primitive;
      bind(globals_, name, std::move(v));
    }
    const bool is_library = fs::path(source_.file->name).filename() == "stdlib.cat";
    if (!is_library) include_library();
    run_file(source_.file);
    finish();
    return std::move(plan_);
  }

 private:
  static const std::map<std::string, Primitive, std::less<>>& primitives() {
    static const std::map<std::string, Primitive, std::less<>> all{
        {"domain", Primitive::domain},
        {"range", Primitive::range},
        {"generate_cos", Primitive::generate_cos},
        {"generate_partial_cos", Primitive::generate_partial_cos},
        {"linearisations", Primitive::linearisations},
        {"linearizations", Primitive::linearisations},
        {"cross", Primitive::cross},
        {"classes", Primitive::classes},
        {"classes-loc", Primitive::classes_loc},
        {"partition", Primitive::classes_loc}};
    return all;
  }

  // ---- errors

  [[noreturn]] void fail(SourcePlace place, std::string message, std::string hint = {}) const {
    throw BadInput(Diagnostic{file_->name, place, std::move(message), std::move(hint),
                              line_of(file_->text, place.line)});
  }
  [[nodiscard]] std::string written(const Expr& e) const {
    std::string text = file_->text.substr(e.begin, e.size);
    std::replace(text.begin(), text.end(), '\n', ' ');
    if (text.size() > 60) text = text.substr(0, 57) + "...";
    return "'" + text + "'";
  }

  // ---- names

  void bind(const Env*& env, const std::string& name, Value value) {
    arena_.push_back({name, std::make_shared<const Value>(std::move(value)), env});
    env = &arena_.back();
  }
  void bind(const Env*& env, const Pattern& pattern, Value value, SourcePlace place) {
    if (!pattern.tuple || pattern.names.size() == 1) {
      bind(env, pattern.names.front(), std::move(value));
      return;
    }
    if (pattern.names.empty()) return;
    if (value.kind != Value::Kind::tuple || value.elements.size() != pattern.names.size()) {
      fail(place, "a tuple of " + std::to_string(pattern.names.size()) +
                      " is taken apart here, but this is " +
                      (value.kind == Value::Kind::tuple ? "one of " + std::to_string(value.elements.size())
                                                        : std::string(word(value.kind))));
    }
    for (std::size_t i = 0; i < pattern.names.size(); ++i) bind(env, pattern.names[i], value.elements[i]);
  }
  [[nodiscard]] static const Value* find(const Env* env, std::string_view name) {
    for (; env != nullptr; env = env->parent) {
      if (env->name == name) return env->value.get();
    }
    return nullptr;
  }
  Value look_up(const Env* env, const Expr& e) {
    if (const Value* found = find(env, e.text)) return *found;
    const auto base = base_of_.find(e.text);
    if (base != base_of_.end()) return base_value(base->second);
    if (trying_ == 0 && is_name_of_others(e.text)) {
      warn(e.place, "'" + e.text + "' is of machines that no dialect here describes: it is empty");
      return {};
    }
    std::vector<std::string> known;
    for (const Env* at = env; at != nullptr; at = at->parent) known.push_back(at->name);
    for (const auto& [name, ignored] : base_of_) known.emplace_back(name);
    const std::string near = nearest(e.text, known);
    fail(e.place, "unknown name '" + e.text + "'",
         near.empty() ? "base sets and relations are listed in docs/models.md"
                      : "did you mean '" + near + "'?");
  }

  // Once for each text, wherever it stands.
  void warn(SourcePlace place, std::string message) {
    for (const Warning& known : plan_.warnings) {
      if (known.message == message) return;
    }
    plan_.warnings.push_back({file_->name, place, std::move(message)});
  }

  // ---- nodes

  int add(Node node) {
    const auto key = std::make_tuple(node.op, node.base, node.set, node.a, node.b,
                                     node.op == Op::variable ? static_cast<int>(plan_.nodes.size()) : 0);
    const auto found = known_.find(key);
    if (found != known_.end()) return found->second;
    if (node.recursion < 0) {
      for (const int operand : {node.a, node.b}) {
        if (node.op == Op::constant || node.op == Op::choice || node.op == Op::fixed) break;
        if (operand >= 0) node.recursion = std::max(node.recursion, at(operand).recursion);
      }
    }
    const int index = static_cast<int>(plan_.nodes.size());
    plan_.nodes.push_back(node);
    known_.emplace(key, index);
    if (node.recursion >= 0)
      plan_.recursions[static_cast<std::size_t>(node.recursion)].nodes.push_back(index);
    return index;
  }
  Node& at(int node) { return plan_.nodes[static_cast<std::size_t>(node)]; }

  int base(Base b) {
    Node node{.op = Op::base, .base = b, .set = is_set(b)};
    if (b == Base::rf) node.stage = Stage::reads_from;
    if (b == Base::co) node.stage = Stage::coherence;
    if (b == Base::sync_fence) node.stage = Stage::others;
    node.antitone = node.stage == Stage::fixed_by_events;
    return add(node);
  }
  Value base_value(Base b) { return value(base(b)); }
  Value value(int node) {
    Value v;
    v.kind = at(node).set ? Value::Kind::set : Value::Kind::relation;
    v.node = node;
    return v;
  }
  // The stages that come after a node's: it no longer changes then.
  std::uint8_t settled(int node) {
    if (at(node).recursion >= 0) return 0;
    return static_cast<std::uint8_t>(0xFU << (static_cast<unsigned>(at(node).stage) + 1U));
  }
  bool grows(int node) { return ((at(node).monotone >> static_cast<unsigned>(Stage::coherence)) & 1U) != 0; }
  int binary(Op op, int a, int b, bool set) {
    Node node{.op = op, .set = set};
    node.a = a;
    node.b = b;
    node.stage = std::max(at(a).stage, at(b).stage);
    node.monotone = at(a).monotone & (op == Op::difference ? settled(b) : at(b).monotone);
    node.antitone = at(a).antitone && (op == Op::difference ? grows(b) : at(b).antitone);
    return add(node);
  }
  int unary(Op op, int a, bool set) {
    Node node{.op = op, .set = set};
    node.a = a;
    node.stage = at(a).stage;
    node.monotone = at(a).monotone;
    node.antitone = op == Op::complement ? grows(a) : at(a).antitone;
    if (op == Op::complement) node.monotone = settled(a);
    return add(node);
  }
  int sequence(int a, int b) {
    if (at(a).op == Op::to_identity) return binary(Op::restrict_domain, at(a).a, b, false);
    if (at(b).op == Op::to_identity) return binary(Op::restrict_range, a, at(b).a, false);
    return binary(Op::sequence, a, b, false);
  }
  int intersection(int a, int b, bool set) {
    if (!set && at(b).op == Op::product) return restricted(a, b);
    if (!set && at(a).op == Op::product) return restricted(b, a);
    return binary(Op::intersection, a, b, set);
  }
  int restricted(int relation, int product) {
    const int left = at(product).a;
    const int right = at(product).b;
    return binary(Op::restrict_range, binary(Op::restrict_domain, left, relation, false), right, false);
  }

  // ---- expressions

  int relation(const Value& v, const Expr& e) {
    if (v.kind == Value::Kind::nothing) return base(Base::none);
    if (v.kind == Value::Kind::pair) return constant_pair(v.event, v.event2);
    if (v.kind != Value::Kind::relation) {
      fail(e.place, "a relation is needed, and " + written(e) + " is " + std::string(word(v.kind)),
           v.kind == Value::Kind::set ? "[S] is the identity on a set, S * S all its pairs" : "");
    }
    return v.node;
  }
  int relation(const Env* env, const Expr& e) { return relation(evaluate(env, e), e); }
  int set(const Value& v, const Expr& e) {
    if (v.kind == Value::Kind::nothing) return unary(Op::domain, base(Base::none), true);
    if (v.kind == Value::Kind::event) return constant_event(v.event);
    if (v.kind != Value::Kind::set) {
      fail(e.place, "a set of events is needed, and " + written(e) + " is " + std::string(word(v.kind)),
           v.kind == Value::Kind::relation ? "domain(r) and range(r) are sets" : "");
    }
    return v.node;
  }
  int set(const Env* env, const Expr& e) { return set(evaluate(env, e), e); }

  // Folds operands of one type, sets or relations.
  template <class Join>
  Value fold(const Env* env, const Expr& e, const Join& join) {
    std::vector<Value> values;
    bool sets = false;
    bool relations = false;
    for (const Expr& operand : e.operands) {
      values.push_back(evaluate(env, operand));
      const Value::Kind kind = values.back().kind;
      sets |= kind == Value::Kind::set || kind == Value::Kind::event;
      relations |= kind == Value::Kind::relation || kind == Value::Kind::pair;
    }
    if (std::any_of(values.begin(), values.end(),
                    [](const Value& v) { return v.kind == Value::Kind::collection; })) {
      return fold_collections(e, values);
    }
    if (!sets && !relations) {
      const bool all = std::all_of(values.begin(), values.end(),
                                   [](const Value& v) { return v.kind == Value::Kind::nothing; });
      if (all) return values.front();
    }
    const bool as_sets = sets && !relations;
    int node = as_sets ? set(values[0], e.operands[0])
                       : relation_beside(values[0], e.operands[0], sets && relations);
    for (std::size_t i = 1; i < values.size(); ++i) {
      const int next = as_sets ? set(values[i], e.operands[i])
                               : relation_beside(values[i], e.operands[i], sets && relations);
      node = join(node, next, as_sets);
    }
    return value(node);
  }
  int relation_beside(const Value& v, const Expr& e, bool mixed) {
    if (mixed && v.kind == Value::Kind::set) {
      fail(e.place, written(e) + " is a set and stands beside a relation",
           "[S] is the identity on a set, S * S all its pairs");
    }
    return relation(v, e);
  }
  Value fold_collections(const Expr& e, const std::vector<Value>& values) {
    Value all;
    all.kind = Value::Kind::collection;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i].kind == Value::Kind::nothing) continue;
      if (values[i].kind != Value::Kind::collection || e.kind != ExprKind::union_) {
        fail(e.operands[i].place, "sets of sets can be joined by | only");
      }
      all.elements.insert(all.elements.end(), values[i].elements.begin(), values[i].elements.end());
    }
    return all;
  }

  Value evaluate(const Env* env, const Expr& e) {
    switch (e.kind) {
      case ExprKind::name:
        return look_up(env, e);
      case ExprKind::tag: {
        Value v;
        v.kind = Value::Kind::tag;
        v.tag = e.text;
        return v;
      }
      case ExprKind::empty:
        return base_value(Base::none);
      case ExprKind::universe:
        return base_value(Base::universe);
      case ExprKind::explicit_set:
        return explicit_set(env, e);
      case ExprKind::tuple: {
        Value v;
        v.kind = Value::Kind::tuple;
        for (const Expr& operand : e.operands) v.elements.push_back(evaluate(env, operand));
        return v;
      }
      case ExprKind::union_:
        return fold(env, e, [this](int a, int b, bool s) { return binary(Op::union_, a, b, s); });
      case ExprKind::intersection:
        return fold(env, e, [this](int a, int b, bool s) { return intersection(a, b, s); });
      case ExprKind::difference:
        return fold(env, e, [this](int a, int b, bool s) { return binary(Op::difference, a, b, s); });
      case ExprKind::sequence: {
        // From the right where the left end is [S]: restricting early keeps rows short.
        std::vector<int> nodes;
        for (const Expr& operand : e.operands) nodes.push_back(relation(env, operand));
        int node = nodes.front();
        for (std::size_t i = 1; i < nodes.size(); ++i) node = sequence(node, nodes[i]);
        return value(node);
      }
      case ExprKind::product: {
        const int a = set(env, e.operands[0]);
        const int b = set(env, e.operands[1]);
        return value(binary(Op::product, a, b, false));
      }
      case ExprKind::add:
        return addition(env, e);
      case ExprKind::complement: {
        const Value v = evaluate(env, e.operands[0]);
        if (v.kind == Value::Kind::nothing) return base_value(Base::universe);
        if (v.kind == Value::Kind::set) return value(unary(Op::complement, v.node, true));
        return value(unary(Op::complement, relation(v, e.operands[0]), false));
      }
      case ExprKind::inverse:
        return value(unary(Op::inverse, relation(env, e.operands[0]), false));
      case ExprKind::closure:
        return value(unary(Op::closure, relation(env, e.operands[0]), false));
      case ExprKind::star:
        return value(unary(Op::star, relation(env, e.operands[0]), false));
      case ExprKind::maybe:
        return value(unary(Op::maybe, relation(env, e.operands[0]), false));
      case ExprKind::identity:
        return value(unary(Op::to_identity, set(env, e.operands[0]), false));
      case ExprKind::apply:
        return apply(evaluate(env, e.operands[0]), evaluate(env, e.operands[1]), e);
      case ExprKind::function: {
        Value v;
        v.kind = Value::Kind::function;
        v.closure = {e.bindings[0].parameters[0], {}, &e.operands[0], env, file_};
        return v;
      }
      case ExprKind::let: {
        const Env* inner = env;
        define(inner, e.bindings, e.recursive);
        return evaluate(inner, e.operands[0]);
      }
      case ExprKind::condition:
        return evaluate(env, e.operands[holds(env, e.condition[0], e.place) ? 0 : 1]);
      case ExprKind::try_:
        try {
          ++trying_;
          Value v = evaluate(env, e.operands[0]);
          --trying_;
          return v;
        } catch (const BadInput&) {
          --trying_;
          return evaluate(env, e.operands[1]);
        }
      case ExprKind::match:
        return match(env, e);
    }
    return {};
  }

  Value explicit_set(const Env* env, const Expr& e) {
    std::vector<Value> values;
    for (const Expr& operand : e.operands) values.push_back(evaluate(env, operand));
    if (values.empty()) return {};
    const bool events = std::all_of(values.begin(), values.end(), [](const Value& v) {
      return v.kind == Value::Kind::event || v.kind == Value::Kind::pair;
    });
    Value all;
    all.kind = Value::Kind::collection;
    if (!events) {
      all.elements = std::move(values);
      return all;
    }
    Value joined;
    for (std::size_t i = 0; i < values.size(); ++i) joined = with_element(values[i], joined, e);
    return joined;
  }
  // `e ++ S`
  Value with_element(const Value& element, const Value& rest, const Expr& e) {
    if (element.kind == Value::Kind::event) {
      return value(binary(Op::union_, constant_event(element.event), set(rest, e), true));
    }
    if (element.kind == Value::Kind::pair) {
      return value(
          binary(Op::union_, constant_pair(element.event, element.event2), relation(rest, e), false));
    }
    Value all;
    all.kind = Value::Kind::collection;
    if (rest.kind != Value::Kind::nothing && rest.kind != Value::Kind::collection) {
      fail(e.place,
           "++ adds an element to a set of such elements; the right side is " + std::string(word(rest.kind)));
    }
    all.elements.push_back(element);
    all.elements.insert(all.elements.end(), rest.elements.begin(), rest.elements.end());
    return all;
  }
  Value addition(const Env* env, const Expr& e) {
    const Value element = evaluate(env, e.operands[0]);
    const Value rest = evaluate(env, e.operands[1]);
    return with_element(element, rest, e);
  }

  Value apply(const Value& function, const Value& argument, const Expr& e) {
    if (function.kind == Value::Kind::primitive) return apply(function.primitive, argument, e);
    if (function.kind != Value::Kind::function) {
      fail(e.place,
           written(e.operands[0]) + " is applied like a function and is " + std::string(word(function.kind)));
    }
    if (++depth_ > deepest_application) {
      fail(e.place, "recursion that does not converge: " + written(e) + " calls itself without end");
    }
    if (++applications_ > most_applications) {
      fail(e.place, "the model applies its functions more than a million times");
    }
    const File* const caller = file_;
    const Env* env = function.closure.env;
    bind(env, function.closure.parameter, argument, e.place);
    Value result;
    if (function.closure.more.empty()) {
      file_ = function.closure.file;
      result = evaluate(env, *function.closure.body);
    } else {
      result.kind = Value::Kind::function;
      result.closure = function.closure;
      result.closure.env = env;
      result.closure.parameter = function.closure.more.front();
      result.closure.more.erase(result.closure.more.begin());
    }
    file_ = caller;
    --depth_;
    return result;
  }

  Value apply(Primitive primitive, const Value& argument, const Expr& e) {
    const Expr& written_argument = e.operands.size() > 1 ? e.operands[1] : e;
    const auto part = [&](std::size_t i) -> const Value& {
      if (argument.kind != Value::Kind::tuple || argument.elements.size() != 2) {
        fail(e.place, "two arguments are needed: a set and a relation");
      }
      return argument.elements[i];
    };
    Value v;
    switch (primitive) {
      case Primitive::domain:
        return value(unary(Op::domain, relation(argument, written_argument), true));
      case Primitive::range:
        return value(unary(Op::range, relation(argument, written_argument), true));
      case Primitive::generate_cos:
      case Primitive::generate_partial_cos:
        v.kind = Value::Kind::coherence;
        v.partial = primitive == Primitive::generate_partial_cos;
        v.node = relation(argument, written_argument);
        return v;
      case Primitive::linearisations:
        v.kind = Value::Kind::orders;
        v.node = set(part(0), written_argument);
        v.other = relation(part(1), written_argument);
        return v;
      case Primitive::cross:
        return cross(argument, e);
      case Primitive::classes:
        return classes(relation(argument, written_argument));
      case Primitive::classes_loc: {
        const int s = set(argument, written_argument);
        return classes(
            binary(Op::restrict_range, binary(Op::restrict_domain, s, base(Base::loc), false), s, false));
      }
    }
    return v;
  }

  // ---- where the events must be known

  std::vector<std::uint64_t> rows(int node) {
    if (structure_ == nullptr) throw NeedsStructure();
    if (at(node).stage != Stage::fixed_by_events || at(node).recursion >= 0) {
      fail({}, "a set that depends on rf or co is taken apart, which this compiler cannot do",
           "take apart only what follows from the program, such as loc, po and the sets of events");
    }
    return structure_->rows(plan_, node);
  }
  [[nodiscard]] std::size_t words() const { return static_cast<std::size_t>(structure_->words()); }
  int constant(Constant c) {
    plan_.constants.push_back(std::move(c));
    Node node{.op = Op::constant, .set = plan_.constants.back().set};
    node.a = static_cast<int>(plan_.constants.size()) - 1;
    return add(node);
  }
  int constant_event(int event) {
    if (structure_ == nullptr) throw NeedsStructure();
    Constant c{true, std::vector<std::uint64_t>(words())};
    c.rows[static_cast<std::size_t>(event) / 64] |= std::uint64_t{1} << (event % 64);
    return constant(std::move(c));
  }
  int constant_pair(int first, int second) {
    if (structure_ == nullptr) throw NeedsStructure();
    Constant c{false, std::vector<std::uint64_t>(words() * static_cast<std::size_t>(structure_->events()))};
    c.rows[static_cast<std::size_t>(first) * words() + static_cast<std::size_t>(second) / 64] |=
        std::uint64_t{1} << (second % 64);
    return constant(std::move(c));
  }
  static bool has(const std::vector<std::uint64_t>& row, std::size_t from, int event) {
    return ((row[from + static_cast<std::size_t>(event) / 64] >> (event % 64)) & 1U) != 0;
  }

  Value match(const Env* env, const Expr& e) {
    const Value v = evaluate(env, e.operands[0]);
    if (v.kind == Value::Kind::tag) {
      for (const Clause& c : e.clauses) {
        if (c.kind == Clause::Kind::otherwise || (c.kind == Clause::Kind::tag && c.first == v.tag)) {
          return evaluate(env, c.body[0]);
        }
      }
      fail(e.place, "no clause of this match takes the tag '" + v.tag);
    }
    Value element;
    Value rest;
    const bool nonempty = take(v, element, rest, e);
    for (const Clause& c : e.clauses) {
      if (c.kind == Clause::Kind::otherwise || (c.kind == Clause::Kind::empty && !nonempty)) {
        return evaluate(env, c.body[0]);
      }
      if (c.kind == Clause::Kind::element && nonempty) {
        const Env* inner = env;
        bind(inner, c.first, element);
        bind(inner, c.rest, rest);
        return evaluate(inner, c.body[0]);
      }
    }
    fail(e.place,
         "no clause of this match takes " + std::string(nonempty ? "a set with elements" : "the empty set"));
  }
  // Takes the first element out of a set.
  bool take(const Value& v, Value& element, Value& rest, const Expr& e) {
    switch (v.kind) {
      case Value::Kind::nothing:
        return false;
      case Value::Kind::orders:
        return take(all_orders(v, e), element, rest, e);
      case Value::Kind::collection: {
        if (v.elements.empty()) return false;
        element = v.elements.front();
        rest = v;
        rest.elements.erase(rest.elements.begin());
        if (rest.elements.empty()) rest = {};
        return true;
      }
      case Value::Kind::set: {
        Constant c{true, rows(v.node)};
        for (int event = 0; event < structure_->events(); ++event) {
          if (!has(c.rows, 0, event)) continue;
          element.kind = Value::Kind::event;
          element.event = event;
          c.rows[static_cast<std::size_t>(event) / 64] &= ~(std::uint64_t{1} << (event % 64));
          rest = value(constant(std::move(c)));
          return true;
        }
        return false;
      }
      case Value::Kind::relation: {
        Constant c{false, rows(v.node)};
        for (int first = 0; first < structure_->events(); ++first) {
          for (int second = 0; second < structure_->events(); ++second) {
            const std::size_t row = static_cast<std::size_t>(first) * words();
            if (!has(c.rows, row, second)) continue;
            element.kind = Value::Kind::pair;
            element.event = first;
            element.event2 = second;
            c.rows[row + static_cast<std::size_t>(second) / 64] &= ~(std::uint64_t{1} << (second % 64));
            rest = value(constant(std::move(c)));
            return true;
          }
        }
        return false;
      }
      default:
        fail(e.place,
             "a set is taken apart here, and " + written(e.operands[0]) + " is " + std::string(word(v.kind)));
    }
  }

  // The classes of a symmetric and transitive relation.
  Value classes(int node) {
    const std::vector<std::uint64_t> all = rows(node);
    Value v;
    v.kind = Value::Kind::collection;
    std::vector<bool> seen(static_cast<std::size_t>(structure_->events()));
    for (int event = 0; event < structure_->events(); ++event) {
      const std::size_t row = static_cast<std::size_t>(event) * words();
      if (seen[static_cast<std::size_t>(event)] || !has(all, row, event)) continue;
      Constant c{true,
                 {all.begin() + static_cast<std::ptrdiff_t>(row),
                  all.begin() + static_cast<std::ptrdiff_t>(row + words())}};
      for (int other = 0; other < structure_->events(); ++other) {
        if (has(c.rows, 0, other)) seen[static_cast<std::size_t>(other)] = true;
      }
      v.elements.push_back(value(constant(std::move(c))));
    }
    return v.elements.empty() ? Value{} : v;
  }

  void check_size(std::size_t size, const Expr& e) const {
    if (size <= largest_collection) return;
    fail(e.place, written(e) + " is a set of more than " + std::to_string(largest_collection) + " relations",
         "choose orders one after the other: with o from linearisations(S, r)");
  }

  // {{a, b}, {c}} becomes {a | c, b | c}; a member may be the linear orders of a set.
  Value cross(const Value& argument, const Expr& e) {
    Value v;
    v.kind = Value::Kind::collection;
    v.elements.push_back(base_value(Base::none));
    if (argument.kind == Value::Kind::nothing) return v;
    if (argument.kind != Value::Kind::collection) fail(e.place, "cross takes a set of sets of relations");
    for (const Value& member : argument.elements) {
      const Value one = member.kind == Value::Kind::orders ? all_orders(member, e) : member;
      if (one.kind != Value::Kind::collection) fail(e.place, "cross takes a set of sets of relations");
      std::vector<Value> next;
      for (const Value& left : v.elements) {
        for (const Value& right : one.elements) {
          next.push_back(value(binary(Op::union_, relation(left, e), relation(right, e), false)));
          check_size(next.size(), e);
        }
      }
      v.elements = std::move(next);
    }
    return v;
  }
  Value all_orders(const Value& orders, const Expr& e) {
    const std::vector<std::uint64_t> members = rows(orders.node);
    const std::vector<std::uint64_t> within = rows(orders.other);
    Value v;
    v.kind = Value::Kind::collection;
    std::vector<int> order;
    std::vector<int> events;
    for (int event = 0; event < structure_->events(); ++event) {
      if (has(members, 0, event)) events.push_back(event);
    }
    extend(events, within, order, v, e);
    return v;
  }
  void extend(const std::vector<int>& events, const std::vector<std::uint64_t>& within,
              std::vector<int>& order, Value& out, const Expr& e) {
    if (order.size() == events.size()) {
      Constant c{false, std::vector<std::uint64_t>(words() * static_cast<std::size_t>(structure_->events()))};
      for (std::size_t i = 0; i < order.size(); ++i) {
        for (std::size_t j = i + 1; j < order.size(); ++j) {
          c.rows[static_cast<std::size_t>(order[i]) * words() + static_cast<std::size_t>(order[j]) / 64] |=
              std::uint64_t{1} << (order[j] % 64);
        }
      }
      out.elements.push_back(value(constant(std::move(c))));
      check_size(out.elements.size(), e);
      return;
    }
    for (const int next : events) {
      if (std::find(order.begin(), order.end(), next) != order.end()) continue;
      const bool ready = std::all_of(events.begin(), events.end(), [&](int before) {
        return !has(within, static_cast<std::size_t>(before) * words(), next) ||
               std::find(order.begin(), order.end(), before) != order.end();
      });
      if (!ready) continue;
      order.push_back(next);
      extend(events, within, order, out, e);
      order.pop_back();
    }
  }

  // ---- conditions of `if`

  bool holds(const Env* env, const Condition& c, SourcePlace place) {
    switch (c.kind) {
      case Condition::Kind::variant:
        return false;
      case Condition::Kind::not_:
        return !holds(env, c.operands[0], place);
      case Condition::Kind::and_:
        return std::all_of(c.operands.begin(), c.operands.end(),
                           [&](const Condition& one) { return holds(env, one, place); });
      case Condition::Kind::or_:
        return std::any_of(c.operands.begin(), c.operands.end(),
                           [&](const Condition& one) { return holds(env, one, place); });
      case Condition::Kind::equal:
      case Condition::Kind::subset:
        break;
    }
    const Value left = evaluate(env, c.sides[0]);
    const Value right = evaluate(env, c.sides[1]);
    if (left.kind == Value::Kind::tag) return right.kind == Value::Kind::tag && left.tag == right.tag;
    const bool sets =
        left.kind == Value::Kind::set || right.kind == Value::Kind::set || left.kind == Value::Kind::event;
    const auto rows_of = [&](const Value& v, const Expr& e) {
      return rows(sets ? set(v, e) : relation(v, e));
    };
    const std::vector<std::uint64_t> a = rows_of(left, c.sides[0]);
    const std::vector<std::uint64_t> b = rows_of(right, c.sides[1]);
    if (c.kind == Condition::Kind::equal) return a == b;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if ((a[i] & ~b[i]) != 0) return false;
    }
    return true;
  }

  // ---- definitions

  void define(const Env*& env, const std::vector<Binding>& bindings, bool recursive) {
    if (recursive) return define_recursive(env, bindings);
    const Env* const outer = env;
    for (const Binding& b : bindings) {
      if (!b.parameters.empty()) {
        bind(env, b.pattern.names.front(), closure(b, outer));
      } else {
        Value v = evaluate(outer, b.body[0]);
        if (!b.pattern.tuple) note_name(v, b.pattern.names.front());
        bind(env, b.pattern, std::move(v), b.place);
      }
    }
  }
  void note_name(const Value& v, const std::string& name) {
    if (v.kind != Value::Kind::relation || at(v.node).op == Op::base || at(v.node).op == Op::choice) return;
    plan_.names.try_emplace(v.node, Name{name, in_library_});
  }
  Value closure(const Binding& b, const Env* env) {
    Value v;
    v.kind = Value::Kind::function;
    v.closure = {b.parameters[0], {b.parameters.begin() + 1, b.parameters.end()}, &b.body[0], env, file_};
    return v;
  }

  void define_recursive(const Env*& env, const std::vector<Binding>& bindings) {
    std::vector<const Binding*> relations;
    for (const Binding& b : bindings) {
      if (b.parameters.empty()) relations.push_back(&b);
    }
    if (relations.empty()) {
      bind_functions(env, bindings);
      return;
    }
    // Whether the definitions are sets or relations is known only from their bodies: relations are tried
    // first.
    std::optional<BadInput> first_error;
    for (const bool sets : {false, true}) {
      const Env* inner = env;
      const std::size_t nodes = plan_.nodes.size();
      const std::size_t recursions = plan_.recursions.size();
      try {
        if (define_fixpoint(inner, bindings, relations, sets)) {
          env = inner;
          return;
        }
      } catch (const BadInput& error) {
        if (!first_error) first_error = error;
      }
      forget(nodes, recursions);
    }
    if (first_error) throw *first_error;
    fail(bindings.front().place, "sets and relations are defined by one recursion",
         "define them one after the other");
  }
  void bind_functions(const Env*& env, const std::vector<Binding>& bindings) {
    std::vector<Env*> made;
    for (const Binding& b : bindings) {
      if (b.parameters.empty()) continue;
      arena_.push_back({b.pattern.names.front(), nullptr, env});
      env = &arena_.back();
      made.push_back(&arena_.back());
    }
    std::size_t next = 0;
    for (const Binding& b : bindings) {
      if (b.parameters.empty()) continue;
      made[next++]->value = std::make_shared<const Value>(closure(b, env));
    }
  }
  void forget(std::size_t nodes, std::size_t recursions) {
    plan_.nodes.resize(nodes);
    plan_.recursions.resize(recursions);
    plan_.names.erase(plan_.names.lower_bound(static_cast<int>(nodes)), plan_.names.end());
    for (auto it = known_.begin(); it != known_.end();) {
      it = static_cast<std::size_t>(it->second) >= nodes ? known_.erase(it) : std::next(it);
    }
    for (Recursion& r : plan_.recursions) {
      std::erase_if(r.nodes, [&](int node) { return static_cast<std::size_t>(node) >= nodes; });
    }
  }

  bool define_fixpoint(const Env*& env, const std::vector<Binding>& bindings,
                       const std::vector<const Binding*>& relations, bool sets) {
    const int index = static_cast<int>(plan_.recursions.size());
    Recursion fresh;
    fresh.place = bindings.front().place;
    fresh.name = bindings.front().pattern.names.front();
    plan_.recursions.push_back(std::move(fresh));
    const Env* const outer_env = env;
    std::vector<int> variables;
    for (const Binding* b : relations) {
      Node node{.op = Op::variable, .set = sets};
      node.recursion = index;
      node.antitone = false;
      variables.push_back(add(node));
      bind(env, b->pattern.names.front(), value(variables.back()));
    }
    bind_functions(env, bindings);
    std::vector<int> bodies;
    for (const Binding* b : relations) {
      const Value v = evaluate(env, b->body[0]);
      if (v.kind == Value::Kind::set && !sets) return false;
      bodies.push_back(sets ? set(v, b->body[0]) : relation(v, b->body[0]));
    }
    close(index, variables, bodies);
    env = outer_env;
    for (std::size_t i = 0; i < relations.size(); ++i) {
      Node node{.op = Op::fixed, .set = sets};
      node.a = variables[i];
      node.stage = at(variables[i]).stage;
      node.monotone = at(variables[i]).monotone;
      node.antitone = false;
      node.recursion = plan_.recursions[static_cast<std::size_t>(index)].outer;
      const Value v = value(add(node));
      note_name(v, relations[i]->pattern.names.front());
      bind(env, relations[i]->pattern.names.front(), v);
    }
    for (const Binding& b : bindings) {
      if (!b.parameters.empty()) fail(b.place, "a function and a relation are defined by one recursion");
    }
    return true;
  }
  // Gives all nodes of a recursion the stage of the latest, for they are evaluated together.
  void close(int index, std::vector<int> variables, std::vector<int> bodies) {
    Recursion& r = plan_.recursions[static_cast<std::size_t>(index)];
    r.variables = std::move(variables);
    r.bodies = std::move(bodies);
    Stage stage = Stage::fixed_by_events;
    std::uint8_t monotone = 0xF;
    const auto see = [&](int node) {
      stage = std::max(stage, at(node).stage);
      monotone &= at(node).monotone;
    };
    for (const int node : r.nodes) see(node);
    for (const int node : r.bodies) see(node);
    for (const int node : r.nodes) {
      at(node).stage = stage;
      at(node).monotone = monotone;
      // A recursion within another takes part in the outer one where it uses its variables.
      const Node& n = at(node);
      if (n.op == Op::variable) continue;
      for (const int operand : {n.a, n.b}) {
        if (operand < 0 || at(operand).recursion < 0 || at(operand).recursion == index) continue;
        r.outer = std::max(r.outer, at(operand).recursion);
      }
    }
  }

  // ---- statements

  void run_file(const std::shared_ptr<const File>& file) {
    files_.push_back(file);
    const File* const before = file_;
    file_ = file.get();
    // PTX's coherence is partial; its models are known by their title.
    if (has_partial_coherence(file->title)) plan_.partial_coherence = true;
    for (const Statement& s : file->statements) run(globals_, s);
    file_ = before;
  }
  void run_all(const Env*& env, const std::vector<Statement>& statements) {
    for (const Statement& s : statements) run(env, s);
  }

  void run(const Env*& env, const Statement& s) {
    switch (s.kind) {
      case StatementKind::let:
        define(env, s.bindings, s.recursive);
        break;
      case StatementKind::check:
        check(env, s);
        break;
      case StatementKind::show:
        for (std::size_t i = 0; i < s.operands.size(); ++i) {
          const Value v = evaluate(env, s.operands[i]);
          if (v.kind == Value::Kind::relation) plan_.shown.push_back({v.node, s.names[i]});
        }
        break;
      case StatementKind::unshow:
        for (const std::string& name : s.names) {
          std::erase_if(plan_.shown, [&](const Shown& shown) { return shown.name == name; });
        }
        break;
      case StatementKind::include:
        include(s.names[0], s.place);
        break;
      case StatementKind::procedure: {
        Value v;
        v.kind = Value::Kind::procedure;
        v.procedure = {&s, env, file_};
        bind(env, s.names[0], std::move(v));
        break;
      }
      case StatementKind::call:
        call(env, s);
        break;
      case StatementKind::forall: {
        Value rest = evaluate(env, s.operands[0]);
        Value element;
        for (Value v = rest; take(v, element, rest, s.operands[0]); v = rest) {
          const Env* inner = env;
          bind(inner, s.names[0], element);
          run_all(inner, s.body);
          element = {};
        }
        break;
      }
      case StatementKind::with:
        choose(env, s);
        break;
      case StatementKind::if_:
        run_all(env, holds(env, s.condition[0], s.place) ? s.body : s.otherwise);
        break;
      case StatementKind::enum_:
      case StatementKind::ignored:
        break;
    }
  }

  void check(const Env* env, const Statement& s) {
    const Expr& e = s.operands[0];
    const Value v = evaluate(env, e);
    Check c{s.check, s.negated, s.flag, -1, s.label, file_->name, s.place};
    if (s.check == CheckKind::empty && (v.kind == Value::Kind::set || v.kind == Value::Kind::event)) {
      c.node = set(v, e);
    } else {
      c.node = relation(v, e);
    }
    if (c.label.empty()) {
      c.label = std::string(s.negated ? "~" : "") + std::string(word(s.check)) + " " +
                file_->text.substr(e.begin, e.size);
    }
    plan_.checks.push_back(std::move(c));
  }

  void call(const Env* env, const Statement& s) {
    const Value* found = find(env, s.names[0]);
    if (found == nullptr) {
      std::vector<std::string> known;
      for (const Env* at = env; at != nullptr; at = at->parent) {
        if (at->value->kind == Value::Kind::procedure) known.push_back(at->name);
      }
      fail(s.place, "unknown procedure '" + s.names[0] + "'", suggestion(s.names[0], known));
    }
    if (found->kind != Value::Kind::procedure) fail(s.place, "'" + s.names[0] + "' is no procedure");
    if (++depth_ > deepest_application) fail(s.place, "procedures that call each other without end");
    const ProcedureValue procedure = found->procedure;
    const Value argument = evaluate(env, s.operands[0]);
    const Env* inner = procedure.env;
    bind(inner, procedure.statement->parameters[0], argument, s.place);
    const File* const caller = file_;
    file_ = procedure.file;
    const std::size_t first = plan_.checks.size();
    run_all(inner, procedure.statement->body);
    if (!s.label.empty()) {
      for (std::size_t i = first; i < plan_.checks.size(); ++i) plan_.checks[i].label = s.label;
    }
    file_ = caller;
    --depth_;
  }

  void choose(const Env*& env, const Statement& s) {
    const Value v = evaluate(env, s.operands[0]);
    const std::string& name = s.names[0];
    if (v.kind == Value::Kind::coherence) {
      plan_.partial_coherence |= v.partial;
      bind(env, name, base_value(Base::co));
      return;
    }
    Choice choice;
    choice.name = name;
    choice.is_coherence = name == "co";
    std::uint8_t monotone = 0xF;
    if (v.kind == Value::Kind::orders) {
      choice.linearisations = true;
      choice.elements = v.node;
      choice.within = v.other;
      if (at(v.node).stage != Stage::fixed_by_events) monotone = 0;
    } else if (v.kind == Value::Kind::collection) {
      for (const Value& one : v.elements) choice.constants.push_back(relation(one, s.operands[0]));
    } else {
      fail(s.place,
           "a set of relations is needed, and " + written(s.operands[0]) + " is " + std::string(word(v.kind)),
           "such as generate_cos(co0) or linearisations(W, po)");
    }
    plan_.choices.push_back(std::move(choice));
    Node node{.op = Op::choice};
    node.antitone = false;
    node.a = static_cast<int>(plan_.choices.size()) - 1;
    node.stage = Stage::others;
    node.monotone = monotone;
    bind(env, name, value(add(node)));
  }

  // Ours, also for a model that lies beside another one's.
  void include_library() {
    const std::string path = library_path();
    std::error_code error;
    if (!fs::exists(path, error)) {
      throw BadInput("the model library 'stdlib.cat' is missing", "it belongs in spec/models/lib");
    }
    in_library_ = true;
    run_file(std::make_shared<const File>(parse(read_text(path), path)));
    in_library_ = false;
  }

  void include(const std::string& name, SourcePlace place) {
    if (name == "stdlib.cat") return;  // every model has it already
    if (const auto path = find_included(source_, name)) {
      std::error_code error;
      const std::string canonical = fs::weakly_canonical(*path, error).string();
      if (std::find(including_.begin(), including_.end(), canonical) != including_.end()) {
        fail(place, "'" + name + "' includes itself");
      }
      if (canonical == fs::weakly_canonical(source_.file->name, error).string()) {
        fail(place, "'" + name + "' includes itself");
      }
      including_.push_back(canonical);
      run_file(std::make_shared<const File>(parse(read_text(path->string()), path->string())));
      including_.pop_back();
      return;
    }
    std::string folders;
    for (const std::string& folder : source_.path) {
      folders += (folders.empty() ? "" : ", ") + (folder.empty() ? std::string(".") : folder);
    }
    fail(place, "no file '" + name + "' to include", "looked in " + folders);
  }

  // ---- schedules

  void finish() {
    std::vector<bool> late(plan_.nodes.size());
    for (const Check& c : plan_.checks) need(late, c.node);
    for (const Choice& c : plan_.choices) {
      if (c.elements >= 0) need(late, c.elements);
      if (c.within >= 0) need(late, c.within);
      for (const int node : c.constants) need(late, node);
    }
    for (const Shown& s : plan_.shown) need(late, s.node);
    for (std::size_t i = 0; i < plan_.nodes.size(); ++i) {
      const Node& node = plan_.nodes[i];
      if (!late[i] || node.op != Op::base) continue;
      plan_.uses_coherence |= node.base == Base::co;
      plan_.uses_fence_order |= node.base == Base::sync_fence;
    }
    schedule(late, [this](const Node& node) { return &plan_.late[static_cast<std::size_t>(node.stage)]; });
    for (const Stage stage : {Stage::coherence, Stage::reads_from}) {
      std::vector<bool> early(plan_.nodes.size());
      for (const Check& c : plan_.checks) {
        if (prunes(plan_, c, stage)) need(early, c.node);
      }
      auto* const steps = &plan_.early[static_cast<std::size_t>(stage)];
      schedule(early, [&](const Node& node) { return node.stage >= stage ? steps : nullptr; });
    }
  }

  void need(std::vector<bool>& needed, int node) {
    if (needed[static_cast<std::size_t>(node)]) return;
    needed[static_cast<std::size_t>(node)] = true;
    const Node& n = at(node);
    if (n.op == Op::base || n.op == Op::constant || n.op == Op::choice) return;
    if (n.op == Op::variable || n.op == Op::fixed) {
      const int variable = n.op == Op::fixed ? n.a : node;
      needed[static_cast<std::size_t>(variable)] = true;
      const Recursion& r = plan_.recursions[static_cast<std::size_t>(at(variable).recursion)];
      for (const int body : r.bodies) need(needed, body);
      return;
    }
    if (n.a >= 0) need(needed, n.a);
    if (n.b >= 0) need(needed, n.b);
  }
  // Each recursion where its first `fixed` stands; other nodes in their order.
  template <class ListOf>
  void schedule(const std::vector<bool>& needed, const ListOf& list_of) {
    std::set<int> placed;
    for (std::size_t i = 0; i < plan_.nodes.size(); ++i) {
      const Node& n = plan_.nodes[i];
      if (!needed[i] || n.recursion >= 0) continue;
      std::vector<Step>* const list = list_of(n);
      if (list == nullptr) continue;
      if (n.op == Op::fixed) {
        const int recursion = at(n.a).recursion;
        if (placed.insert(recursion).second) list->push_back({-1, recursion});
      }
      if (n.op != Op::base && n.op != Op::constant && n.op != Op::choice)
        list->push_back({static_cast<int>(i), -1});
    }
  }

  const Source& source_;
  Structure* structure_;
  Plan plan_;
  const File* file_ = nullptr;
  std::vector<std::shared_ptr<const File>> files_;
  std::deque<Env> arena_;
  const Env* globals_ = nullptr;
  std::map<std::string_view, Base> base_of_;
  bool in_library_ = false;
  int trying_ = 0;  // how many `try` around what is evaluated
  std::map<std::tuple<Op, Base, bool, int, int, int>, int> known_;
  std::vector<std::string> including_;
  int depth_ = 0;
  int applications_ = 0;
};

}  // namespace

std::set<int> evaluated(const Plan& plan) {
  std::set<int> nodes;
  for (const std::vector<Step>& steps : plan.late) {
    for (const Step& step : steps) {
      if (step.node >= 0) nodes.insert(step.node);
    }
  }
  return nodes;
}

bool prunes(const Plan& plan, const Check& check, Stage stage) {
  const Node& node = plan.nodes[static_cast<std::size_t>(check.node)];
  return !check.flag && !check.negated && node.stage >= stage &&
         ((node.monotone >> static_cast<unsigned>(stage)) & 1U) != 0;
}

Plan compile(const Source& source, Structure* structure) {
  return Compiler(source, structure).run();
}

}  // namespace lockstep::cat
