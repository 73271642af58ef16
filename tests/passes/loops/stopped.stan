data { int N; int K; vector[N] y; matrix[N, K] x; array[N] int group; array[N] int count; array[K] int start; array[K] int length; }
parameters { real a; real b; real<lower=0> s; vector[K] v; vector[N] z; }
model {
  real total = a;
  for (n in 1:N) {
    if (total > 2) break;
    if (count[n] == 1) continue;
    total += exp(z[n]);
  }
  target += total;
}
