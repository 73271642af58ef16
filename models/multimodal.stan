// A mixture whose two components lie far apart, with a guide that has one component for each.
parameters {
  real cluster;
  real theta;
}
model {
  real mu;
  cluster ~ normal(0, 1);
  if (cluster > 0) mu = 20;
  else mu = 0;
  theta ~ normal(mu, 1);
}
guide parameters {
  real m1;
  real m2;
  real<lower=0> s1;
  real<lower=0> s2;
}
guide {
  cluster ~ normal(0, 1);
  if (cluster > 0) theta ~ normal(m1, s1);
  else theta ~ normal(m2, s2);
}
