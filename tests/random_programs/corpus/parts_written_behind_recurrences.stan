functions {
  vector part(real r) {
    if (r <= 1) return rep_vector(0.1, 3);
    return rep_vector(2, 3);
  }
}
data { int N; vector[N] g; array[N] int s; }
parameters { real h; real<lower=0> z; }
transformed parameters {
  real p = 0;
  for (i in 1:N) {
    vector[N] e = g * (p + z);
    vector[N] d;
    d[1] = -0.3;
    for (n in 2:N) d[n] = p + 0.4 * d[n - 1];
    e[s] = part(z);
    p = 0.4 * p + sin(sum(d)) + sum(e) * h;
  }
}
model { h ~ normal(p, 1); }
