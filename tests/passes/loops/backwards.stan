data { int N; int K; vector[N] y; matrix[N, K] x; array[N] int group; array[N] int count; array[K] int start; array[K] int length; }
parameters { real a; real b; real<lower=0> s; vector[K] v; vector[N] z; }
model {
  vector[N] h;
  h[N] = a;
  for (n in 1:(N - 1)) {
    int t = N - n;
    h[t] = b * h[t + 1] + z[t];
  }
  target += -dot_self(h);
}
