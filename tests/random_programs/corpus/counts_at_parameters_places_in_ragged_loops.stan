data { int N, K; array[N] int y; }
parameters { vector[K] w; vector[N] u; real c; }
model {
  for (n in 1:N) {
    array[K] int counts = rep_array(0, K);
    matrix[K, 2] sums = rep_matrix(0, K, 2);
    for (m in 1:n) {
      int j = 1 + (w[1] > u[m]) + (u[m] > c);
      if (j <= K) sums[j, y[n]] += u[m];
      int k = 1;
      for (i in 2:K) if (w[i] > u[m]) k = i;
      counts[k] += 1;
    }
    target += -0.1 * dot_product(to_vector(counts), w) - 0.1 * sum(square(to_vector(sums)));
  }
  target += -dot_self(w) - dot_self(u) - square(c);
}
