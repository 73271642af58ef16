functions {
  real convolved(array[] int n, real rate) {
    vector[min(n) + 1] terms;
    for (u in 0:min(n)) terms[u + 1] = poisson_log_lpmf(n[1] - u | rate) + poisson_log_lpmf(u | 0.3 * rate);
    return log_sum_exp(terms);
  }
}
data { int N; int K; vector[N] y; matrix[N, K] x; array[N] int group; array[N] int count; array[K] int start; array[K] int length; }
parameters { real a; real b; real<lower=0> s; vector[K] v; vector[N] z; }
transformed parameters {
  array[N] vector[N + 1] cells;
  vector[N] best;
  for (t in 1:N) {
    cells[t, t] = z[t];
    for (j in (t + 1):N) cells[t, j] = prod(z[t:(j - 1)]) * (1 - z[j]) * log_sum_exp(x[t:j, 2] * a);
    cells[t, :t - 1] = rep_vector(b, t - 1);
    cells[t, N + 1] = 1 - sum(cells[t, :N]);
    best[t] = max(z[t:N]) + min(segment(z, 1, t)) + prod(z[count[t] + 1:count[t]]);
  }
}
model {
  for (n in 1:N) target += sum(square(cells[n])) + best[n];
  for (n in 1:N) target += convolved({group[n], count[n] + 1}, v[group[n]]);
}
