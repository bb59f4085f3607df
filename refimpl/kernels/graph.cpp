#include "refimpl/kernels/graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <charconv>
#include <fstream>
#include <random>
#include <sstream>
#include <string_view>
#include <utility>

#include "checker/language/text.hpp"
#include "checker/support/diagnostic.hpp"

namespace lockstep::kernels {

namespace {

constexpr std::int64_t most_nodes = 1 << 26;
constexpr std::int64_t most_edges = 1 << 28;
constexpr std::int32_t heaviest = 63;

struct Edge {
  std::int32_t from = 0;
  std::int32_t to = 0;
  std::int32_t weight = 1;
  bool operator<(const Edge& other) const { return std::pair(from, to) < std::pair(other.from, other.to); }
};

Graph graph_of(std::int32_t nodes, std::vector<Edge> edges) {
  std::stable_sort(edges.begin(), edges.end());
  Graph graph;
  graph.first.assign(static_cast<std::size_t>(nodes) + 1, 0);
  for (const Edge& edge : edges) {
    ++graph.first[static_cast<std::size_t>(edge.from) + 1];
    graph.to.push_back(edge.to);
    graph.weight.push_back(edge.weight);
  }
  for (std::size_t i = 1; i < graph.first.size(); ++i) graph.first[i] += graph.first[i - 1];
  return graph;
}

// Both ways, without those from a node to itself and those that there are already.
Graph undirected(std::int32_t nodes, std::vector<Edge> edges, std::uint64_t seed) {
  for (Edge& edge : edges) edge = {std::min(edge.from, edge.to), std::max(edge.from, edge.to), 1};
  std::erase_if(edges, [](const Edge& edge) { return edge.from == edge.to; });
  std::sort(edges.begin(), edges.end());
  const auto same = [](const Edge& a, const Edge& b) { return a.from == b.from && a.to == b.to; };
  edges.erase(std::unique(edges.begin(), edges.end(), same), edges.end());
  std::mt19937_64 random(seed);
  std::vector<Edge> both;
  for (Edge& edge : edges) {
    edge.weight = 1 + static_cast<std::int32_t>(random() % heaviest);
    both.push_back(edge);
    both.push_back({edge.to, edge.from, edge.weight});
  }
  return graph_of(nodes, std::move(both));
}

// ---- files ----

class GraphReader {
 public:
  explicit GraphReader(const std::string& file) : file_(file), stream_(file) {
    if (!stream_) throw BadInput(fmt::format("cannot read graph '{}'", file));
  }

  Graph read() {
    if (!next()) fail("the file is empty");
    return line_.starts_with("%%MatrixMarket") ? matrix() : dimacs();
  }

 private:
  bool next() {
    while (std::getline(stream_, line_)) {
      ++number_;
      if (!line_.empty() && line_.back() == '\r') line_.pop_back();
      if (line_.find_first_not_of(" \t\r\f\v") != std::string::npos) return true;
    }
    if (stream_.bad()) throw BadInput(fmt::format("cannot read graph '{}'", file_));
    return false;
  }
  [[noreturn]] void fail(std::string message, std::string hint = {}) const {
    throw BadInput(
        Diagnostic{file_, {number_, 0}, std::move(message), std::move(hint), line_.substr(0, 120)});
  }
  [[nodiscard]] std::vector<std::string> words() const {
    std::istringstream stream(line_);
    std::vector<std::string> all;
    for (std::string word; stream >> word;) all.push_back(word);
    return all;
  }
  [[nodiscard]] std::int64_t number(const std::string& word, std::int64_t least, std::int64_t most) const {
    std::int64_t n = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), n);
    if (error != std::errc() || end != word.data() + word.size())
      fail(fmt::format("{} is no whole number", litmus::in_quotes(word)));
    if (n < least || n > most) fail(fmt::format("{} is not between {} and {}", n, least, most));
    return n;
  }
  [[nodiscard]] std::int32_t weight(const std::string& word) const {
    double n = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), n);
    constexpr double most = 2147483647;
    if (error != std::errc() || end != word.data() + word.size() || !(n >= -most && n <= most))
      fail(fmt::format("{} is no weight", litmus::in_quotes(word)), "a number of 32 bits");
    return static_cast<std::int32_t>(n);
  }

  Graph matrix() {
    std::vector<std::string> head = words();
    for (std::string& word : head) {
      for (char& c : word) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    const auto is = [&](std::size_t i, std::string_view word) { return head.size() > i && head[i] == word; };
    if (!is(1, "matrix") || !is(2, "coordinate") || head.size() != 5)
      fail("only matrices of coordinates are graphs", "%%MatrixMarket matrix coordinate pattern symmetric");
    const bool pattern = head[3] == "pattern";
    if (!pattern && head[3] != "integer" && head[3] != "real")
      fail(fmt::format("unknown field {}", litmus::in_quotes(head[3])), "pattern, integer or real");
    const bool symmetric = head[4] == "symmetric";
    if (!symmetric && head[4] != "general")
      fail(fmt::format("unknown symmetry {}", litmus::in_quotes(head[4])), "symmetric or general");
    do {
      if (!next()) fail("the file ends before its sizes");
    } while (line_.front() == '%');
    const std::vector<std::string> sizes = words();
    if (sizes.size() != 3) fail("rows, columns and entries are wanted");
    const auto rows = number(sizes[0], 1, most_nodes);
    if (number(sizes[1], 1, most_nodes) != rows) fail("a graph's matrix has as many columns as rows");
    const auto entries = number(sizes[2], 0, most_edges);
    std::vector<Edge> edges;
    for (std::int64_t i = 0; i < entries; ++i) {
      if (!next()) fail(fmt::format("the file ends after {} of {} entries", i, entries), "it is truncated");
      const std::vector<std::string> entry = words();
      if (entry.size() != (pattern ? 2U : 3U))
        fail(pattern ? "row and column are wanted" : "row, column and value are wanted");
      const Edge edge{static_cast<std::int32_t>(number(entry[0], 1, rows) - 1),
                      static_cast<std::int32_t>(number(entry[1], 1, rows) - 1),
                      pattern ? 1 : weight(entry[2])};
      edges.push_back(edge);
      if (symmetric && edge.from != edge.to) edges.push_back({edge.to, edge.from, edge.weight});
    }
    if (next()) fail(fmt::format("there is more than {} entries", entries));
    return graph_of(static_cast<std::int32_t>(rows), std::move(edges));
  }

  Graph dimacs() {
    std::int64_t nodes = 0;
    std::int64_t arcs = 0;
    std::vector<Edge> edges;
    do {
      const std::vector<std::string> line = words();
      if (line[0] == "c") continue;
      if (nodes == 0) {
        if (line.size() != 4 || line[0] != "p" || line[1] != "sp")
          fail("this is no graph that is known here",
               "Matrix Market begins with %%MatrixMarket, DIMACS with p sp NODES ARCS");
        nodes = number(line[2], 1, most_nodes);
        arcs = number(line[3], 0, most_edges);
        continue;
      }
      if (line.size() != 4 || line[0] != "a") fail("an arc is wanted", "a FROM TO WEIGHT");
      if (static_cast<std::int64_t>(edges.size()) == arcs)
        fail(fmt::format("there is more than {} arcs", arcs));
      edges.push_back({static_cast<std::int32_t>(number(line[1], 1, nodes) - 1),
                       static_cast<std::int32_t>(number(line[2], 1, nodes) - 1), weight(line[3])});
    } while (next());
    if (nodes == 0) fail("the file ends before 'p sp NODES ARCS'");
    if (static_cast<std::int64_t>(edges.size()) < arcs)
      fail(fmt::format("the file ends after {} of {} arcs", edges.size(), arcs), "it is truncated");
    return graph_of(static_cast<std::int32_t>(nodes), std::move(edges));
  }

  std::string file_;
  std::ifstream stream_;
  std::string line_;
  int number_ = 0;
};

}  // namespace

Graph rmat_graph(std::int32_t nodes, std::int32_t degree, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Edge> edges;
  const auto wanted = static_cast<std::size_t>(nodes) * static_cast<std::size_t>(degree) / 2;
  const int levels = std::bit_width(static_cast<std::uint32_t>(std::max(0, nodes - 1)));
  while (edges.size() < wanted) {
    std::int32_t from = 0;
    std::int32_t to = 0;
    for (int level = 0; level < levels; ++level) {
      const std::uint64_t percent = random() % 100;
      const bool down = percent >= 57 + 19;
      const bool right = percent >= 57 && (percent < 57 + 19 || percent >= 57 + 19 + 19);
      from = 2 * from + (down ? 1 : 0);
      to = 2 * to + (right ? 1 : 0);
    }
    if (from < nodes && to < nodes) edges.push_back({from, to});
  }
  return undirected(nodes, std::move(edges), seed + 1);
}

Graph grid_graph(std::int32_t width, std::int32_t height, std::uint64_t seed) {
  std::vector<Edge> edges;
  for (std::int32_t y = 0; y < height; ++y) {
    for (std::int32_t x = 0; x < width; ++x) {
      const std::int32_t here = y * width + x;
      if (x + 1 < width) edges.push_back({here, here + 1});
      if (y + 1 < height) edges.push_back({here, here + width});
    }
  }
  return undirected(width * height, std::move(edges), seed);
}

Graph read_graph(const std::string& file) {
  return GraphReader(file).read();
}

}  // namespace lockstep::kernels
