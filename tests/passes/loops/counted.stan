data { int N; int K; vector[N] y; matrix[N, K] x; array[N] int group; array[N] int count; array[K] int start; array[K] int length; }
parameters { real a; real b; real<lower=0> s; vector[K] v; vector[N] z; }
model {
  int last;
  for (k in 1:K) {
    int n;
    for (j in 1:2) {
      n = length[k];
      last = n + j;
      target += sd(z[start[k]:(start[k] + n - 1)] * v[j]) * last;
    }
  }
  target += a * last;
}
