data { int N; int K; vector[N] y; matrix[N, K] x; array[N] int group; array[N] int count; array[K] int start; array[K] int length; }
parameters { real a; real b; real<lower=0> s; vector[K] v; vector[N] z; }
model {
  real total = 0;
  vector[K] by_group = rep_vector(0, K);
  for (n in 1:N) {
    total += square(y[n] - z[n]);
    by_group[group[n]] += z[n];
    for (k in 1:K) total -= x[n, k] * v[k];
  }
  target += -total / s - dot_self(by_group);
}
