// `lockstep generate`: enumerates litmus tests over an alphabet.
#include "checker/generate/generate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "checker/generate/screen.hpp"
#include "checker/support/diagnostic.hpp"
#include "cli/command.hpp"
#include "cli/common.hpp"

namespace lockstep::cli {

namespace {

using generate::Blueprint;
using generate::Family;
using generate::Generator;
using nlohmann::json;

constexpr int interrupted_status = 130;

struct Options {
  generate::GenerateOptions generate;
  std::string model;
  std::string folder;
  bool list = false;
  bool count = false;
  bool json = false;
};

struct Count {
  std::size_t tests = 0;
  std::size_t duplicates = 0;
  std::size_t racy = 0;  // left out
};

std::string size_text(const std::pair<int, int>& size) {
  if (size.first == 0) return "straight programs";
  if (size.second == 0) return fmt::format("cycles of {} edges", size.first);
  return fmt::format("cycles of {} edges, {} extra{}", size.first, size.second, size.second == 1 ? "" : "s");
}

std::string counts_text(const std::map<std::pair<int, int>, Count>& counts, const Options& options) {
  std::string text = fmt::format("{:<30}{:>12}{:>13}", "", "tests", "duplicates");
  if (!options.model.empty()) text += fmt::format("{:>13}", "racy");
  text += "\n";
  const auto line = [&](const std::string& what, const Count& count) {
    text += fmt::format("{:<30}{:>12}{:>13}", what, count.tests, count.duplicates);
    if (!options.model.empty()) text += fmt::format("{:>13}", count.racy);
    text += "\n";
  };
  Count all;
  for (const auto& [size, count] : counts) {
    line(size_text(size), count);
    all.tests += count.tests;
    all.duplicates += count.duplicates;
    all.racy += count.racy;
  }
  line("all", all);
  return text;
}

json counts_json(const std::map<std::pair<int, int>, Count>& counts, const Options& options) {
  json sizes = json::array();
  for (const auto& [size, count] : counts) {
    json one{{"edges", size.first},
             {"extras", size.second},
             {"tests", count.tests},
             {"duplicates_dropped", count.duplicates}};
    if (!options.model.empty()) one["racy_left_out"] = count.racy;
    sizes.push_back(std::move(one));
  }
  return {{"schema", "lockstep.generate/1"},
          {"up_to", options.generate.up_to},
          {"straight", options.generate.straight},
          {"sizes", std::move(sizes)}};
}

void write_test(const Blueprint& blueprint, const std::string& folder) {
  const auto test = generate::to_test(blueprint);
  const std::filesystem::path file = std::filesystem::path(folder) / (test->name + ".litmus");
  std::ofstream out(file);
  out << generate::print_test(*test);
  if (!out.flush()) throw BadInput(fmt::format("{} cannot be written", file.string()));
}

int run(const Options& options) {
  const Generator generator(options.generate);
  std::optional<RaceModel> model;
  if (!options.model.empty()) model = model_named(options.model);
  if (!options.folder.empty()) std::filesystem::create_directories(options.folder);
  std::map<std::pair<int, int>, Count> counts;
  json names = json::array();
  ProgressLine progress;
  std::size_t done = 0;
  for (const Family& family : generator.families()) {
    if (interrupted()) return interrupted_status;
    Count& count = counts[{family.edges, family.extras}];
    count.duplicates += generator.enumerate(family, [&](const Blueprint& blueprint) {
      if (model && surely_races(blueprint, *model)) {
        ++count.racy;
        return;
      }
      ++count.tests;
      if (interrupted()) return;
      if (!options.folder.empty()) write_test(blueprint, options.folder);
      if (options.list && options.json) names.push_back(name_of(blueprint));
      if (options.list && !options.json) print_now(name_of(blueprint) + "\n");
    });
    if (!options.list) progress.show(fmt::format("{} of {} families", ++done, generator.families().size()));
  }
  progress.erase();
  if (options.json) {
    json out = counts_json(counts, options);
    if (options.list) out["names"] = std::move(names);
    print_now(out.dump(1) + "\n");
  } else if (!options.list) {
    print_now(counts_text(counts, options));
  }
  return interrupted() ? interrupted_status : 0;
}

}  // namespace

Command add_generate(CLI::App& lockstep) {
  auto options = std::make_shared<Options>();
  CLI::App* app = lockstep.add_subcommand("generate", "Enumerate litmus tests from critical cycles");
  app->add_option("--up-to", options->generate.up_to, "Edges of a cycle, with its extras; 0: no cycles")
      ->type_name("N")
      ->capture_default_str();
  app->add_flag("--straight", options->generate.straight,
                "Also the programs of 2 threads with 2 operations each");
  app->add_option("--model", options->model, "Leave out what races under this data-race-free model")
      ->type_name("M");
  app->add_option("--output", options->folder, "Write each test to a file in this folder")
      ->type_name("FOLDER");
  auto* list = app->add_flag("--list", options->list, "Print the tests' names");
  app->add_flag("--count", options->count, "Print how many there are (default)")->excludes(list);
  app->add_flag("--json", options->json, "Print JSON, schema lockstep.generate/1");
  app->footer(
      "Examples:\n"
      "  lockstep generate --up-to 6                        how many there are\n"
      "  lockstep generate --model hrf-indirect --list      the race-free ones up to 4\n"
      "  lockstep generate --model drf --output tests       as files for `lockstep litmus`\n"
      "\n"
      "docs/generation.md has the alphabet. Exit status: 0, 2 bad input, 130 interrupted.");
  return {app, [options] { return run(*options); }};
}

}  // namespace lockstep::cli
