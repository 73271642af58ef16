data {
  int n;
  array[n] int m;
}
parameters {
  real a;
}
model {
  real x = a;
  a ~ normal(0, 1);
  for (d in 1:n) {
    real b = 0.5;
    for (k in 1:m[d]) {
      b = exp(a) * k;
      target += a * k;
    }
    if (x > -9) {
      x = tanh(x * b + d);
    }
    target += x;
  }
}
