// One work-item after the other's end: each load says where the next one goes
size n = 4096 "elements that are visited, each in a block of its own";
size rounds = 1 "times round";
size stride = 64 "elements of 4 bytes from one to the next";
global int next[n * stride] = (i + stride) % (n * stride);
global padded int last[1];

kernel void chase() {
  int at = 0;
  for (int k = 0; k < n * rounds; k++) at = next[at];
  last[0] = at + 1;
}

void main() { launch(chase, 1, 1); }
