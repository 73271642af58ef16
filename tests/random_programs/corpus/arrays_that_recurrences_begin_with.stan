data { int N; vector[N] g; }
transformed data {
  real p = 0;
  for (i in 1:N) {
    vector[3] d = rep_vector(0, 3);
    for (n in 2:3) d[n] += 1 + 0.1 * p;
    p = 0.4 * p + sum(d) * g[i];
  }
}
parameters { real a; }
transformed parameters {
  real q = p * a;
  for (i in 1:N) {
    vector[3] d = rep_vector(0, 3);
    d[1] = 1;
    for (n in 2:3) d[n] = q + 0.4 * d[n - 1] + d[n];
    q = 0.4 * q + sum(d) * g[i];
  }
}
model { target += q; }
