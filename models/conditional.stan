// Weeks in remission of leukaemia patients with and without the drug 6-MP, some of them censored: a branch on the data
// decides which term an observation adds. Gehan (1965), Biometrika 52, after Freireich et al. (1963).
data {
  int<lower=1> patients;
  vector<lower=0>[patients] weeks;
  array[patients] int<lower=0, upper=1> observed; // 0: still in remission when the study ended
  array[patients] int<lower=0, upper=1> treated;
}
transformed data {
  vector[patients] log_weeks = log(weeks);
}
parameters {
  real baseline;
  real benefit;
  real<lower=0> sigma;
}
model {
  baseline ~ normal(2, 2);
  benefit ~ normal(0, 2);
  sigma ~ exponential(1);
  for (i in 1 : patients) {
    real expected = baseline + benefit * treated[i];
    if (observed[i] == 1) {
      log_weeks[i] ~ normal(expected, sigma);
    } else {
      target += normal_lccdf(log_weeks[i] | expected, sigma);
    }
  }
}
generated quantities {
  real median_ratio = exp(benefit);
}
