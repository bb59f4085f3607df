// Which identifier stands for what.
#include "checker/export/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "checker/export/trees.hpp"
#include "checker/language/test.hpp"

namespace lockstep {

namespace {

using recorded::Declaration;
using recorded::Sort;
using recorded::Type;

// Words of Murphi, Promela and C: SPIN puts names into the C that it writes.
constexpr std::array reserved{
    "active",      "alias",       "array",        "assert",    "assume",     "atomic",     "auto",
    "begin",       "bit",         "bool",         "boolean",   "break",      "by",         "byte",
    "case",        "chan",        "char",         "clear",     "const",      "continue",   "cover",
    "d_proctype",  "d_step",      "default",      "do",        "double",     "else",       "elsif",
    "empty",       "enabled",     "end",          "endalias",  "endexists",  "endfor",     "endforall",
    "endfunction", "endif",       "endprocedure", "endrecord", "endrule",    "endruleset", "endstartstate",
    "endswitch",   "endwhile",    "enum",         "error",     "eval",       "exists",     "extern",
    "false",       "fi",          "float",        "for",       "forall",     "full",       "function",
    "goto",        "hidden",      "if",           "in",        "init",       "inline",     "int",
    "invariant",   "isundefined", "len",          "liveness",  "local",      "long",       "ltl",
    "mtype",       "multiset",    "nempty",       "never",     "nfull",      "notrace",    "np_",
    "od",          "of",          "pc_value",     "pid",       "print",      "printf",     "priority",
    "procedure",   "proctype",    "property",     "provided",  "put",        "record",     "register",
    "return",      "rule",        "ruleset",      "run",       "scalarset",  "select",     "short",
    "show",        "signed",      "sizeof",       "skip",      "startstate", "static",     "struct",
    "switch",      "then",        "timeout",      "to",        "trace",      "true",       "type",
    "typedef",     "undefine",    "union",        "unless",    "unsigned",   "var",        "void",
    "volatile",    "while",       "xr",           "xs"};

// What the writers themselves define.
constexpr std::array own{"at_end", "bits_and", "bits_or", "bits_xor", "live",  "message",
                         "queue",  "reset",    "restore", "row",      "system"};
// What SPIN's verifier does.
constexpr std::array of_pan{"Stack", "State",  "Svtack", "Trail", "Trans",  "boq",    "depth",
                            "done",  "errors", "main",   "now",   "stderr", "stdin",  "stdout",
                            "trail", "trpt",   "uchar",  "uint",  "ulong",  "ushort", "vsize"};

template <class Words>
bool among(const std::string& name, const Words& words) {
  return std::find(words.begin(), words.end(), name) != words.end();
}
bool is_reserved(const std::string& name) {
  return among(name, reserved);
}

// Letters, digits and underscores, beginning with a letter.
std::string identifier(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const bool word = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (word) {
      name += c;
    } else if (c != '\'' && !name.empty() && name.back() != '_') {
      name += '_';
    }
  }
  while (!name.empty() && name.back() == '_') name.pop_back();
  if (name.empty() || std::isalpha(static_cast<unsigned char>(name.front())) == 0) name.insert(0, "x");
  return name;
}

std::string capitalised(std::string name) {
  name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
  return name;
}

// "lockstep::Port<...>" -> "Port", "lockstep::quick_release::Protocol<...>::Line" -> "Line".
std::string last_part(const std::string& qualified) {
  std::string part;
  int depth = 0;
  for (const char c : qualified) {
    depth += c == '<' ? 1 : 0;
    if (depth == 0) part = c == ':' ? std::string() : part + c;
    depth -= c == '>' ? 1 : 0;
  }
  return part;
}

std::string key(const Type& type) {
  return fmt::format("{} {}", static_cast<int>(type.sort), type.name);
}

}  // namespace

Names::Names(const recorded::WholeDescription& whole, Scoping scoping) : scoping_(scoping) {
  taken_.insert(own.begin(), own.end());
  taken_.insert(of_pan.begin(), of_pan.end());
  take_variables(whole.state, "");
  for (const auto& [index, extent] : whole.extents) {
    scalars_[key({index, false, Sort::index})] = claim(capitalised(identifier(index)));
  }
  scalars_[key(recorded::bool_type)] = "boolean";
  scalars_[key(recorded::value_type)] = claim("Data");
  scalars_[key(recorded::int_type)] = claim("Integer");
  for (std::size_t i = 0; i < whole.state.parts.size(); ++i) {
    fields_.insert(field(whole.state.names[i]));
    collect(whole.state.parts[i], whole.state.names[i]);
  }
  name_enumerators();
  for (const recorded::RigidFunction& function : whole.functions) {
    functions_[{function.name, function.from}] = claim(identifier(function.name));
  }
  for (const recorded::RecordedRule& rule : whole.rules) {
    std::string name(rule.name);
    if (rule.instruction != nullptr && whole.program) {
      const auto& thread = whole.program->threads.at(static_cast<std::size_t>(rule.thread));
      name = fmt::format("{} {} {}", thread.name, rule.name, rule.instruction - thread.code.data());
    }
    rules_.push_back(claim(identifier(name)));
  }
}

// Parts of the state, and of its parts, for a language may make them variables.
void Names::take_variables(const Declaration& declaration, const std::string& name) {
  if (!name.empty()) taken_.insert(name);
  if (declaration.kind != Declaration::Kind::record) return;
  for (std::size_t i = 0; i < declaration.parts.size(); ++i) {
    take_variables(declaration.parts[i], (name.empty() ? "" : name + "_") + field(declaration.names[i]));
  }
}

void Names::collect(const Declaration& declaration, const std::string& name) {
  switch (declaration.kind) {
    case Declaration::Kind::leaf: {
      const std::string type = key(declaration.type);
      if (scalars_.contains(type)) return;
      if (declaration.type.sort == Sort::enumeration) {
        scalars_[type] = claim(identifier(last_part(declaration.type.name)));
        enumerations_.push_back(declaration);
      } else if (declaration.type.sort == Sort::maybe) {
        scalars_[type] = claim(capitalised(identifier(declaration.type.name)));
        maybes_.push_back(declaration.type);
      }
      return;
    }
    case Declaration::Kind::table:
      collect(declaration.parts.front(), name);
      return;
    case Declaration::Kind::record:
      for (std::size_t i = 0; i < declaration.parts.size(); ++i) {
        fields_.insert(field(declaration.names[i]));
        collect(declaration.parts[i], declaration.names[i]);
      }
      break;
    case Declaration::Kind::queue:
      collect(declaration.parts.front(), name);
      break;
  }
  if (std::find(composites_.begin(), composites_.end(), declaration) != composites_.end()) return;
  const std::string plain = identifier(last_part(declaration.type.name));
  const bool of_field =
      declaration.kind == Declaration::Kind::queue || is_reserved(plain) || taken_.contains(plain);
  composites_.push_back(declaration);
  composite_names_.push_back(claim(of_field ? capitalised(identifier(name)) : plain));
}

// Members keep their names where these mean one thing in the whole export; else all members of their
// enumeration carry its name.
void Names::name_enumerators() {
  std::map<std::string, int> uses;
  for (const Declaration& enumeration : enumerations_) {
    for (const std::string& member : enumeration.members) ++uses[member];
  }
  for (const Declaration& enumeration : enumerations_) {
    const bool plain =
        std::all_of(enumeration.members.begin(), enumeration.members.end(), [&](const std::string& member) {
          return uses[member] == 1 && !is_reserved(member) && !taken_.contains(member) &&
                 !fields_.contains(member) && identifier(member) == member;
        });
    for (const std::string& member : enumeration.members) {
      enumerators_[{enumeration.type.name, member}] =
          claim(plain ? member : fmt::format("{}_{}", scalar(enumeration.type), identifier(member)));
    }
  }
  for (const Type& maybe : maybes_) {
    nones_[maybe.name] = claim("no_" + identifier(index_of(maybe)));
  }
}

const std::string& Names::scalar(const Type& type) const {
  return scalars_.at(key(type));
}
const std::string& Names::composite(const Declaration& declaration) const {
  const auto found = std::find(composites_.begin(), composites_.end(), declaration);
  return composite_names_.at(static_cast<std::size_t>(found - composites_.begin()));
}
const std::string& Names::enumerator(const Type& type, const std::string& member) const {
  return enumerators_.at({type.name, member});
}
const std::string& Names::none(const Type& maybe) const {
  return nones_.at(maybe.name);
}
const std::string& Names::function(const recorded::RigidFunction& function) const {
  return functions_.at({function.name, function.from});
}

std::string Names::row_field(const std::string& path) const {
  std::string text;
  std::string name;
  const auto end = [&] {
    if (!name.empty()) text += "." + field(name);
    name.clear();
  };
  for (const char c : path) {
    if (c == '.' || c == '(') end();
    if (c == '(') text += "[";
    if (c == ')') {
      text += name + "]";
      name.clear();
    }
    if (c != '.' && c != '(' && c != ')') name += c;
  }
  end();
  return text;
}

std::string Names::field(const std::string& name) const {
  const std::string plain = identifier(name);
  return is_reserved(plain) || among(plain, own) ? plain + "_" : plain;
}

std::string Names::variable(const std::string& name) const {
  std::string free = identifier(name);
  while (is_reserved(free) || taken_.contains(free) ||
         (scoping_ == Scoping::textual && fields_.contains(free))) {
    free += "_";
  }
  return free;
}

std::string Names::claim(const std::string& wanted) {
  std::string name = wanted;
  for (int n = 2; is_reserved(name) || fields_.contains(name) || !taken_.insert(name).second; ++n) {
    name = fmt::format("{}_{}", wanted, n);
  }
  return name;
}

std::vector<std::string> parameter_names(const std::vector<std::string>& index_types) {
  std::vector<std::string> names;
  std::map<std::string, int> seen;
  for (const std::string& index : index_types) {
    const int n = ++seen[index];
    names.push_back(n == 1 ? index : index + std::to_string(n));
  }
  return names;
}

std::string rule_title(const recorded::RecordedRule& rule, const recorded::WholeDescription& whole) {
  if (rule.instruction == nullptr || !whole.program) return rule.name;
  return fmt::format("{} {} {}", whole.program->threads.at(static_cast<std::size_t>(rule.thread)).name,
                     rule.name, print_instruction(*rule.instruction, *whole.program, rule.thread));
}

}  // namespace lockstep
