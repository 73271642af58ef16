// The hidden Markov model of hmm_example.stan with the states as parameters: they are summed out, and drawn afterwards.
data {
  int<lower=2> T;
  vector[T] y;
}
parameters {
  array[2] simplex[2] move; // move[i, j]: probability of state j after state i
  ordered[2] centre;
  real<lower=0> sigma;
  array[T] int<lower=1, upper=2> state;
}
model {
  for (i in 1 : 2) {
    move[i] ~ dirichlet([2, 2]');
  }
  centre ~ normal(0, 5);
  sigma ~ lognormal(0, 1);
  state[1] ~ categorical([0.5, 0.5]');
  for (t in 2 : T) {
    state[t] ~ categorical(move[state[t - 1]]);
  }
  y ~ normal(centre[state], sigma);
}
generated quantities {
  int switches = 0;
  for (t in 2 : T) {
    switches += state[t] != state[t - 1];
  }
}
