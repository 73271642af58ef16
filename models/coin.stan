// A coin of unknown bias. With a Beta(2, 2) prior the posterior is Beta(2 + heads, 2 + tails): an answer to check
// samplers against.
data {
  int<lower=0> flips;
  array[flips] int<lower=0, upper=1> heads;
}
parameters {
  real<lower=0, upper=1> bias;
}
model {
  bias ~ beta(2, 2);
  for (i in 1 : flips) {
    heads[i] ~ bernoulli(bias);
  }
}
generated quantities {
  real odds = bias / (1 - bias);
  int<lower=0, upper=1> next_flip = bernoulli_rng(bias);
}
