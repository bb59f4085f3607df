// HALCONE's Xtreme benchmarks (4.3.2): c = a + b, again and again, by the same CU or by another
size which = 1 "1: by the same; 2: by another CU of the GPU; 3: by another GPU";
size n = 16384 "elements of a vector, a multiple of cus x 16";
size cus = 8 "work-groups, one for each CU of the machine";
size gpus = 1 "of the machine: work-groups go to them in turn";
size repeats = 10 "times that a step is done again";
global int a[n] = random(1000);
global int b[n] = random(1000);
global int c[n];

// Each work-group on its slice, or every other one on its neighbour's; 0: c = a + b, 1: a = c + b
kernel void step_of(int writes_a, int neighbour, int times) {
  int slice = get_group_id(0);
  if (neighbour) {
    if (slice / neighbour % 2) return;
    slice += neighbour;
  }
  int each = n / cus;
  for (int t = 0; t < times; t++) {
    for (int i = slice * each + get_local_id(0); i < (slice + 1) * each; i += get_local_size(0)) {
      if (writes_a) {
        a[i] = c[i] + b[i];
      } else {
        c[i] = a[i] + b[i];
      }
    }
  }
}

void main() {
  int items = cus * 256;
  if (which == 1) {
    launch(step_of, items, 256, 0, 0, repeats + 1);
    launch(step_of, items, 256, 1, 0, repeats + 1);
  } else {
    int neighbour = 1;
    if (which == 2) neighbour = gpus;
    launch(step_of, items, 256, 0, 0, 1);
    launch(step_of, items, 256, 1, neighbour, repeats + 1);
    launch(step_of, items, 256, 0, 0, 1);
  }
}
