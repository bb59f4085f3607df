// An image under a filter of 5 x 5; beyond its edge there is 0
size width = 256 "columns";
size height = 64 "rows";
global int image[width * height] = random(256);
global int filter[25] = random(9) - 4;
global int out[width * height];

kernel void convolve() {
  int x = get_global_id(0) % width;
  int y = get_global_id(0) / width;
  int sum = 0;
  for (int dy = -2; dy <= 2; dy++) {
    for (int dx = -2; dx <= 2; dx++) {
      if (x + dx >= 0 && x + dx < width && y + dy >= 0 && y + dy < height)
        sum += image[(y + dy) * width + x + dx] * filter[(dy + 2) * 5 + dx + 2];
    }
  }
  out[y * width + x] = sum;
}

void main() { launch(convolve, width * height, 256); }
