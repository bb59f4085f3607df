// A maximal independent set: who comes before all undecided neighbours is in, whose neighbour is in is out (Luby 1986)
size nodes = 2048 "of the graph";
size degree = 8 "edges of a node, on average";
size rounds = 4 "of two launches";
graph g = rmat(nodes, degree);
global int place[g_nodes] = random(1000000000);
// 0: undecided, 1: in, 2: out
global padded int chosen[g_nodes];
global padded int out[g_nodes];

kernel void choose() {
  int node = get_global_id(0);
  if (chosen[node] == 0 && out[node] == 0) {
    int first = 1;
    int mine = place[node];
    for (int e = g_first[node]; e < g_first[node + 1]; e++) {
      int other = g_to[e];
      if (out[other] == 0 && (place[other] < mine || (place[other] == mine && other < node))) {
        first = 0;
        break;
      }
    }
    if (first) chosen[node] = 1;
  }
}
kernel void leave() {
  int node = get_global_id(0);
  if (chosen[node] == 0 && out[node] == 0) {
    for (int e = g_first[node]; e < g_first[node + 1]; e++) {
      if (chosen[g_to[e]]) {
        out[node] = 1;
        break;
      }
    }
  }
}

void main() {
  for (int k = 0; k < rounds; k++) {
    launch(choose, g_nodes, 256);
    launch(leave, g_nodes, 256);
  }
}
