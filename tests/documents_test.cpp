// Documents say what is so: code that they show is a file's, and their tables name everything that there is.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "checker/axiomatic/cat_compiler.hpp"
#include "checker/support/jobs.hpp"
#include "checker/support/process.hpp"
#include "checker/systems/registry.hpp"
#include "proofs/prover.hpp"
#include "refimpl/workloads/workload.hpp"
#include "spec/scheduler/setup.hpp"
#include "spec/sync/catalogue.hpp"

using namespace lockstep;

namespace {

namespace fs = std::filesystem;

using Lines = std::vector<std::string>;

const fs::path& root() {
  static const fs::path folder = LOCKSTEP_SOURCE_DIR;
  return folder;
}

Lines lines_of(const fs::path& file) {
  std::ifstream in(root() / file);
  INFO(file.string());
  REQUIRE(in.is_open());
  Lines lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string trimmed(const std::string& line) {
  const std::size_t first = line.find_first_not_of(' ');
  return first == std::string::npos ? std::string() : line.substr(first);
}

// ---- code
// --------------------------------------------------------------------------------------------------

// A fenced block of a document.
struct Block {
  std::size_t line = 0;  // of the fence, from 1
  std::string language;
  std::string source;  // the file that the line ahead of the fence names: <!-- path -->
  std::string marked;  // of a transcript, likewise: "slow", or "not run: why"
  Lines text;
};

std::vector<Block> blocks_of(const fs::path& document) {
  std::vector<Block> blocks;
  const Lines lines = lines_of(document);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!lines[i].starts_with("```")) continue;
    Block block{i + 1, lines[i].substr(3), {}, {}, {}};
    constexpr std::string_view opens = "<!-- ", closes = " -->";
    if (i > 0 && lines[i - 1].starts_with(opens) && lines[i - 1].ends_with(closes)) {
      block.source = lines[i - 1].substr(opens.size(), lines[i - 1].size() - opens.size() - closes.size());
      if (block.source == "slow" || block.source.starts_with("not run: "))
        std::swap(block.source, block.marked);
    }
    while (++i < lines.size() && !lines[i].starts_with("```")) block.text.push_back(lines[i]);
    blocks.push_back(std::move(block));
  }
  return blocks;
}

// Where, from `first` on, a file has these lines one after the other, however far they are indented.
std::size_t find_piece(const Lines& file, std::size_t first, const Lines& piece) {
  const auto is_same = [](const std::string& a, const std::string& b) { return trimmed(a) == trimmed(b); };
  const auto found = std::search(file.begin() + static_cast<std::ptrdiff_t>(first), file.end(), piece.begin(),
                                 piece.end(), is_same);
  return static_cast<std::size_t>(found - file.begin());
}

// What a block shows stands in its file, in that order; a line `...` leaves something out. Otherwise the
// first piece that does not.
std::string first_lie(const Block& block) {
  const Lines file = lines_of(block.source);
  std::size_t at = 0;
  Lines piece;
  const auto is_told = [&] {
    if (piece.empty()) return true;
    at = find_piece(file, at, piece);
    if (at == file.size()) return false;
    at += piece.size();
    return true;
  };
  const auto text_of = [](const Lines& lines) {
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    return text;
  };
  for (const std::string& line : block.text) {
    if (trimmed(line) != "..." && trimmed(line) != "// ...") {
      piece.push_back(line);
      continue;
    }
    if (!is_told()) return text_of(piece);
    piece.clear();
  }
  return is_told() ? std::string() : text_of(piece);
}

std::vector<fs::path> documents() {
  std::vector<fs::path> found{"README.md", "proofs/README.md", "python/README.md", "refimpl/README.md"};
  for (const auto& entry : fs::recursive_directory_iterator(root() / "docs")) {
    if (entry.path().extension() == ".md") found.push_back(fs::relative(entry.path(), root()));
  }
  // docs/findings.md is made of these.
  std::erase_if(found, [](const fs::path& file) { return file.string().starts_with("docs/findings/"); });
  return found;
}

// ---- transcripts
// -------------------------------------------------------------------------------------------

#ifdef LOCKSTEP_BINARY

// A command as a document shows it, with what it prints there.
struct Shown {
  std::string document;
  std::size_t line = 0;
  std::string command;
  Lines output;
};

// "$ ./lockstep ..." or "$ lockstep ..." of a block, and the lines below each.
void add_commands(std::vector<Shown>& all, const std::string& document, const Block& block) {
  bool ours = false;
  for (std::size_t i = 0; i < block.text.size(); ++i) {
    const std::string& line = block.text[i];
    if (line.starts_with("$ ")) {
      ours = line.starts_with("$ ./lockstep ") || line.starts_with("$ lockstep ");
      if (ours) all.push_back({document, block.line + 1 + i, line.substr(line.find("lockstep ")), {}});
    } else if (ours) {
      all.back().output.push_back(line);
    }
  }
}

// Blanks divide it, but within quotes; what stands behind several is a remark.
std::vector<std::string> words_of(const std::string& command) {
  std::vector<std::string> words;
  std::string word;
  bool quoted = false;
  for (std::size_t i = 0; i < command.size(); ++i) {
    if (command[i] == '\'') {
      quoted = !quoted;
    } else if (command[i] == ' ' && !quoted) {
      words.push_back(std::exchange(word, {}));
      if (command.compare(i, 3, "   ") == 0) break;
    } else {
      word += command[i];
    }
  }
  if (!word.empty()) words.push_back(word);
  return words;
}

// Times, and the columns that they are set in, rates and what they move are another machine's; places are
// another tree's.
std::string without_measures(std::string line) {
  static const std::array measures{
      std::regex(R"( *\d[\d.]* s\b)"),        std::regex(R"(\d[\d.]* [kM]? ?(states|firings) a second)"),
      std::regex(R"(\d[\d.]* [kMG]?B\b)"),    std::regex(R"(\d[\d.]* bytes\b)"),
      std::regex(R"(^Time \S+ \d[\d.]*)"),    std::regex(R"(\d[\d.]* bytes a state)"),
      std::regex(R"(\(/[^ )]*/spec/models/)")};
  for (const std::regex& measure : measures) line = std::regex_replace(line, measure, "#");
  while (line.ends_with(' ')) line.pop_back();
  return line;
}

// A line "..." leaves lines out, and at the end of a line what follows on it. Otherwise the first line that
// the command does not print where it should.
std::string first_lie(const Shown& shown, const std::string& printed) {
  Lines lines;
  std::istringstream in(printed);
  for (std::string line; std::getline(in, line);) lines.push_back(without_measures(line));
  std::size_t at = 0;
  bool anywhere = false;
  for (const std::string& line : shown.output) {
    if (trimmed(line) == "...") {
      anywhere = true;
      continue;
    }
    std::string told = without_measures(line);
    const bool begun = told.ends_with("...");
    if (begun) told.resize(told.size() - 3);
    const auto is_it = [&](const std::string& one) { return begun ? one.starts_with(told) : one == told; };
    std::size_t found = at;
    while (anywhere && found < lines.size() && !is_it(lines[found])) ++found;
    if (found == lines.size() || !is_it(lines[found])) {
      return line +
             (found < lines.size() ? "\nwhere it prints: " + lines[found] : "\nwhich it never prints there");
    }
    at = found + 1;
    anywhere = false;
  }
  return {};
}

// Runs all of them, several at a time, each in a folder of its own that leads to the tree's.
std::vector<std::string> lies(const std::vector<Shown>& all, std::chrono::seconds limit) {
  std::vector<std::string> lies(all.size());
  run_jobs(
      all.size(), std::max(1U, std::thread::hardware_concurrency()),
      [&](std::size_t i) {
        const TemporaryFolder folder;
        for (const char* name : {"litmus", "refimpl", "spec", "examples"})
          fs::create_directory_symlink(root() / name, folder.path() / name);
        Process process;
        process.command = words_of(all[i].command);
        process.command.front() = LOCKSTEP_BINARY;
        process.folder = folder.path();
        process.time = limit;
        const ProcessResult result = run_process(process);
        lies[i] = result.end == ProcessResult::End::out_of_time ? "anything in time: mark it as slow"
                                                                : first_lie(all[i], result.output);
      },
      [] {});
  return lies;
}

void check_transcripts(const std::vector<fs::path>& documents) {
  const bool slow = std::getenv("LOCKSTEP_SLOW_TRANSCRIPTS") != nullptr;
  std::vector<Shown> all;
  for (const fs::path& document : documents) {
    for (const Block& block : blocks_of(document)) {
      if (block.marked.empty() || (slow && block.marked == "slow"))
        add_commands(all, document.string(), block);
    }
  }
  CHECK_FALSE(all.empty());
  std::erase_if(all, [](const Shown& one) { return one.output.empty(); });
  const std::vector<std::string> found = lies(all, slow ? std::chrono::hours(2) : std::chrono::minutes(5));
  for (std::size_t i = 0; i < all.size(); ++i) {
    INFO(all[i].document << ":" << all[i].line << ": `" << all[i].command << "` does not print\n"
                         << found[i]);
    CHECK(found[i].empty());
  }
}

#endif

// ---- tables
// ------------------------------------------------------------------------------------------------

// The rows below a heading, up to the next, by the name in their first cell.
using Rows = std::vector<std::pair<std::string, std::string>>;
Rows rows_below(const fs::path& document, std::string_view heading) {
  Rows rows;
  bool inside = false;
  for (const std::string& line : lines_of(document)) {
    if (line.starts_with("#")) inside = line.ends_with(heading);
    if (!inside || !line.starts_with("| `")) continue;
    const std::size_t end = line.find('`', 3);
    rows.emplace_back(line.substr(3, end - 3), line.substr(end));
  }
  INFO(document.string() << ", " << heading);
  REQUIRE(!rows.empty());
  return rows;
}

const std::string* row_of(const Rows& rows, std::string_view name) {
  for (const auto& [first, row] : rows) {
    if (first == name) return &row;
  }
  return nullptr;
}

// All between backticks.
std::set<std::string> names_in(const std::string& text) {
  std::set<std::string> names;
  for (std::size_t at = text.find('`'); at != std::string::npos; at = text.find('`', at)) {
    const std::size_t end = text.find('`', at + 1);
    if (end == std::string::npos) break;
    names.insert(text.substr(at + 1, end - at - 1));
    at = end + 1;
  }
  return names;
}

// Each name stands somewhere in the document, as code.
template <class Range>
void names_everything(const fs::path& document, std::string_view kind, const Range& range) {
  std::string text;
  for (const std::string& line : lines_of(document)) text += line + "\n";
  for (const auto& one : range) {
    INFO(document.string() << " does not name the " << kind << " `" << one.name << "`: " << one.what);
    CHECK(text.find("`" + std::string(one.name) + "`") != std::string::npos);
  }
}

}  // namespace

TEST_CASE("code that documents show is a file's") {
  for (const fs::path& document : documents()) {
    for (const Block& block : blocks_of(document)) {
      if (block.source.empty()) continue;
      const std::string lie = first_lie(block);
      INFO(document.string() << ":" << block.line << ": this is not, or not in this order, in "
                             << block.source << ":\n"
                             << lie);
      CHECK(lie.empty());
    }
  }
}

#ifdef LOCKSTEP_BINARY
TEST_CASE("commands print what documents show of them", "[transcripts]") {
  std::vector<fs::path> all = documents();
  std::erase(all, fs::path("docs/findings.md"));
  check_transcripts(all);
}

TEST_CASE("a transcript that is not what the command prints is told, with the line") {
  const std::string printed = "Check german\n  States  12, depth 3\n  Time  0.25 s\n  Verdict  holds\n";
  const auto lie = [&](const Lines& output) {
    return first_lie(Shown{"x.md", 1, "lockstep check", output}, printed);
  };
  CHECK(lie({"Check german", "  States  12, depth 3", "  Time  1.50 s"}).empty());
  CHECK(lie({"...", "  Verdict  holds"}).empty());
  CHECK(lie({"Check ger...", "  States  12, ..."}).empty());
  CHECK_THAT(lie({"Check german", "  States  13, depth 3"}),
             Catch::StartsWith("  States  13, depth 3\nwhere it prints:   States  12"));
  CHECK_THAT(lie({"Check german", "  Verdict  holds"}), Catch::Contains("where it prints:   States"));
  CHECK_THAT(lie({"...", "  Verdict  violated"}), Catch::Contains("never prints there"));
  CHECK_THAT(lie({"...", "  Verdict  holds", "...", "Check german"}), Catch::Contains("Check german"));
  CHECK(words_of("lockstep explain my --rule 'takes up'   the rule").size() == 5);
}

TEST_CASE("findings are found", "[transcripts]") {
  check_transcripts({"docs/findings.md"});
}
#endif

TEST_CASE("the document on writing a protocol shows no code but of files") {
  const fs::path document = "docs/writing-a-protocol.md";
  for (const Block& block : blocks_of(document)) {
    INFO(document.string() << ":" << block.line
                           << ": a line <!-- path --> ahead of it has to say whose it is");
    CHECK((block.language.empty() || !block.source.empty()));
  }
}

TEST_CASE("the README's table has every system, and no variant that there is not") {
  const Rows rows = rows_below("README.md", "Systems");
  for (const SystemEntry& system : systems()) {
    const std::string* row = row_of(rows, system.name);
    if (row == nullptr) {
      FAIL_CHECK("README.md, Systems: no row for " << system.name << "; add | `" << system.name << "` | "
                                                   << system.what << " |");
      continue;
    }
    // Behind "variants": all of them, or some and an ellipsis.
    const std::size_t listed = row->find("variants ");
    const std::set<std::string> names =
        listed == std::string::npos ? std::set<std::string>() : names_in(row->substr(listed));
    const bool whole = listed == std::string::npos || row->find("...") == std::string::npos;
    for (const Variant& variant : system.variants) {
      INFO("README.md, Systems: the row of " << system.name << " lacks its variant `" << variant.name << "`");
      CHECK((variant.name == "default" || !whole || names.contains(std::string(variant.name))));
    }
    for (const std::string& name : names) {
      INFO("README.md, Systems: " << system.name << " has no variant `" << name << "`");
      CHECK(std::any_of(system.variants.begin(), system.variants.end(),
                        [&](const Variant& variant) { return variant.name == name; }));
    }
  }
  for (const auto& [name, row] : rows) {
    INFO("README.md, Systems: there is no system `" << name << "`");
    CHECK(std::any_of(systems().begin(), systems().end(),
                      [&](const SystemEntry& system) { return system.name == name; }));
  }
}

TEST_CASE("the prover's tables have every proof") {
  const fs::path document = "proofs/README.md";
  const Rows proved = rows_below(document, "What is proved");
  const Rows noticed = rows_below(document, "Faults that a proof notices");
  for (const ProofEntry& proof : proofs()) {
    const std::string* row = row_of(noticed, proof.system);
    if (row == nullptr || row_of(proved, proof.system) == nullptr) {
      FAIL_CHECK(document.string() << ": a table lacks a row for `" << proof.system
                                   << "`: " << proof.theorem);
      continue;
    }
    const std::string all = " of " + std::to_string(find_system(proof.system).faults.size());
    INFO(document.string() << ": what is noticed of the faults of " << proof.system << " is not so many"
                           << all);
    CHECK(row->find(all) != std::string::npos);
  }
}

TEST_CASE("documents name every program, scheduler, model and workload") {
  names_everything("docs/systems/sync.md", "program", sync_programs());
  names_everything("docs/progress.md", "progress model", progress_models);
  names_everything("docs/progress.md", "waiting policy", waiting_policies);
  names_everything("refimpl/README.md", "workload", workloads());
  struct Named {
    std::string name, what;
  };
  std::vector<Named> models;
  for (const std::string& name : cat::model_names()) models.push_back({name, "spec/models/" + name + ".cat"});
  names_everything("docs/models.md", "model", models);
}

#ifdef LOCKSTEP_BINARY

TEST_CASE("pages of systems and findings are what the command lists") {
  for (const auto& [words, page] : {std::pair{"list --markdown", "docs/systems/README.md"},
                                    std::pair{"list findings --markdown", "docs/findings.md"}}) {
    const TemporaryFolder folder;
    const fs::path listed = folder.path() / "listed.md";
    const std::string command = fmt::format("{} {} >{}", LOCKSTEP_BINARY, words, listed.string());
    REQUIRE(std::system(command.c_str()) == 0);
    const Lines now = lines_of(listed);
    const Lines then = lines_of(page);
    const auto [a, b] = std::mismatch(now.begin(), now.end(), then.begin(), then.end());
    INFO(page << ":" << (b - then.begin() + 1) << ": is not what `lockstep " << words
              << "` prints, which is\n"
              << (a == now.end() ? std::string("nothing more") : *a) << "\n`./lockstep " << words << " >"
              << page << "` writes it anew");
    CHECK((a == now.end() && b == then.end()));
  }
}

TEST_CASE("a finding that breaks something shows a command, and what it says of itself is checked") {
  std::size_t findings = 0;
  for (const auto& entry : fs::recursive_directory_iterator(root() / "docs/findings")) {
    if (entry.path().extension() != ".md" || entry.path().stem() == "about") continue;
    ++findings;
    const std::string text = read_file(entry.path());
    INFO(entry.path().string());
    CHECK((text.find("\nseverity: none\n") != std::string::npos ||
           text.find("\n$ ./lockstep ") != std::string::npos));
  }
  CHECK(findings > 100);

  const TemporaryFolder home;
  const fs::path paper = home.path() / "docs/findings/mine";
  fs::create_directories(paper);
  std::ofstream(home.path() / "docs/findings/about.md") << "# Findings\n";
  std::ofstream(paper / "about.md") << "---\norder: 1\nname: Mine\n---\n# Mine\n";
  const auto said = [&](const std::string& text, const std::string& name = "01.md") {
    std::ofstream(paper / name) << text;
    Process process;
    process.command = {"env", "LOCKSTEP_HOME=" + home.path().string(), LOCKSTEP_BINARY, "list", "findings"};
    process.folder = home.path();
    const ProcessResult result = run_process(process);
    fs::remove(paper / name);
    return result.output;
  };
  const std::string entries = "---\nseverity: stuck\nbreaks: a wait\nrests: reading\non: one word\n---\n";
  CHECK_THAT(said(entries + "# It\nText.\n"), Catch::Contains("Mine 1  It (for ever; a reading: one word)"));
  CHECK_THAT(said("---\nseverity: bad\n---\n# It\n"),
             Catch::Contains("01.md:2: error: 'bad' is unknown as 'severity'"));
  CHECK_THAT(said("---\nseverity: stuck\n---\n# It\n"),
             Catch::Contains("01.md:1: error: 'breaks' is missing"));
  CHECK_THAT(said(entries + "It\n"), Catch::Contains("01.md:7: error: there is no title"));
  CHECK_THAT(said("---\nseverity: stuck\n"), Catch::Contains("its entries have no end"));
  CHECK_THAT(said("---\nseverity stuck\n"), Catch::Contains("01.md:2: error: this is no entry"));
  CHECK_THAT(said("---\nseverity: stuck\nbreaks: a\nrests: reading\n---\n# It\n"),
             Catch::Contains("'on' is missing"));
  CHECK_THAT(said("---\nsevere: 1\nseverity: stuck\nbreaks: a\nrests: print\n---\n# It\n"),
             Catch::Contains("01.md:2: error: unknown entry 'severe'"));
  CHECK_THAT(said(entries + "# It\n", "first.md"), Catch::Contains("is called after its number"));
  std::ofstream(paper / "about.md") << "---\norder: first\nname: Mine\n---\n# Mine\n";
  CHECK_THAT(said(entries + "# It\n"), Catch::Contains("about.md:2: error: 'order' is no whole number"));
}

#endif
