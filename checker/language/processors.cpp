// Reads tests of processors, in the dialects that herd gave them: X86 (operands as Intel writes them), X86_64
// (as AT&T does), AArch64 and RISCV. They are the host's side of a GPU: every thread is a host thread, and an
// access that is no more than that is relaxed, for a processor tears none.
//
// A register either holds values, or points to one location all along: its initial value is an address, or
// it is computed from such a register. Of one that is computed the program's register holds the distance,
// so that what an address depends on is seen.
#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>
#include <utility>

#include "checker/language/rows.hpp"
#include "checker/support/diagnostic.hpp"
#include "checker/support/tags.hpp"

namespace lockstep::litmus {
namespace assembly {
namespace {

// ---- Registers ----

std::string lower(std::string_view text) {
  std::string small(text);
  std::transform(small.begin(), small.end(), small.begin(), [](unsigned char c) { return std::tolower(c); });
  return small;
}

using RegisterNames =
    std::map<std::string, std::string, std::less<>>;  // every name, and the one it is called by

std::string upper(std::string_view text) {
  std::string loud(text);
  std::transform(loud.begin(), loud.end(), loud.begin(), [](unsigned char c) { return std::toupper(c); });
  return loud;
}

RegisterNames registers_of_x86(bool wide) {
  RegisterNames names;
  const auto known_as = [&](const std::string& called, std::initializer_list<std::string> others) {
    names.emplace(called, called);
    for (const std::string& other : others) names.emplace(other, called);
  };
  for (const std::string name : {"ax", "bx", "cx", "dx", "si", "di", "bp"}) {
    if (wide) known_as("r" + name, {"e" + name});
    if (!wide) known_as("e" + name, {});
  }
  for (int i = 8; wide && i < 16; ++i) known_as("r" + std::to_string(i), {"r" + std::to_string(i) + "d"});
  if (wide) return names;
  RegisterNames capital;
  for (const auto& [name, called] : names) {
    capital.emplace(name, upper(called));
  }
  return capital;
}
RegisterNames registers_of_aarch64() {
  RegisterNames names;
  for (int i = 0; i <= 30; ++i) {
    const std::string called = "X" + std::to_string(i);
    names.emplace("x" + std::to_string(i), called);
    names.emplace("w" + std::to_string(i), called);
  }
  names.emplace("xzr", "XZR");
  names.emplace("wzr", "XZR");
  return names;
}
RegisterNames registers_of_riscv() {
  // By the calling convention; s0 is fp as well.
  static constexpr std::array<std::string_view, 32> conventional{
      "zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0",  "a1",  "a2", "a3", "a4", "a5",
      "a6",   "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6"};
  RegisterNames names;
  for (std::size_t i = 0; i < conventional.size(); ++i) {
    const std::string called = "x" + std::to_string(i);
    names.emplace(called, called);
    names.emplace(conventional[i], called);
  }
  names.emplace("fp", "x8");
  return names;
}

// What reads as 0 and takes no value.
std::string_view zero_of(Dialect dialect) {
  return dialect == Dialect::aarch64 ? "XZR" : dialect == Dialect::riscv ? "x0" : "";
}

// Registers of the program that no test can name.
constexpr std::string_view compared_left = "compared";
constexpr std::string_view compared_right = "with";
constexpr std::string_view passing = "passing";
constexpr std::string_view discarded = "discarded";

// ---- Instructions ----

// What operands are. R a register that is read, D one that is written, V a register or a constant, M memory,
// T a label, F a word of a fence; a small letter may be left out.
enum class Does : std::uint8_t {
  move,
  load,
  store,
  exclusive_store,  // D R M: the status first
  rmw,
  compare_swap,  // of AArch64: what is expected and becomes the old value, the new value, memory
  rmw_nothing,   // an RMW whose old value nobody gets
  arithmetic,
  compare,
  branch,       // on what was compared
  branch_zero,  // R T
  branch_two,   // R R T
  jump,
  fence,
  exchange,  // of x86, and the next three
  exchange_add,
  exchange_compared,
  in_place,  // a register or memory is its own first operand
  nothing,
};

struct Form {
  std::string_view name;
  Does does = Does::nothing;
  std::string_view operands;
  ArithmeticFunction arithmetic = ArithmeticFunction::add;
  Comparison comparison = Comparison::equal;
  RmwFunction rmw = RmwFunction::exchange;
  Order order = Order::relaxed;
  Tags tags = 0;
  bool complemented = false;  // the operand's bits are turned over
};

constexpr Form arithmetic_form(std::string_view name, ArithmeticFunction function,
                               std::string_view operands) {
  return {.name = name, .does = Does::arithmetic, .operands = operands, .arithmetic = function};
}
constexpr Form in_place_form(std::string_view name, ArithmeticFunction function, std::string_view operands) {
  return {.name = name, .does = Does::in_place, .operands = operands, .arithmetic = function};
}
constexpr Form branch_form(std::string_view name, Does does, Comparison comparison,
                           std::string_view operands) {
  return {.name = name, .does = does, .operands = operands, .comparison = comparison};
}
constexpr Form fence_form(std::string_view name, Order order, Tag tag) {
  return {.name = name, .does = Does::fence, .operands = "", .order = order, .tags = bit(tag)};
}

// Operands in Intel's order; AT&T's are turned round, and lose the letter of their width.
constexpr std::array x86_forms{
    Form{.name = "mov", .does = Does::move, .operands = "*V"},
    Form{.name = "xchg", .does = Does::exchange, .operands = "**"},
    Form{.name = "xadd", .does = Does::exchange_add, .operands = "MR"},
    Form{.name = "cmpxchg", .does = Does::exchange_compared, .operands = "MR"},
    in_place_form("add", ArithmeticFunction::add, "*V"),
    in_place_form("sub", ArithmeticFunction::subtract, "*V"),
    in_place_form("and", ArithmeticFunction::bit_and, "*V"),
    in_place_form("or", ArithmeticFunction::bit_or, "*V"),
    in_place_form("xor", ArithmeticFunction::bit_xor, "*V"),
    in_place_form("inc", ArithmeticFunction::add, "*"),
    in_place_form("dec", ArithmeticFunction::subtract, "*"),
    Form{.name = "cmp", .does = Does::compare, .operands = "*V"},
    branch_form("je", Does::branch, Comparison::equal, "T"),
    branch_form("jz", Does::branch, Comparison::equal, "T"),
    branch_form("jne", Does::branch, Comparison::not_equal, "T"),
    branch_form("jnz", Does::branch, Comparison::not_equal, "T"),
    branch_form("jl", Does::branch, Comparison::less, "T"),
    branch_form("jle", Does::branch, Comparison::less_equal, "T"),
    branch_form("jg", Does::branch, Comparison::greater, "T"),
    branch_form("jge", Does::branch, Comparison::greater_equal, "T"),
    Form{.name = "jmp", .does = Does::jump, .operands = "T"},
    fence_form("mfence", Order::sc, Tag::mfence),
    fence_form("lfence", Order::plain, Tag::lfence),
    fence_form("sfence", Order::plain, Tag::sfence),
    Form{.name = "nop", .does = Does::nothing, .operands = ""},
};

constexpr std::array aarch64_forms{
    Form{.name = "mov", .does = Does::move, .operands = "DV"},
    Form{.name = "ldr", .does = Does::load, .operands = "DM"},
    Form{.name = "ldar", .does = Does::load, .operands = "DM", .order = Order::sc},
    Form{.name = "ldapr",
         .does = Does::load,
         .operands = "DM",
         .order = Order::acquire,
         .tags = bit(Tag::acquire_pc)},
    Form{.name = "ldxr", .does = Does::load, .operands = "DM", .tags = bit(Tag::exclusive)},
    Form{.name = "ldaxr",
         .does = Does::load,
         .operands = "DM",
         .order = Order::sc,
         .tags = bit(Tag::exclusive)},
    Form{.name = "str", .does = Does::store, .operands = "RM"},
    Form{.name = "stlr", .does = Does::store, .operands = "RM", .order = Order::sc},
    Form{.name = "stxr", .does = Does::exclusive_store, .operands = "DRM", .tags = bit(Tag::exclusive)},
    Form{.name = "stlxr",
         .does = Does::exclusive_store,
         .operands = "DRM",
         .order = Order::sc,
         .tags = bit(Tag::exclusive)},
    arithmetic_form("add", ArithmeticFunction::add, "DRVe"),
    arithmetic_form("sub", ArithmeticFunction::subtract, "DRV"),
    arithmetic_form("and", ArithmeticFunction::bit_and, "DRV"),
    arithmetic_form("orr", ArithmeticFunction::bit_or, "DRV"),
    arithmetic_form("eor", ArithmeticFunction::bit_xor, "DRV"),
    arithmetic_form("mul", ArithmeticFunction::multiply, "DRR"),
    Form{.name = "cmp", .does = Does::compare, .operands = "RV"},
    branch_form("cbz", Does::branch_zero, Comparison::equal, "RT"),
    branch_form("cbnz", Does::branch_zero, Comparison::not_equal, "RT"),
    branch_form("b.eq", Does::branch, Comparison::equal, "T"),
    branch_form("beq", Does::branch, Comparison::equal, "T"),
    branch_form("b.ne", Does::branch, Comparison::not_equal, "T"),
    branch_form("bne", Does::branch, Comparison::not_equal, "T"),
    branch_form("b.lt", Does::branch, Comparison::less, "T"),
    branch_form("b.le", Does::branch, Comparison::less_equal, "T"),
    branch_form("b.gt", Does::branch, Comparison::greater, "T"),
    branch_form("b.ge", Does::branch, Comparison::greater_equal, "T"),
    Form{.name = "b", .does = Does::jump, .operands = "T"},
    Form{.name = "dmb", .does = Does::fence, .operands = "F"},
    Form{.name = "dsb", .does = Does::fence, .operands = "F"},
    fence_form("isb", Order::plain, Tag::isb),
    Form{.name = "nop", .does = Does::nothing, .operands = ""},
};

// RMWs of AArch64, each with nothing, A, L or AL behind it; of those whose name begins with LD there is one
// with ST that gives nobody the old value, and is no acquire.
struct RmwName {
  std::string_view name;
  RmwFunction function = RmwFunction::exchange;
  bool complemented = false;
};
constexpr std::array aarch64_rmws{RmwName{"swp", RmwFunction::exchange},
                                  RmwName{"cas", RmwFunction::compare_swap},
                                  RmwName{"ldadd", RmwFunction::add},
                                  RmwName{"ldset", RmwFunction::bit_or},
                                  RmwName{"ldeor", RmwFunction::bit_xor},
                                  RmwName{"ldclr", RmwFunction::bit_and, true},
                                  RmwName{"ldsmax", RmwFunction::maximum},
                                  RmwName{"ldsmin", RmwFunction::minimum},
                                  RmwName{"ldumax", RmwFunction::maximum_unsigned},
                                  RmwName{"ldumin", RmwFunction::minimum_unsigned}};

constexpr std::array riscv_forms{
    Form{.name = "li", .does = Does::move, .operands = "DV"},
    Form{.name = "mv", .does = Does::move, .operands = "DR"},
    Form{.name = "lw", .does = Does::load, .operands = "DM"},
    Form{.name = "ld", .does = Does::load, .operands = "DM"},
    Form{.name = "sw", .does = Does::store, .operands = "RM"},
    Form{.name = "sd", .does = Does::store, .operands = "RM"},
    arithmetic_form("add", ArithmeticFunction::add, "DRR"),
    arithmetic_form("addi", ArithmeticFunction::add, "DRV"),
    arithmetic_form("addw", ArithmeticFunction::add, "DRR"),
    arithmetic_form("addiw", ArithmeticFunction::add, "DRV"),
    arithmetic_form("sub", ArithmeticFunction::subtract, "DRR"),
    arithmetic_form("and", ArithmeticFunction::bit_and, "DRR"),
    arithmetic_form("andi", ArithmeticFunction::bit_and, "DRV"),
    arithmetic_form("or", ArithmeticFunction::bit_or, "DRR"),
    arithmetic_form("ori", ArithmeticFunction::bit_or, "DRV"),
    arithmetic_form("xor", ArithmeticFunction::bit_xor, "DRR"),
    arithmetic_form("xori", ArithmeticFunction::bit_xor, "DRV"),
    branch_form("beqz", Does::branch_zero, Comparison::equal, "RT"),
    branch_form("bnez", Does::branch_zero, Comparison::not_equal, "RT"),
    branch_form("beq", Does::branch_two, Comparison::equal, "RRT"),
    branch_form("bne", Does::branch_two, Comparison::not_equal, "RRT"),
    branch_form("blt", Does::branch_two, Comparison::less, "RRT"),
    branch_form("bge", Does::branch_two, Comparison::greater_equal, "RRT"),
    branch_form("bgt", Does::branch_two, Comparison::greater, "RRT"),
    branch_form("ble", Does::branch_two, Comparison::less_equal, "RRT"),
    Form{.name = "j", .does = Does::jump, .operands = "T"},
    Form{.name = "fence", .does = Does::fence, .operands = "ff"},
    fence_form("fence.tso", Order::acq_rel, Tag::fence_tso),
    Form{.name = "nop", .does = Does::nothing, .operands = ""},
};

// RMWs of RISC-V, with the letter of a width and then nothing, .aq, .rl or both.
constexpr std::array riscv_rmws{
    RmwName{"amoswap", RmwFunction::exchange},        RmwName{"amoadd", RmwFunction::add},
    RmwName{"amoand", RmwFunction::bit_and},          RmwName{"amoor", RmwFunction::bit_or},
    RmwName{"amoxor", RmwFunction::bit_xor},          RmwName{"amomax", RmwFunction::maximum},
    RmwName{"amomin", RmwFunction::minimum},          RmwName{"amomaxu", RmwFunction::maximum_unsigned},
    RmwName{"amominu", RmwFunction::minimum_unsigned}};

// What a fence of AArch64 or RISC-V orders, by its words, and which order says as much; a plain one says less
// than any.
struct FenceWords {
  std::string_view words;
  Order order = Order::plain;
  Tag tag = Tag::dmb_sy;
};
constexpr std::array fences_with_words{FenceWords{"dmb sy", Order::sc, Tag::dmb_sy},
                                       FenceWords{"dmb ld", Order::acquire, Tag::dmb_ld},
                                       FenceWords{"dmb st", Order::plain, Tag::dmb_st},
                                       FenceWords{"dmb ish", Order::sc, Tag::dmb_ish},
                                       FenceWords{"dmb ishld", Order::acquire, Tag::dmb_ishld},
                                       FenceWords{"dmb ishst", Order::plain, Tag::dmb_ishst},
                                       FenceWords{"dsb sy", Order::sc, Tag::dsb_sy},
                                       FenceWords{"dsb ld", Order::acquire, Tag::dsb_ld},
                                       FenceWords{"dsb st", Order::plain, Tag::dsb_st},
                                       FenceWords{"dsb ish", Order::sc, Tag::dsb_ish},
                                       FenceWords{"dsb ishld", Order::acquire, Tag::dsb_ishld},
                                       FenceWords{"dsb ishst", Order::plain, Tag::dsb_ishst},
                                       FenceWords{"fence r r", Order::plain, Tag::fence_r_r},
                                       FenceWords{"fence r w", Order::plain, Tag::fence_r_w},
                                       FenceWords{"fence r rw", Order::acquire, Tag::fence_r_rw},
                                       FenceWords{"fence w r", Order::plain, Tag::fence_w_r},
                                       FenceWords{"fence w w", Order::plain, Tag::fence_w_w},
                                       FenceWords{"fence w rw", Order::plain, Tag::fence_w_rw},
                                       FenceWords{"fence rw r", Order::plain, Tag::fence_rw_r},
                                       FenceWords{"fence rw w", Order::release, Tag::fence_rw_w},
                                       FenceWords{"fence rw rw", Order::sc, Tag::fence_rw_rw},
                                       FenceWords{"fence", Order::sc, Tag::fence_rw_rw}};

// ---- The parts of an instruction as they were written ----

struct WrittenOperand {
  enum class Kind : std::uint8_t { constant, name, memory };
  Kind kind = Kind::name;
  Word word;                   // of memory: what the address begins with
  std::optional<Word> offset;  // of memory: a register or constant to be added
};

class ProcessorReader final : public RowReader {
 public:
  using RowReader::RowReader;

  // -- The row of threads --

  void begin_thread(const Word& word) {
    Thread& thread = add_thread(word);
    thread.placement.host = true;
    thread.placement.wg = thread.placement.agent = 0;
    add_column();
    known_.emplace_back();
  }

  void end_thread_row() {
    for (InitialRegister& initial : initial_registers_) {
      const std::size_t index = thread_index(*initial.reference.thread);
      if (initial.reference.name.text == zero_of(dialect_)) {
        source_.fail(initial.reference.name.place, "this register is always 0");
      }
      initialise_register(index, initial);
      if (!initial.address) continue;
      const std::size_t pointed = location(*initial.address, true);
      known_[index].pointers.emplace(initial.reference.name.text, Pointer{pointed, false});
    }
  }

  // -- The rows of instructions --

  void label(const Word& word) override {
    add_label(word);
    now().flags = false;
  }

  void prefix(const Word&) { locked_ = true; }
  void mnemonic(const Word& word) override {
    mnemonic_ = word;
    operands_.clear();
  }
  void constant(const Word& word) { operands_.push_back({WrittenOperand::Kind::constant, word, {}}); }
  void name(const Word& word) { operands_.push_back({WrittenOperand::Kind::name, word, {}}); }
  void displacement(const Word& word) { displacement_ = word; }
  void base(const Word& word) {
    operands_.push_back({WrittenOperand::Kind::memory, word, displacement_});
    displacement_.reset();
  }
  void offset(const Word& word) { operands_.back().offset = word; }
  // "SXTW" says how wide the offset is; a shift would make another distance of it.
  void extension(const Word& word) const {
    static const Names known{"SXTW", "UXTW", "SXTX", "UXTX"};
    const std::string loud = upper(word.text);
    (void)source_.one_of({loud, word.place}, "extension", known);
  }

  void end_instruction() {
    const bool att = dialect_ == Dialect::x86_64;
    if (att) std::reverse(operands_.begin(), operands_.end());
    const Form form = find_form();
    if (locked_ && !may_be_locked(form)) {
      source_.fail(mnemonic_.place, in_quotes(mnemonic_.text) + " takes no lock prefix");
    }
    check_operands(form);
    perform(form);
    locked_ = false;
  }

  void end_program() {
    set_targets();
    resolve_claims([this](std::size_t thread, const Word& label) { return place_of(thread, label); });
    finish_program();
  }

 private:
  struct Pointer {
    std::size_t location = 0;
    bool computed = false;  // the program's register of the same name holds its distance from there
  };
  [[nodiscard]] bool holds_address(std::size_t thread, std::string_view name) const override {
    return known_[thread].pointers.contains(name);
  }
  struct Known {
    std::map<std::string, Pointer, std::less<>> pointers;    // by register
    std::map<std::string, SourcePlace, std::less<>> values;  // registers that were written or read as values
    bool flags = false;                                      // what was compared is known here
  };
  Known& now() { return known_[cell()]; }

  [[nodiscard]] bool is_x86() const { return dialect_ == Dialect::x86 || dialect_ == Dialect::x86_64; }

  // -- Which instruction it is --

  [[nodiscard]] Form find_form() const {
    const std::string name = lower(mnemonic_.text);
    Names known;
    const auto among = [&](const auto& forms, std::string_view wanted) -> std::optional<Form> {
      for (const Form& form : forms) {
        if (form.name == wanted) return form;
        known.emplace_back(form.name);
      }
      return std::nullopt;
    };
    std::optional<Form> form;
    if (is_x86()) {
      form = among(x86_forms, name);
      if (!form && dialect_ == Dialect::x86_64 && (name.ends_with('l') || name.ends_with('q'))) {
        form = among(x86_forms, std::string_view(name).substr(0, name.size() - 1));
      }
    } else if (dialect_ == Dialect::aarch64) {
      form = among(aarch64_forms, name);
      if (!form) form = rmw_of_aarch64(name, known);
    } else {
      form = among(riscv_forms, name);
      if (!form) form = ordered_of_riscv(name, known);
    }
    if (form) return *form;
    std::sort(known.begin(), known.end());
    known.erase(std::unique(known.begin(), known.end()), known.end());
    source_.fail(mnemonic_.place, "unknown instruction " + in_quotes(mnemonic_.text),
                 nearest(name, known).empty() ? "one of: " + list(known) : suggestion(name, known));
  }

  static std::optional<Form> rmw_of_aarch64(std::string_view name, Names& known) {
    static constexpr std::array<std::pair<std::string_view, Order>, 4> orders{
        {{"", Order::relaxed}, {"a", Order::acquire}, {"l", Order::release}, {"al", Order::sc}}};
    for (const RmwName& rmw : aarch64_rmws) {
      const std::string without = rmw.name.starts_with("ld") ? "st" + std::string(rmw.name.substr(2)) : "";
      for (const auto& [suffix, order] : orders) {
        const std::string text = std::string(rmw.name) + std::string(suffix);
        known.push_back(text);
        Form form{
            .name = rmw.name, .does = Does::rmw, .operands = "RDM", .rmw = rmw.function, .order = order};
        form.complemented = rmw.complemented;
        if (name == text) {
          if (rmw.function == RmwFunction::compare_swap) {
            form.does = Does::compare_swap;
            form.operands = "DRM";
          }
          return form;
        }
        if (without.empty() || acquires(order)) continue;
        known.push_back(without + std::string(suffix));
        if (name != known.back()) continue;
        form.does = Does::rmw_nothing;
        form.operands = "RM";
        return form;
      }
    }
    return std::nullopt;
  }

  // "lr.w.aq", "sc.d.rl", "amoadd.w.aq.rl".
  static std::optional<Form> ordered_of_riscv(std::string_view name, Names& known) {
    Order order = Order::relaxed;
    std::string_view rest = name;
    const auto drop = [&](std::string_view suffix) {
      if (!rest.ends_with(suffix)) return false;
      rest.remove_suffix(suffix.size());
      return true;
    };
    if (drop(".aqrl") || drop(".aq.rl")) {
      order = Order::sc;
    } else if (drop(".aq")) {
      order = Order::acquire;
    } else if (drop(".rl")) {
      order = Order::release;
    }
    const bool wide = drop(".w") || drop(".d");
    const auto of = [&](std::string_view text) {
      known.push_back(std::string(text) + ".w");
      return wide && rest == text;
    };
    if (of("lr")) {
      return Form{
          .name = "lr", .does = Does::load, .operands = "DM", .order = order, .tags = bit(Tag::exclusive)};
    }
    if (of("sc")) {
      return Form{.name = "sc",
                  .does = Does::exclusive_store,
                  .operands = "DRM",
                  .order = order,
                  .tags = bit(Tag::exclusive)};
    }
    for (const RmwName& rmw : riscv_rmws) {
      if (of(rmw.name)) {
        return Form{
            .name = rmw.name, .does = Does::rmw, .operands = "DRM", .rmw = rmw.function, .order = order};
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] bool may_be_locked(const Form& form) const {
    const bool rmw = form.does == Does::exchange || form.does == Does::exchange_add ||
                     form.does == Does::exchange_compared || form.does == Does::in_place;
    return is_x86() && rmw && !operands_.empty() && operands_.front().kind == WrittenOperand::Kind::memory;
  }

  // -- Operands --

  [[nodiscard]] std::string_view register_named(const WrittenOperand& operand) const {
    std::string_view text = operand.word.text;
    if (text.starts_with('%')) text.remove_prefix(1);
    return register_of_processor(dialect_, text);
  }
  [[nodiscard]] bool is_register(const WrittenOperand& operand) const {
    return operand.kind == WrittenOperand::Kind::name && !register_named(operand).empty();
  }

  void check_operands(const Form& form) const {
    const auto needed =
        static_cast<std::size_t>(std::count_if(form.operands.begin(), form.operands.end(),
                                               [](char c) { return c == '*' || (c >= 'A' && c <= 'Z'); }));
    if (operands_.size() < needed || operands_.size() > form.operands.size()) {
      source_.fail(mnemonic_.place, in_quotes(mnemonic_.text) + " takes " +
                                        (needed == 0 ? "no operands" : count_of(needed, "operand")) +
                                        ", found " + std::to_string(operands_.size()));
    }
    std::size_t memories = 0;
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      const WrittenOperand& operand = operands_[i];
      const bool memory = operand.kind == WrittenOperand::Kind::memory;
      if (memory) ++memories;
      const auto expect = [&](bool holds, const char* what) {
        if (!holds)
          source_.fail(operand.word.place,
                       std::string("expected ") + what + ", found " + in_quotes(operand.word.text));
      };
      switch (form.operands[i]) {
        case 'R':
        case 'D':
          expect(is_register(operand), "a register");
          break;
        case 'V':
          expect(is_x86() || !memory, "a register or a constant");
          if (!memory)
            expect(operand.kind == WrittenOperand::Kind::constant || is_register(operand),
                   "a register or a constant");
          break;
        case 'M':
          expect(memory, "an address");
          break;
        case 'T':
          expect(operand.kind == WrittenOperand::Kind::name && !operand.word.text.starts_with('%'),
                 "a label");
          break;
        case '*':
          expect(memory || is_register(operand), "a register or an address");
          break;
        default:
          expect(operand.kind == WrittenOperand::Kind::name, "a word");
      }
    }
    if (memories > 1) source_.fail(mnemonic_.place, "one operand is in memory at most");
  }

  // -- Registers of the program --

  std::int32_t program_register(std::string_view name, SourcePlace place) {
    return static_cast<std::int32_t>(register_of(thread(), {name, place}));
  }

  // A register that holds values, from the beginning to the end.
  std::int32_t value_register(std::string_view name, SourcePlace place) {
    if (now().pointers.contains(name)) {
      source_.fail(place, in_quotes(name) + " holds an address, which is no value",
                   "a register either points to one location all along, or holds values");
    }
    now().values.emplace(name, place);
    return program_register(name, place);
  }
  std::int16_t destination(std::string_view name, SourcePlace place) {
    if (name == zero_of(dialect_)) return static_cast<std::int16_t>(program_register(discarded, place));
    return static_cast<std::int16_t>(value_register(name, place));
  }
  std::int16_t destination(const WrittenOperand& operand) {
    return destination(register_named(operand), operand.word.place);
  }
  Operand value(const WrittenOperand& operand) {
    if (operand.kind == WrittenOperand::Kind::constant) return {false, source_.constant(operand.word)};
    if (register_named(operand) == zero_of(dialect_)) return {false, 0};
    return {true, value_register(register_named(operand), operand.word.place)};
  }
  // The same; what is in memory is loaded first.
  Operand loaded(const WrittenOperand& operand) {
    if (operand.kind != WrittenOperand::Kind::memory) return value(operand);
    const auto to = static_cast<std::int16_t>(program_register(passing, operand.word.place));
    access(Opcode::load, operand, {.destination = to});
    return {true, to};
  }

  // -- Addresses --

  // The pointer in a register; null where it holds values.
  [[nodiscard]] const Pointer* pointer(const WrittenOperand& operand) {
    const std::string_view name = register_named(operand);
    const auto found = now().pointers.find(name);
    return name.empty() || found == now().pointers.end() ? nullptr : &found->second;
  }
  Operand distance(const Pointer& pointer, const WrittenOperand& operand) {
    if (!pointer.computed) return {};
    return {true, program_register(register_named(operand), operand.word.place)};
  }

  void points(const WrittenOperand& operand, std::size_t location) {
    const std::string_view name = register_named(operand);
    const auto known = now().pointers.find(name);
    const bool elsewhere = known != now().pointers.end() && known->second.location != location;
    if (elsewhere || now().values.contains(name)) {
      source_.fail(operand.word.place,
                   in_quotes(name) + " is given an address, and " +
                       (elsewhere ? "points elsewhere before" : "holds a value elsewhere"),
                   "a register either points to one location all along, or holds values");
    }
    if (known != now().pointers.end() && !known->second.computed) {
      source_.fail(operand.word.place,
                   in_quotes(name) + " is given an address, and has one from the beginning",
                   "compute the address in another register");
    }
    now().pointers.insert_or_assign(std::string(name), Pointer{location, true});
  }

  // Where memory is accessed.
  void locate(const WrittenOperand& operand, Instruction& instruction) {
    const std::string_view name = register_named(operand);
    if (name.empty() && operand.word.text.starts_with('%')) return locate_relative(operand, instruction);
    const bool through_register =
        !name.empty() && (operand.word.text.starts_with('%') || dialect_ != Dialect::x86_64);
    if (!through_register) return locate_by_name(operand, instruction);
    const WrittenOperand base{WrittenOperand::Kind::name, operand.word, {}};
    const Pointer* const to = pointer(base);
    if (to == nullptr) {
      source_.fail(
          operand.word.place, in_quotes(operand.word.text) + " holds no address",
          "initialise it with one: { " + thread().name.substr(1) + ":" + std::string(name) + " = x; }");
    }
    instruction.location = static_cast<std::int32_t>(to->location);
    instruction.index = distance(*to, base);
    if (!operand.offset) return;
    const Operand offset = offset_of(*operand.offset, to->location);
    if (!offset.is_register) return;
    if (!instruction.index.is_register) {
      instruction.index = offset;
      return;
    }
    const std::int32_t sum = program_register(passing, operand.word.place);
    append({.opcode = Opcode::arithmetic,
            .destination = static_cast<std::int16_t>(sum),
            .a = instruction.index,
            .b = offset});
    instruction.index = {true, sum};
  }

  // "x(%rip)"
  void locate_relative(const WrittenOperand& operand, Instruction& instruction) {
    if (operand.word.text != "%rip" || !operand.offset || to_int32(operand.offset->text)) {
      source_.fail(operand.word.place, "there is no register " + in_quotes(operand.word.text));
    }
    instruction.location = static_cast<std::int32_t>(location(*operand.offset, true));
  }

  void locate_by_name(const WrittenOperand& operand, Instruction& instruction) {
    if (!is_x86()) {
      source_.fail(operand.word.place, "expected a register, found " + in_quotes(operand.word.text));
    }
    instruction.location = static_cast<std::int32_t>(location(operand.word, true));
    if (operand.offset) offset_of(*operand.offset, static_cast<std::size_t>(instruction.location));
  }

  // Bytes, of which none but 0 leads from one word to another: how wide elements are is nowhere said.
  Operand offset_of(const Word& word, std::size_t location) {
    const WrittenOperand operand{WrittenOperand::Kind::name, word, {}};
    if (is_register(operand)) {
      if (program().locations[location].array > 1) {
        source_.fail(word.place, "an element of an array by a register is not supported",
                     "locations of one word may be computed");
      }
      return value(operand);
    }
    if (source_.constant(word) != 0) {
      source_.fail(word.place, "an address " + std::string(word.text) + " bytes away is not supported",
                   "name a location for each word");
    }
    return {};
  }

  // -- What it does --

  void append(Instruction instruction) {
    instruction.place = mnemonic_.place;
    if (thread().code.size() == Capacity::instructions) {
      source_.fail(mnemonic_.place,
                   "a thread has at most " + count_of(Capacity::instructions, "instruction"));
    }
    thread().code.push_back(instruction);
  }
  void access(Opcode opcode, const WrittenOperand& memory, Instruction instruction,
              Order order = Order::relaxed) {
    instruction.opcode = opcode;
    instruction.order = order;
    locate(memory, instruction);
    append(instruction);
  }
  void assign(std::int16_t to, const Operand& what) {
    append({.opcode = Opcode::move, .destination = to, .a = what});
  }
  Instruction atomic(RmwFunction function, std::int16_t to, Operand a, Operand b = {}) const {
    Instruction instruction{.rmw = function};
    instruction.destination = to;
    instruction.a = a;
    instruction.b = b;
    return instruction;
  }
  void compare(const Operand& left, const Operand& right) {
    assign(static_cast<std::int16_t>(program_register(compared_left, mnemonic_.place)), left);
    assign(static_cast<std::int16_t>(program_register(compared_right, mnemonic_.place)), right);
    now().flags = true;
  }
  void branch(Comparison comparison, const Operand& left, const Operand& right, const WrittenOperand& to) {
    Instruction instruction{.opcode = Opcode::branch, .comparison = comparison};
    instruction.a = left;
    instruction.b = right;
    add_jump(to.word);
    append(instruction);
  }

  void perform(const Form& form) {
    switch (form.does) {
      case Does::move:
        return perform_move();
      case Does::load:
        return access(Opcode::load, operands_[1],
                      {.tags = form.tags, .destination = destination(operands_[0])}, form.order);
      case Does::store:
        return access(Opcode::store, operands_[1], {.tags = form.tags, .a = value(operands_[0])}, form.order);
      case Does::exclusive_store:
        return access(Opcode::store, operands_[2],
                      {.tags = form.tags, .destination = destination(operands_[0]), .a = value(operands_[1])},
                      form.order);
      case Does::rmw:
      case Does::rmw_nothing:
        return perform_rmw(form);
      case Does::compare_swap: {
        const std::int16_t to = destination(operands_[0]);
        return access(Opcode::rmw, operands_[2],
                      atomic(form.rmw, to, value(operands_[0]), value(operands_[1])), form.order);
      }
      case Does::arithmetic:
        return perform_arithmetic(form);
      case Does::compare: {
        const Operand left = loaded(operands_[0]);
        return compare(left, loaded(operands_[1]));
      }
      case Does::branch:
        return perform_branch(form);
      case Does::branch_zero:
        return branch(form.comparison, value(operands_[0]), {}, operands_[1]);
      case Does::branch_two:
        return branch(form.comparison, value(operands_[0]), value(operands_[1]), operands_[2]);
      case Does::jump:
        add_jump(operands_[0].word);
        return append({.opcode = Opcode::jump});
      case Does::fence:
        return perform_fence(form);
      case Does::exchange:
        return perform_exchange();
      case Does::exchange_add: {
        check_locked();
        now().flags = false;
        return access(Opcode::rmw, operands_[0],
                      atomic(RmwFunction::add, destination(operands_[1]), value(operands_[1])), Order::sc);
      }
      case Does::exchange_compared:
        return perform_compared();
      case Does::in_place:
        return perform_in_place(form);
      case Does::nothing:
        return;
    }
  }

  void perform_move() {
    const WrittenOperand& to = operands_[0];
    const WrittenOperand& from = operands_[1];
    if (to.kind == WrittenOperand::Kind::memory) {
      return access(Opcode::store, to, {.a = value(from)});
    }
    if (from.kind == WrittenOperand::Kind::memory) {
      return access(Opcode::load, from, {.destination = destination(to)});
    }
    if (const Pointer* const pointed = pointer(from)) {
      const Operand away = distance(*pointed, from);
      points(to, pointed->location);
      return assign(static_cast<std::int16_t>(program_register(register_named(to), to.word.place)), away);
    }
    assign(destination(to), value(from));
  }

  void perform_rmw(const Form& form) {
    const bool gives = form.does == Does::rmw;
    const bool value_first = !gives || dialect_ == Dialect::aarch64;
    Operand a = value(operands_[value_first ? 0 : 1]);
    if (form.complemented) {
      const std::int32_t turned = program_register(passing, mnemonic_.place);
      append({.opcode = Opcode::arithmetic,
              .arithmetic = ArithmeticFunction::bit_xor,
              .destination = static_cast<std::int16_t>(turned),
              .a = a,
              .b = {false, -1}});
      a = {true, turned};
    }
    const std::int16_t to =
        gives ? destination(operands_[value_first ? 1 : 0]) : static_cast<std::int16_t>(-1);
    access(Opcode::rmw, operands_.back(), atomic(form.rmw, to, a), form.order);
  }

  void perform_arithmetic(const Form& form) {
    if (operands_.size() > 3) extension(operands_[3].word);
    Instruction instruction{.opcode = Opcode::arithmetic, .arithmetic = form.arithmetic};
    const bool adds = form.arithmetic == ArithmeticFunction::add;
    const Pointer* const left = pointer(operands_[1]);
    const Pointer* const right = pointer(operands_[2]);
    if (adds && (left != nullptr) != (right != nullptr)) {
      const WrittenOperand& from = operands_[left != nullptr ? 1 : 2];
      const WrittenOperand& by = operands_[left != nullptr ? 2 : 1];
      const Pointer pointed = left != nullptr ? *left : *right;
      instruction.a = distance(pointed, from);
      instruction.b =
          by.kind == WrittenOperand::Kind::constant ? offset_of(by.word, pointed.location) : value(by);
      points(operands_[0], pointed.location);
      instruction.destination =
          static_cast<std::int16_t>(program_register(register_named(operands_[0]), operands_[0].word.place));
      return append(instruction);
    }
    instruction.a = value(operands_[1]);
    instruction.b = value(operands_[2]);
    instruction.destination = destination(operands_[0]);
    append(instruction);
  }

  void perform_branch(const Form& form) {
    if (!now().flags) {
      source_.fail(mnemonic_.place, "what " + in_quotes(mnemonic_.text) + " goes by is not known",
                   "compare right before it: between a comparison and its branch stand neither labels nor"
                   " instructions that set flags");
    }
    const Operand left{true, program_register(compared_left, mnemonic_.place)};
    const Operand right{true, program_register(compared_right, mnemonic_.place)};
    branch(form.comparison, left, right, operands_[0]);
  }

  void perform_fence(const Form& form) {
    Instruction instruction{.opcode = Opcode::fence, .order = form.order, .tags = form.tags};
    if (!form.operands.empty()) {
      std::string words(form.name);
      for (const WrittenOperand& operand : operands_) words += " " + memory_word(lower(operand.word.text));
      Names known;
      const FenceWords* found = nullptr;
      for (const FenceWords& fence : fences_with_words) {
        if (fence.words == words) found = &fence;
        if (fence.words.starts_with(form.name)) known.emplace_back(fence.words);
      }
      if (found == nullptr) {
        source_.fail(mnemonic_.place, "unknown fence " + in_quotes(words), "one of: " + list(known));
      }
      instruction.order = found->order;
      instruction.tags = bit(found->tag);
    }
    append(instruction);
  }
  // Of "iorw" memory is what matters.
  [[nodiscard]] std::string memory_word(std::string word) const {
    if (dialect_ != Dialect::riscv) return word;
    std::erase_if(word, [](char c) { return c == 'i' || c == 'o'; });
    return word;
  }

  // Of x86 what writes memory with a lock, and XCHG without, is ordered with everything.
  void check_locked() const {
    if (locked_) return;
    source_.fail(mnemonic_.place, in_quotes(mnemonic_.text) + " without a lock is not supported",
                 "write lock in front of it");
  }
  void perform_exchange() {
    const bool first = operands_[0].kind == WrittenOperand::Kind::memory;
    const WrittenOperand& memory = operands_[first ? 0 : 1];
    const WrittenOperand& other = operands_[first ? 1 : 0];
    if (memory.kind != WrittenOperand::Kind::memory) {
      source_.fail(mnemonic_.place, "an exchange of two registers is not supported", "use mov");
    }
    access(Opcode::rmw, memory, atomic(RmwFunction::exchange, destination(other), value(other)), Order::sc);
  }
  void perform_compared() {
    check_locked();
    const WrittenOperand accumulator{
        WrittenOperand::Kind::name, {dialect_ == Dialect::x86 ? "EAX" : "rax", mnemonic_.place}, {}};
    const Operand expected = value(accumulator);
    const std::int16_t left = static_cast<std::int16_t>(program_register(compared_left, mnemonic_.place));
    assign(left, expected);
    access(Opcode::rmw, operands_[0],
           atomic(RmwFunction::compare_swap, destination(accumulator), expected, value(operands_[1])),
           Order::sc);
    assign(static_cast<std::int16_t>(program_register(compared_right, mnemonic_.place)), expected);
    now().flags = true;
  }
  void perform_in_place(const Form& form) {
    const WrittenOperand& own = operands_[0];
    const Operand by = operands_.size() > 1 ? loaded(operands_[1]) : Operand{false, 1};
    now().flags = false;
    Instruction instruction{.opcode = Opcode::arithmetic, .arithmetic = form.arithmetic};
    instruction.b = by;
    if (own.kind != WrittenOperand::Kind::memory) {
      instruction.a = value(own);
      instruction.destination = destination(own);
      return append(instruction);
    }
    if (locked_) return access(Opcode::rmw, own, atomic(as_rmw(form.arithmetic), -1, by), Order::sc);
    instruction.a = loaded(own);
    instruction.destination = static_cast<std::int16_t>(instruction.a.value);
    append(instruction);
    access(Opcode::store, own, {.a = instruction.a});
  }
  static RmwFunction as_rmw(ArithmeticFunction function) {
    switch (function) {
      case ArithmeticFunction::subtract:
        return RmwFunction::subtract;
      case ArithmeticFunction::bit_and:
        return RmwFunction::bit_and;
      case ArithmeticFunction::bit_or:
        return RmwFunction::bit_or;
      case ArithmeticFunction::bit_xor:
        return RmwFunction::bit_xor;
      default:
        return RmwFunction::add;
    }
  }

  std::vector<Known> known_;  // by thread
  Word mnemonic_;
  std::vector<WrittenOperand> operands_;
  std::optional<Word> displacement_;
  bool locked_ = false;
};

}  // namespace
}  // namespace assembly

std::string_view register_of_processor(Dialect dialect, std::string_view name) {
  using namespace assembly;
  static const std::map<Dialect, RegisterNames> all{{Dialect::x86, registers_of_x86(false)},
                                                    {Dialect::x86_64, registers_of_x86(true)},
                                                    {Dialect::aarch64, registers_of_aarch64()},
                                                    {Dialect::riscv, registers_of_riscv()}};
  const RegisterNames& names = all.at(dialect);
  const auto found = names.find(lower(name));
  return found == names.end() ? std::string_view() : std::string_view(found->second);
}

// ---- The grammar ----

namespace grammar::assembly {
namespace {

struct processor : identifier {};
struct end_of_processors : semicolon {};
struct processors
    : seq<must<processor>, star<ws, one<'|'>, ws, must<processor>>, ws, must<end_of_processors>> {};

struct lock : peg::istring<'l', 'o', 'c', 'k'> {};
struct prefix : seq<lock, plus<peg::blank>> {};
struct constant : number {};
struct signed_constant : seq<opt<one<'#', '$'>>, constant> {};
struct operand_name : sor<identifier, seq<one<'%'>, identifier>> {};
struct base_name : sor<identifier, seq<one<'%'>, identifier>> {};
struct displacement : sor<number, identifier> {};
struct offset_value : sor<number, identifier> {};
struct offset : seq<opt<one<'#'>>, ws, must<offset_value>> {};
struct extension : identifier {};
struct in_brackets : seq<open_bracket, ws, must<base_name>, ws, opt<one<','>, ws, offset, ws>,
                         opt<one<','>, ws, must<extension>, ws>, must<close_bracket>> {};
struct in_parentheses : seq<at<opt<displacement>, open_parenthesis>, opt<displacement>, open_parenthesis, ws,
                            must<base_name>, ws, must<close_parenthesis>> {};
struct processor_operand : sor<in_parentheses, signed_constant, in_brackets, operand_name> {};
struct processor_operands : seq<processor_operand, star<ws, one<','>, ws, must<processor_operand>>> {};
struct processor_instruction : seq<opt<prefix>, mnemonic, ws, opt<processor_operands>> {};
struct processor_rows : star<not_at<after_program>, row<processor_instruction>, ws> {};
struct end_of_processor_rows : peg::success {};
struct processor_row_or_question : question {};
struct of_processors : seq<head, initial_state, ws, processors, ws, processor_rows, end_of_processor_rows,
                           asked<processor_row_or_question>> {};

}  // namespace
}  // namespace grammar::assembly

// clang-format off
template <> inline constexpr Expectation expectation<grammar::assembly::processor>{"a thread", "threads are named P0, P1, ... from left to right"};
template <> inline constexpr Expectation expectation<grammar::assembly::end_of_processors>{"'|' or ';' after a thread"};
template <> inline constexpr Expectation expectation<grammar::assembly::processor_operand>{"an operand"};
template <> inline constexpr Expectation expectation<grammar::assembly::base_name>{"a register or a location", "a question begins with exists, ~exists or forall"};
template <> inline constexpr Expectation expectation<grammar::assembly::offset_value>{"a register or a constant"};
template <> inline constexpr Expectation expectation<grammar::assembly::extension>{"SXTW, UXTW, SXTX or UXTX"};
template <> inline constexpr Expectation expectation<grammar::assembly::processor_row_or_question>{"a row, or exists, ~exists or forall with a condition"};

template <> struct Action<grammar::assembly::processor> : Give<&assembly::ProcessorReader::begin_thread> {};
template <> struct Action<grammar::assembly::processors> : Call<&assembly::ProcessorReader::end_thread_row> {};
template <> struct Action<grammar::assembly::prefix> : Give<&assembly::ProcessorReader::prefix> {};
template <> struct Action<grammar::assembly::constant> : Give<&assembly::ProcessorReader::constant> {};
template <> struct Action<grammar::assembly::operand_name> : Give<&assembly::ProcessorReader::name> {};
template <> struct Action<grammar::assembly::displacement> : Give<&assembly::ProcessorReader::displacement> {};
template <> struct Action<grammar::assembly::base_name> : Give<&assembly::ProcessorReader::base> {};
template <> struct Action<grammar::assembly::offset_value> : Give<&assembly::ProcessorReader::offset> {};
template <> struct Action<grammar::assembly::extension> : Give<&assembly::ProcessorReader::extension> {};
template <> struct Action<grammar::written<grammar::assembly::processor_instruction>> : Call<&assembly::ProcessorReader::end_instruction> {};
template <> struct Action<grammar::assembly::end_of_processor_rows> : Call<&assembly::ProcessorReader::end_program> {};
// clang-format on

LitmusTest read_processors(const Source& source, Dialect dialect) {
  assembly::ProcessorReader reader(source, dialect);
  return read<grammar::assembly::of_processors>(source, reader);
}

}  // namespace lockstep::litmus
