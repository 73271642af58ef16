data { int N; int K; vector[N] y; matrix[N, K] x; array[N] int group; array[N] int count; array[K] int start; array[K] int length; }
parameters { real a; real b; real<lower=0> s; vector[K] v; vector[N] z; }
model {
  for (k in 1:K) {
    vector[length[k]] part = segment(z, start[k], length[k]);
    target += -0.5 * log_sum_exp(part * v[k]);
  }
}
