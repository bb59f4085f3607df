// Shortest paths from node 0: each node lowers its neighbours' distances, a launch a round (Bellman and Ford)
size nodes = 2048 "of the graph";
size degree = 8 "edges of a node, on average";
size rounds = 6 "launches";
graph g = rmat(nodes, degree);
global padded int even[g_nodes] = (i > 0) * 1000000;
global padded int odd[g_nodes] = 1000000;

// From the last round's distances, so that results are those of any order.
kernel void relax(int turn) {
  int node = get_global_id(0);
  int here;
  if (turn % 2 == 0) {
    here = even[node];
    atomic_min(&odd[node], here);
  } else {
    here = odd[node];
    atomic_min(&even[node], here);
  }
  if (here < 1000000) {
    for (int e = g_first[node]; e < g_first[node + 1]; e++) {
      if (turn % 2 == 0) {
        atomic_min(&odd[g_to[e]], here + g_weight[e]);
      } else {
        atomic_min(&even[g_to[e]], here + g_weight[e]);
      }
    }
  }
}

void main() {
  for (int turn = 0; turn < rounds; turn++) launch(relax, g_nodes, 256, turn);
}
