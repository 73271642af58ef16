// Effects of coaching in eight schools, partially pooled; centred parameterization. Rubin (1981), "Estimation in
// Parallel Randomized Experiments", Journal of Educational Statistics 6.
data {
  int<lower=1> schools;
  vector[schools] gain; // estimated effect of coaching on the score
  vector<lower=0>[schools] se; // standard error of that estimate
}
parameters {
  real mean_effect;
  real<lower=0> spread;
  vector[schools] effect;
}
model {
  mean_effect ~ normal(0, 5);
  spread ~ cauchy(0, 5);
  effect ~ normal(mean_effect, spread);
  gain ~ normal(effect, se);
}
generated quantities {
  vector[schools] shrinkage = square(se) ./ (square(se) + square(spread));
  int<lower=1, upper=schools> best = sort_indices_desc(effect)[1];
}
