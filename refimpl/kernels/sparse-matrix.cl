// A sparse matrix times a vector, a work-item a row
size nodes = 4096 "rows and columns";
size degree = 8 "entries of a row, on average";
graph g = rmat(nodes, degree);
global int x[g_nodes] = random(100);
global int y[g_nodes];

kernel void multiply() {
  int row = get_global_id(0);
  int sum = 0;
  for (int e = g_first[row]; e < g_first[row + 1]; e++) sum += g_weight[e] * x[g_to[e]];
  y[row] = sum;
}

void main() { launch(multiply, g_nodes, 256); }
