// A Bayesian multi-layer perceptron that classifies images: all weights of the network are parameters.
networks {
  array[] vector mlp(array[,,] real images);
}
data {
  int<lower=0> N;
  int<lower=1> side;
  int<lower=1> hidden;
  int<lower=2> classes;
  real<lower=0> prior_sd;
  array[N, side, side] real<lower=0, upper=1> images;
  array[N] int<lower=1, upper=classes> labels;
}
parameters {
  array[hidden, side * side] real mlp.l1.weight;
  array[hidden] real mlp.l1.bias;
  array[classes, hidden] real mlp.l2.weight;
  array[classes] real mlp.l2.bias;
}
model {
  array[N] vector[classes] log_odds;
  mlp.l1.weight ~ normal(0, prior_sd);
  mlp.l1.bias ~ normal(0, prior_sd);
  mlp.l2.weight ~ normal(0, prior_sd);
  mlp.l2.bias ~ normal(0, prior_sd);
  log_odds = mlp(images);
  for (n in 1 : N) labels[n] ~ categorical_logit(log_odds[n]);
}
guide parameters {
  array[hidden, side * side] real<multiplier=0.1> w1_mu;
  array[hidden] real<multiplier=0.1> b1_mu;
  array[classes, hidden] real<multiplier=0.1> w2_mu;
  array[classes] real<multiplier=0.1> b2_mu;
  array[hidden, side * side] real w1_sigma = rep_array(-3.0, hidden, side * side);
  array[hidden] real b1_sigma = rep_array(-3.0, hidden);
  array[classes, hidden] real w2_sigma = rep_array(-3.0, classes, hidden);
  array[classes] real b2_sigma = rep_array(-3.0, classes);
}
guide {
  mlp.l1.weight ~ normal(w1_mu, exp(w1_sigma));
  mlp.l1.bias ~ normal(b1_mu, exp(b1_sigma));
  mlp.l2.weight ~ normal(w2_mu, exp(w2_sigma));
  mlp.l2.bias ~ normal(b2_mu, exp(b2_sigma));
}
