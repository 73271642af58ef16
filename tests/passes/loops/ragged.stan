data { int N; int K; vector[N] y; matrix[N, K] x; array[N] int group; array[N] int count; array[K] int start; array[K] int length; }
parameters { real a; real b; real<lower=0> s; vector[K] v; vector[N] z; }
model {
  for (k in 1:K) {
    real total = 0;
    for (i in start[k]:(start[k] + length[k] - 1)) total += z[i] * y[i];
    target += -square(total - v[k]);
  }
}
