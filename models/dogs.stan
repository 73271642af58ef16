// Avoidance learning: each trial multiplies a dog's probability of getting shocked by one factor after a shock and by
// another one after an avoidance. Bush and Mosteller (1955), "Stochastic Models for Learning".
data {
  int<lower=1> dogs;
  int<lower=2> trials;
  array[dogs, trials] int<lower=0, upper=1> shocked;
}
parameters {
  real<lower=0, upper=1> after_shock;
  real<lower=0, upper=1> after_avoidance;
}
transformed parameters {
  matrix[dogs, trials] log_risk;
  for (d in 1 : dogs) {
    log_risk[d, 1] = 0;
    for (t in 2 : trials) {
      if (shocked[d, t - 1] == 1) {
        log_risk[d, t] = log_risk[d, t - 1] + log(after_shock);
      } else {
        log_risk[d, t] = log_risk[d, t - 1] + log(after_avoidance);
      }
    }
  }
}
model {
  after_shock ~ beta(5, 1);
  after_avoidance ~ beta(5, 1);
  for (d in 1 : dogs) {
    for (t in 2 : trials) {
      shocked[d, t] ~ bernoulli(exp(log_risk[d, t]));
    }
  }
}
generated quantities {
  vector[trials] expected_shocks; // over all dogs, by trial
  for (t in 1 : trials) {
    expected_shocks[t] = sum(exp(col(log_risk, t)));
  }
}
