// Sorts by exchanging over shrinking distances, one launch an exchange (Batcher 1968)
size n = 512 "elements, a power of two";
global int even[n] = random(1000000);
global int odd[n];

kernel void exchange(int length, int distance, int turn) {
  int i = get_global_id(0);
  int other = i ^ distance;
  int rising = (i & length) == 0;
  int here_first = (i < other) == rising;
  if (turn % 2 == 0) {
    int a = even[i];
    int b = even[other];
    odd[i] = here_first * min(a, b) + (1 - here_first) * max(a, b);
  } else {
    int a = odd[i];
    int b = odd[other];
    even[i] = here_first * min(a, b) + (1 - here_first) * max(a, b);
  }
}

void main() {
  int turn = 0;
  for (int length = 2; length <= n; length += length) {
    for (int distance = length >> 1; distance > 0; distance = distance >> 1) {
      launch(exchange, n, 256, length, distance, turn);
      turn++;
    }
  }
}
