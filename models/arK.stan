// Autoregression of order K: each value is a linear function of the K values before it, plus noise.
data {
  int<lower=1> K;
  int<lower=K + 1> T;
  vector[T] series;
}
parameters {
  real drift;
  vector<lower=-1, upper=1>[K] weight; // of the value 1, ..., K steps ago
  real<lower=0> noise;
}
model {
  drift ~ normal(0, 1);
  weight ~ normal(0, 0.5);
  noise ~ cauchy(0, 2);
  for (t in (K + 1) : T) {
    real expected = drift;
    for (k in 1 : K) {
      expected += weight[k] * series[t - k];
    }
    series[t] ~ normal(expected, noise);
  }
}
