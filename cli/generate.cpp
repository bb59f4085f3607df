// `lockstep generate`: enumerates litmus tests over an alphabet, or, with --progress, programs whose question
// is whether they terminate.
#include "checker/generate/generate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "checker/generate/progress_table.hpp"
#include "checker/generate/screen.hpp"
#include "checker/support/diagnostic.hpp"
#include "checker/support/json_text.hpp"
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
  // With --progress.
  bool progress = false;
  int threads = 0;       // of the programs; 0: of 2 and of 3
  int instructions = 3;  // at most
  int locations = 2;
  int values = 2;
  unsigned workers = 0;  // 0: as many as the machine runs at once
  double seconds = 0;    // 0: no limit
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
          {"warm", options.generate.warm},
          {"sizes", std::move(sizes)}};
}

void write_test(const LitmusTest& test, const std::string& text, const std::string& folder) {
  const std::filesystem::path file = std::filesystem::path(folder) / (test.name + ".litmus");
  std::ofstream out(file);
  out << text;
  if (!out.flush()) throw BadInput(fmt::format("{} cannot be written", file.string()));
}

// Spaces of 2 and of 3 threads, the smallest first.
std::vector<generate::ProgressSpace> progress_spaces(const Options& options) {
  std::vector<generate::ProgressSpace> spaces;
  for (const int threads : {2, 3}) {
    if (options.threads != 0 && options.threads != threads) continue;
    for (int instructions = threads; instructions <= options.instructions; ++instructions)
      spaces.push_back({threads, instructions, options.locations, options.values});
  }
  if (spaces.empty()) {
    throw BadInput(fmt::format("{} threads have {} instructions or more", options.threads, options.threads),
                   "--instructions counts those of all threads together");
  }
  return spaces;
}

int run_progress(const Options& options) {
  LimitOptions limits;
  limits.threads = options.workers;
  limits.seconds = options.seconds;
  generate::ProgressTableOptions table_options;
  table_options.limits = limits.limits();
  table_options.workers = table_options.limits.threads;
  if (!options.folder.empty()) {
    std::filesystem::create_directories(options.folder);
    table_options.take = [&](const generate::ProgressProgram& program,
                             const generate::ProgressVerdicts& verdicts) {
      const auto test = generate::to_test(program);
      write_test(*test, generate::print_test(*test, verdicts.expectation()), options.folder);
    };
  }
  ProgressLine progress;
  std::vector<generate::ProgressTable> tables;
  for (const generate::ProgressSpace& space : progress_spaces(options)) {
    if (interrupted()) break;
    const std::uint64_t candidates = generate::ProgressPrograms(space).candidates();
    table_options.on_progress = [&](std::uint64_t done) {
      progress.show(fmt::format("{} threads, {} instructions: {} of {} candidates", space.threads,
                                space.instructions, done, candidates));
    };
    tables.push_back(generate::tabulate(space, table_options));
    progress.erase();
    if (!options.json) print_now(generate::table_text(tables.back()) + "\n");
  }
  if (options.json) print_now(json_text(generate::tables_json(tables), 1) + "\n");
  for (const generate::ProgressTable& table : tables) {
    for (const std::string& violation : table.violations)
      print_error("a mistake of lockstep itself: " + violation);
  }
  const int status = exit_status(tables);
  return status == 0 && interrupted() ? interrupted_status : status;
}

int run(const Options& options) {
  if (options.progress) return run_progress(options);
  const Generator generator(options.generate);
  std::optional<RaceModel> model;
  if (!options.model.empty()) model = find_race_model(options.model);
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
      if (!options.folder.empty()) {
        const auto test = generate::to_test(blueprint);
        write_test(*test, generate::print_test(*test), options.folder);
      }
      if (options.list && options.json) names.push_back(name_of(blueprint));
      if (options.list && !options.json) print_now(name_of(blueprint) + "\n");
    });
    if (!options.list) progress.show(fmt::format("{} of {} families", ++done, generator.families().size()));
  }
  progress.erase();
  if (options.json) {
    json out = counts_json(counts, options);
    if (options.list) out["names"] = std::move(names);
    print_now(json_text(out, 1) + "\n");
  } else if (!options.list) {
    print_now(counts_text(counts, options));
  }
  return interrupted() ? interrupted_status : 0;
}

}  // namespace

Command add_generate(CLI::App& lockstep) {
  auto options = std::make_shared<Options>();
  CLI::App* app = lockstep.add_subcommand("generate", "Enumerate litmus tests");
  std::vector<CLI::Option*> others = add_generated(*app, options->generate);
  auto* model =
      app->add_option("--model", options->model, "Leave out what races under this data-race-free model");
  model->type_name("M");
  app->add_option("--output,--out", options->folder, "Write each test to a file in this folder")
      ->type_name("FOLDER");
  auto* list = app->add_flag("--list", options->list, "Print the tests' names");
  auto* count = app->add_flag("--count", options->count, "Print how many there are (default)");
  count->excludes(list);
  app->add_flag("--json", options->json, "Print JSON, schema lockstep.generate/1");
  auto* progress = app->add_flag("--progress", options->progress,
                                 "Instead programs whose question is termination, under each progress model");
  others.insert(others.end(), {model, list, count});
  for (CLI::Option* other : others) progress->excludes(other);
  const auto of_progress = [&](CLI::Option* option) { option->needs(progress)->type_name("N"); };
  of_progress(app->add_option("--threads", options->threads, "Of a program: 2 or 3 (default: both)")
                  ->check(CLI::IsMember({2, 3}).description("")));
  of_progress(app->add_option("--instructions", options->instructions,
                              "Up to so many in all threads of a program together")
                  ->check(CLI::Range(2, generate::ProgressProgram::most_instructions).description(""))
                  ->capture_default_str());
  of_progress(app->add_option("--locations", options->locations, "Up to so many")
                  ->check(CLI::Range(1, 3).description(""))
                  ->capture_default_str());
  of_progress(app->add_option("--values", options->values, "So many, the initial 0 among them")
                  ->check(CLI::Range(2, 4).description(""))
                  ->capture_default_str());
  of_progress(
      app->add_option("--workers", options->workers, "Threads to judge with (default: all of this machine's)")
          ->check(CLI::Range(1, 1024).description("")));
  app->add_option("--timeout", options->seconds, "Time for each table (default: no limit)")
      ->needs(progress)
      ->check(CLI::Range(0.001, 1e9).description(""))
      ->type_name("SECONDS");
  app->footer(
      "Examples:\n"
      "  lockstep generate --up-to 6                        how many there are\n"
      "  lockstep generate --model hrf-indirect --list      the race-free ones up to 4\n"
      "  lockstep generate --model drf --output tests       as files for `lockstep litmus`\n"
      "  lockstep generate --progress                       who terminates, under which models\n"
      "  lockstep generate --progress --threads 2 --instructions 4\n"
      "\n"
      "docs/generation.md has the alphabet, docs/progress-tests.md that of --progress,\n"
      "whose JSON is of schema lockstep.generate-progress/1. Exit status: 0, 1 --progress\n"
      "contradicts itself, 2 bad input, 3 out of time, 130 interrupted.");
  return {app, [options] { return run(*options); }};
}

}  // namespace lockstep::cli
