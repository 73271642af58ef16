data { int N; int K; vector[N] y; matrix[N, K] x; array[N] int group; array[N] int count; array[K] int start; array[K] int length; }
parameters { real a; real b; real<lower=0> s; vector[K] v; vector[N] z; }
model {
  real twice;
  vector[K] weights;
  for (n in 1:N) {
    twice = 2 * z[n];
    weights = softmax(v * twice);
    y[n] ~ normal(dot_product(weights, v), s);
  }
  target += twice + sum(weights);
}
