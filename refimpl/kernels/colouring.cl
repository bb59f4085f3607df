// Colours of a graph: who comes before all neighbours without a colour takes the round's (Jones and Plassmann 1993)
size nodes = 2048 "of the graph";
size degree = 8 "edges of a node, on average";
size rounds = 8 "launches, and colours; who has none then keeps 0";
graph g = rmat(nodes, degree);
global int place[g_nodes] = random(1000000000);
global padded int even[g_nodes];
global padded int odd[g_nodes];

kernel void colour(int turn) {
  int node = get_global_id(0);
  int mine;
  if (turn % 2 == 0) {
    mine = even[node];
  } else {
    mine = odd[node];
  }
  if (mine == 0) {
    int first = 1;
    for (int e = g_first[node]; e < g_first[node + 1]; e++) {
      int other = g_to[e];
      int its;
      if (turn % 2 == 0) {
        its = even[other];
      } else {
        its = odd[other];
      }
      if (its == 0 && (place[other] < place[node] || (place[other] == place[node] && other < node))) {
        first = 0;
        break;
      }
    }
    if (first) mine = turn + 1;
  }
  if (turn % 2 == 0) {
    odd[node] = mine;
  } else {
    even[node] = mine;
  }
}

void main() {
  for (int turn = 0; turn < rounds; turn++) launch(colour, g_nodes, 256, turn);
}
