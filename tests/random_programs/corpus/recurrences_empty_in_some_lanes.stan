data {
  int N;
}
parameters {
  real a;
}
model {
  real x = a;
  a ~ normal(0, 1);
  for (n in 1:2) {
    x = a;
    for (k in 1:N + 1 - n) {
      x = 0.5 * x;
    }
  }
  target += tanh(x);
}
