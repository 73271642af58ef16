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
  int i = 2.5;
  real x = z + 1;
  w ~ normal(0, 1);
  y ~ normal(mu, x, 2);
}
