data { int n; matrix[n, n] d; }
parameters { vector[n] w; }
model { w ~ normal(0, 1); }
generated quantities {
  vector[2] q;
  for (i in 1:n) {
    for (t in 2:n) {
      for (k in 2:3) {
        array[n, 3] real m = {{1.0, d[i, 1], 0.0}, {2, d[n, i], d[t, 1]}};
        m = {{-1.25, w[t], 1.0}, rep_array(1e-2, 3)};
      }
    }
    q[i] = d[i, 1] * w[i];
  }
}
