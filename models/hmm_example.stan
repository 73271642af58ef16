// Hidden Markov model with two states and Gaussian emissions. The model block sums the states out with the forward
// algorithm, the generated quantities find the most probable path with Viterbi's. Rabiner (1989), Proc. IEEE 77.
data {
  int<lower=2> T;
  vector[T] y;
}
parameters {
  array[2] simplex[2] move; // move[i, j]: probability of state j after state i
  ordered[2] centre;
  real<lower=0> sigma;
}
model {
  array[T, 2] real forward; // log probability of the observations so far and of the state now
  array[2] real path;
  for (i in 1 : 2) {
    move[i] ~ dirichlet([2, 2]');
  }
  centre ~ normal(0, 5);
  sigma ~ lognormal(0, 1);
  for (j in 1 : 2) {
    forward[1, j] = -log(2) + normal_lpdf(y[1] | centre[j], sigma);
  }
  for (t in 2 : T) {
    for (j in 1 : 2) {
      for (i in 1 : 2) {
        path[i] = forward[t - 1, i] + log(move[i, j]) + normal_lpdf(y[t] | centre[j], sigma);
      }
      forward[t, j] = log_sum_exp(path);
    }
  }
  target += log_sum_exp(forward[T]);
}
generated quantities {
  array[T] int<lower=1, upper=2> state;
  real log_probability; // of the most probable path
  {
    array[T, 2] real best;
    array[T, 2] int origin;
    for (j in 1 : 2) {
      best[1, j] = -log(2) + normal_lpdf(y[1] | centre[j], sigma);
    }
    for (t in 2 : T) {
      for (j in 1 : 2) {
        best[t, j] = negative_infinity();
        for (i in 1 : 2) {
          real candidate = best[t - 1, i] + log(move[i, j]) + normal_lpdf(y[t] | centre[j], sigma);
          if (candidate > best[t, j]) {
            best[t, j] = candidate;
            origin[t, j] = i;
          }
        }
      }
    }
    log_probability = max(best[T]);
    state[T] = best[T, 1] > best[T, 2] ? 1 : 2;
    for (back in 1 : (T - 1)) {
      int t = T - back;
      state[t] = origin[t + 1, state[t + 1]];
    }
  }
}
