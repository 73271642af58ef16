parameters {
  real mu;
  mu ~ normal(0, 1);
}
