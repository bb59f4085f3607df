// Seven points of a volume, one launch a step
size n = 32 "in each direction";
size steps = 2 "of time";
global int even[n * n * n] = random(1000);
global int odd[n * n * n];

kernel void step_of(int step) {
  int here = get_global_id(0);
  int x = here % n;
  int y = here / n % n;
  int z = here / (n * n);
  int west = here - (x > 0);
  int east = here + (x < n - 1);
  int north = here - n * (y > 0);
  int south = here + n * (y < n - 1);
  int below = here - n * n * (z > 0);
  int above = here + n * n * (z < n - 1);
  if (step % 2 == 0) {
    odd[here] = even[west] + even[east] + even[north] + even[south] + even[below] + even[above] - 6 * even[here];
  } else {
    even[here] = odd[west] + odd[east] + odd[north] + odd[south] + odd[below] + odd[above] - 6 * odd[here];
  }
}

void main() {
  for (int step = 0; step < steps; step++) launch(step_of, n * n * n, 256, step);
}
