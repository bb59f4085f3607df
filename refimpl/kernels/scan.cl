// Sums of all elements up to each: within work-groups, then of work-groups
size n = 16384 "elements, a multiple of 256";
global int x[n] = random(100);
global int sums[n];
global padded int totals[n / 256];
local int even[256];
local int odd[256];

kernel void within() {
  int lane = get_local_id(0);
  even[lane] = x[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int d = 1; d < 256; d = d * 4) {
    odd[lane] = even[lane];
    if (lane >= d) odd[lane] += even[lane - d];
    barrier(CLK_LOCAL_MEM_FENCE);
    even[lane] = odd[lane];
    if (lane >= 2 * d) even[lane] += odd[lane - 2 * d];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  sums[get_global_id(0)] = even[lane];
  if (lane == 255) totals[get_group_id(0)] = even[lane];
}
kernel void across() {
  int sum = 0;
  for (int g = 0; g < n / 256; g++) {
    int here = totals[g];
    totals[g] = sum;
    sum += here;
  }
}
kernel void add() {
  sums[get_global_id(0)] += totals[get_group_id(0)];
}

void main() {
  launch(within, n, 256);
  launch(across, 1, 1);
  launch(add, n, 256);
}
