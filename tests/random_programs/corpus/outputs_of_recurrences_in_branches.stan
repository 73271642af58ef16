data { int N; vector[N] x; }
parameters { real a; }
transformed parameters {
  real s = 0.1;
  real kept = 3;
  vector[N] z = rep_vector(0, N);
  if (a > -5) {
    for (n in 1:N) {
      s = 0.5 * s + x[n] * a;
      kept = tanh(s) + n;
      z[n] = kept * x[n];
    }
  }
}
model { target += kept * sum(z) + s; }
