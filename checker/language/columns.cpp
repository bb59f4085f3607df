// Reads the dialects that write threads as columns: HRF, this project's own, PTX and Vulkan.
//
// Their rows, operands and labels are the same; they differ in what instructions, scopes and placements are
// called, and in what may be left out.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "checker/language/rows.hpp"
#include "checker/support/diagnostic.hpp"
#include "checker/support/tags.hpp"

namespace lockstep::litmus {
namespace {

// ---- The words of the dialects ----

constexpr std::array all_orders{Order::plain,   Order::relaxed, Order::comm, Order::acquire,
                                Order::release, Order::acq_rel, Order::sc};
constexpr std::array all_scopes{Scope::wave, Scope::wg, Scope::agent, Scope::system};
constexpr std::array all_rmws{
    RmwFunction::exchange,        RmwFunction::compare_swap, RmwFunction::add,
    RmwFunction::subtract,        RmwFunction::increment,    RmwFunction::decrement,
    RmwFunction::bit_and,         RmwFunction::bit_or,       RmwFunction::bit_xor,
    RmwFunction::minimum,         RmwFunction::maximum,      RmwFunction::minimum_unsigned,
    RmwFunction::maximum_unsigned};
// The value that a word stands for, among those that some instruction can have.
template <typename Values>
std::optional<typename Values::value_type> value_of(std::string_view word, const Values& values) {
  for (const auto value : values) {
    if (dialect_word(value) == word) return value;
  }
  return std::nullopt;
}

// A dialect's name for a scope; empty where it has none.
std::string_view scope_word(Dialect dialect, Scope scope) {
  constexpr std::array<std::string_view, 4> ptx{"", "cta", "gpu", "sys"};
  if (dialect == Dialect::vulkan) return "";  // see vulkan_scopes
  return dialect == Dialect::ptx ? ptx[static_cast<std::size_t>(scope)] : dialect_word(scope);
}

std::optional<Scope> scope_of(Dialect dialect, std::string_view word) {
  if (word == "sys") return Scope::system;
  for (const Scope scope : all_scopes) {
    if (!word.empty() && scope_word(dialect, scope) == word) return scope;
  }
  return std::nullopt;
}

std::optional<RmwFunction> function_of(Dialect dialect, std::string_view word) {
  if (dialect != Dialect::hrf && word == "plus") return RmwFunction::add;
  if (dialect != Dialect::hrf && word == "minus") return RmwFunction::subtract;
  return value_of(word, all_rmws);
}

// The orders that an instruction can have, as bits.
constexpr unsigned bit(Order order) {
  return 1U << static_cast<unsigned>(order);
}
constexpr unsigned load_orders =
    bit(Order::plain) | bit(Order::relaxed) | bit(Order::acquire) | bit(Order::sc);
constexpr unsigned store_orders =
    bit(Order::plain) | bit(Order::relaxed) | bit(Order::release) | bit(Order::sc);
constexpr unsigned fence_orders =
    bit(Order::acquire) | bit(Order::release) | bit(Order::acq_rel) | bit(Order::sc);
constexpr unsigned rmw_orders = fence_orders | bit(Order::relaxed) | bit(Order::comm);
// PTX has neither.
constexpr unsigned in_ptx = ~(bit(Order::sc) | bit(Order::comm));

// What an instruction looks like. Operands: D destination register, S one that tells success, L location, V
// value, T target label; those of a barrier are counted by the reader.
struct Form {
  std::string_view name;
  Opcode opcode = Opcode::move;
  std::string_view operands;
  unsigned orders = 0;  // none: it takes no order and no scope
  ArithmeticFunction arithmetic = ArithmeticFunction::add;
  Comparison comparison = Comparison::equal;
  bool swapped = false;  // a branch that is another's with its operands exchanged
  Tags tags = 0;
};

constexpr Form arithmetic_form(std::string_view name, ArithmeticFunction function) {
  return {.name = name, .opcode = Opcode::arithmetic, .operands = "DVV", .arithmetic = function};
}

constexpr Form branch_form(std::string_view name, Comparison comparison, bool swapped = false) {
  return {.name = name,
          .opcode = Opcode::branch,
          .operands = "VVT",
          .comparison = comparison,
          .swapped = swapped};
}

constexpr std::array hrf_forms{
    Form{.name = "ld", .opcode = Opcode::load, .operands = "DL", .orders = load_orders},
    Form{.name = "st", .opcode = Opcode::store, .operands = "LV", .orders = store_orders},
    Form{.name = "atom", .opcode = Opcode::rmw, .operands = "DLV", .orders = rmw_orders},
    Form{.name = "red", .opcode = Opcode::rmw, .operands = "LV", .orders = rmw_orders},
    Form{.name = "fence", .opcode = Opcode::fence, .operands = "", .orders = fence_orders},
    Form{.name = "barrier", .opcode = Opcode::barrier, .operands = ""},
    Form{.name = "mov", .opcode = Opcode::move, .operands = "DV"},
    arithmetic_form("add", ArithmeticFunction::add),
    arithmetic_form("sub", ArithmeticFunction::subtract),
    arithmetic_form("mul", ArithmeticFunction::multiply),
    arithmetic_form("and", ArithmeticFunction::bit_and),
    arithmetic_form("or", ArithmeticFunction::bit_or),
    arithmetic_form("xor", ArithmeticFunction::bit_xor),
    arithmetic_form("min", ArithmeticFunction::minimum),
    arithmetic_form("max", ArithmeticFunction::maximum),
    arithmetic_form("eq", ArithmeticFunction::equal),
    arithmetic_form("ne", ArithmeticFunction::not_equal),
    arithmetic_form("lt", ArithmeticFunction::less),
    arithmetic_form("le", ArithmeticFunction::less_equal),
    branch_form("beq", Comparison::equal),
    branch_form("bne", Comparison::not_equal),
    branch_form("blt", Comparison::less),
    branch_form("bge", Comparison::greater_equal),
    Form{.name = "goto", .opcode = Opcode::jump, .operands = "T"},
    Form{.name = "pause", .opcode = Opcode::pause, .operands = "V"},
    Form{.name = "assert", .opcode = Opcode::assertion, .operands = "VV"},
    Form{.name = "avdevice", .opcode = Opcode::fence, .operands = "", .tags = bit(Tag::avdevice)},
    Form{.name = "visdevice", .opcode = Opcode::fence, .operands = "", .tags = bit(Tag::visdevice)},
};

constexpr std::array vulkan_forms{
    Form{.name = "ld", .opcode = Opcode::load, .operands = "DL", .orders = bit(Order::acquire)},
    Form{.name = "st", .opcode = Opcode::store, .operands = "LV", .orders = bit(Order::release)},
    Form{.name = "rmw",
         .opcode = Opcode::rmw,
         .operands = "DLV",
         .orders = bit(Order::acquire) | bit(Order::release) | bit(Order::acq_rel)},
    Form{.name = "membar",
         .opcode = Opcode::fence,
         .operands = "",
         .orders = bit(Order::acquire) | bit(Order::release) | bit(Order::acq_rel)},
    Form{.name = "cbar",
         .opcode = Opcode::barrier,
         .operands = "",
         .orders = bit(Order::acquire) | bit(Order::release) | bit(Order::acq_rel)},
    Form{.name = "avdevice", .opcode = Opcode::fence, .operands = "", .tags = bit(Tag::avdevice)},
    Form{.name = "visdevice", .opcode = Opcode::fence, .operands = "", .tags = bit(Tag::visdevice)},
    Form{.name = "mov", .opcode = Opcode::move, .operands = "DV"},
    arithmetic_form("add", ArithmeticFunction::add),
    arithmetic_form("sub", ArithmeticFunction::subtract),
    arithmetic_form("mul", ArithmeticFunction::multiply),
    arithmetic_form("and", ArithmeticFunction::bit_and),
    arithmetic_form("or", ArithmeticFunction::bit_or),
    arithmetic_form("xor", ArithmeticFunction::bit_xor),
    branch_form("beq", Comparison::equal),
    branch_form("bne", Comparison::not_equal),
    branch_form("blt", Comparison::less),
    branch_form("bge", Comparison::greater_equal),
    branch_form("bgt", Comparison::less, true),
    branch_form("ble", Comparison::greater_equal, true),
    Form{.name = "goto", .opcode = Opcode::jump, .operands = "T"},
};

// Vulkan's words for orders and scopes. What its scopes are to the other dialects, and as tags.
constexpr std::array<std::pair<std::string_view, Order>, 3> vulkan_orders{
    {{"acq", Order::acquire}, {"rel", Order::release}, {"acq_rel", Order::acq_rel}}};
struct VulkanScope {
  std::string_view word;
  Scope scope = Scope::wg;
  Tag tag = Tag::in_wg;
};
constexpr std::array vulkan_scopes{
    VulkanScope{"sg", Scope::wg, Tag::in_sg}, VulkanScope{"wg", Scope::wg, Tag::in_wg},
    VulkanScope{"qf", Scope::agent, Tag::in_qf}, VulkanScope{"dv", Scope::agent, Tag::in_dv},
    VulkanScope{"dev", Scope::agent, Tag::in_dv}};

// What else an instruction of Vulkan may say.
constexpr Tags tags_of_vulkan(Opcode opcode) {
  constexpr Tags ordering = storage_semantics | bit(Tag::semav) | bit(Tag::semvis);
  if (opcode == Opcode::load) {
    return storage_classes | storage_semantics | bit(Tag::semvis) | bit(Tag::vis) | bit(Tag::nonpriv);
  }
  if (opcode == Opcode::store) {
    return storage_classes | storage_semantics | bit(Tag::semav) | bit(Tag::av) | bit(Tag::nonpriv);
  }
  return opcode == Opcode::rmw ? ordering | storage_classes : ordering;
}

constexpr std::array ptx_forms{
    Form{.name = "ld", .opcode = Opcode::load, .operands = "DL", .orders = load_orders & in_ptx},
    Form{.name = "st", .opcode = Opcode::store, .operands = "LV", .orders = store_orders & in_ptx},
    Form{.name = "atom", .opcode = Opcode::rmw, .operands = "DLV", .orders = rmw_orders & in_ptx},
    Form{.name = "red", .opcode = Opcode::rmw, .operands = "LV", .orders = rmw_orders & in_ptx},
    // Through the surface, texture and constant proxies.
    Form{.name = "suld",
         .opcode = Opcode::load,
         .operands = "DL",
         .orders = load_orders & in_ptx,
         .tags = bit(Tag::surface)},
    Form{.name = "sust",
         .opcode = Opcode::store,
         .operands = "LV",
         .orders = store_orders & in_ptx,
         .tags = bit(Tag::surface)},
    Form{.name = "suatom",
         .opcode = Opcode::rmw,
         .operands = "DLV",
         .orders = rmw_orders & in_ptx,
         .tags = bit(Tag::surface)},
    Form{.name = "sured",
         .opcode = Opcode::rmw,
         .operands = "LV",
         .orders = rmw_orders & in_ptx,
         .tags = bit(Tag::surface)},
    Form{.name = "tld",
         .opcode = Opcode::load,
         .operands = "DL",
         .orders = load_orders & in_ptx,
         .tags = bit(Tag::texture)},
    Form{.name = "cold",
         .opcode = Opcode::load,
         .operands = "DL",
         .orders = load_orders & in_ptx,
         .tags = bit(Tag::constant)},
    Form{.name = "fence", .opcode = Opcode::fence, .operands = "", .orders = fence_orders},
    Form{.name = "bar", .opcode = Opcode::barrier, .operands = ""},
    Form{.name = "barrier", .opcode = Opcode::barrier, .operands = ""},
    Form{.name = "mov", .opcode = Opcode::move, .operands = "DV"},
    arithmetic_form("add", ArithmeticFunction::add),
    arithmetic_form("sub", ArithmeticFunction::subtract),
    arithmetic_form("mul", ArithmeticFunction::multiply),
    arithmetic_form("and", ArithmeticFunction::bit_and),
    arithmetic_form("or", ArithmeticFunction::bit_or),
    arithmetic_form("xor", ArithmeticFunction::bit_xor),
    arithmetic_form("min", ArithmeticFunction::minimum),
    arithmetic_form("max", ArithmeticFunction::maximum),
    branch_form("beq", Comparison::equal),
    branch_form("bne", Comparison::not_equal),
    branch_form("blt", Comparison::less),
    branch_form("bge", Comparison::greater_equal),
    branch_form("bgt", Comparison::less, true),
    branch_form("ble", Comparison::greater_equal, true),
    Form{.name = "goto", .opcode = Opcode::jump, .operands = "T"},
};

// PTX instructions that are known and not taken, each with the reason.
constexpr std::array<std::pair<std::string_view, std::string_view>, 2> refused_in_ptx{{
    {"div", "programs have no division"},
    {"rem", "programs have no division"},
}};

// ---- The parts of an instruction as they were written ----

enum class Spelling : std::uint8_t { number, name, bracketed };

struct WrittenOperand {
  Word word;
  Spelling spelling = Spelling::name;
  std::optional<Word> index;  // of "x[r0]"
};

struct WrittenInstruction {
  Word mnemonic;
  std::vector<WrittenOperand> operands;
  std::vector<Word> separators;  // between them
};

// The words after the dots of a mnemonic, each at most once.
struct Modifiers {
  std::optional<Order> order;
  std::optional<Scope> scope;
  std::optional<RmwFunction> function;
  std::optional<Order> failure;
  std::optional<Region> region;
  bool spurious = false;
  bool waits = false;
  bool arrives = false;
  bool syncs = false;
  bool names_cta = false;
  Tags tags = 0;
  bool proxy = false;
  bool atomic = false;
  bool in_order = true;  // ORDER.SCOPE.OP.FAILURE.wait
};

// What is known of a thread besides its code until its last row has been read.
struct ThreadNotes {
  struct Use {
    std::size_t index = 0;  // of a register
    SourcePlace place;
  };
  std::vector<Use> reads;
  std::vector<bool> assigned =
      std::vector<bool>(Capacity::registers, false);  // a destination, or initialised
};

// ---- The reader ----

class ColumnReader final : public RowReader {
 public:
  using RowReader::RowReader;

  // -- The row of threads --

  void begin_thread(const Word& word) {
    add_thread(word);
    add_column();
    notes_.emplace_back();
    placed_.clear();
    thread_places_.push_back(word.place);
  }

  void placement_word(const Word& word) {
    placement_ = word;
    number_.reset();
  }
  void placement_number(const Word& word) { number_ = word; }

  void end_placement() {
    check_placement_word();
    placed_.emplace_back(placement_.text);
    Placement& placement = program().threads.back().placement;
    if (placement_.text == "host") {
      if (number_) source_.fail(number_->place, "host takes no number");
      placement.host = true;
      placement.wg = placement.agent = 0;
      return;
    }
    if (!number_)
      source_.fail(placement_.place, in_quotes(placement_.text) + " needs a number", "such as " + example());
    const int number = source_.constant(*number_);
    if (number < 0)
      source_.fail(number_->place, "the number of a " + std::string(placement_.text) + " is negative");
    if (placement_.text == "wg" || placement_.text == "cta") placement.wg = number;
    if (placement_.text == "agent" || placement_.text == "gpu") placement.agent = number;
    if (placement_.text == "wave") placement.wave = number;
    if (placement_.text == "kernel") placement.kernel = number;
    if (placement_.text == "sg") placement.subgroup = number;
    if (placement_.text == "qf") placement.queue_family = number;
  }

  void end_thread() {
    if (!is_vulkan()) return;
    Placement& placement = program().threads.back().placement;
    for (const char* const needed : {"sg", "wg", "qf"}) {
      if (std::find(placed_.begin(), placed_.end(), needed) != placed_.end()) continue;
      source_.fail(thread_places_.back(), program().threads.back().name + " has no '" + needed + "'",
                   "a thread is placed by subgroup, work-group and queue family: P0@sg 0,wg 0,qf 0");
    }
    // Work-groups of different queue families are different ones.
    const auto [known, added] =
        groups_.try_emplace({placement.queue_family, placement.wg}, static_cast<int>(groups_.size()));
    placement.wg = known->second;
  }

  void end_thread_row() {
    check_waves();
    for (const InitialRegister& initial : initial_registers_) {
      const std::size_t index = thread_index(*initial.reference.thread);
      initialise_register(index, initial);
      const auto known = find_register(program().threads[index], initial.reference.name.text);
      if (known) notes_[index].assigned[*known] = true;
    }
  }

  // -- The rows of instructions --

  void label(const Word& word) override {
    if (is_register_name(word.text))
      source_.fail(word.place, in_quotes(word.text) + " is a register, not a label");
    add_label(word);
  }

  void mnemonic(const Word& word) override { written_ = {word, {}, {}}; }
  void operand(const Word& word, Spelling spelling) { written_.operands.push_back({word, spelling, {}}); }
  void index(const Word& word) { written_.operands.back().index = word; }
  void separator(const Word& word) { written_.separators.push_back(word); }

  void end_instruction() {
    const Form& form = find_form();
    Instruction instruction;
    instruction.opcode = form.opcode;
    instruction.arithmetic = form.arithmetic;
    instruction.comparison = form.comparison;
    instruction.place = written_.mnemonic.place;
    check_instruction_count();
    if (loads_a_value(form)) {
      instruction.opcode = Opcode::move;
      set_operands(form, "DV", instruction);
    } else {
      const Modifiers modifiers =
          is_vulkan() ? set_vulkan_modifiers(form, instruction) : set_modifiers(form, instruction);
      check_host(instruction);
      if (form.opcode == Opcode::barrier) {
        set_barrier(form, modifiers, instruction);
      } else {
        const bool swaps = form.opcode == Opcode::rmw && instruction.rmw == RmwFunction::compare_swap;
        const bool may_fail = form.opcode == Opcode::store && has(instruction.tags, Tag::exclusive);
        const bool tells = instruction.spurious && form.name == "atom" && written_.operands.size() == 5;
        set_operands(form,
                     (may_fail ? "D" : "") + (tells ? "DSLV" : std::string(form.operands)) +
                         (swaps || instruction.waits ? "V" : ""),
                     instruction);
        if (tells) check_status(instruction);
      }
    }
    if (form.swapped) std::swap(instruction.a, instruction.b);
    thread().code.push_back(instruction);
  }

  void end_program() {
    for (std::size_t i = 0; i < notes_.size(); ++i) {
      if (is_strict()) check_registers(i);
    }
    set_targets();
    resolve_claims([this](std::size_t thread, const Word& label) { return place_of(thread, label); });
    finish_program();
  }

 private:
  ThreadNotes& notes() { return notes_[cell()]; }

  // -- Threads --

  void check_placement_word() const {
    static const Names hrf{"wg", "agent", "host", "kernel", "wave", "sg", "qf"};
    static const Names ptx{"cta", "gpu"};
    static const Names vulkan{"sg", "wg", "qf"};
    const std::string word = source_.one_of(placement_, "placement",
                                            is_vulkan() ? vulkan
                                            : is_ptx()  ? ptx
                                                        : hrf);
    const auto has = [&](const std::string& other) {
      return std::find(placed_.begin(), placed_.end(), other) != placed_.end();
    };
    if (has(word)) source_.fail(placement_.place, in_quotes(word) + " is given twice");
    const bool device = word == "wg" || word == "agent";
    if ((device && has("host")) || (word == "host" && (has("wg") || has("agent")))) {
      source_.fail(placement_.place, "a host thread has no work-group and no agent");
    }
  }

  [[nodiscard]] std::string example() const { return "'" + std::string(placement_.text) + " 0'"; }

  void check_waves() const {
    const std::vector<Thread>& threads = program().threads;
    for (std::size_t i = 0; i < threads.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const int wave = threads[i].placement.wave;
        if (wave != threads[j].placement.wave) continue;
        source_.fail(
            thread_places_[i],
            threads[j].name + " and " + threads[i].name + " are both in wave " + std::to_string(wave),
            "threads of a test are distinct waves; a thread's wave is its number unless placed otherwise");
      }
    }
  }

  // -- Mnemonics --

  [[nodiscard]] std::span<const Form> forms() const {
    if (is_vulkan()) return vulkan_forms;
    return is_ptx() ? std::span<const Form>(ptx_forms) : std::span<const Form>(hrf_forms);
  }

  [[nodiscard]] std::string_view base() const {
    return written_.mnemonic.text.substr(0, written_.mnemonic.text.find('.'));
  }

  [[nodiscard]] const Form& find_form() const {
    for (const Form& form : forms()) {
      if (form.name == base()) return form;
    }
    for (const auto& [name, reason] : refused_in_ptx) {
      if (!is_ptx() || name != base()) continue;
      source_.fail(written_.mnemonic.place, in_quotes(base()) + " is not supported: " + std::string(reason));
    }
    Names names;
    for (const Form& form : forms()) names.emplace_back(form.name);
    const std::string meant = nearest(base(), names);
    source_.fail(written_.mnemonic.place, "unknown instruction " + in_quotes(base()),
                 meant.empty() ? "one of: " + list(names) : suggestion(base(), names));
  }

  // "ld r0, 1" and "ld.weak r0, 1" set a register in PTX, "ld.sc0 r0, 1" in Vulkan.
  [[nodiscard]] bool loads_a_value(const Form& form) const {
    if (is_strict() || form.opcode != Opcode::load || written_.operands.size() != 2) return false;
    const std::string_view rest = written_.mnemonic.text.substr(2);
    const bool storage =
        is_vulkan() && rest.starts_with('.') && (tag_of(rest.substr(1)) & storage_classes) != 0;
    if (!rest.empty() && !storage && (is_vulkan() || rest != ".weak")) return false;
    const WrittenOperand& value = written_.operands.back();
    return value.spelling == Spelling::number || (is_register(value) && !address(value));
  }

  Modifiers set_modifiers(const Form& form, Instruction& instruction) const {
    Modifiers modifiers = read_modifiers(form);
    if (is_ptx()) fill_in(form, modifiers);
    check_order(form, modifiers);
    if (form.opcode == Opcode::rmw && !modifiers.function) {
      source_.fail(written_.mnemonic.place, in_quotes(base()) + " needs an operation",
                   "add one: " + spelled(form, modifiers));
    }
    if (!modifiers.in_order) {
      source_.fail(written_.mnemonic.place,
                   "the parts of " + in_quotes(written_.mnemonic.text) + " are in disorder",
                   "write it " + spelled(form, modifiers));
    }
    instruction.order = modifiers.order.value_or(Order::plain);
    instruction.scope = modifiers.scope.value_or(Scope::system);
    instruction.rmw = modifiers.function.value_or(RmwFunction::exchange);
    instruction.failure_order = modifiers.failure.value_or(Order::plain);
    instruction.spurious = modifiers.spurious;
    instruction.region = modifiers.region.value_or(Region::all);
    instruction.arrives_only = modifiers.arrives;
    instruction.waits = modifiers.waits;
    instruction.tags = modifiers.tags;
    return modifiers;
  }

  // -- Vulkan's mnemonics: atom, an order, av or vis, a scope, a storage class, semantics, an operation --

  Modifiers set_vulkan_modifiers(const Form& form, Instruction& instruction) const {
    Modifiers modifiers;
    modifiers.tags = form.tags;
    for_each_modifier([&](const Word& word) { read_vulkan_modifier(form, word, modifiers); });
    if (form.orders == 0) {
      instruction.tags = form.tags;
      return modifiers;
    }
    check_vulkan(form, modifiers);
    const bool accesses = is_memory(form.opcode);
    instruction.order = modifiers.order.value_or(modifiers.atomic ? Order::relaxed : Order::plain);
    if (instruction.order != Order::plain) instruction.scope = modifiers.scope.value_or(Scope::system);
    instruction.rmw = modifiers.function.value_or(RmwFunction::exchange);
    instruction.tags = modifiers.tags;
    if (!modifiers.order) instruction.tags &= ~storage_semantics;  // they say what an order is about
    if (modifiers.atomic && form.opcode != Opcode::store) instruction.tags |= bit(Tag::vis);
    if (modifiers.atomic && form.opcode != Opcode::load) instruction.tags |= bit(Tag::av);
    const bool shared = has(instruction.tags, Tag::av) || has(instruction.tags, Tag::vis);
    if (accesses && shared) instruction.tags |= bit(Tag::nonpriv);
    return modifiers;
  }

  void read_vulkan_modifier(const Form& form, const Word& word, Modifiers& modifiers) const {
    if (form.orders == 0) source_.fail(word.place, in_quotes(form.name) + " takes no modifiers");
    if (word.text == "atom" && is_memory(form.opcode)) {
      if (modifiers.atomic) source_.fail(word.place, "a second 'atom'");
      modifiers.atomic = true;
      return;
    }
    for (const auto& [name, order] : vulkan_orders) {
      if (word.text == name) return set_once(modifiers.order, order, word, "order");
    }
    for (const VulkanScope& known : vulkan_scopes) {
      if (word.text != known.word) continue;
      set_once(modifiers.scope, known.scope, word, "scope");
      modifiers.tags |= bit(known.tag);
      return;
    }
    if (const Tags tag = tag_of(word.text); (tag & tags_of_vulkan(form.opcode)) != 0) {
      if ((modifiers.tags & tag) != 0) source_.fail(word.place, "a second " + in_quotes(word.text));
      if ((tag & storage_classes) != 0 && (modifiers.tags & storage_classes) != 0) {
        source_.fail(word.place, "a second storage class: " + in_quotes(word.text));
      }
      modifiers.tags |= tag;
      return;
    }
    const auto function = function_of(dialect_, word.text);
    if (!function || form.opcode != Opcode::rmw) fail_vulkan_modifier(form, word);
    set_once(modifiers.function, *function, word, "operation");
  }

  [[noreturn]] void fail_vulkan_modifier(const Form& form, const Word& word) const {
    if ((tag_of(word.text) & (bits(Tag::sc0, Tag::nonpriv))) != 0 || word.text == "atom") {
      source_.fail(word.place, in_quotes(word.text) + " says nothing of " + in_quotes(form.name));
    }
    Names known;
    if (is_memory(form.opcode)) known.emplace_back("atom");
    for (const auto& [name, order] : vulkan_orders) known.emplace_back(name);
    for (const VulkanScope& scope : vulkan_scopes) known.emplace_back(scope.word);
    for (std::size_t i = 0; i < tag_count; ++i) {
      if (((tags_of_vulkan(form.opcode) >> i) & 1U) != 0) known.emplace_back(tag_words[i]);
    }
    for (const RmwFunction function : all_rmws) {
      if (form.opcode == Opcode::rmw) known.emplace_back(dialect_word(function));
    }
    source_.fail(word.place, "unknown modifier " + in_quotes(word.text), suggestion(word.text, known));
  }

  void check_vulkan(const Form& form, const Modifiers& modifiers) const {
    const SourcePlace place = written_.mnemonic.place;
    const std::string name = in_quotes(written_.mnemonic.text);
    const bool accesses = is_memory(form.opcode);
    const bool shows = (modifiers.tags & (bit(Tag::av) | bit(Tag::vis))) != 0;
    if (form.opcode == Opcode::rmw && !modifiers.atomic) {
      source_.fail(place, "an rmw is atomic, and says so", "such as rmw.atom.acq.dv.sc0.semsc0.add");
    }
    if (accesses && !modifiers.atomic && modifiers.order) {
      source_.fail(place, name + " has an order, and is no atomic",
                   "such as " + std::string(form.name) + ".atom." +
                       (form.opcode == Opcode::load ? "acq" : "rel") + ".dv.sc0.semsc0");
    }
    if (modifiers.order && (form.orders & bit(*modifiers.order)) == 0) {
      source_.fail(place, in_quotes(form.name) + " can't be " + std::string(dialect_word(*modifiers.order)));
    }
    if (accesses && (modifiers.tags & storage_classes) == 0) {
      source_.fail(place, name + " has no storage class",
                   "such as sc0: " + std::string(written_.mnemonic.text) + ".sc0");
    }
    if (form.opcode == Opcode::fence && !modifiers.order) {
      source_.fail(place, name + " needs an order", "acq, rel or acq_rel, such as membar.acq_rel.dv.semsc0");
    }
    const bool scoped = !accesses || modifiers.atomic || shows;
    if (scoped && !modifiers.scope) {
      source_.fail(place, name + " needs a scope", "one of: sg, wg, qf, dv");
    }
    if (!scoped && modifiers.scope) {
      source_.fail(place, name + " has a scope, and is neither atomic nor made available or visible",
                   "leave it out, or say atom, av or vis");
    }
    if (has(modifiers.tags, Tag::semav) && !(modifiers.order && releases(*modifiers.order))) {
      source_.fail(place, "'semav' belongs to a release");
    }
    if (has(modifiers.tags, Tag::semvis) && !(modifiers.order && acquires(*modifiers.order))) {
      source_.fail(place, "'semvis' belongs to an acquire");
    }
  }

  // What PTX's manual says of an atom or red without an order or a scope.
  static void fill_in(const Form& form, Modifiers& modifiers) {
    if (form.opcode != Opcode::rmw) return;
    if (!modifiers.order) modifiers.order = Order::relaxed;
    if (!modifiers.scope) modifiers.scope = Scope::agent;
  }

  // Calls f with each word after a dot.
  template <typename F>
  void for_each_modifier(const F& f) const {
    Word rest = written_.mnemonic;
    for (std::size_t dot = rest.text.find('.'); dot != std::string_view::npos; dot = rest.text.find('.')) {
      rest.text.remove_prefix(dot + 1);
      rest.place.column += static_cast<int>(dot) + 1;
      f(Word{rest.text.substr(0, rest.text.find('.')), rest.place});
    }
  }

  [[nodiscard]] Modifiers read_modifiers(const Form& form) const {
    Modifiers modifiers;
    modifiers.tags = form.tags;
    for_each_modifier([&](const Word& word) {
      if (form.opcode == Opcode::barrier) {
        read_barrier_modifier(form, word, modifiers);
      } else {
        read_modifier(form, word, modifiers);
      }
    });
    return modifiers;
  }

  // HRF has a word for whatever the other dialects say to models.
  bool read_tag(const Word& word, Modifiers& modifiers) const {
    const Tags tag = is_strict() ? tag_of(word.text) : 0;
    if (tag == 0 || (tag & device_operations) != 0) return false;
    if ((modifiers.tags & tag) != 0) source_.fail(word.place, "a second " + in_quotes(word.text));
    modifiers.tags |= tag;
    return true;
  }

  void read_modifier(const Form& form, const Word& word, Modifiers& modifiers) const {
    if (form.orders == 0) source_.fail(word.place, in_quotes(form.name) + " takes no modifiers");
    if (form.opcode == Opcode::fence && word.text == "proxy") {
      if (modifiers.proxy) source_.fail(word.place, "a second 'proxy'");
      modifiers.proxy = true;
      return;
    }
    if (modifiers.proxy) return read_proxy(word, modifiers);
    if (is_strict() && word.text == "wait" && (form.opcode == Opcode::load || form.opcode == Opcode::rmw)) {
      if (modifiers.waits) source_.fail(word.place, "a second 'wait'");
      modifiers.waits = true;
      return;
    }
    if (read_tag(word, modifiers)) return;
    modifiers.in_order = modifiers.in_order && !modifiers.waits;
    const auto order = value_of(word.text, all_orders);
    if (order && is_strict() && modifiers.order && modifiers.function == RmwFunction::compare_swap) {
      return read_failure(*order, word, modifiers);
    }
    if (order) {
      modifiers.in_order = modifiers.in_order && !modifiers.scope && !modifiers.function;
      return set_once(modifiers.order, *order, word, "order");
    }
    if (const auto scope = scope_of(dialect_, word.text)) {
      modifiers.in_order = modifiers.in_order && !modifiers.function;
      return set_once(modifiers.scope, *scope, word, "scope");
    }
    if (is_strict() && form.opcode == Opcode::fence && read_region(word, modifiers)) return;
    const auto function = function_of(dialect_, word.text);
    if (!function || form.opcode != Opcode::rmw) fail_modifier(form, word);
    set_once(modifiers.function, *function, word, "operation");
  }

  // After "fence.proxy": which one it is about.
  void read_proxy(const Word& word, Modifiers& modifiers) const {
    static const Names known{"alias", "generic", "surface", "texture", "constant"};
    const Tags tag = tag_of(source_.one_of(word, "proxy", known));
    if ((modifiers.tags & (proxies | bit(Tag::alias))) != 0) {
      source_.fail(word.place, "a second proxy: " + in_quotes(word.text), "a fence is about one");
    }
    modifiers.tags |= tag;
  }

  // After "cas": the order of a failure, and "weak" for one that may fail though the values are equal.
  void read_failure(Order order, const Word& word, Modifiers& modifiers) const {
    if (order == Order::plain) {
      if (modifiers.spurious) source_.fail(word.place, "a second 'weak'");
      modifiers.spurious = true;
      return;
    }
    if ((load_orders & bit(order)) == 0) {
      source_.fail(word.place, "a failure can't be " + std::string(word.text), "it only reads");
    }
    set_once(modifiers.failure, order, word, "order of failure");
  }

  bool read_region(const Word& word, Modifiers& modifiers) const {
    if (word.text != "global" && word.text != "local") return false;
    set_once(modifiers.region, word.text == "global" ? Region::global : Region::local, word, "memory");
    return true;
  }

  void read_barrier_modifier(const Form& form, const Word& word, Modifiers& modifiers) const {
    static const Names hrf{"arrive", "global", "local"};
    static const Names ptx{"cta", "sync", "arrive", "aligned"};
    if (is_strict() && (read_region(word, modifiers) || read_tag(word, modifiers))) return;
    if (const auto order = is_strict() ? value_of(word.text, all_orders) : std::nullopt) {
      return set_once(modifiers.order, *order, word, "order");
    }
    if (const auto scope = is_strict() ? scope_of(dialect_, word.text) : std::nullopt) {
      return set_once(modifiers.scope, *scope, word, "scope");
    }
    if (is_ptx() && word.text == "red") {
      source_.fail(word.place, in_quotes(std::string(form.name) + ".red") + " is not supported",
                   "a barrier synchronizes and reduces nothing: sync or arrive");
    }
    const std::string modifier = source_.one_of(word, "modifier", is_ptx() ? ptx : hrf);
    if (modifier == "cta") modifiers.names_cta = true;
    if (modifier != "sync" && modifier != "arrive") return;
    if (modifiers.syncs || modifiers.arrives) {
      source_.fail(word.place, "a barrier either waits or only arrives, and says so once");
    }
    (modifier == "sync" ? modifiers.syncs : modifiers.arrives) = true;
  }

  template <typename Value>
  void set_once(std::optional<Value>& slot, Value value, const Word& word, const std::string& thing) const {
    if (slot) source_.fail(word.place, "a second " + thing + ": " + in_quotes(word.text));
    slot = value;
  }

  [[noreturn]] void fail_modifier(const Form& form, const Word& word) const {
    Names known = order_names(form);
    for (const Scope scope : all_scopes) {
      if (!scope_word(dialect_, scope).empty()) known.emplace_back(scope_word(dialect_, scope));
    }
    for (const RmwFunction function : all_rmws) {
      if (form.opcode == Opcode::rmw) known.emplace_back(dialect_word(function));
    }
    std::string hint = suggestion(word.text, known);
    if (is_strict() && word.text == "cta") hint = "the scope of a work-group is 'wg'";
    if (is_strict() && word.text == "gpu") hint = "the scope of a device is 'agent'";
    source_.fail(word.place, "unknown modifier " + in_quotes(word.text), hint);
  }

  [[nodiscard]] static Names order_names(const Form& form) {
    Names names;
    for (const Order order : all_orders) {
      if ((form.orders & bit(order)) != 0) names.emplace_back(dialect_word(order));
    }
    return names;
  }

  void check_order(const Form& form, const Modifiers& modifiers) const {
    if (form.opcode == Opcode::barrier) return;
    const SourcePlace place = written_.mnemonic.place;
    if (modifiers.proxy) {
      const bool which = (modifiers.tags & (proxies | bit(Tag::alias))) != 0;
      if (!which)
        source_.fail(place, in_quotes(written_.mnemonic.text) + " is about no proxy",
                     "such as fence.proxy.alias");
      if (modifiers.order || modifiers.scope) {
        source_.fail(place, "a fence of a proxy has no order and no scope",
                     "write it fence.proxy.alias or the like");
      }
      return;
    }
    const std::string name = in_quotes(written_.mnemonic.text);
    const bool plain = (form.orders & bit(Order::plain)) != 0 || form.orders == 0 ||
                       (modifiers.tags & processor_fences) != 0;
    if (!modifiers.order && modifiers.scope) {
      source_.fail(place, name + " has a scope and no order", "add an order: " + spelled(form, modifiers));
    }
    if (modifiers.waits && modifiers.order.value_or(Order::plain) == Order::plain) {
      source_.fail(place, name + " waits, which only atomics do",
                   "add an order: " + spelled(form, modifiers));
    }
    if (!modifiers.order && !plain) {
      source_.fail(place, name + " needs an order and a scope", "add them: " + spelled(form, modifiers));
    }
    if (!modifiers.order) return;
    if ((form.orders & bit(*modifiers.order)) == 0) {
      const std::string order(dialect_word(*modifiers.order));
      source_.fail(place, in_quotes(form.name) + " can't be " + order, "one of: " + list(order_names(form)));
    }
    const bool weak = *modifiers.order == Order::plain;
    if (weak && modifiers.scope) source_.fail(place, name + " has a scope, but a weak access has none");
    if (!weak && !modifiers.scope) {
      source_.fail(place, name + " is atomic and has no scope", "add a scope: " + spelled(form, modifiers));
    }
  }

  // The mnemonic in full, with what is missing filled in.
  [[nodiscard]] std::string spelled(const Form& form, const Modifiers& modifiers) const {
    const Order usual = form.opcode == Opcode::fence || form.opcode == Opcode::rmw ? Order::acq_rel
                        : form.opcode == Opcode::load                              ? Order::acquire
                                                                                   : Order::release;
    std::string text(form.name);
    text.append(".").append(dialect_word(modifiers.order.value_or(usual)));
    text.append(".").append(scope_word(dialect_, modifiers.scope.value_or(Scope::agent)));
    if (form.opcode == Opcode::rmw) {
      text.append(".").append(dialect_word(modifiers.function.value_or(RmwFunction::add)));
    }
    return text + (modifiers.waits ? ".wait" : "");
  }

  void check_instruction_count() {
    const Placement& placement = thread().placement;
    const std::size_t inserted = placement.kernel < 0 ? 0 : placement.host ? 1 : 2;
    if (thread().code.size() + inserted < Capacity::instructions) return;
    source_.fail(
        written_.mnemonic.place, "a thread has at most " + count_of(Capacity::instructions, "instruction"),
        inserted == 0 ? "" : "of these, a thread of a kernel needs " + std::to_string(inserted) + " itself");
  }

  void check_host(const Instruction& instruction) {
    if (!thread().placement.host) return;
    const SourcePlace place = written_.mnemonic.place;
    if (instruction.opcode == Opcode::barrier) {
      source_.fail(place,
                   thread().name + " is a host thread: it has no work-group whose barrier it could join");
    }
    if (instruction.order == Order::plain || instruction.scope == Scope::system) return;
    std::string whole = std::string(base()) + "." + std::string(dialect_word(instruction.order)) + ".system";
    if (instruction.opcode == Opcode::rmw) whole.append(".").append(dialect_word(instruction.rmw));
    source_.fail(place, thread().name + " is a host thread: it shares only the system scope",
                 "write it " + whole);
  }

  // -- Operands --

  void set_operands(const Form& form, const std::string& operands, Instruction& instruction) {
    check_operand_count(form, operands);
    check_separators(form, operands, instruction);
    int values = 0;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const WrittenOperand& operand = written_.operands[i];
      if (operands[i] != 'L' && operand.index) {
        source_.fail(operand.index->place, "only locations have elements");
      }
      if (operands[i] == 'D') instruction.destination = destination(operand);
      if (operands[i] == 'S') instruction.status = destination(operand);
      if (operands[i] == 'L') set_location(operand, instruction);
      if (operands[i] == 'V') (values++ == 0 ? instruction.a : instruction.b) = value_operand(operand);
      if (operands[i] == 'T') note_jump(operand);
    }
  }

  void check_status(const Instruction& instruction) const {
    if (instruction.waits) {
      source_.fail(written_.operands[1].word.place,
                   "an atomic that waits tells no success: it is done again until it has any");
    }
    const Operand old{true, instruction.destination};
    if (instruction.status != instruction.destination && !(instruction.a == old)) return;
    source_.fail(written_.operands.front().word.place,
                 "a compare-and-swap that tells whether it swapped reads into a register of its own",
                 "not the one that tells, nor the one compared with");
  }

  // HRF: barrier [number [, participants]]. PTX: bar.sync number, or as the public suites write it
  // bar.cta.sync site, number [, participants]: threads meet where both the site and the number are the same.
  void set_barrier(const Form& form, const Modifiers& modifiers, Instruction& instruction) {
    if (is_ptx() && !modifiers.syncs && !modifiers.arrives) {
      source_.fail(
          written_.mnemonic.place, in_quotes(written_.mnemonic.text) + " neither waits nor arrives",
          "write it " + std::string(form.name) + ".cta.sync or " + std::string(form.name) + ".cta.arrive");
    }
    if (is_strict() && (modifiers.order || modifiers.scope) && (modifiers.tags & scope_instances) == 0) {
      source_.fail(written_.mnemonic.place, "a barrier has no order and no scope of its own",
                   "it is a release at wg on arrival, and an acquire at wg on departure");
    }
    const std::size_t count = written_.operands.size();
    const bool sited = is_loose();
    const std::size_t most = sited ? 3 : 2;
    if (count > most || (sited && count == 0)) {
      source_.fail(written_.mnemonic.place,
                   in_quotes(form.name) + " takes " + (sited ? "1 to 3" : "at most 2") + " operands, found " +
                       std::to_string(count),
                   usage(form, std::string(sited ? 1 : 0, 'V')));
    }
    if (is_ptx() && count == 2 && !modifiers.names_cta) {
      source_.fail(written_.operands[1].word.place,
                   "two operands of " + in_quotes(written_.mnemonic.text) +
                       " may be a barrier and how many take part, or a place and a barrier",
                   "write three: the place, the barrier and how many take part, as in bar.cta.sync 1, 0, 2");
    }
    if (sited) check_sited(count > 1);
    Instruction read;
    const std::string values = count == 0 ? "" : count == 1 || (sited && count == 2) ? "V" : "VV";
    std::optional<WrittenOperand> site;
    if (sited && count > 1) {
      check_separators(form, "VVV", instruction);
      site = written_.operands.front();
      written_.operands.erase(written_.operands.begin());
      written_.separators.clear();
    }
    set_operands(form, values, read);
    instruction.a = read.a;
    instruction.b = read.b;
    check_barrier(written_.operands, instruction);
    if (site) apart(*site, instruction);
    note_quorum(count > 0 ? written_.operands.back().word.place : written_.mnemonic.place, instruction);
  }

  // Whether one with its place and one without it meet, nobody has said.
  void check_sited(bool sited) {
    const SourcePlace place = written_.mnemonic.place;
    if (!first_barrier_) first_barrier_.emplace(sited, place);
    if (first_barrier_->first == sited) return;
    source_.fail(place,
                 sited ? "a barrier with its place in the program, among others without"
                       : "a barrier without its place in the program, among others with one",
                 "the first barrier is on line " + std::to_string(first_barrier_->second.line) +
                     "; write all with one operand, or all with more");
  }

  // All that meet at a barrier have to say the same of how many they are. What registers hold is seen later.
  void note_quorum(SourcePlace place, const Instruction& instruction) {
    if (instruction.a.is_register || instruction.b.is_register) return;
    const Placement& mine = thread().placement;
    for (const Quorum& other : quorums_) {
      const Placement& p = program().threads[other.thread].placement;
      if (p.wg != mine.wg || p.agent != mine.agent || other.barrier != instruction.a.value) continue;
      if (other.participants == instruction.b.value) continue;
      const std::string there = program().threads[other.thread].name + " on line " +
                                std::to_string(other.place.line) + " has " +
                                (other.participants == 0 ? "no number" : std::to_string(other.participants));
      source_.fail(place, "threads that meet at a barrier disagree on how many take part", there);
    }
    quorums_.push_back({cell(), instruction.a.value, instruction.b.value, place});
  }

  [[nodiscard]] std::size_t group_size() const {
    const std::vector<Thread>& threads = program().threads;
    const Placement& mine = threads[cell()].placement;
    return static_cast<std::size_t>(std::count_if(threads.begin(), threads.end(), [&](const Thread& other) {
      const Placement& p = other.placement;
      return !p.host && p.wg == mine.wg && p.agent == mine.agent;
    }));
  }

  void check_barrier(const std::vector<WrittenOperand>& operands, const Instruction& instruction) const {
    const std::int32_t number = instruction.a.is_register ? 0 : instruction.a.value;
    if (number < 0 || (is_loose() && number >= barriers_of_a_site)) {
      source_.fail(operands[0].word.place, is_loose() ? "the number of a barrier is from 0 to " +
                                                            std::to_string(barriers_of_a_site - 1)
                                                      : "the number of a barrier is negative");
    }
    if (operands.size() > 1 && !instruction.b.is_register && instruction.b.value < 1) {
      source_.fail(operands[1].word.place, "a barrier has one participant at least",
                   "leave it out where all threads that have the barrier take part");
    }
    if (operands.size() > 1 && !instruction.b.is_register &&
        static_cast<std::size_t>(instruction.b.value) > group_size()) {
      source_.fail(operands[1].word.place,
                   "the barrier waits for " + std::to_string(instruction.b.value) + ", and the " +
                       (is_ptx() ? "CTA" : "work-group") + " has " + count_of(group_size(), "thread"),
                   "nobody would ever leave it");
    }
  }

  // Moves a barrier's number to the range of its site, where the test has more than one.
  void apart(const WrittenOperand& site, Instruction& instruction) {
    if (site.spelling != Spelling::number) {
      source_.fail(site.word.place,
                   "expected the number of the barrier's place, found " + in_quotes(site.word.text),
                   "the first of several operands is a constant");
    }
    const std::int32_t number = source_.constant(site.word);
    const auto [known, added] = sites_.try_emplace(number, static_cast<std::int32_t>(sites_.size()));
    const std::int32_t first = known->second * barriers_of_a_site;
    if (first == 0) return;
    if (sites_.size() >= static_cast<std::size_t>(barriers_of_a_site)) {
      source_.fail(site.word.place, "too many barriers");
    }
    if (!instruction.a.is_register) {
      instruction.a.value += first;
      return;
    }
    Instruction sum;
    sum.opcode = Opcode::arithmetic;
    sum.a = instruction.a;
    sum.b = {false, first};
    sum.place = instruction.place;
    const std::size_t index = register_of(thread(), {"barrier", site.word.place});
    sum.destination = static_cast<std::int16_t>(index);
    check_instruction_count();
    thread().code.push_back(sum);
    instruction.a = {true, static_cast<std::int32_t>(index)};
  }

  // How the instruction is written, for the hint.
  [[nodiscard]] std::string usage(const Form& form, const std::string& operands) const {
    std::string text;
    for (const char operand : operands) {
      if (!text.empty()) text += form.opcode == Opcode::assertion ? " == " : ", ";
      text += operand == 'D' || (operand == 'V' && text.empty()) ? "r0"
              : operand == 'L'                                   ? "x"
              : operand == 'S'                                   ? "r1"
              : operand == 'V'                                   ? "1"
                                                                 : "LABEL";
    }
    return "write it like this: " + std::string(written_.mnemonic.text) + (text.empty() ? "" : " ") + text;
  }

  void check_operand_count(const Form& form, const std::string& operands) const {
    if (written_.operands.size() == operands.size()) return;
    const std::string wanted = operands.empty() ? "no operands" : count_of(operands.size(), "operand");
    source_.fail(
        written_.mnemonic.place,
        in_quotes(form.name) + " takes " + wanted + ", found " + std::to_string(written_.operands.size()),
        usage(form, operands));
  }

  void check_separators(const Form& form, const std::string& operands, Instruction& instruction) const {
    for (const Word& separator : written_.separators) {
      const bool asserts = form.opcode == Opcode::assertion;
      if (asserts == (separator.text == ",")) {
        source_.fail(separator.place,
                     std::string("expected ") + (asserts ? "a comparison" : "','") + ", found " +
                         in_quotes(separator.text),
                     usage(form, operands));
      }
      if (asserts)
        instruction.comparison = value_of(separator.text, all_comparisons).value_or(Comparison::equal);
    }
  }

  // "r0", or "%total" where a register has a name that other dialects gave it.
  [[nodiscard]] bool is_register(const WrittenOperand& operand) const {
    if (operand.spelling != Spelling::name) return false;
    return is_register_name(operand.word.text) || operand.word.text.starts_with('%');
  }

  [[nodiscard]] static Word register_word(Word word) {
    if (word.text.starts_with('%')) word.text.remove_prefix(1);
    return word;
  }

  // The location whose address a register of this thread holds from the beginning to the end.
  [[nodiscard]] const Word* address(const WrittenOperand& operand) const {
    return address_in(cell(), operand.word.text);
  }

  std::int16_t destination(const WrittenOperand& operand) {
    if (!is_register(operand)) {
      source_.fail(operand.word.place, "expected a register, found " + in_quotes(operand.word.text),
                   "registers are named r0, r1, ...");
    }
    refuse_address(operand);
    const std::size_t index = register_of(thread(), register_word(operand.word));
    notes().assigned[index] = true;
    return static_cast<std::int16_t>(index);
  }

  void refuse_address(const WrittenOperand& operand) const {
    if (!address(operand)) return;
    source_.fail(
        operand.word.place, in_quotes(operand.word.text) + " holds an address, which is no value",
        "a register that points to a location keeps its initial value and is used as an address only");
  }

  void set_location(const WrittenOperand& operand, Instruction& instruction) {
    if (const Word* const pointed = address(operand)) {
      instruction.location = static_cast<std::int32_t>(location(*pointed, true));
      return;
    }
    const bool bracketed = operand.spelling == Spelling::bracketed;
    const bool named_register = is_register_name(operand.word.text) && (!bracketed || is_loose());
    if (operand.spelling == Spelling::number || operand.word.text.starts_with('%') || named_register) {
      source_.fail(operand.word.place, "expected a location, found " + in_quotes(operand.word.text),
                   is_loose() && named_register
                       ? "initialise the register with an address to use it as one: { P0:r0 = x; }"
                       : "");
    }
    const std::size_t first = location(operand.word, bracketed);
    instruction.location = static_cast<std::int32_t>(first);
    if (operand.index) set_element(first, *operand.index, instruction);
  }

  void set_element(std::size_t first, const Word& index, Instruction& instruction) {
    if (is_register_name(index.text) || index.text.starts_with('%')) {
      instruction.index = value_operand({index, Spelling::name, {}});
      return;
    }
    const std::int32_t element = source_.constant(index);
    if (element < 0 || element >= program().locations[first].array) {
      source_.fail(
          index.place,
          in_quotes(program().locations[first].name) + " has no element " + std::to_string(element),
          "it has " + count_of(static_cast<std::size_t>(program().locations[first].array), "element"));
    }
    instruction.location += element;
  }

  Operand value_operand(const WrittenOperand& operand) {
    if (operand.spelling == Spelling::number) return {false, source_.constant(operand.word)};
    if (!is_register(operand)) {
      source_.fail(operand.word.place,
                   "expected a register or an integer, found " + in_quotes(operand.word.text),
                   "registers are named r0, r1, ...; only ld, st, atom and red access locations");
    }
    refuse_address(operand);
    const std::size_t index = register_of(thread(), register_word(operand.word));
    notes().reads.push_back({index, operand.word.place});
    return {true, static_cast<std::int32_t>(index)};
  }

  void note_jump(const WrittenOperand& operand) {
    if (operand.spelling != Spelling::name || is_register(operand)) {
      source_.fail(operand.word.place, "expected a label, found " + in_quotes(operand.word.text));
    }
    add_jump(operand.word);
  }

  // -- The end of the program --

  void check_registers(std::size_t index) const {
    const Thread& thread = program().threads[index];
    for (const ThreadNotes::Use& read : notes_[index].reads) {
      if (notes_[index].assigned[read.index]) continue;
      const std::string& name = thread.registers[read.index];
      source_.fail(read.place,
                   "register " + in_quotes(name) + " is read, and nothing in " + thread.name + " assigns it",
                   "assign it first, or initialise it: { " + thread.name + ":" + name + " = 0; }");
    }
  }

  static constexpr std::int32_t barriers_of_a_site = 1 << 15;

  // The row of threads.
  Word placement_;
  std::optional<Word> number_;
  Names placed_;
  std::vector<SourcePlace> thread_places_;
  std::map<std::pair<int, int>, int> groups_;  // Vulkan's, by queue family and number

  // The rows of instructions.
  WrittenInstruction written_;
  std::vector<ThreadNotes> notes_;
  struct Quorum {
    std::size_t thread = 0;
    std::int32_t barrier = 0;
    std::int32_t participants = 0;
    SourcePlace place;
  };
  std::optional<std::pair<bool, SourcePlace>> first_barrier_;  // whether it says its place
  std::vector<Quorum> quorums_;                                // of barriers, where both are constants
  std::map<std::int32_t, std::int32_t> sites_;  // first operands of barriers, in order of appearance
};

}  // namespace

// ---- The grammar of columns ----

namespace grammar {
namespace {

// The row of threads.
struct thread_name : identifier {};
struct placement_word : identifier {};
struct placement_number : number {};
struct placement : seq<placement_word, opt<ws, placement_number>> {};
struct thread
    : seq<thread_name, opt<ws, one<'@'>, ws, must<placement>, star<ws, one<','>, ws, must<placement>>>> {};
struct end_of_threads : semicolon {};
struct thread_row : seq<must<thread>, star<ws, one<'|'>, ws, must<thread>>, ws, must<end_of_threads>> {};

// The rows of instructions.
struct number_operand : number {};
struct name_operand : sor<identifier, seq<one<'%'>, identifier>> {};
struct bracketed_operand_name : identifier {};
struct index_value : sor<number, identifier, seq<one<'%'>, identifier>> {};
struct index : seq<open_bracket, ws, must<index_value>, ws, must<close_bracket>> {};
struct bracketed_operand
    : seq<open_bracket, ws, must<bracketed_operand_name>, ws, opt<index, ws>, must<close_bracket>> {};
struct operand : sor<number_operand, bracketed_operand, seq<name_operand, opt<ws, index>>> {};
struct separator : sor<one<','>, comparison_symbol> {};
struct operands : seq<operand, star<ws, separator, ws, must<operand>>> {};
struct instruction : seq<mnemonic, ws, opt<operands>> {};
struct rows : star<not_at<after_program>, sor<misspelled, row<instruction>>, ws> {};

struct end_of_rows : peg::success {};
struct row_or_question : question {};
struct columns : seq<head, initial_state, ws, thread_row, ws, rows, end_of_rows, asked<row_or_question>> {};

}  // namespace
}  // namespace grammar

// clang-format off
template <> inline constexpr Expectation expectation<grammar::bracketed_operand_name>{"a location"};
template <> inline constexpr Expectation expectation<grammar::index_value>{"a register or the number of an element"};
template <> inline constexpr Expectation expectation<grammar::thread>{"a thread", "threads are named P0, P1, ... from left to right"};
template <> inline constexpr Expectation expectation<grammar::placement>{"wg, agent, host, kernel or wave", "in PTX cta or gpu, in Vulkan sg, wg or qf"};
template <> inline constexpr Expectation expectation<grammar::end_of_threads>{"',', '|' or ';' after a thread"};
template <> inline constexpr Expectation expectation<grammar::operand>{"an operand"};
template <> inline constexpr Expectation expectation<grammar::row_or_question>{"a row, or exists, ~exists or forall with a condition"};

template <> struct Action<grammar::thread_name> : Give<&ColumnReader::begin_thread> {};
template <> struct Action<grammar::placement_word> : Give<&ColumnReader::placement_word> {};
template <> struct Action<grammar::placement_number> : Give<&ColumnReader::placement_number> {};
template <> struct Action<grammar::placement> : Call<&ColumnReader::end_placement> {};
template <> struct Action<grammar::thread> : Call<&ColumnReader::end_thread> {};
template <> struct Action<grammar::thread_row> : Call<&ColumnReader::end_thread_row> {};

template <> struct Action<grammar::number_operand> : Give<&ColumnReader::operand, Spelling::number> {};
template <> struct Action<grammar::name_operand> : Give<&ColumnReader::operand, Spelling::name> {};
template <> struct Action<grammar::bracketed_operand_name> : Give<&ColumnReader::operand, Spelling::bracketed> {};
template <> struct Action<grammar::index_value> : Give<&ColumnReader::index> {};
template <> struct Action<grammar::separator> : Give<&ColumnReader::separator> {};
template <> struct Action<grammar::written<grammar::instruction>> : Call<&ColumnReader::end_instruction> {};
template <> struct Action<grammar::end_of_rows> : Call<&ColumnReader::end_program> {};
// clang-format on

LitmusTest read_columns(const Source& source, Dialect dialect) {
  ColumnReader reader(source, dialect);
  return read<grammar::columns>(source, reader);
}

}  // namespace lockstep::litmus
