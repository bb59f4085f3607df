// `lockstep doctor`: what is here of that which Lockstep asks for help, and what it is for.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>

#include "checker/language/text.hpp"
#include "checker/runs/limits.hpp"
#include "checker/support/diagnostic.hpp"
#include "checker/support/home.hpp"
#include "checker/support/json_text.hpp"
#include "checker/support/process.hpp"
#include "checker/support/registration.hpp"
#include "cli/command.hpp"
#include "cli/common.hpp"

namespace lockstep::cli {

namespace {

using nlohmann::json;

struct Tool {
  std::string_view name;
  std::string_view asks_version;
  std::string_view package;  // of Debian; empty where it has none
  std::string_view what;
};
constexpr std::array tools{
    Tool{"rumur", "--version", "rumur", "crosscheck: explores exports to Murphi"},
    Tool{"spin", "-V", "spin", "crosscheck, progress --confirm: explores exports to Promela"},
    Tool{"cc", "--version", "gcc", "crosscheck, progress --confirm: compiles what those two generate"},
    Tool{"c++", "--version", "g++", "crosscheck --with c++: compiles an export and its search"},
    Tool{"nvcc", "--version", "", "crosscheck --with cuda: the same, for a graphics processor"},
    Tool{"cvc5", "--version", "cvc5", "prove --recheck: the second solver"},
    Tool{"cadical", "--version", "cadical", "prove --certify: finds what is then checked"},
    Tool{"neato", "-V", "graphviz", "litmus --graph: draws executions"},
    Tool{"gnuplot", "--version", "gnuplot-nox", "sweep --plot: draws what a comparison turns on"},
    Tool{"coqc", "--version", "coq", "proofs/executions: what holds of executions of any size"},
    Tool{"ninja", "--version", "ninja-build", "--with: builds the command with a system of one's own"},
};

// The shipped data without which little runs.
constexpr std::array<std::string_view, 3> data{"litmus", "spec/models", "refimpl/machines"};

// The line of its output in which a program says its version, none where there is no such program.
std::optional<std::string> version_of(const Tool& tool) {
  const TemporaryFolder folder;
  using namespace std::chrono_literals;
  const ProcessResult result = run_process(
      {{std::string(tool.name), std::string(tool.asks_version)}, folder.path(), 10s, &interrupted()});
  if (result.end == ProcessResult::End::missing) return std::nullopt;
  static const std::regex version(R"([0-9]+(\.[0-9]+)+\S*[0-9a-z]|sc[0-9]+)");
  std::smatch found;
  const bool said =
      result.end == ProcessResult::End::exited && std::regex_search(result.output, found, version);
  return said ? found[0].str() : "of unknown version";
}

int run_doctor(bool as_json) {
  json found = json::array();
  std::string text;
  std::vector<std::string_view> packages;
  for (const Tool& tool : tools) {
    const auto version = version_of(tool);
    if (!version && !tool.package.empty()) packages.push_back(tool.package);
    text += fmt::format("  {:<7} {:<18}  {}\n", tool.name, version.value_or("missing"), tool.what);
    found.push_back({{"name", tool.name}, {"for", tool.what}, {"package", tool.package}});
    if (version) found.back()["version"] = *version;
  }
  json shipped_data = json::object();
  std::string places;
  bool complete = true;
  for (const std::string_view name : data) {
    try {
      const std::string place = shipped(std::string(name)).string();
      places += fmt::format("  {:<16}  {}\n", name, place);
      shipped_data[std::string(name)] = place;
    } catch (const BadInput&) {
      complete = false;
      places += fmt::format("  {:<16}  missing: LOCKSTEP_HOME may say where it is\n", name);
      shipped_data[std::string(name)] = nullptr;
    }
  }
  const RunLimits limits = LimitOptions{}.limits();
  const double gibibytes = static_cast<double>(limits.memory) / (1 << 30);
  if (as_json) {
    print_now(json_text(json{{"schema", "lockstep.doctor/1"},
                             {"version", headers_version},
                             {"build", build_identity()},
                             {"tools", std::move(found)},
                             {"data", std::move(shipped_data)},
                             {"threads", limits.threads},
                             {"memory_gib", gibibytes}},
                        1) +
              "\n");
    return complete ? 0 : 1;
  }
  print_now(fmt::format("Lockstep {}\n{}Tools, each only for what stands beside it\n{}", headers_version,
                        places, text));
  if (!packages.empty())
    print_now(fmt::format("On Debian: sudo apt-get install {}\n", fmt::join(packages, " ")));
  print_now(fmt::format("By default {} and {:.1f} GiB for visited states\n",
                        litmus::count_of(limits.threads, "thread"), gibibytes));
  return complete ? 0 : 1;
}

}  // namespace

Command add_doctor(CLI::App& lockstep) {
  auto as_json = std::make_shared<bool>(false);
  CLI::App* app =
      lockstep.add_subcommand("doctor", "What Lockstep finds here, and what it would be good for");
  app->add_flag("--json", *as_json, "Print JSON, schema lockstep.doctor/1");
  app->footer(
      "Examples:\n"
      "  lockstep doctor\n"
      "\n"
      "Exit status: 0, or 1 where the tests, models or machines are not found.");
  return {app, [as_json] { return run_doctor(*as_json); }};
}

}  // namespace lockstep::cli
