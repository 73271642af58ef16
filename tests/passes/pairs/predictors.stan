data { int N; vector[N] x; vector[N] z; vector[N] y; }
parameters { real a; real b; real c; }
model {
  y ~ normal(a + b * x + c * z, 1);
}
