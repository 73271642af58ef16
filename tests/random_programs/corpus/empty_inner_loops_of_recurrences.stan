functions {
  real added(vector v, int n) {
    real a = 0.1;
    for (i in 1:size(v)) {
      for (j in 1:n) {
        if (i + j > n) continue;
        a += 0.3 * v[i] * j;
      }
      a = tanh(a);
    }
    return a;
  }
}
data {
  int N;
  int h;
  array[N] int n;
}
parameters {
  real m;
  vector[N] x;
}
model {
  m ~ normal(0, 1);
  x ~ normal(0, 1);
  real a = 0.1;
  for (i in 1:N) {
    for (j in 1:h) {
      if (i + j > h) continue;
      a += 0.3 * x[i] * j;
    }
    a = tanh(a + m);
  }
  target += a;
}
generated quantities {
  real b = 0.1;
  for (i in 1:N) b = tanh(0.6 * b + added(x, n[i]));
}
