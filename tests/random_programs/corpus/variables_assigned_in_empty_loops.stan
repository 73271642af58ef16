data {
  int n;
  int none;
}
parameters {
  real x;
  vector[n] v;
}
transformed parameters {
  real e = x;
  vector[n] w = v;
  real k = 0;
  for (h in 1 : 2) {
    for (a in 1 : n) {
      for (p in 1 : none) {
        e = -0.9;
      }
      e = e > 0.137 ? e / (1.5 + square(e)) : 0.5 + 0.1 * e;
    }
    for (i in 1 : n) {
      for (j in 1 : none) {
        w[i] = j;
      }
    }
    k += 0.3 * sum(w) + e;
    w[1] += h;
  }
}
model {
  x ~ normal(k, 1);
}
