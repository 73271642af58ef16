data {
  int N;
  vector[N] y;
  array[N] int k;
}
parameters {
  real mu;
  real<lower=0> sigma;
}
model {
  y ~ normal(mu, sigma);
}
generated quantities {
  y_rep = normal_rng(mu, sigma);
}
