// c = a b, by tiles of 16 x 16 in a work-group's own memory
size n = 128 "rows and columns, a multiple of 16";
global int a[n * n] = random(100);
global int b[n * n] = random(100);
global int c[n * n];
local int tile_a[256];
local int tile_b[256];

kernel void multiply() {
  int tiles = n / 16;
  int x = get_group_id(0) % tiles * 16;
  int y = get_group_id(0) / tiles * 16;
  int column = get_local_id(0) % 16;
  int row = get_local_id(0) / 16;
  int sum = 0;
  for (int t = 0; t < n; t += 16) {
    tile_a[get_local_id(0)] = a[(y + row) * n + t + column];
    tile_b[get_local_id(0)] = b[(t + row) * n + x + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 16; k++) sum += tile_a[row * 16 + k] * tile_b[k * 16 + column];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[(y + row) * n + x + column] = sum;
}

void main() { launch(multiply, n * n, 256); }
