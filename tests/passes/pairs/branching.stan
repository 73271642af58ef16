data { int N; array[N] int k; }
parameters { vector[N] a; }
model {
  for (n in 1:N) {
    real x = exp(a[n]);
    if (k[n] > 0) target += -x;
    else target += -a[n];
  }
}
