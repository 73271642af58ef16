// The eight schools of eight_schools.stan with standardized effects, which samplers explore more easily when the
// spread between schools is small. Papaspiliopoulos, Roberts and Skold (2007), Statistical Science 22.
data {
  int<lower=1> schools;
  vector[schools] gain;
  vector<lower=0>[schools] se;
}
parameters {
  real mean_effect;
  real<lower=0> spread;
  vector[schools] standardized;
}
transformed parameters {
  vector[schools] effect = mean_effect + spread * standardized;
}
model {
  mean_effect ~ normal(0, 5);
  spread ~ cauchy(0, 5);
  standardized ~ std_normal();
  gain ~ normal(effect, se);
}
generated quantities {
  vector[schools] log_lik;
  array[schools] real replicated = normal_rng(effect, se);
  for (j in 1 : schools) {
    log_lik[j] = normal_lpdf(gain[j] | effect[j], se[j]);
  }
}
