// ARMA(1, 1): a value depends on the value and on the shock of the step before. The shocks are a recurrence over the
// whole series.
data {
  int<lower=2> T;
  vector[T] series;
}
parameters {
  real level;
  real<lower=-1, upper=1> persistence;
  real<lower=-1, upper=1> echo;
  real<lower=0> noise;
}
transformed parameters {
  vector[T] shock;
  shock[1] = series[1] - level;
  for (t in 2 : T) {
    real expected = level + persistence * (series[t - 1] - level) + echo * shock[t - 1];
    shock[t] = series[t] - expected;
  }
}
model {
  level ~ normal(0, 5);
  persistence ~ normal(0, 0.5);
  echo ~ normal(0, 0.5);
  noise ~ normal(0, 2);
  shock ~ normal(0, noise);
}
generated quantities {
  real forecast = level + persistence * (series[T] - level) + echo * shock[T];
}
