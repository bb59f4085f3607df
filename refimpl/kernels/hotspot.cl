// Heat that spreads over a grid, one launch a step, as in Rodinia's hotspot
size n = 128 "rows and columns";
size steps = 4 "of time";
global int even[n * n] = random(10000);
global int odd[n * n];
global int power[n * n] = random(100);

kernel void spread(int step) {
  int x = get_global_id(0) % n;
  int y = get_global_id(0) / n;
  int north = max(y - 1, 0) * n + x;
  int south = min(y + 1, n - 1) * n + x;
  int west = y * n + max(x - 1, 0);
  int east = y * n + min(x + 1, n - 1);
  int here = y * n + x;
  if (step % 2 == 0) {
    odd[here] = (even[north] + even[south] + even[west] + even[east] + 4 * even[here]) / 8 + power[here];
  } else {
    even[here] = (odd[north] + odd[south] + odd[west] + odd[east] + 4 * odd[here]) / 8 + power[here];
  }
}

void main() {
  for (int step = 0; step < steps; step++) launch(spread, n * n, 256, step);
}
