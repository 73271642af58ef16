// Deaths from AIDS in Australia by quarter, 1983 to 1986: Poisson regression on the logarithm of time and its square.
// Dobson (1990), "An Introduction to Generalized Linear Models", after Whyte et al. (1987).
data {
  int<lower=1> quarters;
  array[quarters] int<lower=0> deaths;
}
transformed data {
  matrix[quarters, 2] x;
  for (q in 1 : quarters) {
    x[q, 1] = log(q) - log(quarters);
    x[q, 2] = square(x[q, 1]);
  }
}
parameters {
  real log_rate; // in the last quarter
  vector[2] slope;
}
model {
  log_rate ~ normal(3, 2);
  slope ~ normal(0, 2);
  deaths ~ poisson_log_glm(x, log_rate, slope);
}
generated quantities {
  vector[quarters] rate = exp(log_rate + x * slope);
  array[quarters] int deaths_rep = poisson_rng(rate);
}
