data { int N; int K; vector[N] y; matrix[N, K] x; array[N] int group; array[N] int count; array[K] int start; array[K] int length; }
parameters { real a; real b; real<lower=0> s; vector[K] v; vector[N] z; }
model {
  real level = a;
  vector[N] levels;
  for (n in 1:N) {
    level = 0.9 * level + b * z[n];
    levels[n] = level;
  }
  target += -square(level) - dot_self(levels);
}
