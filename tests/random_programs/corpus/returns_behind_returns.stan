functions {
  real f(real n) {
    real m = 0.2;
    if (n < 1) return 2 * m;
    if (0 < 1) {
      if (m >= 0.431) return m;
      m *= m * m - m;
      if (!(m > 0.137)) {
        int u = 0;
        while (u < 3) {
          u += 1;
          if (m > 0.137 || m > -1.273) continue;
          m += 0.1;
        }
        return m;
      }
    }
    return m + tanh(n);
  }
}
parameters {
  vector[4] x;
}
transformed parameters {
  vector[4] y;
  for (i in 1:4) y[i] = f(i * 0.7 + 0.2 * x[i]);
}
model {
  x ~ normal(y, 1);
}
