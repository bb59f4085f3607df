// `lockstep list`: what there is to run.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <nlohmann/json.hpp>

#include "checker/axiomatic/cat_compiler.hpp"
#include "checker/language/kernel_file.hpp"
#include "checker/language/read_tests.hpp"
#include "checker/support/diagnostic.hpp"
#include "checker/support/home.hpp"
#include "checker/support/json_text.hpp"
#include "checker/systems/registry.hpp"
#include "cli/command.hpp"
#include "cli/common.hpp"
#include "cli/findings.hpp"
#include "spec/scheduler/setup.hpp"
#include "spec/sync/catalogue.hpp"

namespace lockstep::cli {

namespace {

using nlohmann::json;

constexpr const char* findings_folder = "docs/findings";

struct Options {
  std::vector<std::string> words;
  bool json = false;
  bool markdown = false;
};

// What is listed, each with a name and a line on it, under a heading.
struct Section {
  std::string key;  // in JSON
  std::string heading;
  std::vector<std::pair<std::string, std::string>> items;
};

template <class Range>
std::vector<std::pair<std::string, std::string>> items_of(const Range& range) {
  std::vector<std::pair<std::string, std::string>> items;
  for (const auto& one : range) items.emplace_back(one.name, one.what);
  return items;
}

Section systems_section() {
  return {"systems", "Systems", items_of(systems())};
}
Section variants_section(const SystemEntry& system) {
  return {"variants", fmt::format("Variants of {} (--variant)", system.name), items_of(system.variants)};
}
Section faults_section(const SystemEntry& system) {
  return {"faults", fmt::format("Faults of {} (--fault)", system.name), items_of(system.faults)};
}
Section sizes_section(const SystemEntry& system) {
  Section section{"sizes", fmt::format("Sizes of {} (--size), at most, and by default", system.name), {}};
  for (const SizeDescription& size : system.sizes) {
    section.items.emplace_back(size.name, fmt::format("{:>3}  {}", size.capacity, size.what_sets_it));
  }
  return section;
}
// Of every variant, each with its unit, and its place in the paper where it names one.
Section rules_section(const SystemEntry& system) {
  Section section{"rules", fmt::format("Rules of {}", system.name), {}};
  for (const Variant& variant : system.variants) {
    SystemOptions options;
    options.variant = variant.name;
    for (const recorded::RecordedRule& rule : system.describe(options).rules) {
      const auto is_listed = [&](const auto& item) { return item.first == rule.name; };
      if (std::any_of(section.items.begin(), section.items.end(), is_listed)) continue;
      section.items.emplace_back(
          rule.name, rule.source.empty() ? rule.unit : fmt::format("{}; {}", rule.unit, rule.source));
    }
  }
  return section;
}
Section tests_section(std::vector<std::string>& errors) {
  const std::string home = litmus_home();
  const SuiteFiles files = read_tests(std::vector{home}, home, Clients::include);
  errors = files.errors;
  Section section{"tests", fmt::format("Tests in {}", home), {}};
  LitmusTests tests = files.tests;
  tests.insert(tests.end(), files.launches.begin(), files.launches.end());
  for (const auto& test : tests) {
    std::string tags = fmt::format("{}", fmt::join(test->tags, ", "));
    section.items.emplace_back(test->name,
                               tags.empty() ? test->doc : fmt::format("({}) {}", tags, test->doc));
  }
  return section;
}

Section models_section() {
  Section section{"models", "Models", {}};
  for (const std::string& name : cat::model_names()) section.items.emplace_back(name, cat::model_title(name));
  return section;
}

// Each with its variants and parameters.
std::vector<Section> programs_sections() {
  std::vector<Section> found;
  for (const SyncProgram& program : sync_programs()) {
    Section section{"programs", fmt::format("{}: {} ({})", program.name, program.what, program.source), {}};
    for (const Variant& variant : program.variants)
      section.items.emplace_back(fmt::format("{}/{}", program.name, variant.name), variant.what);
    for (const SyncParameter& p : program.parameters) {
      section.items.emplace_back(
          fmt::format("--with {}=", p.name),
          fmt::format("{}, {} to {}, {} by default", p.what, p.low, p.high, p.standard));
    }
    for (const Fault& fault : program.faults)
      section.items.emplace_back(fmt::format("--program-fault {}", fault.name), fault.what);
    found.push_back(std::move(section));
  }
  return found;
}
// Each with its sizes.
std::vector<Section> kernels_sections() {
  std::vector<Section> found;
  for (const std::string& name : kernels::shipped_kernel_files()) {
    const auto file = kernels::read_kernel_file(kernels::kernel_file_of(name));
    Section section{"kernels", fmt::format("{}: {}", name, file->what), {}};
    for (const kernels::KernelFile::Size& size : file->sizes) {
      section.items.emplace_back(fmt::format("--size {}=", size.name.text),
                                 fmt::format("{}, {} by default", size.what, size.standard));
    }
    for (const kernels::KernelFile::MadeGraph& graph : file->graphs)
      section.items.emplace_back(fmt::format("--graph {}=", graph.name.text), "a file in place of the graph");
    found.push_back(std::move(section));
  }
  return found;
}
std::vector<Section> schedulers_sections() {
  return {{"schedulers", "Progress models (progress --scheduler)", items_of(progress_models)},
          {"schedulers", "Waiting policies (progress --scheduler)", items_of(waiting_policies)},
          {"schedulers", "Faults of waiting policies (progress --set fault=)", items_of(scheduler_faults)}};
}

// Of one system, or of all papers.
std::vector<Section> findings_sections(const SystemEntry* system) {
  std::vector<Section> found;
  for (const FindingsOfPaper& paper : read_findings(shipped(findings_folder)).papers) {
    if (paper.findings.empty() || (system != nullptr && paper.folder != system->name)) continue;
    Section section{"findings", paper.title, {}};
    for (const Finding& finding : paper.findings) {
      section.items.emplace_back(
          fmt::format("{} {}", paper.name, finding.number),
          fmt::format("{} ({}; {})", finding.title, text_of(finding.severity), rests_text(finding)));
    }
    found.push_back(std::move(section));
  }
  if (found.empty()) found.push_back({"findings", "Findings", {}});
  return found;
}

std::string text_of(const Section& section) {
  std::size_t width = 0;
  for (const auto& item : section.items) width = std::max(width, item.first.size());
  std::string text = section.heading + "\n";
  for (const auto& [name, what] : section.items) text += fmt::format("  {:<{}}  {}\n", name, width, what);
  if (section.items.empty()) text += "  none\n";
  return text;
}

// Sections for `lockstep list [KIND] [SYSTEM]`; either word may be left out.
std::vector<Section> sections(const std::vector<std::string>& words, std::vector<std::string>& errors) {
  const auto is_kind = [&](const std::string& word) {
    return std::find(listed_kinds.begin(), listed_kinds.end(), word) != listed_kinds.end();
  };
  std::string kind;
  const SystemEntry* system = nullptr;
  for (const std::string& word : words) {
    if (kind.empty() && is_kind(word)) {
      kind = word;
    } else if (system == nullptr) {
      const auto known = [&](const SystemEntry& entry) { return entry.name == word; };
      if (std::none_of(systems().begin(), systems().end(), known)) {
        std::vector<std::string> all = listed_kinds;
        for (const SystemEntry& entry : systems()) all.emplace_back(entry.name);
        throw BadInput(fmt::format("'{}' is neither a system nor a kind of thing", word),
                       suggestion(word, all));
      }
      system = &find_system(word);
    } else {
      throw BadInput(fmt::format("one system at a time, not '{}' as well", word));
    }
  }
  if (kind == "findings") return findings_sections(system);
  if (kind == "tests") return {tests_section(errors)};
  if (kind == "models") return {models_section()};
  if (kind == "programs") return programs_sections();
  if (kind == "kernels") return kernels_sections();
  if (kind == "schedulers") return schedulers_sections();
  if (kind == "systems" || (kind.empty() && system == nullptr)) return {systems_section()};
  std::vector<Section> found;
  for (const SystemEntry& entry : systems()) {
    if (system != nullptr && system->name != entry.name) continue;
    if (kind.empty() || kind == "variants") found.push_back(variants_section(entry));
    if (kind.empty() || kind == "faults") found.push_back(faults_section(entry));
    if (kind.empty() || kind == "sizes") found.push_back(sizes_section(entry));
    if (kind == "rules") found.push_back(rules_section(entry));
  }
  return found;
}

json json_of(const std::vector<Section>& sections) {
  json out{{"schema", "lockstep.list/1"}, {"sections", json::array()}};
  for (const Section& section : sections) {
    json items = json::array();
    for (const auto& [name, what] : section.items) items.push_back({{"name", name}, {"what", what}});
    out["sections"].push_back(
        {{"kind", section.key}, {"heading", section.heading}, {"items", std::move(items)}});
  }
  return out;
}

// ---- docs/systems/README.md -------------------------------------------------------------------------------

// Rows below a head, of names and further cells; nothing where nothing is.
using Row = std::vector<std::string>;
std::string table(const Row& head, const std::vector<Row>& rows) {
  if (rows.empty()) return {};
  std::string text = fmt::format("\n| {} |\n|", fmt::join(head, " | "));
  for (std::size_t i = 0; i < head.size(); ++i) text += "---|";
  for (const Row& row : rows) {
    text += fmt::format("\n| `{}` |", row.front());
    for (std::size_t i = 1; i < row.size(); ++i) {
      text += ' ';
      for (const char c : row[i]) text += c == '|' ? std::string("\\|") : std::string(1, c);
      text += " |";
    }
  }
  return text + "\n";
}
std::string table(const Row& head, const Section& section) {
  std::vector<Row> rows;
  for (const auto& [name, what] : section.items) rows.push_back({name, what});
  return table(head, rows);
}

// All that a system is known by, as the page that tests hold against it.
std::string systems_page() {
  std::string text =
      "# Systems\n\n"
      "What `lockstep list` knows of each system. `./lockstep list --markdown >docs/systems/README.md` "
      "writes this "
      "page, and a\ntest fails where it is out of date.\n";
  for (const SystemEntry& system : systems()) {
    std::string what(system.what);
    what[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(what[0])));
    text += fmt::format("\n## {}\n{}.\n", system.name, what);
    text += table({"variant", "is"}, variants_section(system));
    text += table({"fault", "is"}, faults_section(system));
    std::vector<Row> sizes;
    for (const SizeDescription& size : system.sizes)
      sizes.push_back({size.name, fmt::format("{}", size.capacity), size.what_sets_it});
    text += table({"size", "at most", "by default"}, sizes);
    text += table({"rule", "unit; place in the paper"}, rules_section(system));
  }
  return text;
}

int run(const Options& options) {
  std::vector<std::string> errors;
  if (options.markdown) {
    const bool of_findings = options.words == std::vector<std::string>{"findings"};
    if (options.json || (!options.words.empty() && !of_findings)) {
      throw BadInput("--markdown prints one page with every system, or with every finding",
                     "leave out what else was asked for");
    }
    print_now(of_findings ? findings_page(read_findings(shipped(findings_folder))) : systems_page());
    return 0;
  }
  const std::vector<Section> found = sections(options.words, errors);
  if (options.json) {
    print_now(json_text(json_of(found), 1) + "\n");
  } else {
    std::string text;
    for (const Section& section : found) text += (text.empty() ? "" : "\n") + text_of(section);
    print_now(text);
  }
  for (const std::string& error : errors) print_error(error);
  return errors.empty() ? 0 : 2;
}

}  // namespace

Command add_list(CLI::App& lockstep) {
  auto options = std::make_shared<Options>();
  CLI::App* app =
      lockstep.add_subcommand("list", "List what there is: systems, tests, models, programs and so on");
  app->add_option(
      "WHAT", options->words,
      "systems, variants, faults, sizes, rules, findings, tests, models, programs, kernels or schedulers, "
      "and a system; either "
      "may be left out");
  app->add_flag("--json", options->json, "Print JSON, schema lockstep.list/1");
  app->add_flag("--markdown", options->markdown,
                "Print the page docs/systems/README.md, or of findings docs/findings.md");
  app->footer(
      "Examples:\n"
      "  lockstep list                       the systems\n"
      "  lockstep list quick-release         its variants, faults and sizes\n"
      "  lockstep list faults write-through\n"
      "  lockstep list rules halcone         each with its unit and its place in the paper\n"
      "  lockstep list tests\n"
      "  lockstep list models                the axiomatic models, for --model\n"
      "  lockstep list programs              locks, semaphores and barriers, for progress\n"
      "  lockstep list kernels               files of kernels, for sim\n"
      "  lockstep list schedulers            for progress --scheduler");
  return {app, [options] { return run(*options); }};
}

}  // namespace lockstep::cli
