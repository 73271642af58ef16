# Logistic regression in the syntax of before Stan 2.33: damage to the O-rings of space shuttles against temperature.
# Dalal, Fowlkes and Hoadley (1989), Journal of the American Statistical Association 84.
functions {
  # Deviations from the mean.
  real[] centred(real[] x) {
    real out[size(x)];
    for (i in 1:size(x))
      out[i] <- x[i] - mean(x);
    return out;
  }
  real weak_lpdf(real x, real scale) {
    return student_t_lpdf(x | 4, 0, scale);
  }
}
data {
  int<lower=1> flights;
  real temperature[flights]; # degrees Fahrenheit
  int<lower=0, upper=1> damaged[flights];
}
transformed data {
  real warmth[flights];
  warmth <- centred(temperature);
}
parameters {
  real level;
  real slope;
}
transformed parameters {
  real eta[flights];
  for (i in 1:flights)
    eta[i] <- level + slope * warmth[i];
}
model {
  increment_log_prob(normal_lpdf(level | 0, 3));
  slope ~ weak(0.5);
  damaged ~ bernoulli_logit(eta);
}
generated quantities {
  real risk_at_31; # the temperature on the morning of Challenger's last flight
  risk_at_31 <- inv_logit(level + slope * (31 - mean(temperature)));
}
