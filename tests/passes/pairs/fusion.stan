data { int N; vector[N] y; vector[N] m; }
parameters { real<lower=0> a; }
model {
  matrix[N, N] S = diag_matrix(rep_vector(a, N));
  matrix[N, N] L = cholesky_decompose(S);
  y ~ multi_normal_cholesky(m, L);
}
