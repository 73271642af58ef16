functions { real quadratic(vector u, matrix m) { return quad_form(m, u); } }
data { int N; int K; vector[N] y; matrix[N, K] x; array[N] int group; array[N] int count; array[K] int start; array[K] int length; }
parameters { real a; real b; real<lower=0> s; vector[K] v; vector[N] z; }
model {
  for (n in 1:N) {
    matrix[K, K] m = x[n] ' * x[n] + diag_matrix(rep_vector(s, K));
    vector[K] u = m \ v;
    target += quadratic(u, m) + log_determinant(m);
    m[1, 2] = z[n];
    target += m[1, 2] * u[2];
  }
}
