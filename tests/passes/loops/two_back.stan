data { int N; int K; vector[N] y; matrix[N, K] x; array[N] int group; array[N] int count; array[K] int start; array[K] int length; }
parameters { real a; real b; real<lower=0> s; vector[K] v; vector[N] z; }
model {
  array[N] real h;
  h[1] = a;
  h[2] = b;
  for (n in 3:N) {
    real innovation = exp(-square(z[n]));
    h[n] = b * h[n - 1] - a * h[n - 2] + innovation;
    target += -square(y[n] - h[n]);
  }
}
