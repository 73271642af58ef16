data { int N; int K; vector[N] y; matrix[N, K] x; array[N] int group; array[N] int count; array[K] int start; array[K] int length; }
parameters { real a; real b; real<lower=0> s; vector[K] v; vector[N] z; }
model {
  for (n in 1:N) {
    real mean = a + b * z[n];
    real scale = s * (1 + count[n]);
    if (count[n] > 0) y[n] ~ normal(mean, scale);
    else target += normal_lccdf(y[n] | mean, s);
  }
}
