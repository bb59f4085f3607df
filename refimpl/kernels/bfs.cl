// Breadth-first search, a launch a level
size nodes = 4096 "of the graph";
size degree = 8 "edges of a node, on average";
size levels = 8 "launches; what is further away keeps -1";
graph g = rmat(nodes, degree);
global padded int level[g_nodes] = (i == 0) - 1;

kernel void search(int depth) {
  int node = get_global_id(0);
  if (atomic_load_explicit(&level[node], memory_order_relaxed, memory_scope_device) == depth) {
    for (int e = g_first[node]; e < g_first[node + 1]; e++) {
      atomic_cmpxchg(&level[g_to[e]], -1, depth + 1);
    }
  }
}

void main() {
  for (int depth = 0; depth < levels; depth++) launch(search, g_nodes, 256, depth);
}
