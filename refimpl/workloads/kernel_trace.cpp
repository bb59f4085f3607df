#include "refimpl/workloads/kernel_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <deque>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "checker/support/diagnostic.hpp"
#include "refimpl/workloads/builder.hpp"
#include "refimpl/workloads/trace_lines.hpp"

namespace lockstep {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view list_name = "kernelslist.g";
constexpr int lanes_of_warp = 32;
constexpr std::uint64_t bytes_of_word = sizeof(Lanes);
// Generic addresses: shared and local memory are windows of so many bytes.
constexpr std::uint64_t bytes_of_window = 1 << 24;
constexpr std::uint64_t largest_address = std::uint64_t{1} << 56;
constexpr int newest_version = 5;
constexpr std::size_t most_instructions = 1 << 24;

// The fields of a line.
class Fields {
 public:
  explicit Fields(const TraceLines& line) : line_(line), rest_(line.text()) {}

  [[nodiscard]] bool empty() {
    skip();
    return rest_.empty();
  }
  std::string_view word(std::string_view what) {
    if (empty()) line_.fail(fmt::format("the line ends before {}", what));
    const std::string_view found = rest_.substr(0, rest_.find_first_of(" \t"));
    rest_.remove_prefix(found.size());
    return found;
  }
  std::uint64_t hex(std::string_view what) {
    std::string_view text = word(what);
    const std::string_view whole = text;
    if (text.starts_with("0x")) text.remove_prefix(2);
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
    if (error != std::errc() || end != text.data() + text.size())
      line_.fail(fmt::format("'{}' is no {}", whole, what), "a hexadecimal number");
    return value;
  }
  std::int64_t whole(std::string_view what, std::int64_t least, std::int64_t most) {
    const std::string_view text = word(what);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < least || value > most)
      line_.fail(fmt::format("'{}' is no {}", text, what),
                 fmt::format("a number from {} to {}", least, most));
    return value;
  }
  // "R12" is 12; RZ, predicates and the like are nothing to wait for.
  int reg() {
    const std::string_view text = word("register");
    int value = 0;
    if (text.size() < 2 || text.front() != 'R') return -1;
    const auto [end, error] = std::from_chars(text.data() + 1, text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() ? value : -1;
  }

 private:
  void skip() {
    const auto first = rest_.find_first_not_of(" \t");
    rest_.remove_prefix(first == std::string_view::npos ? rest_.size() : first);
  }
  const TraceLines& line_;
  std::string_view rest_;
};

// ---- instructions ---------------------------------------------------------------------------------------

bool has(std::string_view opcode, std::string_view suffix) {
  for (std::size_t at = opcode.find('.'); at != std::string_view::npos; at = opcode.find('.', at + 1)) {
    const std::string_view part = opcode.substr(at + 1);
    if (part.substr(0, part.find('.')) == suffix) return true;
  }
  return false;
}

// What an instruction is to memory.
enum class Effect : std::uint8_t { none, load, store, atomic, reduction, fence, barrier };
struct Known {
  std::string_view name;
  Effect effect;
};
// In front of any suffix. What accesses no global memory is nothing to it: shared (LDS, STS, ATOMS) and local
// memory (LDL, STL), constants, textures.
constexpr std::array global_accesses{
    Known{"LDG", Effect::load},     Known{"LD", Effect::load},       Known{"LDGSTS", Effect::load},
    Known{"STG", Effect::store},    Known{"ST", Effect::store},      Known{"ATOMG", Effect::atomic},
    Known{"ATOM", Effect::atomic},  Known{"RED", Effect::reduction}, Known{"REDG", Effect::reduction},
    Known{"MEMBAR", Effect::fence}, Known{"BAR", Effect::barrier},
};
constexpr std::array functions{
    std::pair{std::string_view("ADD"), RmwFunction::add},
    std::pair{std::string_view("MIN"), RmwFunction::minimum},
    std::pair{std::string_view("MAX"), RmwFunction::maximum},
    std::pair{std::string_view("AND"), RmwFunction::bit_and},
    std::pair{std::string_view("OR"), RmwFunction::bit_or},
    std::pair{std::string_view("XOR"), RmwFunction::bit_xor},
    std::pair{std::string_view("INC"), RmwFunction::increment},
    std::pair{std::string_view("DEC"), RmwFunction::decrement},
    std::pair{std::string_view("CAS"), RmwFunction::compare_swap},
    std::pair{std::string_view("EXCH"), RmwFunction::exchange},
};

Effect effect_of(std::string_view opcode) {
  const std::string_view base = opcode.substr(0, opcode.find('.'));
  for (const Known& known : global_accesses) {
    if (known.name == base) return known.effect;
  }
  return Effect::none;
}

Scope scope_of(std::string_view opcode) {
  if (has(opcode, "SYS")) return Scope::system;
  if (has(opcode, "CTA") || has(opcode, "SM")) return Scope::wg;
  return Scope::agent;
}

// Bytes of one lane: what the opcode says, else what the line does.
std::uint64_t width_of(std::string_view opcode, std::uint64_t said) {
  constexpr std::array widths{std::pair{std::string_view("8"), 1},   std::pair{std::string_view("U8"), 1},
                              std::pair{std::string_view("S8"), 1},  std::pair{std::string_view("16"), 2},
                              std::pair{std::string_view("U16"), 2}, std::pair{std::string_view("S16"), 2},
                              std::pair{std::string_view("32"), 4},  std::pair{std::string_view("64"), 8},
                              std::pair{std::string_view("128"), 16}};
  for (const auto& [suffix, bytes] : widths) {
    if (has(opcode, suffix)) return static_cast<std::uint64_t>(bytes);
  }
  return said > 0 ? said : 4;
}

struct TracedInstruction {
  Effect effect = Effect::none;
  WaveCode::Traced access;
  std::vector<std::uint64_t> words;  // numbers of 64-byte words, in the order of lanes
};

// ---- a kernel -------------------------------------------------------------------------------------------

struct Header {
  std::string name = "kernel";
  int blocks = 0;
  int warps = 0;  // of a block
  int version = 0;
  std::uint64_t shared = 0;  // bases of windows; 0: none is said
  std::uint64_t local = 0;
};

class KernelReader {
 public:
  explicit KernelReader(const std::string& file) : lines_(file) { read_header(); }

  [[nodiscard]] const Header& header() const { return header_; }
  [[nodiscard]] const TraceLines& lines() const { return lines_; }

  // Calls block(n) for each thread block in the file's order, instruction(warp, i) for its instructions, and
  // end(n) behind the last.
  template <class Block, class Each, class End>
  void read(Block&& block, Each&& instruction, End&& end) {
    int blocks = 0;
    while (more()) {
      if (lines_.trimmed() != "#BEGIN_TB") {
        if (lines_.trimmed().starts_with("#")) continue;
        lines_.fail("expected '#BEGIN_TB'", "a thread block begins so");
      }
      if (blocks == header_.blocks)
        lines_.fail(fmt::format("there are more thread blocks than the grid's {}", header_.blocks));
      block(blocks);
      read_block(instruction);
      end(blocks++);
    }
    if (blocks < header_.blocks)
      lines_.truncated(fmt::format("after {} of {} thread blocks", blocks, header_.blocks));
  }

 private:
  bool more() { return std::exchange(ahead_, false) || lines_.next(); }

  static std::optional<std::array<int, 3>> triple(std::string_view text) {
    std::array<int, 3> all{};
    if (text.size() < 2 || text.front() != '(' || text.back() != ')') return {};
    text = text.substr(1, text.size() - 2);
    for (std::size_t i = 0; i < 3; ++i) {
      const std::string_view part = text.substr(0, text.find(','));
      const auto [stop, error] = std::from_chars(part.data(), part.data() + part.size(), all[i]);
      if (error != std::errc() || stop != part.data() + part.size() || all[i] < 1 || all[i] > 1 << 24)
        return {};
      text.remove_prefix(std::min(text.size(), part.size() + 1));
    }
    return all;
  }

  void read_header() {
    std::optional<std::array<int, 3>> grid;
    std::optional<std::array<int, 3>> threads;
    while (true) {
      if (!lines_.next()) lines_.truncated("within its header");
      const std::string_view line = lines_.trimmed();
      if (line.front() == '#') break;
      const auto equals = line.find('=');
      if (line.front() != '-' || equals == std::string_view::npos)
        lines_.fail("expected '-key = value'", "a kernel's trace begins with a header");
      const auto trim = [](std::string_view text) {
        const auto first = text.find_first_not_of(" \t");
        return first == std::string_view::npos ? std::string_view()
                                               : text.substr(first, text.find_last_not_of(" \t") + 1 - first);
      };
      const std::string_view key = trim(line.substr(1, equals - 1));
      const std::string_view value = trim(line.substr(equals + 1));
      if (key == "kernel name") header_.name = std::string(value);
      if (key == "grid dim" && !(grid = triple(value))) lines_.fail("expected '(x,y,z)'");
      if (key == "block dim" && !(threads = triple(value))) lines_.fail("expected '(x,y,z)'");
      if (key == "shmem base_addr") header_.shared = base(value);
      if (key == "local mem base_addr") header_.local = base(value);
      if (key == "accelsim tracer version") header_.version = version(value);
    }
    if (!grid || !threads)
      lines_.fail(fmt::format("the header says no '{}'", grid ? "block dim" : "grid dim"));
    if (header_.version == 0) lines_.fail("the header says no 'accelsim tracer version'");
    const auto product = [&](const std::array<int, 3>& of) {
      const std::int64_t all = std::int64_t{of[0]} * of[1];
      if (all > 1 << 24 || all * of[2] > 1 << 24) lines_.fail("the grid is too large");
      return static_cast<int>(all * of[2]);
    };
    header_.blocks = product(*grid);
    header_.warps = (product(*threads) + lanes_of_warp - 1) / lanes_of_warp;
    ahead_ = lines_.trimmed() == "#BEGIN_TB";
  }
  [[nodiscard]] std::uint64_t base(std::string_view text) const {
    if (text.starts_with("0x")) text.remove_prefix(2);
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
    if (error != std::errc() || end != text.data() + text.size()) lines_.fail("expected an address");
    return value;
  }
  [[nodiscard]] int version(std::string_view text) const {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < 1 || value > newest_version) {
      lines_.fail(fmt::format("version '{}' is not known", text),
                  fmt::format("versions 1 to {} are read", newest_version));
    }
    return value;
  }

  // "key = value" with a number from least to most.
  [[nodiscard]] int number(std::string_view key, int least, int most) const {
    Fields fields(lines_);
    if (fields.word("key") != key || fields.word("'='") != "=")
      lines_.fail(fmt::format("expected '{} = '", key));
    return static_cast<int>(fields.whole(key, least, most));
  }

  template <class Each>
  void read_block(Each&& instruction) {
    if (!lines_.next()) lines_.truncated("within a thread block");
    if (!lines_.trimmed().starts_with("thread block")) lines_.fail("expected 'thread block = x,y,z'");
    std::vector<bool> seen(static_cast<std::size_t>(header_.warps), false);
    while (true) {
      if (!lines_.next()) lines_.truncated("within a thread block");
      if (lines_.trimmed() == "#END_TB") return;
      const int warp = number("warp", 0, header_.warps - 1);
      if (seen[static_cast<std::size_t>(warp)]) lines_.fail("the thread block has had this warp");
      seen[static_cast<std::size_t>(warp)] = true;
      if (!lines_.next()) lines_.truncated("within a warp");
      const int count = number("insts", 0, static_cast<int>(most_instructions));
      for (int i = 0; i < count; ++i) {
        if (!lines_.next()) lines_.truncated(fmt::format("after {} of {} instructions of a warp", i, count));
        if (lines_.trimmed().front() == '#' || lines_.trimmed().starts_with("warp"))
          lines_.fail(fmt::format("the warp has {} instructions, and should have {}", i, count));
        instruction(warp, parse());
      }
    }
  }

  [[nodiscard]] TracedInstruction parse() const {
    TracedInstruction traced;
    Fields fields(lines_);
    if (header_.version < 3) {
      for (const char* what : {"block x", "block y", "block z", "warp"}) fields.whole(what, 0, 1 << 24);
    }
    fields.hex("PC");
    const std::uint64_t mask = fields.hex("mask of lanes");
    if (mask >> lanes_of_warp != 0) lines_.fail("a mask has more lanes than a warp");
    const auto destinations = fields.whole("number of destinations", 0, 1);
    if (destinations == 1) traced.access.result = fields.reg();
    const std::string_view opcode = fields.word("opcode");
    const auto sources = fields.whole("number of sources", 0, 8);
    for (std::int64_t i = 0; i < sources; ++i) {
      const int source = fields.reg();
      if (i < static_cast<std::int64_t>(WaveCode::most_needed))
        traced.access.needs[static_cast<std::size_t>(i)] = source;
    }
    const auto width = fields.whole("memory width", 0, 256);
    traced.effect = effect_of(opcode);
    describe(traced, opcode);
    if (width > 0) {
      const std::uint64_t bytes = width_of(opcode, static_cast<std::uint64_t>(width));
      for_each_address(fields, mask, [&](std::uint64_t address) { note(traced, address, bytes); });
    }
    if (!fields.empty()) lines_.fail(fmt::format("'{}' is behind the instruction's end", fields.word("")));
    const bool accesses = traced.effect >= Effect::load && traced.effect <= Effect::reduction;
    if (accesses && width == 0 && mask != 0) lines_.fail(fmt::format("'{}' has no addresses", opcode));
    return traced;
  }

  void describe(TracedInstruction& traced, std::string_view opcode) const {
    WaveCode::Traced& access = traced.access;
    access.scope = scope_of(opcode);
    access.order = has(opcode, "STRONG") ? Order::relaxed : Order::plain;
    switch (traced.effect) {
      case Effect::store:
        access.opcode = Opcode::store;
        break;
      case Effect::atomic:
      case Effect::reduction: {
        access.opcode = Opcode::rmw;
        // A RED that returns nothing and commutes with others of its kind.
        access.order = traced.effect == Effect::reduction ? Order::comm : Order::relaxed;
        const auto* const found = std::find_if(functions.begin(), functions.end(),
                                               [&](const auto& f) { return has(opcode, f.first); });
        if (found == functions.end()) lines_.fail(fmt::format("'{}' says no function", opcode));
        access.rmw = found->second;
        break;
      }
      case Effect::barrier:
        if (has(opcode, "ARV"))
          lines_.fail(
              fmt::format("'{}': no memory system has barriers that a warp does not wait at", opcode));
        break;
      default:
        break;
    }
  }

  template <class F>
  void for_each_address(Fields& fields, std::uint64_t mask, F&& f) const {
    const int form = static_cast<int>(fields.whole("form of addresses", 0, 2));
    const int lanes = std::popcount(mask);
    const auto checked = [&](std::uint64_t address) {
      if (address >= largest_address) lines_.fail(fmt::format("address {:#x} is too large", address));
      f(address);
    };
    if (lanes == 0) {
      while (!fields.empty()) fields.word("");
      return;
    }
    if (form == 0) {
      for (int i = 0; i < lanes; ++i) checked(fields.hex("address"));
      return;
    }
    std::uint64_t address = fields.hex("address");
    constexpr std::int64_t farthest = std::int64_t{1} << 48;
    if (form == 1) {
      const std::int64_t stride = fields.whole("stride", -farthest, farthest);
      for (int i = 0; i < lanes; ++i) checked(address + static_cast<std::uint64_t>(i * stride));
      return;
    }
    checked(address);
    std::vector<std::int64_t> differences;
    while (!fields.empty())
      differences.push_back(fields.whole("difference of addresses", -farthest, farthest));
    // Some writers put one for the first lane as well: nothing, for it is where the base is.
    if (differences.size() == static_cast<std::size_t>(lanes) && differences.front() == 0)
      differences.erase(differences.begin());
    if (differences.size() + 1 != static_cast<std::size_t>(lanes)) {
      lines_.fail(
          fmt::format("{} differences of addresses for {} further lanes", differences.size(), lanes - 1));
    }
    for (const std::int64_t difference : differences)
      checked(address += static_cast<std::uint64_t>(difference));
  }

  void note(TracedInstruction& traced, std::uint64_t address, std::uint64_t bytes) const {
    if (traced.effect < Effect::load || traced.effect > Effect::reduction) return;
    const auto within = [&](std::uint64_t window) {
      return window != 0 && address >= window && address - window < bytes_of_window;
    };
    if (within(header_.shared) || within(header_.local)) return;
    for (std::uint64_t word = address / bytes_of_word; word <= (address + bytes - 1) / bytes_of_word;
         ++word) {
      if (std::find(traced.words.begin(), traced.words.end(), word) == traced.words.end())
        traced.words.push_back(word);
    }
  }

  TraceLines lines_;
  Header header_;
  bool ahead_ = false;
};

// ---- the workload ---------------------------------------------------------------------------------------

class TraceWriter {
 public:
  TraceWriter(WorkloadBuilder& build, const WorkloadShape& shape)
      : build_(build), shape_(shape), memory_(build, shape.words_per_block) {}

  void kernel(const std::string& file) {
    KernelReader reader(file);
    const Header& header = reader.header();
    const int resident = shape_.waves_per_cu / header.warps;
    if (resident == 0) {
      reader.lines().fail(fmt::format("a thread block of {} has {} warps, and a CU of this machine {} waves",
                                      header.name, header.warps, shape_.waves_per_cu),
                          "--set waves_per_cu=N says otherwise");
    }
    const int places = std::min(header.blocks, resident * shape_.cus);
    build_.kernel_in_turns(
        header.name, places * header.warps, header.warps, [&](std::deque<WaveCode>& codes) {
          std::vector<int> barriers;
          const auto wave = [&](int block, int warp) -> WaveCode& {
            return codes[static_cast<std::size_t>(block % places * header.warps + warp)];
          };
          int now = 0;
          reader.read(
              [&](int block) {
                now = block;
                barriers.assign(static_cast<std::size_t>(header.warps), 0);
              },
              [&](int warp, const TracedInstruction& traced) {
                if (++instructions_ > most_instructions)
                  reader.lines().fail(
                      fmt::format("more than {} instructions are not simulated at once", most_instructions),
                      "list fewer kernels");
                barriers[static_cast<std::size_t>(warp)] += traced.effect == Effect::barrier ? 1 : 0;
                perform(wave(now, warp), traced);
              },
              [&](int block) {
                // Nobody waits for a warp that has ended: it comes to the barriers that are left.
                const int most = *std::max_element(barriers.begin(), barriers.end());
                for (int warp = 0; warp < header.warps; ++warp) {
                  for (int i = barriers[static_cast<std::size_t>(warp)]; i < most; ++i)
                    wave(block, warp).barrier();
                }
              });
        });
  }

 private:
  void perform(WaveCode& code, const TracedInstruction& traced) {
    if (traced.effect == Effect::fence) {
      code.fence(Order::acq_rel, traced.access.scope);
    } else if (traced.effect == Effect::barrier) {
      code.barrier();
    } else if (traced.words.empty()) {
      code.compute(traced.access.result, traced.access.needs);
    } else {
      at_.clear();
      for (const std::uint64_t word : traced.words) at_.push_back(memory_.location(word));
      code.access(traced.access, at_);
    }
  }

  WorkloadBuilder& build_;
  const WorkloadShape& shape_;
  TraceMemory memory_;
  std::vector<int> at_;
  std::size_t instructions_ = 0;
};

}  // namespace

bool names_kernel_trace(std::string_view name) {
  return name.ends_with(".traceg") || name.ends_with(".traceg.xz") || fs::path(name).filename() == list_name;
}

std::vector<std::string> files_of_kernel_trace(const std::string& file) {
  std::vector<std::string> files{file};
  if (fs::path(file).filename() != list_name) return files;
  TraceLines lines(file);
  std::error_code none;
  while (lines.next()) {
    const std::string name(lines.trimmed());
    if (!name.starts_with("kernel")) continue;
    fs::path kernel = fs::path(file).parent_path() / name;
    if (!fs::exists(kernel, none) && fs::exists(kernel.string() + ".xz", none)) kernel += ".xz";
    if (!fs::is_regular_file(kernel, none)) lines.fail(fmt::format("there is no file '{}'", kernel.string()));
    files.push_back(kernel.string());
  }
  if (files.size() == 1)
    lines.fail("the list names no kernel", "a line of it is the name of a kernel's file");
  return files;
}

WorkloadEntry kernel_trace(std::string_view name) {
  WorkloadEntry entry;
  entry.name = name;
  entry.what = "a kernel trace";
  entry.build = [file = std::string(name)](const WorkloadShape& shape) {
    std::vector<std::string> kernels = files_of_kernel_trace(file);
    if (kernels.size() > 1) kernels.erase(kernels.begin());
    WorkloadBuilder build(file, shape);
    TraceWriter writer(build, shape);
    for (const std::string& kernel : kernels) writer.kernel(kernel);
    return build.take();
  };
  return entry;
}

}  // namespace lockstep
