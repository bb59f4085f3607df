// One round of k-means in two dimensions: the nearest centre of each point, and the sums of those of each centre
size points = 4096 "points";
size centres = 8 "centres";
global int x[points] = random(10000);
global int y[points] = random(10000);
global int centre_x[centres] = random(10000);
global int centre_y[centres] = random(10000);
global int nearest[points];
global padded int sum_x[centres];
global padded int sum_y[centres];
global padded int members[centres];

kernel void assign() {
  int i = get_global_id(0);
  int px = x[i];
  int py = y[i];
  int best = 0;
  int least = 2147483647;
  for (int c = 0; c < centres; c++) {
    int dx = px - centre_x[c];
    int dy = py - centre_y[c];
    int distance = dx * dx + dy * dy;
    if (distance < least) {
      least = distance;
      best = c;
    }
  }
  nearest[i] = best;
  atomic_add(&sum_x[best], px);
  atomic_add(&sum_y[best], py);
  atomic_inc(&members[best]);
}

void main() { launch(assign, points, 256); }
