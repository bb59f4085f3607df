// PageRank in fixed point: each node adds up what its neighbours give, a launch a round
size nodes = 4096 "of the graph";
size degree = 8 "edges of a node, on average";
size rounds = 2 "launches";
graph g = rmat(nodes, degree);
global int even[g_nodes] = 65536;
global int odd[g_nodes];

kernel void rank(int turn) {
  int node = get_global_id(0);
  int sum = 0;
  for (int e = g_first[node]; e < g_first[node + 1]; e++) {
    int from = g_to[e];
    int edges = g_first[from + 1] - g_first[from];
    if (turn % 2 == 0) {
      sum += even[from] / edges;
    } else {
      sum += odd[from] / edges;
    }
  }
  int now = 9830 + sum / 20 * 17;
  if (turn % 2 == 0) {
    odd[node] = now;
  } else {
    even[node] = now;
  }
}

void main() {
  for (int turn = 0; turn < rounds; turn++) launch(rank, g_nodes, 256, turn);
}
