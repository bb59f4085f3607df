// Updates of random words: each work-item adds to a few
size words = 16384 "words of 64 bytes";
size updates = 16384 "in all";
size each = 4 "updates of a work-item";
global padded int table[words];
global int where[updates] = random(words);

kernel void update() {
  for (int k = 0; k < each; k++) {
    int u = get_global_id(0) + k * get_global_size(0);
    atomic_add(&table[where[u]], 1);
  }
}

void main() { launch(update, updates / each, 64); }
