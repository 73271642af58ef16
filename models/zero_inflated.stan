// Movements of a foetal lamb in 240 intervals of five seconds: Poisson counts, with more zeros than a Poisson law has.
// Leroux and Puterman (1992), Biometrics 48.
data {
  int<lower=0> N;
  array[N] int<lower=0> count;
}
parameters {
  real<lower=0, upper=1> idle; // probability of an interval in which nothing can happen
  real<lower=0> rate;
}
model {
  idle ~ beta(1, 1);
  rate ~ gamma(2, 1);
  for (n in 1 : N) {
    if (count[n] == 0) {
      target += log_sum_exp(log(idle), log1m(idle) - rate);
    } else {
      target += log1m(idle) + poisson_lpmf(count[n] | rate);
    }
  }
}
generated quantities {
  real prob_zero = idle + (1 - idle) * exp(-rate);
  array[N] int count_rep;
  for (n in 1 : N) {
    count_rep[n] = bernoulli_rng(idle) ? 0 : poisson_rng(rate);
  }
}
