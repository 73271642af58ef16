data { int N; int K; vector[N] y; matrix[N, K] x; array[N] int group; array[N] int count; array[K] int start; array[K] int length; }
parameters { real a; real b; real<lower=0> s; vector[K] v; vector[N] z; }
model {
  array[N, K] real g;
  array[K] real path;
  for (k in 1:K) g[1, k] = v[k];
  for (n in 2:N) {
    for (k in 1:K) {
      for (j in 1:K) path[j] = g[n - 1, j] - square(v[k] - v[j]) + normal_lpdf(y[n] | v[k], s);
      g[n, k] = log_sum_exp(path);
    }
  }
  target += log_sum_exp(g[N]);
}
