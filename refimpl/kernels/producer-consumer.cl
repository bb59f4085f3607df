// Pairs of work-groups hand values on, each by a flag that is released and acquired
size pairs = 8 "of work-groups; all have to be there at once";
size messages = 16 "from each";
global int box[pairs * 64];
global padded int sent[pairs];
global padded int taken[pairs];
global int sums[pairs * 64];

kernel void hand_on() {
  int pair = get_group_id(0) / 2;
  int lane = get_local_id(0);
  int sum = 0;
  for (int m = 1; m <= messages; m++) {
    if (get_group_id(0) % 2 == 0) {
      if (lane == 0) {
        while (atomic_load_explicit(&taken[pair], memory_order_acquire, memory_scope_all_svm_devices) < m - 1) compute(20);
      }
      box[pair * 64 + lane] = m * 100 + lane;
      if (lane == 0) atomic_store_explicit(&sent[pair], m, memory_order_release, memory_scope_all_svm_devices);
    } else {
      if (lane == 0) {
        while (atomic_load_explicit(&sent[pair], memory_order_acquire, memory_scope_all_svm_devices) < m) compute(20);
      }
      sum += box[pair * 64 + lane];
      if (lane == 0) atomic_store_explicit(&taken[pair], m, memory_order_release, memory_scope_all_svm_devices);
    }
  }
  if (get_group_id(0) % 2) sums[pair * 64 + lane] = sum;
}

void main() { launch(hand_on, 2 * pairs * 64, 64); }
