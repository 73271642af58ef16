data {
  int N;
  matrix[2, N] d;
  complex_matrix[N, 2] c;
}
parameters {
  matrix[2, N] m;
  complex_vector[N] z;
  row_vector[N] r;
}
transformed parameters {
  complex_vector[2] v = m * z;
  complex_matrix[2, 2] w = m * c + d * c;
  complex a = r * z;
  for (n in 1:N) v += (m * to_complex(rep_vector(n, N), get_imag(z))) * 0.5;
  w = m * (c * w) + (c * m)[1:2, 1:2];
}
model {
  target += -norm(sum(v)) - 0.1 * norm(sum(w)) - norm(a);
}
