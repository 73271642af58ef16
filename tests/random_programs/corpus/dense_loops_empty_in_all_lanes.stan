data {
  int N;
  array[N] int s;
  array[N] int p;
  vector[N] y;
}
parameters {
  real a;
}
model {
  real x = 0;
  a ~ normal(0, 1);
  for (i in 1:N) {
    if (y[i] <= 0.1) {
      for (k in s[i]:i) {
        vector[N] v = rep_vector(0.5, N);
        x += 0.5 * (p[k] > 1 ? a : v[N]);
      }
    }
  }
  target += square(x - 2 * a);
}
