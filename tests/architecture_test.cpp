// The layout is a star with spec/ in the middle. Imports run inward only: {cli, python} -> {checker, proofs,
// refimpl} -> spec. Nor do they run in a circle anywhere: what a folder needs can be read and built before
// it.
#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/breadth_first_search.hpp>
#include <boost/graph/strong_components.hpp>
#include <boost/range/iterator_range.hpp>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <utility>
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
  std::sort(found.begin(), found.end());
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

// What an include names, relative to the root, also where its path climbs ("../checker/x.hpp").
fs::path target_of(const Include& include) {
  const bool climbs = include.to.starts_with("../") || include.to.find("/../") != std::string::npos;
  return climbs ? (include.from.parent_path() / include.to).lexically_normal() : fs::path(include.to);
}

std::string text_of(const Include& include) {
  return include.from.string() + " includes " + include.to;
}

// Where files of `folder` include something that lies under one of the `forbidden` folders.
std::vector<std::string> trespasses(const std::string& folder, const std::set<std::string>& forbidden) {
  std::vector<std::string> found;
  for (const Include& include : includes_below(folder)) {
    if (forbidden.contains(target_of(include).begin()->string())) found.push_back(text_of(include));
  }
  return found;
}

const std::vector<std::string> trees{"spec", "checker", "proofs", "refimpl", "cli", "python"};

// Folders of the trees; an edge for each include of another folder.
class FolderGraph {
 public:
  explicit FolderGraph(const std::vector<Include>& includes) {
    for (const Include& include : includes) {
      const fs::path target = target_of(include);
      const std::string from = include.from.parent_path().string();
      const std::string to = target.parent_path().string();
      if (from == to || std::find(trees.begin(), trees.end(), target.begin()->string()) == trees.end())
        continue;
      const Vertex including = vertex(from);
      boost::add_edge(including, vertex(to), include, graph_);
    }
  }

  [[nodiscard]] std::size_t folders() const { return boost::num_vertices(graph_); }

  // A shortest circle within each set of folders that include each other, as the includes that make it.
  [[nodiscard]] std::vector<std::vector<std::string>> circles() const {
    std::vector<int> component(folders());
    const int components = boost::strong_components(graph_, component.data());
    std::vector<std::vector<std::string>> shortest(static_cast<std::size_t>(components));
    for (Vertex v = 0; v < folders(); ++v) {
      auto& known = shortest[static_cast<std::size_t>(component[v])];
      const std::vector<std::string> found = circle_through(v);
      if (!found.empty() && (known.empty() || found.size() < known.size())) known = found;
    }
    std::erase_if(shortest, [](const auto& circle) { return circle.empty(); });
    return shortest;
  }

 private:
  using Graph =
      boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS, boost::no_property, Include>;
  using Vertex = Graph::vertex_descriptor;
  using Edge = Graph::edge_descriptor;

  Vertex vertex(const std::string& folder) {
    const auto [found, fresh] = vertices_.try_emplace(folder, folders());
    if (fresh) boost::add_vertex(graph_);
    return found->second;
  }

  // A shortest way from a folder back to it; empty where there is none.
  [[nodiscard]] std::vector<std::string> circle_through(Vertex start) const {
    std::vector<std::optional<Edge>> by(folders());  // the last edge of a shortest way to each folder
    boost::breadth_first_search(graph_, start,
                                boost::visitor(boost::make_bfs_visitor(
                                    boost::record_edge_predecessors(by.data(), boost::on_tree_edge()))));
    std::vector<std::string> shortest;
    for (const Edge last : boost::make_iterator_range(boost::in_edges(start, graph_))) {
      std::vector<std::string> way{text_of(graph_[last])};
      Vertex at = boost::source(last, graph_);
      for (; by[at]; at = boost::source(*by[at], graph_)) way.insert(way.begin(), text_of(graph_[*by[at]]));
      if (at == start && (shortest.empty() || way.size() < shortest.size())) shortest = way;
    }
    return shortest;
  }

  Graph graph_;
  std::map<std::string, Vertex> vertices_;
};

// The types and templates that the lines of a file define outside of all functions, with their namespaces.
std::set<std::string> types_of(std::istream& lines) {
  static const std::regex opens(R"(^(?:inline )?namespace(?: ([\w:]+))? \{)");
  static const std::regex closes(R"(^\}.*// namespace)");
  static const std::regex type(
      R"(^(?:template <.*> *)?(?:class|struct|enum class|enum) (?:\[\[\w+\]\] )?(\w+)(?: final)?(?: :.*| *\{.*)?$)");
  std::vector<std::string> within;
  std::set<std::string> types;
  std::smatch match;
  for (std::string line; std::getline(lines, line);) {
    if (std::regex_search(line, match, opens)) {
      within.push_back(match[1]);
    } else if (std::regex_search(line, closes)) {
      if (!within.empty()) within.pop_back();
    } else if (std::regex_match(line, match, type)) {
      // What has no name outside of its file is nobody else's.
      if (std::find(within.begin(), within.end(), "") != within.end()) continue;
      std::string name;
      for (const std::string& one : within) name += one + "::";
      types.insert(name + match[1].str());
    }
  }
  return types;
}

}  // namespace

TEST_CASE("spec includes no tool") {
  REQUIRE_FALSE(includes_below("spec").empty());
  CHECK(trespasses("spec", {"checker", "proofs", "refimpl", "cli", "python", "tests", "bench"}) ==
        std::vector<std::string>{});
}

TEST_CASE("the checker includes neither the prover, the simulator nor the command") {
  REQUIRE_FALSE(includes_below("checker").empty());
  CHECK(trespasses("checker", {"proofs", "refimpl", "cli", "python", "tests", "bench"}) ==
        std::vector<std::string>{});
}

TEST_CASE("the prover and the simulator include the checker at most") {
  CHECK(trespasses("proofs", {"refimpl", "cli", "python", "tests", "bench"}) == std::vector<std::string>{});
  CHECK(trespasses("refimpl", {"proofs", "cli", "python", "tests", "bench"}) == std::vector<std::string>{});
}

TEST_CASE("the command and the Python module are siblings, and neither is the other's") {
  CHECK(trespasses("cli", {"python", "tests", "bench"}) == std::vector<std::string>{});
  CHECK(trespasses("python", {"proofs", "cli", "tests", "bench"}) == std::vector<std::string>{});
}

TEST_CASE("no folders include each other in a circle") {
  std::vector<Include> all;
  for (const std::string& tree : trees) {
    for (Include& include : includes_below(tree)) all.push_back(std::move(include));
  }
  const FolderGraph graph(all);
  REQUIRE(graph.folders() > trees.size());
  CHECK(graph.circles() == std::vector<std::vector<std::string>>{});
}

TEST_CASE("a circle of folders is named by the includes that make it") {
  const FolderGraph graph({{"spec/kernel/a.hpp", "spec/program/b.hpp"},
                           {"spec/program/c.hpp", "spec/sync/d.hpp"},
                           {"spec/sync/d.hpp", "../kernel/e.hpp"},
                           {"spec/sync/f.hpp", "spec/memory/g.hpp"},
                           {"spec/memory/g.hpp", "vector"},
                           {"cli/h.cpp", "spec/kernel/a.hpp"},
                           {"cli/h.cpp", "cli/i.hpp"}});
  CHECK(graph.circles() ==
        std::vector<std::vector<std::string>>{{"spec/kernel/a.hpp includes spec/program/b.hpp",
                                               "spec/program/c.hpp includes spec/sync/d.hpp",
                                               "spec/sync/d.hpp includes ../kernel/e.hpp"}});
}

// A linker takes the members of one for those of the other, without a word.
TEST_CASE("no two types have the same name") {
  std::map<std::string, fs::path> where;
  std::vector<std::string> folders = trees;
  folders.insert(folders.end(), {"tests", "bench"});
  for (const std::string& folder : folders) {
    for (const fs::path& path : sources_below(folder)) {
      std::ifstream file(path);
      for (const std::string& type : types_of(file)) {
        const auto [known, is_new] = where.emplace(type, path);
        INFO(type << " in " << known->second << " and in " << path);
        CHECK(is_new);
      }
    }
  }
  CHECK(where.contains("lockstep::Cnf"));
  CHECK(where.size() > 800);
}

TEST_CASE("types are read with the namespaces that they are in") {
  std::istringstream file(
      "namespace a {\nstruct B {\n  struct Inner {};\n};\nnamespace {\nclass Own final : public B {\n};\n"
      "}  // namespace\nenum class C : int { one };\nstruct Declared;\ntemplate <class T> class D {\n};\n"
      "}  // namespace a\nnamespace a::b {\nstruct B\n    : C {};\n}  // namespace a::b\n");
  CHECK(types_of(file) == std::set<std::string>{"a::B", "a::C", "a::D", "a::b::B"});
}

TEST_CASE("every header may be included more than once") {
  for (const std::string& folder : trees) {
    for (const fs::path& path : sources_below(folder)) {
      if (path.extension() != ".hpp") continue;
      INFO(path.string());
      std::ifstream file(path);
      const std::string text(std::istreambuf_iterator<char>(file), {});
      CHECK(text.find("#pragma once") != std::string::npos);
    }
  }
}
