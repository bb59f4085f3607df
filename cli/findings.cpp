#include "cli/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/describe.hpp>
#include <cctype>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "checker/support/diagnostic.hpp"
#include "checker/support/process.hpp"

namespace lockstep::cli {

BOOST_DESCRIBE_ENUM(Severity, result, stuck, race, model, none)
BOOST_DESCRIBE_ENUM(RestsOn, print, silence, reading, code, told, other)

namespace {

namespace fs = std::filesystem;

[[noreturn]] void wrong(const fs::path& file, int line, const std::string& what,
                        const std::string& hint = {}) {
  throw BadInput(Diagnostic{file.string(), {line, 0}, what, hint, {}});
}

std::optional<int> whole(const std::string& text) {
  int number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  return read.ec == std::errc{} && read.ptr == end ? std::optional(number) : std::nullopt;
}

// A file's entries, KEY: VALUE between two lines of dashes, its title, and what is below.
struct Page {
  fs::path file;
  std::map<std::string, std::pair<std::string, int>> entries;  // with their lines
  std::string title;
  std::string text;

  std::string take(const std::string& key) {
    const auto found = entries.find(key);
    if (found == entries.end()) return {};
    std::string value = found->second.first;
    entries.erase(found);
    return value;
  }
  std::string need(const std::string& key) {
    if (!entries.contains(key)) wrong(file, 1, fmt::format("'{}' is missing", key));
    return take(key);
  }
  int need_whole(const std::string& key) {
    const int line = entries.contains(key) ? entries.at(key).second : 1;
    if (const auto number = whole(need(key))) return *number;
    wrong(file, line, fmt::format("'{}' is no whole number", key));
  }
  template <class Enum>
  Enum need_one(const std::string& key) {
    const int line = entries.contains(key) ? entries.at(key).second : 1;
    const std::string word = need(key);
    Enum value{};
    if (boost::describe::enum_from_string(word.c_str(), value)) return value;
    std::vector<std::string> names;
    boost::mp11::mp_for_each<boost::describe::describe_enumerators<Enum>>(
        [&](auto one) { names.emplace_back(one.name); });
    wrong(file, line, fmt::format("'{}' is unknown as '{}'", word, key), suggestion(word, names));
  }
  void done() const {
    if (entries.empty()) return;
    const auto& [key, entry] = *entries.begin();
    wrong(file, entry.second, fmt::format("unknown entry '{}'", key));
  }
};

// Links of a file two folders below docs/, as they are in docs/; those to the page itself lead to its
// headings.
std::string with_links(std::string_view text) {
  constexpr std::string_view up = "](../../";
  constexpr std::string_view page = "findings.md#";
  std::string out;
  while (true) {
    const std::size_t at = text.find(up);
    out += text.substr(0, at);
    if (at == std::string_view::npos) return out;
    text.remove_prefix(at + up.size());
    out += "](";
    if (text.starts_with(page)) text.remove_prefix(page.size() - 1);
  }
}

Page read_page(const fs::path& file) {
  const std::string all = read_file(file);
  std::string_view rest = all;
  int number = 0;
  const auto next = [&]() -> std::optional<std::string_view> {
    if (rest.empty()) return std::nullopt;
    const std::size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    ++number;
    return line;
  };
  Page page;
  page.file = file;
  auto line = next();
  if (line == "---") {
    while ((line = next()) != "---") {
      if (!line) wrong(file, number, "its entries have no end", "write --- below them");
      const std::size_t colon = line->find(": ");
      if (colon == std::string_view::npos) wrong(file, number, "this is no entry", "write KEY: VALUE");
      const std::string key(line->substr(0, colon));
      if (!page.entries.try_emplace(key, std::string(line->substr(colon + 2)), number).second)
        wrong(file, number, fmt::format("'{}' is said twice", key));
    }
    line = next();
  }
  if (!line || !line->starts_with("# ")) wrong(file, number, "there is no title", "write # TITLE");
  page.title = line->substr(2);
  page.text = with_links(rest);
  return page;
}

Finding read_finding(const fs::path& file) {
  Finding finding;
  const std::optional<int> number = whole(file.stem().string());
  if (!number) wrong(file, 1, "a finding's file is called after its number", "as 07.md");
  finding.number = *number;
  Page page = read_page(file);
  finding.title = page.title;
  finding.text = page.text;
  finding.severity = page.need_one<Severity>("severity");
  finding.breaks = page.need("breaks");
  finding.rests = page.need_one<RestsOn>("rests");
  finding.on = page.take("on");
  page.done();
  const bool says = finding.rests == RestsOn::print || finding.rests == RestsOn::code || !finding.on.empty();
  if (!says) wrong(file, 1, "'on' is missing", "say which reading it is, or what is not mentioned");
  return finding;
}

FindingsOfPaper read_paper(const fs::path& folder) {
  FindingsOfPaper paper;
  paper.folder = folder.filename().string();
  Page about = read_page(folder / "about.md");
  paper.title = about.title;
  paper.text = about.text;
  paper.order = about.need_whole("order");
  paper.name = about.take("name");
  about.done();
  std::set<int> numbers;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".md" || entry.path().stem() == "about") continue;
    paper.findings.push_back(read_finding(entry.path()));
    if (!numbers.insert(paper.findings.back().number).second)
      wrong(entry.path(), 1, "there is a finding of this number already");
  }
  std::sort(paper.findings.begin(), paper.findings.end(),
            [](const Finding& a, const Finding& b) { return a.number < b.number; });
  if (!paper.findings.empty() && paper.name.empty()) wrong(about.file, 1, "'name' is missing");
  return paper;
}

// As pages of Markdown are linked to: letters, digits and dashes.
std::string anchor_of(const Finding& finding) {
  std::string anchor = fmt::format("{}-", finding.number);
  for (const char c : finding.title) {
    const auto u = static_cast<unsigned char>(c);
    if (std::isalnum(u) != 0 || c == '-' || c == '_') anchor += static_cast<char>(std::tolower(u));
    if (c == ' ') anchor += '-';
  }
  return anchor;
}
std::string link_to(const FindingsOfPaper& paper, const Finding& finding) {
  return fmt::format("[{} {}](#{})", paper.name, finding.number, anchor_of(finding));
}

struct SeverityText {
  Severity severity;
  std::string_view name;
  std::string_view what;
};
constexpr std::array severities{
    SeverityText{Severity::result, "wrong results",
                 "a program without a race computes what no order of its accesses gives"},
    SeverityText{Severity::stuck, "for ever", "somebody waits, or goes round, for ever"},
    SeverityText{Severity::race, "a race", "two accesses race, and nothing is seen of it here"},
    SeverityText{Severity::model, "another model",
                 "it is another memory model than the one that it is taken for"},
    SeverityText{Severity::none, "no harm",
                 "nothing breaks: steps that are superfluous, texts that contradict each other"},
};

}  // namespace

Findings read_findings(const fs::path& folder) {
  Findings findings;
  Page about = read_page(folder / "about.md");
  about.done();
  findings.text = about.text;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.is_directory()) findings.papers.push_back(read_paper(entry.path()));
  }
  std::sort(findings.papers.begin(), findings.papers.end(), [](const auto& a, const auto& b) {
    return std::pair(a.order, a.folder) < std::pair(b.order, b.folder);
  });
  return findings;
}

std::string text_of(Severity severity) {
  for (const SeverityText& one : severities) {
    if (one.severity == severity) return std::string(one.name);
  }
  return {};
}

std::string rests_text(const Finding& finding) {
  static const std::map<RestsOn, std::string> names{{RestsOn::print, "the print"},
                                                    {RestsOn::silence, "silence"},
                                                    {RestsOn::reading, "a reading"},
                                                    {RestsOn::code, "released code"}};
  const auto found = names.find(finding.rests);
  if (found == names.end()) return finding.on;
  if (finding.on.empty()) return found->second;
  const bool goes_on = finding.on.starts_with("of ") || finding.on.starts_with("that ");
  return found->second + (goes_on ? " " : ": ") + finding.on;
}

std::string findings_page(const Findings& findings) {
  std::string text = "# Findings\n" + findings.text;
  text +=
      "\nThis page is made of the files in `docs/findings`, one a finding: `./lockstep list findings "
      "--markdown "
      ">docs/findings.md`.\n\n## By severity\n";
  for (const SeverityText& one : severities) {
    std::vector<std::string> links;
    for (const FindingsOfPaper& paper : findings.papers) {
      for (const Finding& finding : paper.findings) {
        if (finding.severity == one.severity) links.push_back(link_to(paper, finding));
      }
    }
    if (!links.empty())
      text += fmt::format("\n**{}**, {}. {} findings: {}\n", one.name, one.what, links.size(),
                          fmt::join(links, ", "));
  }
  text +=
      "\n## What each rests on\n"
      "*The print*: sentences that stand there bring it about. *Silence*: nothing there forbids it. *A "
      "reading*: the print "
      "can be read\notherwise, as is told, and then it goes away.\n\n"
      "| finding | severity | what breaks | it rests on |\n|---|---|---|---|\n";
  for (const FindingsOfPaper& paper : findings.papers) {
    for (const Finding& finding : paper.findings) {
      text += fmt::format("| {} | {} | {} | {} |\n", link_to(paper, finding), text_of(finding.severity),
                          finding.breaks, rests_text(finding));
    }
  }
  for (const FindingsOfPaper& paper : findings.papers) {
    text += fmt::format("\n## {}\n{}", paper.title, paper.text);
    for (const Finding& finding : paper.findings)
      text += fmt::format("\n### {}. {}\n{}", finding.number, finding.title, finding.text);
  }
  return text;
}

}  // namespace lockstep::cli
