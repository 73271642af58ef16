functions {
  real none(array[] real x, int a, int b, vector w) { return sum(x) + w[1]; }
}
parameters {
  vector[2] w;
  vector[2] s;
}
model {
  for (n in 1:2) {
    target += w' * rep_vector(variance(s[1:1]), 2) + dot_product(w, rep_vector(sd(rep_vector(s[n], 1)), 2));
    target += sum(w .* rep_vector(1 + variance(rep_vector(s[n], 1)), 2));
  }
  target += w' * rep_vector(2 + reduce_sum(none, rep_array(0.5, 0), 1, s), 2) + rep_row_vector(1 + sd([s[2]]), 2) * w;
  target += sum(rep_vector(1 + variance([s[1]]), 2) * w[1]);
  w ~ normal(0, 1);
}
