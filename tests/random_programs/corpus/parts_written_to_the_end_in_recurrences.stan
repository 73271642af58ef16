functions {
  vector filled(vector x, real a) {
    int n = size(x);
    vector[n] r = rep_vector(1, n);
    for (i in 1:n) {
      if (x[i] == 0 && r[1] > -9) r[i:n] = rep_vector(a, n - i + 1);
      else r[i] = a * x[i];
    }
    return r;
  }
}
data { int N; vector[N] x; }
parameters { real b; vector[N] z; }
model { z ~ normal(filled(x, b), 2); }
