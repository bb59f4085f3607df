// The layout is a star with spec/ in the middle. Imports run inward only: cli -> {checker, proofs, refimpl}
// -> spec.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

const fs::path root = LOCKSTEP_SOURCE_DIR;

struct Include {
  fs::path from;  // relative to the root
  std::string to;
};

// All headers and sources under a folder, which may not exist yet.
std::vector<fs::path> sources_below(const std::string& folder) {
  std::vector<fs::path> found;
  if (!fs::exists(root / folder)) return found;
  for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
    const auto extension = entry.path().extension();
    if (extension == ".hpp" || extension == ".cpp") found.push_back(entry.path());
  }
  return found;
}

// What the files under a folder include by quotes or brackets, as it is written there.
std::vector<Include> includes_below(const std::string& folder) {
  static const std::regex directive(R"(^\s*#\s*include\s*["<]([^">]+)[">])");
  std::vector<Include> found;
  for (const fs::path& path : sources_below(folder)) {
    std::ifstream file(path);
    std::smatch match;
    for (std::string line; std::getline(file, line);) {
      if (std::regex_search(line, match, directive))
        found.push_back({path.lexically_relative(root), match[1]});
    }
  }
  return found;
}

// Where files of `folder` include something that lies under one of the `forbidden` folders. A path that
// climbs
// ("../checker/x.hpp") counts as what it names.
std::vector<std::string> trespasses(const std::string& folder, const std::set<std::string>& forbidden) {
  std::vector<std::string> found;
  for (const auto& [from, to] : includes_below(folder)) {
    const bool climbs = to.starts_with("../") || to.find("/../") != std::string::npos;
    const fs::path target = climbs ? (from.parent_path() / to).lexically_normal() : fs::path(to);
    if (forbidden.contains(target.begin()->string())) found.push_back(from.string() + " includes " + to);
  }
  return found;
}

}  // namespace

TEST_CASE("spec includes no tool") {
  REQUIRE_FALSE(includes_below("spec").empty());
  CHECK(trespasses("spec", {"checker", "proofs", "refimpl", "cli", "tests", "bench"}) ==
        std::vector<std::string>{});
}

TEST_CASE("the checker includes neither the prover, the simulator nor the command") {
  REQUIRE_FALSE(includes_below("checker").empty());
  CHECK(trespasses("checker", {"proofs", "refimpl", "cli", "tests", "bench"}) == std::vector<std::string>{});
}

TEST_CASE("the prover and the simulator include the checker at most") {
  CHECK(trespasses("proofs", {"refimpl", "cli", "tests", "bench"}) == std::vector<std::string>{});
  CHECK(trespasses("refimpl", {"proofs", "cli", "tests", "bench"}) == std::vector<std::string>{});
}

TEST_CASE("every header may be included more than once") {
  for (const std::string folder : {"spec", "checker", "proofs", "refimpl", "cli"}) {
    for (const fs::path& path : sources_below(folder)) {
      if (path.extension() != ".hpp") continue;
      INFO(path.string());
      std::ifstream file(path);
      const std::string text(std::istreambuf_iterator<char>(file), {});
      CHECK(text.find("#pragma once") != std::string::npos);
    }
  }
}
