// y = a x + y
size n = 65536 "elements of an array";
size a = 3 "the factor";
global int x[n] = random(1000);
global int y[n] = i;

kernel void saxpy() {
  int i = get_global_id(0);
  y[i] = a * x[i] + y[i];
}

void main() { launch(saxpy, n, 256); }
