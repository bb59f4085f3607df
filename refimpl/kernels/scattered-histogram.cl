// Counts of values: each work-item adds to the bin that its value names
size n = 4096 "values";
size bins = 1024 "counts, 16 of them in 64 bytes";
global int values[n] = random(bins);
global int counts[bins];

kernel void count() {
  atomic_inc(&counts[values[get_global_id(0)]]);
}

void main() { launch(count, n, 256); }
