functions {
  real last(real a, int d) {
    real x = a * d;
    for (n in d:d) {
      real before = x;
      {
        x += tanh(a);
      }
      before += 0.4;
    }
    return x;
  }
}
data {
  int N;
}
parameters {
  real b;
}
model {
  for (n in 1:N) {
    real q = 0;
    for (k in 1:n - 1) q += last(b, k);
    target += n * tanh(q);
  }
  for (n in 1:N) {
    real q = 0;
    for (k in 1:n) q = last(b, k) + q * 0.5;
    target += n * tanh(q);
  }
}
