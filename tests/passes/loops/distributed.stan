data { int N; int K; vector[N] y; matrix[N, K] x; array[N] int group; array[N] int count; array[K] int start; array[K] int length; }
parameters { real a; real b; real<lower=0> s; vector[K] v; vector[N] z; }
model {
  vector[N] e;
  vector[N] c;
  c[1] = a;
  e[1] = 0;
  for (n in 2:N) {
    e[n] = exp(z[n]) * b;
    c[n] = c[n - 1] * e[n] + 1;
    target += -square(c[n] - y[n]);
  }
}
