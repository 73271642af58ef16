data { int N; int K; vector[N] y; matrix[N, K] x; array[N] int group; array[N] int count; array[K] int start; array[K] int length; }
parameters { real a; real b; real<lower=0> s; vector[K] v; vector[N] z; }
model {
  vector[N] h;
  h[1] = a;
  for (n in 2:N) h[n] = b * dot_product(head(h, n - 1), tail(z, n - 1)) + 0.1;
  target += sum(h);
}
