data {
  int N;
  real y[N];
}
parameters {
  real mu;
}
model {
  # the likelihood
  real s;
  s <- 1;
  increment_log_prob(normal_log(y, mu, s));
}
