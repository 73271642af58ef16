data { int N; }
parameters { vector[N] v; }
model {
  int n = 1;
  while (n <= N && v[n] > 0) {
    target += log_sum_exp(v[1:n]);
    n += 1;
  }
}
