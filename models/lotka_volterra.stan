// Hares and lynxes around Hudson Bay: predator and prey as a differential equation, the counts of pelts with lognormal
// errors. Lotka (1925), Volterra (1926); pelts after Howard (2009).
functions {
  vector change(real t, vector state, vector rate) {
    real hares = state[1], lynxes = state[2];
    return [(rate[1] - rate[2] * lynxes) * hares, (rate[3] * hares - rate[4]) * lynxes]';
  }
}
data {
  int<lower=1> years;
  array[years] real<lower=0> year;
  array[2] real<lower=0> first; // pelts at time 0, in thousands: hares, lynxes
  array[years, 2] real<lower=0> pelts;
}
parameters {
  vector<lower=0>[4] rate; // growth of the hares, their loss by lynxes, growth of the lynxes by hares, their loss
  vector<lower=0>[2] initial;
  vector<lower=0>[2] sigma;
}
transformed parameters {
  array[years] vector[2] population = ode_rk45(change, initial, 0, year, rate);
}
model {
  rate[{1, 4}] ~ normal(1, 0.5);
  rate[{2, 3}] ~ normal(0.05, 0.05);
  initial ~ lognormal(log(10), 1);
  sigma ~ lognormal(-1, 1);
  first ~ lognormal(log(initial), sigma);
  for (n in 1 : years) {
    pelts[n] ~ lognormal(log(population[n]), sigma);
  }
}
generated quantities {
  vector[2] equilibrium = [rate[4] / rate[3], rate[1] / rate[2]]';
}
