data { int N; int K; vector[N] y; matrix[N, K] x; array[N] int group; array[N] int count; array[K] int start; array[K] int length; }
parameters { real a; real b; real<lower=0> s; vector[K] v; vector[N] z; }
model {
  for (n in 1:N) {
    real r = z[n];
    if (z[n] > a) r = log(z[n] - a); else r = sqrt(a - z[n]);
    target += n < N && z[n] < b ? r : 2 * r;
  }
}
