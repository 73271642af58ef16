data { int N; int K; vector[N] y; matrix[N, K] x; array[N] int group; array[N] int count; array[K] int start; array[K] int length; }
parameters { real a; real b; real<lower=0> s; vector[K] v; vector[N] z; }
model {
  matrix[N, K] h;
  for (k in 1:K) {
    h[1, k] = v[k];
    for (n in 2:N) h[n, k] = tanh(b * h[n - 1, k] + x[n, k]);
  }
  target += -sum(square(h));
}
