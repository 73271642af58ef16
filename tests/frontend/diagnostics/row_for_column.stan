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
  vector[3] x = [1, 2, 3];
}
