data { int N; int K; vector[N] y; matrix[N, K] x; array[N] int group; array[N] int count; array[K] int start; array[K] int length; }
parameters { real a; real b; real<lower=0> s; vector[K] v; vector[N] z; }
model {
  for (n in 1:N) {
    real mean = a;
    if (count[n] > 0) {
      mean += b * log(count[n]);
      target += normal_lpdf(y[n] | mean, s);
    } else if (n > 1) {
      mean = mean - z[n - 1];
    }
    target += -square(mean);
  }
}
