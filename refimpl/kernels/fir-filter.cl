// A signal under a filter
size n = 32768 "samples";
size taps = 16 "coefficients";
global int signal[n + taps] = random(1000);
global int coefficients[taps] = random(16);
global int out[n];

kernel void filter() {
  int i = get_global_id(0);
  int sum = 0;
  for (int k = 0; k < taps; k++) sum += coefficients[k] * signal[i + k];
  out[i] = sum;
}

void main() { launch(filter, n, 256); }
