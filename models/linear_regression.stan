// Straight line through Forbes' measurements: the boiling point of water against the pressure of the air. Forbes
// (1857), Transactions of the Royal Society of Edinburgh 21.
data {
  int<lower=2> N;
  vector<lower=0>[N] pressure; // inches of mercury
  vector[N] boiling_point; // degrees Fahrenheit
}
transformed data {
  real centre = mean(pressure);
  vector[N] deviation = pressure - centre;
}
parameters {
  real level; // boiling point at the mean pressure
  real slope;
  real<lower=0> sigma;
}
model {
  level ~ normal(200, 20);
  slope ~ normal(0, 5);
  sigma ~ exponential(1);
  boiling_point ~ normal(level + slope * deviation, sigma);
}
generated quantities {
  real intercept = level - slope * centre;
  vector[N] log_lik;
  array[N] real y_rep;
  {
    vector[N] fitted = level + slope * deviation;
    for (n in 1 : N) {
      log_lik[n] = normal_lpdf(boiling_point[n] | fitted[n], sigma);
    }
    y_rep = normal_rng(fitted, sigma);
  }
}
