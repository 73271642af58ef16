// The boiling point of water against pressure.
#include standardize.stanfunctions
data {
  int<lower=1> N;
  vector[N] pressure;
  vector[N] boiling_point;
}
transformed data {
  vector[N] x = standardize(pressure);
}
parameters {
  real level;
  real slope;
  real<lower=0> sigma;
}
model {
  level ~ normal(200, 20);
  slope ~ normal(0, 10);
  sigma ~ exponential(1);
  boiling_point ~ normal(level + slope * x, sigma);
}
generated quantities {
  vector[N] fitted = level + slope * x;
}
