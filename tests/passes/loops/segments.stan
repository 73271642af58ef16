data { int N; int K; vector[N] y; matrix[N, K] x; array[N] int group; array[N] int count; array[K] int start; array[K] int length; }
parameters { real a; real b; real<lower=0> s; vector[K] v; vector[N] z; }
model {
  for (k in 1:K) segment(y, start[k], length[k]) ~ normal(v[k], s);
  for (n in 2:N) target += a * dot_product(head(z, n - 1), tail(y, n - 1));
}
