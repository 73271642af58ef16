// GARCH(1, 1): volatility that follows yesterday's shock and yesterday's volatility. The bound on beta1 depends on
// alpha1: it keeps the process stationary. Bollerslev (1986), Journal of Econometrics 31.
data {
  int<lower=2> T;
  vector[T] returns;
  real<lower=0> first_volatility;
}
parameters {
  real mu;
  real<lower=0> alpha0;
  real<lower=0, upper=1> alpha1;
  real<lower=0, upper=1 - alpha1> beta1;
}
transformed parameters {
  array[T] real<lower=0> volatility;
  volatility[1] = first_volatility;
  for (t in 2 : T) {
    volatility[t] = sqrt(alpha0 + alpha1 * square(returns[t - 1] - mu) + beta1 * square(volatility[t - 1]));
  }
}
model {
  mu ~ normal(0, 1);
  alpha0 ~ normal(0, 1);
  returns ~ normal(mu, volatility);
}
generated quantities {
  real long_run_variance = alpha0 / (1 - alpha1 - beta1);
}
