// Oxidation of ammonia to nitric acid, the loss against three settings of the plant: least squares with sums that loops
// build up term by term. Brownlee (1965), "Statistical Theory and Methodology in Science and Engineering".
data {
  int<lower=1> days;
  int<lower=1> settings;
  matrix[days, settings] setting;
  vector[days] loss;
}
parameters {
  real level;
  vector[settings] slope;
  real<lower=0> sigma;
}
transformed parameters {
  real squares = 0; // sum of the squared residuals
  for (d in 1 : days) {
    real mu = level;
    for (k in 1 : settings) {
      mu += slope[k] * (setting[d, k] - mean(setting[ : , k]));
    }
    squares += square(loss[d] - mu);
  }
}
model {
  real penalty = 0;
  for (k in 1 : settings) {
    penalty += square(slope[k]);
  }
  target += -0.5 * penalty;
  level ~ normal(15, 10);
  sigma ~ exponential(0.2);
  target += -days * (log(sigma) + 0.5 * log(2 * pi())) - squares / (2 * square(sigma));
}
generated quantities {
  real rms = sqrt(squares / days);
}
