data {
  int N;
  vector[N] y;
  vector[N] b;
}
parameters {
  real a;
}
model {
  real x = a;
  int k = 1;
  for (n in 1 : N) {
    x = tanh(x) + b[n];
    if (y[n] > 0) {
      x = sin(x);
      k = n;
    }
  }
  for (n in 1 : k) {
    target += x * y[n];
  }
}
