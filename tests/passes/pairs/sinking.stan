data { int N; }
parameters { vector[N] a; }
model {
  real x;
  for (n in 1:N) {
    x = exp(a[n]);
    target += -x * x;
  }
}
