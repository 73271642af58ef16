data {
  int N;
  vector[N] y;
  array[N] int k;
  matrix[N, N] A;
}
parameters {
  real mu;
  real<lower=0> sigma;
}
model {
  array[2] real x = {1, y};
}
