data { int N, G; array[G] int k; }
parameters { vector[N] x; matrix[N, 2] M; real s; }
transformed parameters {
  vector[N] w;
  array[G] real q;
  {
    array[N] int ix = sort_indices_desc(x);
    w = x[ix];
    w[ix] = M[ix, 1];
    for (g in 1:G) {
      vector[N] u = x * g;
      array[N] int jx = sort_indices_asc(u);
      q[g] = sum(u[jx]) + sum(M[jx, k[g]]);
      u[jx] = w;
      if (s > 0) q[g] += sum(x[jx]);
    }
  }
}
model { q ~ normal(1, 1); s ~ normal(0, 1); w ~ normal(0, 2); }
