functions {
  real before_lp(real x) {
    real b = target();
    target += x;
    return b;
  }
  void all_lp(vector v) {
    for (i in 1:num_elements(v)) target += v[i] * before_lp(v[i]);
  }
}
data {
  int N;
  vector[N] y;
}
parameters {
  real m;
}
model {
  for (n in 1:N) target += 0.1 * before_lp(m * y[n]);
  for (n in 1:2) all_lp(y * m);
}
