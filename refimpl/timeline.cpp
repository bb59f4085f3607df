// Writing the trace event format, event by event as they happen.
#include "refimpl/timeline.hpp"

#include <fmt/format.h>

#include <boost/algorithm/string/replace.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "checker/support/diagnostic.hpp"
#include "checker/support/home.hpp"
#include "checker/support/json_text.hpp"

namespace lockstep {

namespace {

constexpr std::string_view waves = "waves";
constexpr std::string_view place_of_trace = "<!-- trace -->\n";  // in the page
constexpr std::uint64_t flows_of_a_wave = std::uint64_t{1} << 32;

}  // namespace

Timeline::Timeline(const std::string& file, const std::string& title, double gigahertz)
    : file_(file), gigahertz_(gigahertz) {
  std::error_code none;
  if (std::filesystem::exists(file, none) && !std::filesystem::is_regular_file(file, none))
    throw BadInput(fmt::format("'{}' is no file", file));
  if (std::filesystem::path(file).extension() == ".html") {
    std::ifstream stream(shipped("refimpl/timeline.html"));
    const std::string page{std::istreambuf_iterator<char>(stream), {}};
    const std::size_t place = page.find(place_of_trace);
    if (place == std::string::npos)
      throw BadInput("refimpl/timeline.html has no place for a trace", "install Lockstep anew");
    file_.stream() << page.substr(0, place);
    behind_ = page.substr(place + place_of_trace.size());
  }
  file_.stream()
      << fmt::format(R"({{"displayTimeUnit":"ns","otherData":{{"title":{},"gigahertz":{}}},"traceEvents":[)",
                     text(json_text(title)), gigahertz)
      << "\n";
  process(waves);  // on top
}

std::string Timeline::text(std::string json) const {
  if (is_page()) boost::replace_all(json, "</", "<\\/");
  return json;
}

void Timeline::event(std::string json) {
  file_.stream() << (first_ ? "" : ",\n") << text(std::move(json));
  first_ = false;
}

int Timeline::process(std::string_view kind) {
  if (const auto known = processes_.find(kind); known != processes_.end()) return known->second;
  const int number = static_cast<int>(processes_.size()) + 1;
  processes_.emplace(std::string(kind), number);
  event(fmt::format(R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":{}}}}})", number,
                    json_text(kind)));
  event(fmt::format(R"({{"ph":"M","name":"process_sort_index","pid":{0},"args":{{"sort_index":{0}}}}})",
                    number));
  return number;
}

void Timeline::name_track(int process, std::size_t number, const std::string& name) {
  if (!named_.emplace(std::pair(process, number), true).second) return;
  event(fmt::format(R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":{}}}}})", process,
                    number, json_text(name)));
}

void Timeline::fired(const Firing& firing) {
  const int pid = process(firing.unit);
  name_track(pid, firing.number, fmt::format("{} {}", firing.unit, firing.number));
  const double at = microseconds(firing.cycle);
  const std::string of = firing.thread < 0 ? "" : fmt::format(R"(,"args":{{"wave":{}}})", firing.thread);
  event(fmt::format(R"({{"ph":"X","name":{},"pid":{},"tid":{},"ts":{:.6f},"dur":{:.6f}{}}})",
                    json_text(firing.rule), pid, firing.number, at, microseconds(firing.occupancy), of));
  if (firing.thread < 0) return;
  const auto wave = static_cast<std::size_t>(firing.thread);
  Flow& flow = flows_[wave];
  event(fmt::format(
      R"({{"ph":"{}","name":"operation","cat":"operation","id":{},"pid":{},"tid":{},"ts":{:.6f}}})",
      flow.begun ? "t" : "s", wave * flows_of_a_wave + flow.operations, pid, firing.number, at));
  flow.begun = true;
}

void Timeline::completed(const Operation& operation) {
  const int pid = process(waves);
  name_track(pid, operation.thread, fmt::format("{} on CU {}", operation.wave, operation.cu));
  const double end = microseconds(operation.to);
  event(fmt::format(R"({{"ph":"X","name":{},"pid":{},"tid":{},"ts":{:.6f},"dur":{:.6f}}})",
                    json_text(operation.name), pid, operation.thread, microseconds(operation.from),
                    end - microseconds(operation.from)));
  Flow& flow = flows_[operation.thread];
  if (flow.begun) {
    event(fmt::format(
        R"({{"ph":"f","bp":"e","name":"operation","cat":"operation","id":{},"pid":{},"tid":{},"ts":{:.6f}}})",
        operation.thread * flows_of_a_wave + flow.operations, pid, operation.thread, end));
  }
  ++flow.operations;
  flow.begun = false;
}

void Timeline::close() {
  file_.stream() << "\n]}\n" << behind_;
  file_.put_in_place();
}

}  // namespace lockstep
