// A matrix on its side, by tiles of 16 x 16 in a work-group's own memory
size n = 256 "rows and columns, a multiple of 16";
global int from[n * n] = random(1000000);
global int to[n * n];
local int tile[256];

kernel void transpose() {
  int tiles = n / 16;
  int x = get_group_id(0) % tiles * 16;
  int y = get_group_id(0) / tiles * 16;
  int column = get_local_id(0) % 16;
  int row = get_local_id(0) / 16;
  tile[row * 16 + column] = from[(y + row) * n + x + column];
  barrier(CLK_LOCAL_MEM_FENCE);
  to[(x + row) * n + y + column] = tile[column * 16 + row];
}

void main() { launch(transpose, n * n, 256); }
