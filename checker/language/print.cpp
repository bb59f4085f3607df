// Writes conditions in herd's syntax and programs in the HRF dialect's columns, whatever they were read from.
//
// What is printed here is read again by columns.cpp and means the same: conditions are compared, stored and
// diffed as text, and a program found in a counterexample can be saved as a test of its own.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

#include "checker/language/test.hpp"
#include "checker/language/text.hpp"
#include "checker/support/tags.hpp"

namespace lockstep {
namespace {

template <typename Enum>
constexpr std::size_t index_of(Enum value) {
  return static_cast<std::size_t>(value);
}

std::size_t position(int index) {
  return static_cast<std::size_t>(index);
}

// ---- Conditions ----

std::string join(const std::vector<Formula>& children, const Program& program, Formula::Kind kind);

// "stale": shown, without a number to compare with.
bool is_fact(const Formula& formula) {
  return formula.left.kind == ConditionTerm::Kind::shown && formula.comparison == Comparison::not_equal &&
         formula.right.kind == ConditionTerm::Kind::constant && formula.right.value == 0 &&
         formula.right.name.empty();
}

// Parentheses as herd places them: around a disjunction inside a conjunction, and after `not`.
std::string print_inside(const Formula& formula, const Program& program, Formula::Kind above) {
  switch (formula.kind) {
    case Formula::Kind::truth:
      return formula.truth ? "true" : "false";
    case Formula::Kind::compare: {
      if (is_fact(formula)) return formula.left.name;
      const bool equal = formula.comparison == Comparison::equal;
      const std::string_view symbol = equal ? "=" : dialect_word(formula.comparison);
      return print(formula.left, program) + std::string(symbol) + print(formula.right, program);
    }
    case Formula::Kind::not_:
      return "not " + print(formula.children.front(), program);
    case Formula::Kind::and_:
    case Formula::Kind::or_:
      break;
  }
  const std::string text = join(formula.children, program, formula.kind);
  const bool enclose = above == Formula::Kind::and_ && formula.kind == Formula::Kind::or_;
  return enclose ? "(" + text + ")" : text;
}

std::string join(const std::vector<Formula>& children, const Program& program, Formula::Kind kind) {
  if (children.empty()) return kind == Formula::Kind::and_ ? "true" : "false";
  std::string text;
  for (const Formula& child : children) {
    if (!text.empty()) text += kind == Formula::Kind::and_ ? " /\\ " : " \\/ ";
    text += print_inside(child, program, kind);
  }
  return text;
}

// ---- Names ----

// Registers of HRF are r0, r1, ...; those that other dialects named otherwise carry a mark.
std::string register_text(const std::string& name) {
  return litmus::is_register_name(name) ? name : "%" + name;
}

// A location that is called like a register stands in brackets.
std::string location_text(const std::string& name) {
  return litmus::is_register_name(name) ? "[" + name + "]" : name;
}

// ---- The initial state ----

bool is_inserted(const Instruction& instruction) {
  return instruction.opcode == Opcode::kernel_begin || instruction.opcode == Opcode::kernel_end;
}

// The registers of an instruction in the order in which its text names them.
std::vector<int> registers_named(const Instruction& instruction) {
  std::vector<int> named;
  if (instruction.destination >= 0) named.push_back(instruction.destination);
  if (instruction.status >= 0) named.push_back(instruction.status);
  if (instruction.index.is_register) named.push_back(instruction.index.value);
  if (instruction.a.is_register) named.push_back(instruction.a.value);
  if (instruction.b.is_register) named.push_back(instruction.b.value);
  return named;
}

// What a reader of the code alone would know of its registers.
struct RegistersInCode {
  std::vector<int> in_order;   // of first appearance
  std::vector<bool> assigned;  // is the destination of some instruction
};

RegistersInCode registers_in_code(const Thread& thread) {
  RegistersInCode found{{}, std::vector<bool>(thread.registers.size(), false)};
  for (const Instruction& instruction : thread.code) {
    if (instruction.destination >= 0) found.assigned[position(instruction.destination)] = true;
    if (instruction.status >= 0) found.assigned[position(instruction.status)] = true;
    for (const int index : registers_named(instruction)) {
      const bool seen =
          std::find(found.in_order.begin(), found.in_order.end(), index) != found.in_order.end();
      if (!seen) found.in_order.push_back(index);
    }
  }
  return found;
}

// Whether the registers from `first` on need no initial value in the text: they start at 0, the code
// assigns each, and it names them in order.
bool follows_from_code(const Thread& thread, const RegistersInCode& found, int first) {
  int next = first;
  for (const int index : found.in_order) {
    if (index == next) ++next;
  }
  for (std::size_t i = position(first); i < thread.registers.size(); ++i) {
    if (!found.assigned[i] || thread.initial_values[i] != 0) return false;
  }
  return position(next) == thread.registers.size();
}

// Registers before this one are printed with their initial values.
int registers_to_initialise(const Thread& thread) {
  const RegistersInCode found = registers_in_code(thread);
  int first = 0;
  while (position(first) < thread.registers.size() && !follows_from_code(thread, found, first)) ++first;
  return first;
}

std::string thread_name(std::size_t thread) {
  return "P" + std::to_string(thread);
}

// "block x y;" for each block of more than one word.
std::string print_blocks(const Program& program) {
  std::string text;
  std::vector<int> printed;
  for (const Location& location : program.locations) {
    if (std::find(printed.begin(), printed.end(), location.block) != printed.end()) continue;
    printed.push_back(location.block);
    std::vector<const Location*> words;
    for (const Location& other : program.locations) {
      if (other.block == location.block) words.push_back(&other);
    }
    if (words.size() < 2) continue;
    std::stable_sort(words.begin(), words.end(),
                     [](auto* left, auto* right) { return left->word < right->word; });
    text += " block";
    for (const Location* word : words) {
      const bool element = word->name.find('[') != std::string::npos;
      text += " " + (element ? "[" + word->name + "]" : location_text(word->name));
    }
    text += ";";
  }
  return text;
}

// Any proxy but the generic one gives no address of its own.
int alias_target(const Location& location) {
  return location.address >= 0 ? location.address : location.memory;
}

// One location or one array; says how many locations that is.
std::size_t print_location(const Program& program, std::size_t first, std::string& text) {
  const Location& location = program.locations[first];
  text += location.region == Region::local ? " local" : "";
  text += location.atomic ? " " : " plain ";
  text += location_text(location.name);
  if (location.memory >= 0) {
    text += location.address >= 0 ? " @ surface" : " @ generic";
    text += " aliases " + location_text(program.locations[position(alias_target(location))].name) + ";";
    return 1;
  }
  if (location.array == 1) {
    text += " = " + std::to_string(location.initial_value) + ";";
    return 1;
  }
  const auto size = position(location.array);
  text += "[" + std::to_string(size) + "] = {";
  for (std::size_t i = 0; i < size; ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(program.locations[first + i].initial_value);
  }
  text += "};";
  return size;
}

std::string print_initial_state(const Program& program) {
  std::string text = "{";
  for (std::size_t i = 0; i < program.locations.size();) i += print_location(program, i, text);
  for (std::size_t i = 0; i < program.threads.size(); ++i) {
    const Thread& thread = program.threads[i];
    const std::size_t count = position(registers_to_initialise(thread));
    for (std::size_t r = 0; r < count; ++r) {
      text += " " + thread_name(i) + ":" + register_text(thread.registers[r]);
      text += " = " + std::to_string(thread.initial_values[r]) + ";";
    }
  }
  text += print_blocks(program) + " }\n";
  if (program.system_synchronizes.empty()) return text;
  text += "{";
  for (const auto& [first, second] : program.system_synchronizes) {
    text += " ssw " + std::to_string(first) + " " + std::to_string(second) + ";";
  }
  return text + " }\n";
}

// ---- Columns ----

std::string print_placement(const Placement& placement, std::size_t thread) {
  std::string text = "@host";
  if (!placement.host) {
    text = "@wg " + std::to_string(placement.wg) + ",agent " + std::to_string(placement.agent);
  }
  if (placement.wave != static_cast<int>(thread)) text += ",wave " + std::to_string(placement.wave);
  if (placement.kernel >= 0) text += ",kernel " + std::to_string(placement.kernel);
  if (placement.subgroup >= 0) text += ",sg " + std::to_string(placement.subgroup);
  if (placement.queue_family >= 0) text += ",qf " + std::to_string(placement.queue_family);
  return text;
}

std::string print_operand(const Operand& operand, const Thread& thread) {
  if (!operand.is_register) return std::to_string(operand.value);
  return register_text(thread.registers[position(operand.value)]);
}

std::string print_region(Region region) {
  return region == Region::all ? "" : region == Region::global ? ".global" : ".local";
}

std::string print_modifiers(const Instruction& instruction) {
  if (instruction.order == Order::plain) return {};
  std::string text = ".";
  return text.append(dialect_word(instruction.order)).append(".").append(dialect_word(instruction.scope));
}

// "barrier", "barrier 1", "barrier.arrive 1, 2".
std::string print_barrier(const Instruction& instruction, const std::string& a, const std::string& b) {
  const std::string text = "barrier" + std::string(instruction.arrives_only ? ".arrive" : "") +
                           print_region(instruction.region) + print_modifiers(instruction) +
                           print_tags(instruction.tags);
  const Operand none;
  if (instruction.b != none) return text + " " + a + ", " + b;
  return instruction.a == none ? text : text + " " + a;
}

// "x", or "x[r0]" where a register says which element.
std::string print_place(const Instruction& instruction, const Program& program, const Thread& thread) {
  if (instruction.location < 0) return {};
  const std::string& name = program.locations[position(instruction.location)].name;
  if (!instruction.index.is_register) return location_text(name);
  const std::string index = "[" + print_operand(instruction.index, thread) + "]";
  return litmus::is_register_name(name) ? "[" + name + index + "]" : name + index;
}

// "fence.acquire.wg", "fence.proxy.surface", "avdevice".
std::string print_fence(const Instruction& instruction) {
  if (has(instruction.tags, Tag::avdevice)) return "avdevice";
  if (has(instruction.tags, Tag::visdevice)) return "visdevice";
  const bool proxy = (instruction.tags & (proxies | bit(Tag::alias))) != 0;
  return "fence" + std::string(proxy ? ".proxy" : "") + print_modifiers(instruction) +
         print_region(instruction.region) + print_tags(instruction.tags);
}

std::string label(int target) {
  return "L" + std::to_string(target);
}

// The mnemonic of a branch; the two comparisons that have none are printed with their operands swapped.
std::string print_branch(const Instruction& instruction, const std::string& a, const std::string& b,
                         int target) {
  const std::string ahead = a + ", " + b + ", " + label(target);
  const std::string swapped = b + ", " + a + ", " + label(target);
  switch (instruction.comparison) {
    case Comparison::equal:
      return "beq " + ahead;
    case Comparison::not_equal:
      return "bne " + ahead;
    case Comparison::less:
      return "blt " + ahead;
    case Comparison::greater_equal:
      return "bge " + ahead;
    case Comparison::greater:
      return "blt " + swapped;
    case Comparison::less_equal:
      return "bge " + swapped;
  }
  return {};
}

std::string print_rmw(const Instruction& instruction, const std::string& destination,
                      const std::string& status, const std::string& location, const std::string& a,
                      const std::string& b) {
  std::string text = destination.empty() ? "red" : "atom";
  text += print_modifiers(instruction) + "." + std::string(dialect_word(instruction.rmw));
  if (instruction.failure_order != Order::plain) {
    text.append(".").append(dialect_word(instruction.failure_order));
  }
  if (instruction.spurious) text += ".weak";
  text += print_tags(instruction.tags) + (instruction.waits ? ".wait " : " ");
  if (!destination.empty()) text += destination + ", ";
  if (!status.empty()) text += status + ", ";
  text += location + ", " + a;
  return instruction.rmw == RmwFunction::compare_swap || instruction.waits ? text + ", " + b : text;
}

// `target` counts printed instructions, as labels do.
std::string instruction_text(const Instruction& instruction, const Program& program, const Thread& thread,
                             int target) {
  const std::string location = print_place(instruction, program, thread);
  const auto assigned = [&](std::int16_t to) {
    return to < 0 ? std::string() : register_text(thread.registers[position(to)]);
  };
  const std::string destination = assigned(instruction.destination);
  const std::string a = print_operand(instruction.a, thread);
  const std::string b = print_operand(instruction.b, thread);
  if (instruction.slot > 0) {
    Instruction performed = instruction;
    performed.slot = 0;
    return fmt::format("slot {}: {}", instruction.slot, instruction_text(performed, program, thread, target));
  }
  switch (instruction.opcode) {
    case Opcode::load:
      return "ld" + print_modifiers(instruction) + print_tags(instruction.tags) +
             (instruction.waits ? ".wait " : " ") + destination + ", " + location +
             (instruction.waits ? ", " + a : "");
    case Opcode::store:
      return "st" + print_modifiers(instruction) + print_tags(instruction.tags) + " " +
             (destination.empty() ? "" : destination + ", ") + location + ", " + a;
    case Opcode::rmw:
      return print_rmw(instruction, destination, assigned(instruction.status), location, a, b);
    case Opcode::fence:
      return print_fence(instruction);
    case Opcode::barrier:
      return print_barrier(instruction, a, b);
    case Opcode::move:
      return "mov " + destination + ", " + a;
    case Opcode::arithmetic:
      return std::string(dialect_word(instruction.arithmetic)) + " " + destination + ", " + a + ", " + b;
    case Opcode::pause:
      return "pause " + a;
    case Opcode::branch:
      return print_branch(instruction, a, b, target);
    case Opcode::jump:
      return "goto " + label(target);
    case Opcode::assertion:
      return "assert " + a + " " + std::string(dialect_word(instruction.comparison)) + " " + b;
    case Opcode::kernel_begin:
      return "kernel.begin";
    case Opcode::kernel_end:
      return "kernel.end";
    case Opcode::dispatch:
      return "dispatch";
    case Opcode::await:
      return "await " + a;
  }
  return {};
}

// For each index of a thread's code, and its end, how many instructions are printed before it.
std::vector<int> printed_before(const Thread& thread) {
  std::vector<int> before{0};
  for (const Instruction& instruction : thread.code) {
    before.push_back(before.back() + (is_inserted(instruction) ? 0 : 1));
  }
  return before;
}

// The number of the label that an instruction goes to, from printed_before().
int label_index(const Instruction& instruction, const std::vector<int>& before) {
  return instruction.target < 0 ? 0 : before[position(instruction.target)];
}

// The places of a thread that claims of the program name.
std::vector<int> places_claimed(const Program& program, int thread) {
  std::vector<int> places;
  for (const Section& section : program.sections) {
    for (const Stretch& stretch : section.stretches) {
      if (stretch.thread == thread) places.insert(places.end(), {stretch.begin, stretch.end});
    }
  }
  for (const Rendezvous& meeting : program.meetings) {
    for (const Rendezvous::Participant& p : meeting.participants) {
      if (p.thread == thread) places.insert(places.end(), {p.arrive, p.leave});
    }
  }
  return places;
}

// The label of a place in a thread's code.
std::string label_of_place(const Program& program, int thread, int place) {
  return label(printed_before(program.threads[position(thread)])[position(place)]);
}

std::string print_section(const Section& section, const Program& program) {
  std::string text = "Section=\"" + section.name + "\" " + std::to_string(section.capacity) + ":";
  for (const Stretch& stretch : section.stretches) {
    if (&stretch != &section.stretches.front()) text += ",";
    text += " " + thread_name(position(stretch.thread));
    text += " " + label_of_place(program, stretch.thread, stretch.begin);
    text += ".." + label_of_place(program, stretch.thread, stretch.end);
    if (stretch.weight != 1) text += " x" + std::to_string(stretch.weight);
  }
  return text + "\n";
}

std::string print_meeting(const Rendezvous& meeting, const Program& program) {
  std::string text = "Meeting=\"" + meeting.name + "\":";
  for (const Rendezvous::Participant& p : meeting.participants) {
    if (&p != &meeting.participants.front()) text += ",";
    text += " " + thread_name(position(p.thread));
    text += " " + label_of_place(program, p.thread, p.arrive);
    text += " " + label_of_place(program, p.thread, p.leave);
  }
  return text + "\n";
}

std::string print_final_value(const FinalValue& final, const Program& program) {
  return "Final=\"" + final.name + "\": " + location_text(program.locations[position(final.location)].name) +
         " == " + std::to_string(final.value) + "\n";
}

// One thread from top to bottom: its name and placement, then a cell for each instruction.
std::vector<std::string> print_column(const Program& program, std::size_t index) {
  const Thread& thread = program.threads[index];
  const std::vector<int> before = printed_before(thread);
  std::vector<bool> labelled(position(before.back()) + 1, false);
  for (const Instruction& instruction : thread.code) {
    if (instruction.target >= 0) labelled[position(before[position(instruction.target)])] = true;
  }
  for (const int place : places_claimed(program, static_cast<int>(index))) {
    labelled[position(before[position(place)])] = true;
  }
  std::vector<std::string> column{thread_name(index) + print_placement(thread.placement, index)};
  for (const Instruction& instruction : thread.code) {
    if (is_inserted(instruction)) continue;
    const int row = static_cast<int>(column.size()) - 1;
    const std::string text = instruction_text(instruction, program, thread, label_index(instruction, before));
    column.push_back(labelled[position(row)] ? label(row) + ": " + text : text);
  }
  if (labelled.back()) column.push_back(label(before.back()) + ":");
  return column;
}

std::string print_row(const std::vector<std::vector<std::string>>& columns, std::size_t row) {
  std::string text;
  for (const std::vector<std::string>& column : columns) {
    std::size_t width = 0;
    for (const std::string& cell : column) width = std::max(width, cell.size());
    std::string cell = row < column.size() ? column[row] : std::string();
    cell.resize(width, ' ');
    text += (text.empty() ? " " : " | ") + cell;
  }
  return text + " ;\n";
}

// ---- Equality ----

bool same_instruction(const Instruction& left, const Instruction& right) {
  return left.opcode == right.opcode && left.rmw == right.rmw && left.arithmetic == right.arithmetic &&
         left.comparison == right.comparison && left.order == right.order && left.scope == right.scope &&
         left.location == right.location && left.destination == right.destination &&
         left.status == right.status && left.target == right.target && left.a == right.a &&
         left.b == right.b && left.index == right.index && left.failure_order == right.failure_order &&
         left.region == right.region && left.spurious == right.spurious &&
         left.arrives_only == right.arrives_only && left.waits == right.waits && left.tags == right.tags &&
         left.slot == right.slot;
}

bool same_placement(const Placement& left, const Placement& right) {
  return left.host == right.host && left.wave == right.wave && left.wg == right.wg &&
         left.agent == right.agent && left.kernel == right.kernel && left.subgroup == right.subgroup &&
         left.queue_family == right.queue_family;
}

bool same_thread(const Thread& left, const Thread& right) {
  return left.name == right.name && same_placement(left.placement, right.placement) &&
         left.registers == right.registers && left.initial_values == right.initial_values &&
         left.slot_of == right.slot_of &&
         std::equal(left.code.begin(), left.code.end(), right.code.begin(), right.code.end(),
                    same_instruction);
}

bool same_location(const Location& left, const Location& right) {
  return left.name == right.name && left.initial_value == right.initial_value && left.block == right.block &&
         left.word == right.word && left.region == right.region && left.atomic == right.atomic &&
         left.array == right.array && left.memory == right.memory && left.address == right.address;
}

}  // namespace

std::string print(const Formula& formula, const Program& program) {
  return "(" + print_inside(formula, program, Formula::Kind::truth) + ")";
}

std::string print(const ConditionTerm& term, const Program& program) {
  switch (term.kind) {
    case ConditionTerm::Kind::constant:
      return term.name.empty() ? std::to_string(term.value) : term.name;
    case ConditionTerm::Kind::shown:
      return term.name;
    case ConditionTerm::Kind::register_: {
      const Thread& thread = program.threads[position(term.thread)];
      return thread.name + ":" + thread.registers[position(term.index)];
    }
    case ConditionTerm::Kind::location:
      return "[" + program.locations[position(term.index)].name + "]";
  }
  return {};
}

std::string print_program(const Program& program) {
  std::vector<std::vector<std::string>> columns;
  std::size_t rows = 0;
  for (std::size_t i = 0; i < program.threads.size(); ++i) {
    columns.push_back(print_column(program, i));
    rows = std::max(rows, columns.back().size());
  }
  std::string text = print_initial_state(program);
  for (std::size_t row = 0; row < rows; ++row) text += print_row(columns, row);
  return text;
}

std::string print_claims(const Program& program) {
  std::string text;
  for (const Section& section : program.sections) text += print_section(section, program);
  for (const Rendezvous& meeting : program.meetings) text += print_meeting(meeting, program);
  for (const FinalValue& final : program.final_values) text += print_final_value(final, program);
  return text;
}

std::string print_instruction(const Instruction& instruction, const Program& program, int thread) {
  const Thread& whole = program.threads[position(thread)];
  return instruction_text(instruction, program, whole, label_index(instruction, printed_before(whole)));
}

bool same_program(const Program& left, const Program& right) {
  return std::equal(left.locations.begin(), left.locations.end(), right.locations.begin(),
                    right.locations.end(), same_location) &&
         std::equal(left.threads.begin(), left.threads.end(), right.threads.begin(), right.threads.end(),
                    same_thread) &&
         left.sections == right.sections && left.meetings == right.meetings &&
         left.final_values == right.final_values && left.system_synchronizes == right.system_synchronizes;
}

std::string_view dialect_word(Order order) {
  constexpr std::array<std::string_view, 7> words{"weak",    "relaxed", "comm", "acquire",
                                                  "release", "acq_rel", "sc"};
  return words[index_of(order)];
}

std::string_view dialect_word(Scope scope) {
  constexpr std::array<std::string_view, 4> words{"wave", "wg", "agent", "system"};
  return words[index_of(scope)];
}

std::string_view dialect_word(RmwFunction function) {
  constexpr std::array<std::string_view, 13> words{"exch", "cas", "add", "sub", "inc",  "dec", "and",
                                                   "or",   "xor", "min", "max", "umin", "umax"};
  return words[index_of(function)];
}

std::string_view dialect_word(ArithmeticFunction function) {
  constexpr std::array<std::string_view, 12> words{"add", "sub", "mul", "and", "or", "xor",
                                                   "min", "max", "eq",  "ne",  "lt", "le"};
  return words[index_of(function)];
}

std::string_view dialect_word(Comparison comparison) {
  constexpr std::array<std::string_view, 6> words{"==", "!=", "<", ">=", ">", "<="};
  return words[index_of(comparison)];
}

}  // namespace lockstep
