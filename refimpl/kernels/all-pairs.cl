// Shortest paths between all nodes (Floyd and Warshall), in one kernel: work-groups meet after each node
size n = 64 "nodes, a multiple of 64";
size groups = 4 "work-groups of one wave; all have to be there at once";
global int distance[n * n] = random(100) + 1;
global padded int arrived[1];

kernel void paths() {
  for (int k = 0; k < n; k++) {
    for (int row = get_group_id(0); row < n; row += groups) {
      if (row == k) continue;
      int by = distance[row * n + k];
      for (int column = get_local_id(0); column < n; column += 64) {
        distance[row * n + column] = min(distance[row * n + column], by + distance[k * n + column]);
      }
    }
    if (get_local_id(0) == 0) {
      atomic_fetch_add_explicit(&arrived[0], 1, memory_order_acq_rel, memory_scope_all_svm_devices);
      while (atomic_load_explicit(&arrived[0], memory_order_acquire, memory_scope_all_svm_devices) < (k + 1) * groups)
        compute(50);
    }
  }
}

void main() { launch(paths, groups * 64, 64); }
