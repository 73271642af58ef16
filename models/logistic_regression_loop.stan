// Logistic regression, one observation at a time: the iterations of the loop are independent.
data {
  int<lower=0> N;
  int<lower=1> K;
  matrix[N, K] x;
  array[N] int<lower=0, upper=1> y;
}
parameters {
  real intercept;
  vector[K] slope;
}
model {
  intercept ~ normal(0, 2.5);
  slope ~ normal(0, 1);
  for (n in 1 : N) {
    y[n] ~ bernoulli_logit(intercept + x[n] * slope);
  }
}
generated quantities {
  vector[N] log_lik;
  for (n in 1 : N) {
    log_lik[n] = bernoulli_logit_lpmf(y[n] | intercept + x[n] * slope);
  }
}
