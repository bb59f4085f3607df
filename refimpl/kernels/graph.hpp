// Graphs, as kernels read them: compressed rows. Made by a rule, or read from a file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep::kernels {

struct Graph {
  std::vector<std::int32_t> first;   // of each node, where its edges begin; one more at the end
  std::vector<std::int32_t> to;      // by edge
  std::vector<std::int32_t> weight;  // likewise
  [[nodiscard]] std::int32_t nodes() const { return static_cast<std::int32_t>(first.size()) - 1; }
  [[nodiscard]] std::int32_t edges() const { return static_cast<std::int32_t>(to.size()); }
};

// Undirected, each edge in both directions, with weights from 1 to 63. R-MAT (Chakrabarti et al., SDM 2004)
// with the probabilities of Graph 500: 0.57, 0.19, 0.19, 0.05; at most nodes x degree / 2 edges, for what
// falls together is one. Deterministic.
Graph rmat_graph(std::int32_t nodes, std::int32_t degree, std::uint64_t seed);
// Each node and its four neighbours.
Graph grid_graph(std::int32_t width, std::int32_t height, std::uint64_t seed);

// A Matrix Market file of coordinates (math.nist.gov/MatrixMarket/formats.html), each entry an edge from its
// row to its column, of symmetric ones both ways; or the arcs of a DIMACS shortest-path file ("p sp", "a").
// Nodes count from 0 then. Weights are whole numbers, of reals their whole part, of patterns 1. Throws
// BadInput with the place of what is neither, is truncated, or does not fit.
Graph read_graph(const std::string& file);

}  // namespace lockstep::kernels
