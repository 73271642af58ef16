// The mixture of gaussian_mixture.stan with the components as parameters: they are summed out, and drawn afterwards.
data {
  int<lower=1> K;
  int<lower=1> N;
  vector[N] y;
}
parameters {
  simplex[K] share;
  ordered[K] centre;
  vector<lower=0>[K] width;
  array[N] int<lower=1, upper=K> component;
}
model {
  share ~ dirichlet(rep_vector(2, K));
  centre ~ normal(0, 5);
  width ~ lognormal(0, 0.5);
  component ~ categorical(share);
  y ~ normal(centre[component], width[component]);
}
