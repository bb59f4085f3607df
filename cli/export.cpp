// `lockstep export`: a system in the language of another model checker.
#include "checker/export/export.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>

#include "checker/language/read_tests.hpp"
#include "checker/litmus/runner.hpp"
#include "checker/support/diagnostic.hpp"
#include "checker/support/process.hpp"
#include "cli/command.hpp"
#include "cli/common.hpp"

namespace lockstep::cli {

namespace {

struct Options {
  std::string system;
  std::string to;
  std::string program;
  std::string folder;
  bool count = false;
  SystemChoice choice;
};

using Test = std::shared_ptr<const LitmusTest>;

struct Language {
  std::string_view name;
  std::string_view ending;  // of a file
  std::string (*write)(const recorded::WholeDescription&, const std::vector<Claim>&, const ExportOptions&);
};
constexpr std::array languages{Language{"murphi", ".m", export_murphi},
                               Language{"promela", ".pml", export_promela},
                               Language{"cuda", ".cu", export_cuda}};
const Language& language_named(const std::string& name) {
  return *std::find_if(languages.begin(), languages.end(),
                       [&](const Language& language) { return language.name == name; });
}

// The program that is named, or every client; null alone where the system runs none.
std::vector<Test> tests(const Options& options, const Subject& subject) {
  if (!subject.system->runs_programs && options.program.empty()) return {nullptr};
  const bool clients = options.program.empty();
  if (clients && options.folder.empty()) {
    throw BadInput(fmt::format("{} runs programs, and each makes an export of its own", subject.system->name),
                   "name one with --program, or a folder for all clients with --output");
  }
  const std::string home = litmus_home();
  SuiteFiles files =
      read_tests(std::vector{clients ? (std::filesystem::path(home) / "clients").string() : options.program},
                 home, Clients::include);
  if (!files.errors.empty()) {
    for (const std::string& error : files.errors) print_error(error);
    throw BadInput(fmt::format("'{}' can't be exported", options.program));
  }
  std::vector<Test> all = tests_for(*subject.system, std::move(files));
  if (all.size() > 1 && options.folder.empty()) {
    throw BadInput(fmt::format("'{}' holds {} programs, and each makes an export of its own", options.program,
                               all.size()),
                   "name one of them, or a folder for all with --output");
  }
  return all;
}

std::string exported(const Options& options, Subject subject, const Test& test) {
  if (test) subject = with_client(std::move(subject), *test);
  const recorded::WholeDescription whole = subject.describe();
  ExportOptions how;
  how.title = subject.description() + (test ? " running " + test->name : "");
  how.purpose = options.count ? Purpose::count : Purpose::verdict;
  const std::vector<Claim> claims = claims_of(whole, test.get());
  return language_named(options.to).write(whole, claims, how);
}

void write_into_folder(const Options& options, const Subject& subject, const std::vector<Test>& all) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::create_directories(options.folder, error);
  if (error) throw BadInput(Diagnostic{options.folder, {}, "cannot be made: " + error.message(), {}, {}});
  for (const Test& test : all) {
    std::string name = subject.name() + (test ? "-" + test->name : "");
    std::replace(name.begin(), name.end(), '/', '-');
    const fs::path file = fs::path(options.folder) / (name + std::string(language_named(options.to).ending));
    write_file(file, exported(options, subject, test));
    print_now(file.string() + "\n");
  }
}

int run(const Options& options) {
  Subject subject = subject_named(options.system);
  apply_shared(options.choice.shared(), std::span(&subject, 1));
  const std::vector<Test> all = tests(options, subject);
  if (options.folder.empty()) {
    print_now(exported(options, subject, all.front()));
  } else {
    write_into_folder(options, subject, all);
  }
  return 0;
}

}  // namespace

Command add_export(CLI::App& lockstep) {
  auto options = std::make_shared<Options>();
  CLI::App* app = lockstep.add_subcommand("export", "Write a system for another model checker");
  app->add_option("SYSTEM", options->system, "A system, or SYSTEM/VARIANT (`lockstep list`)")->required();
  app->add_option("--to", options->to,
                  "murphi (for Rumur), promela (for SPIN) or cuda (for a graphics processor)")
      ->required()
      ->check(CLI::IsMember({"murphi", "promela", "cuda"}).description(""))
      ->type_name("LANGUAGE");
  app->add_option("--program", options->program,
                  "The program, or sequence of launches, that a memory system runs: a file or a name")
      ->type_name("P");
  app->add_option("--output", options->folder,
                  "Write files into a folder, one for each program (default: the clients), not to stdout")
      ->type_name("FOLDER");
  app->add_flag("--count", options->count, "Count the states that fail, as crosscheck does, and go on");
  options->choice.add_to(*app);
  app->footer(
      "Examples:\n"
      "  lockstep export german --to murphi --size node=3 > german.m\n"
      "  lockstep export quick-release --program mp-agent --to promela > mp.pml\n"
      "  lockstep export write-through --to murphi --output exports\n"
      "\n"
      "Invariants, assertions and deadlock become claims of the export. A litmus test's condition becomes "
      "one\n"
      "too: Rumur says whether it covers an end that satisfies it, and SPIN reports such an end as an "
      "error,\n"
      "which is its way of finding one.");
  return {app, [options] { return run(*options); }};
}

}  // namespace lockstep::cli
