data { int N; int K; vector[N] y; matrix[N, K] x; array[N] int group; array[N] int count; array[K] int start; array[K] int length; }
parameters { real a; real b; real<lower=0> s; vector[K] v; vector[N] z; }
model {
  vector[N] h = z;
  for (n in 1:(N - 1)) h[n] = h[n + 1] * a + h[n];
  for (n in 2:N) {
    target += -square(h[n - 1]);
    h[n] = b * n;
  }
  target += sum(h);
}
