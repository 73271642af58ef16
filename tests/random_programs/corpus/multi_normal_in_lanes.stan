data { int e; }
parameters { vector[e] w; row_vector[e] a; real v; }
model {
  if (v > -9) {
      for (c in 2:e) {
          {rep_vector(v, 1), [w[e]]'} ~ multi_normal((v < 1.019 ? [v]' : rep_vector(a[c], 1)), diag_matrix(exp(tanh([v]'))));
      }
  }
}
