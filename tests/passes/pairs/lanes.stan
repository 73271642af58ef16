data { int N; vector[N] y; }
parameters { real a; }
model {
  for (n in 1:N) y[n] ~ normal(a * n, 1);
}
