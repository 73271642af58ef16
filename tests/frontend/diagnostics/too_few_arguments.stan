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
  y ~ normal(mu);
}
