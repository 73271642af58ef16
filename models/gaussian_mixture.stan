// Mixture of K normal distributions, their means in increasing order so that the labels can't switch. The component
// of an observation is summed out.
data {
  int<lower=1> K;
  int<lower=1> N;
  vector[N] y;
}
parameters {
  simplex[K] share;
  ordered[K] centre;
  vector<lower=0>[K] width;
}
model {
  vector[K] log_share = log(share);
  share ~ dirichlet(rep_vector(2, K));
  centre ~ normal(0, 5);
  width ~ lognormal(0, 0.5);
  for (n in 1 : N) {
    vector[K] joint = log_share;
    for (k in 1 : K) {
      joint[k] += normal_lpdf(y[n] | centre[k], width[k]);
    }
    target += log_sum_exp(joint);
  }
}
generated quantities {
  array[N] simplex[K] responsibility; // probability of each component given y[n]
  array[N] int<lower=1, upper=K> component;
  for (n in 1 : N) {
    vector[K] joint;
    for (k in 1 : K) {
      joint[k] = log(share[k]) + normal_lpdf(y[n] | centre[k], width[k]);
    }
    responsibility[n] = softmax(joint);
    component[n] = categorical_rng(responsibility[n]);
  }
}
