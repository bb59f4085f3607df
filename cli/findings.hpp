// Findings: what exploration says of published protocols, a file each (docs/findings/PAPER/NN.md), with how
// bad it is and what it rests on.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace lockstep::cli {

enum class Severity : std::uint8_t {
  result,  // what is computed is wrong, in a program without a race
  stuck,   // somebody waits for ever
  race,    // two accesses race, and nothing is seen of it here
  model,   // it is another memory model than the one that it is taken for
  none,    // nothing breaks
};
enum class RestsOn : std::uint8_t {
  print,    // sentences that stand there
  silence,  // nothing there forbids it
  reading,  // sentences that can be read otherwise
  code,     // released code
  told,     // what others tell of a system
  other,
};

struct Finding {
  int number = 0;
  std::string title;
  Severity severity = Severity::none;
  std::string breaks;
  RestsOn rests = RestsOn::print;
  std::string on;    // what else there is to say of that
  std::string text;  // as Markdown, with links as in docs/
};
// Of one paper; some have no findings.
struct FindingsOfPaper {
  std::string folder;  // the name of the system, where there is one
  int order = 0;
  std::string name;  // "QuickRelease", where it has findings
  std::string title;
  std::string text;
  std::vector<Finding> findings;
};
struct Findings {
  std::string text;
  std::vector<FindingsOfPaper> papers;
};

// Those of a folder. Throws BadInput with file and line on what is missing, unknown or said twice.
Findings read_findings(const std::filesystem::path& folder);

std::string text_of(Severity severity);
// "a reading: ..."
std::string rests_text(const Finding& finding);

// The page docs/findings.md.
std::string findings_page(const Findings& findings);

}  // namespace lockstep::cli
