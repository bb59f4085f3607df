// Sorts by digits of four bits, the lowest first: counts, sums of counts, and moves. Each work-group has one wave
size n = 1024 "elements, a multiple of 64";
size bits = 8 "of the keys, a multiple of 4";
global int keys[n] = random(1 << bits);
global padded int from[n];
global padded int to[n];
global padded int counts[16 * (n / 64)];
local int tally[16];
local int digits[64];

kernel void begin() {
  from[get_global_id(0)] = keys[get_global_id(0)];
}
// counts[digit][group]
kernel void count(int shift) {
  int lane = get_local_id(0);
  if (lane < 16) tally[lane] = 0;
  atomic_inc(&tally[(from[get_global_id(0)] >> shift) & 15]);
  if (lane < 16) counts[lane * get_num_groups(0) + get_group_id(0)] = tally[lane];
}
// Of one work-item: where each digit of each group begins.
kernel void add_up() {
  int sum = 0;
  for (int k = 0; k < 16 * (n / 64); k++) {
    int here = counts[k];
    counts[k] = sum;
    sum += here;
  }
}
kernel void move(int shift) {
  int lane = get_local_id(0);
  int key = from[get_global_id(0)];
  int digit = (key >> shift) & 15;
  digits[lane] = digit;
  int before = 0;
  for (int other = 0; other < 64; other++) {
    if (other < lane && digits[other] == digit) before++;
  }
  to[counts[digit * get_num_groups(0) + get_group_id(0)] + before] = key;
}
kernel void back() {
  from[get_global_id(0)] = to[get_global_id(0)];
}

void main() {
  launch(begin, n, 64);
  for (int shift = 0; shift < bits; shift += 4) {
    launch(count, n, 64, shift);
    launch(add_up, 1, 1);
    launch(move, n, 64, shift);
    launch(back, n, 64);
  }
}
