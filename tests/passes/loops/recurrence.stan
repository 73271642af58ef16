data { int N; int K; vector[N] y; matrix[N, K] x; array[N] int group; array[N] int count; array[K] int start; array[K] int length; }
parameters { real a; real b; real<lower=0> s; vector[K] v; vector[N] z; }
transformed parameters {
  vector[N] h;
  h[1] = a;
  for (n in 2:N) h[n] = b * h[n - 1] + s * square(y[n - 1]);
}
model { y ~ normal(h, s); }
