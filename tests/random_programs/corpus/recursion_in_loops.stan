functions {
  real go(real object, data int f) {
    if (f <= 0) return object;
    return go((f >= 0 ? object : 1.0), f - 1) * 0.5 + object;
  }
  real even(real y, data int n);
  real odd(real y, data int n) { if (n == 0) return y * 2; return even(y, n - 1); }
  real even(real y, data int n) { if (n == 0) return y; return odd(y, n - 1); }
}
data { int N; array[N] int c; }
parameters { vector[N] x; real s; }
model {
  for (n in 1:N) {
    target += go(x[n], n) + even(x[n], c[n]);
    0.3 ~ normal(go(x[n], 1), exp(go(s, c[n])));
  }
  for (n in 1:N) for (k in 1:n) x[n] ~ normal(go(s, k), 2);
  for (n in 1:N) target += go(x[n] * 0.1, 2);
}
