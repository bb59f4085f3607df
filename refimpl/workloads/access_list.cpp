#include "refimpl/workloads/access_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <deque>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "checker/support/diagnostic.hpp"
#include "refimpl/workloads/builder.hpp"
#include "refimpl/workloads/trace_lines.hpp"

namespace lockstep {

namespace access_lists {

namespace {

constexpr std::size_t most_lines = 1 << 24;
constexpr std::size_t most_kernels = 1 << 12;
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
constexpr std::uint64_t most_bytes = 1 << 12;  // of one access
constexpr int largest_number = 1 << 24;        // of a wave, a work-group or a kernel

enum class What : std::uint8_t { load, store, add, exchange, fence, barrier, pause };
const std::vector<std::string> operation_words{"load",  "store",   "add",  "exchange",
                                               "fence", "barrier", "pause"};
const std::vector<std::string> order_words{"plain", "relaxed", "acquire", "release", "acq_rel"};
constexpr std::array orders_in_order{Order::plain, Order::relaxed, Order::acquire, Order::release,
                                     Order::acq_rel};
const std::vector<std::string> scope_words{"wg", "agent", "system"};
constexpr std::array scopes_in_order{Scope::wg, Scope::agent, Scope::system};

enum Column : std::size_t {
  wave,
  operation,
  address,
  bytes,
  order,
  scope,
  cycles,
  work_group,
  kernel,
  columns
};
const std::vector<std::string> column_names{"wave",  "operation", "address",    "bytes", "order",
                                            "scope", "cycles",    "work_group", "kernel"};

struct Listed {
  int wave = 0;
  What what = What::load;
  std::uint64_t address = 0;
  std::uint64_t bytes = sizeof(Lanes);
  Order order = Order::plain;
  Scope scope = Scope::agent;
  std::int32_t cycles = 0;
};
struct ListedKernel {
  int number = 0;
  std::vector<Listed> lines;
  std::map<int, int> group_of;  // by wave
};

class ListReader {
 public:
  explicit ListReader(const std::string& file) : lines_(file) {
    if (!lines_.next())
      lines_.fail("the list is empty", "its first line names columns: wave,operation,address");
    const std::vector<std::string> names = fields();
    place_of_.fill(absent);
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto column = static_cast<std::size_t>(
          std::find(column_names.begin(), column_names.end(), names[i]) - column_names.begin());
      if (column == columns)
        lines_.fail(fmt::format("unknown column '{}'", names[i]), suggestion(names[i], column_names));
      if (place_of_[column] != absent) lines_.fail(fmt::format("two columns '{}'", names[i]));
      place_of_[column] = i;
    }
    width_ = names.size();
    for (const Column needed : {wave, operation}) {
      if (place_of_[needed] == absent)
        lines_.fail(fmt::format("no column '{}'", column_names[needed]), "the first line names columns");
    }
  }

  std::vector<ListedKernel> read() {
    std::vector<ListedKernel> kernels;
    std::size_t count = 0;
    while (lines_.next()) {
      if (++count > most_lines)
        lines_.fail(fmt::format("more than {} accesses are not simulated at once", most_lines));
      values_ = fields();
      if (values_.size() != width_)
        lines_.fail(fmt::format("{} fields where {} columns are named", values_.size(), width_));
      const int of = number(kernel, 0, 0, largest_number);
      if (kernels.empty() || kernels.back().number < of) {
        if (kernels.size() == most_kernels)
          lines_.fail(fmt::format("more than {} kernels are not simulated at once", most_kernels));
        kernels.push_back({of, {}, {}});
      } else if (kernels.back().number > of) {
        lines_.fail(fmt::format("kernel {} comes behind kernel {}", of, kernels.back().number),
                    "kernels run one after the other: sort the list by them");
      }
      Listed listed = line();
      ListedKernel& into = kernels.back();
      const int group = number(work_group, listed.wave, 0, largest_number);
      const auto [known, fresh] = into.group_of.try_emplace(listed.wave, group);
      if (!fresh && known->second != group)
        lines_.fail(fmt::format("wave {} is in work-group {} and in {}", listed.wave, known->second, group));
      into.lines.push_back(listed);
    }
    if (kernels.empty()) lines_.fail("the list has columns, and no access");
    return kernels;
  }
  [[nodiscard]] const TraceLines& lines() const { return lines_; }

 private:
  static constexpr std::size_t absent = ~std::size_t{0};

  [[nodiscard]] std::vector<std::string> fields() const {
    std::string_view rest = lines_.text();
    if (rest.starts_with(byte_order_mark)) rest.remove_prefix(byte_order_mark.size());
    std::vector<std::string> all;
    for (bool more = true; more;) {
      const std::size_t end = rest.find(',');
      more = end != std::string_view::npos;
      std::string_view field = rest.substr(0, end);
      if (more) rest.remove_prefix(end + 1);
      const std::size_t first = field.find_first_not_of(" \t");
      field = first == std::string_view::npos
                  ? std::string_view{}
                  : field.substr(first, field.find_last_not_of(" \t") + 1 - first);
      if (field.size() >= 2 && field.front() == '"' && field.back() == '"')
        field = field.substr(1, field.size() - 2);
      all.emplace_back(field);
    }
    return all;
  }
  [[nodiscard]] const std::string* value(Column column) const {
    if (place_of_[column] == absent || values_[place_of_[column]].empty()) return nullptr;
    return &values_[place_of_[column]];
  }
  [[nodiscard]] std::uint64_t whole(Column column, std::uint64_t least, std::uint64_t most) const {
    const std::string* const text = value(column);
    if (text == nullptr) lines_.fail(fmt::format("no {} of it", column_names[column]));
    const bool hex = text->starts_with("0x") || text->starts_with("0X");
    const char* const begin = text->data() + (hex ? 2 : 0);
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(begin, text->data() + text->size(), number, hex ? 16 : 10);
    const bool too_large = error == std::errc::result_out_of_range;
    if ((error != std::errc{} && !too_large) || end != text->data() + text->size() || begin == end)
      lines_.fail(fmt::format("{} '{}' is no whole number", column_names[column], *text));
    if (too_large || number < least || number > most)
      lines_.fail(fmt::format("{} {} is not between {} and {}", column_names[column], *text, least, most));
    return number;
  }
  [[nodiscard]] int number(Column column, int otherwise, int least, int most) const {
    if (value(column) == nullptr) return otherwise;
    return static_cast<int>(
        whole(column, static_cast<std::uint64_t>(least), static_cast<std::uint64_t>(most)));
  }
  [[nodiscard]] std::optional<std::size_t> one_of(Column column,
                                                  const std::vector<std::string>& words) const {
    const std::string* const text = value(column);
    if (text == nullptr) return std::nullopt;
    const auto found = std::find(words.begin(), words.end(), *text);
    if (found == words.end())
      lines_.fail(fmt::format("unknown {} '{}'", column_names[column], *text), suggestion(*text, words));
    return static_cast<std::size_t>(found - words.begin());
  }

  [[nodiscard]] Listed line() const {
    Listed listed;
    listed.wave = static_cast<int>(whole(wave, 0, largest_number));
    const auto what = one_of(operation, operation_words);
    if (!what) lines_.fail("no operation of it");
    listed.what = static_cast<What>(*what);
    if (const auto said = one_of(order, order_words)) listed.order = orders_in_order[*said];
    if (const auto said = one_of(scope, scope_words)) listed.scope = scopes_in_order[*said];
    if (listed.what == What::pause) {
      listed.cycles = static_cast<std::int32_t>(whole(cycles, 0, 1 << 30));
      return listed;
    }
    if (listed.what == What::fence || listed.what == What::barrier) {
      if (listed.what == What::fence && listed.order == Order::plain) listed.order = Order::acq_rel;
      return listed;
    }
    if ((listed.what == What::load && listed.order == Order::release) ||
        (listed.what == What::store && listed.order == Order::acquire) ||
        (listed.what < What::add && listed.order == Order::acq_rel)) {
      lines_.fail(fmt::format("a {} does not {}", operation_words[*what],
                              listed.what == What::load ? "release" : "acquire"));
    }
    if (listed.what >= What::add && listed.order == Order::plain) listed.order = Order::relaxed;
    constexpr std::uint64_t largest_address = std::uint64_t{1} << 56;
    listed.address = whole(address, 0, largest_address);
    if (value(bytes) != nullptr) listed.bytes = whole(bytes, 1, most_bytes);
    return listed;
  }

  TraceLines lines_;
  std::array<std::size_t, columns> place_of_{};
  std::size_t width_ = 0;
  std::vector<std::string> values_;
};

class ListWriter {
 public:
  ListWriter(WorkloadBuilder& build, const WorkloadShape& shape, const ListReader& reader)
      : build_(build), shape_(shape), reader_(reader), memory_(build, shape.words_per_block) {}

  void kernel(const ListedKernel& listed) {
    // Work-groups in the order of their numbers, with room for the largest.
    std::map<int, std::vector<int>> waves_of;
    for (const auto& [number, group] : listed.group_of) waves_of[group].push_back(number);
    int waves = 0;
    for (const auto& [group, members] : waves_of) waves = std::max(waves, static_cast<int>(members.size()));
    const int resident = shape_.waves_per_cu / waves;
    if (resident == 0) {
      reader_.lines().fail(fmt::format("a work-group of kernel {} has {} waves, and a CU of this machine {}",
                                       listed.number, waves, shape_.waves_per_cu),
                           "--set waves_per_cu=N says otherwise");
    }
    const int places = std::min(static_cast<int>(waves_of.size()), resident * shape_.cus);
    std::map<int, std::vector<const Listed*>> code_of;
    for (const Listed& line : listed.lines) code_of[line.wave].push_back(&line);
    // Nobody waits at a barrier for a wave that has ended: it comes to those that are left.
    std::map<int, int> barriers;
    for (const auto& [number, code] : code_of) {
      const auto own = std::count_if(code.begin(), code.end(),
                                     [](const Listed* line) { return line->what == What::barrier; });
      int& most = barriers[listed.group_of.at(number)];
      most = std::max(most, static_cast<int>(own));
    }
    build_.kernel_in_turns(
        fmt::format("kernel {}", listed.number), places * waves, waves,
        [&](std::deque<WaveCode>& codes) { write(waves_of, waves, places, code_of, barriers, codes); });
  }

 private:
  void write(const std::map<int, std::vector<int>>& waves_of, int waves, int places,
             const std::map<int, std::vector<const Listed*>>& code_of, const std::map<int, int>& barriers,
             std::deque<WaveCode>& codes) {
    int number = 0;
    for (const auto& [group, members] : waves_of) {
      for (int i = 0; i < waves; ++i) {
        WaveCode& code = codes[static_cast<std::size_t>(number % places * waves + i)];
        int passed = 0;
        if (i < static_cast<int>(members.size())) {
          for (const Listed* line : code_of.at(members[static_cast<std::size_t>(i)])) {
            perform(code, *line);
            passed += line->what == What::barrier ? 1 : 0;
          }
        }
        for (; passed < barriers.at(group); ++passed) code.barrier();
      }
      ++number;
    }
  }
  void perform(WaveCode& code, const Listed& line) {
    switch (line.what) {
      case What::fence:
        code.fence(line.order, line.scope);
        return;
      case What::barrier:
        code.barrier();
        return;
      case What::pause:
        code.pause(line.cycles);
        return;
      default:
        break;
    }
    WaveCode::Traced access;
    access.opcode = line.what == What::load    ? Opcode::load
                    : line.what == What::store ? Opcode::store
                                               : Opcode::rmw;
    access.rmw = line.what == What::add ? RmwFunction::add : RmwFunction::exchange;
    access.order = line.order;
    access.scope = line.scope;
    at_.clear();
    for (std::uint64_t word = line.address / sizeof(Lanes);
         word <= (line.address + line.bytes - 1) / sizeof(Lanes); ++word)
      at_.push_back(memory_.location(word));
    code.access(access, at_);
  }

  WorkloadBuilder& build_;
  const WorkloadShape& shape_;
  const ListReader& reader_;
  TraceMemory memory_;
  std::vector<int> at_;
};

}  // namespace

}  // namespace access_lists

bool names_access_list(std::string_view name) {
  return name.ends_with(".csv") || name.ends_with(".csv.xz");
}

WorkloadEntry access_list(std::string_view name) {
  WorkloadEntry entry;
  entry.name = name;
  entry.what = "a list of accesses";
  entry.build = [file = std::string(name)](const WorkloadShape& shape) {
    access_lists::ListReader reader(file);
    const std::vector<access_lists::ListedKernel> kernels = reader.read();
    WorkloadBuilder build(std::filesystem::path(file).filename().string(), shape);
    access_lists::ListWriter writer(build, shape, reader);
    for (const access_lists::ListedKernel& kernel : kernels) writer.kernel(kernel);
    return build.take();
  };
  return entry;
}

}  // namespace lockstep
