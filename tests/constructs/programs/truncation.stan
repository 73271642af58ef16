// Truncation from below, above, both sides and neither; continuous, discrete, vectorised and user-defined.
functions {
  real expo_lpdf(real y, real r) {
    return log(r) - r * y;
  }
  real expo_lcdf(real y, real r) {
    return log1m_exp(-r * y);
  }
  real expo_lccdf(real y, real r) {
    return -r * y;
  }
  real geo_lpmf(int y, real p) {
    return log(p) + y * log1m(p);
  }
  real geo_lcdf(int y, real p) {
    return log1m((1 - p) ^ (y + 1));
  }
  real geo_lccdf(int y, real p) {
    return (y + 1) * log1m(p);
  }
}
data {
  int N;
  vector<lower=0, upper=4>[N] y;
  array[N] int<lower=1, upper=6> k;
}
parameters {
  real a;
  real b;
  vector[N] u;
}
transformed parameters {
  real s = exp(b);
}
model {
  y ~ normal(a, s) T[0, ];
  y ~ normal(a, s) T[, 4];
  y ~ normal(a, s) T[0, 4];
  y ~ normal(a, s) T[,];
  y ~ normal(u, s) T[0, 4 + s];
  y[1] ~ student_t(4, a, s) T[-1, s + 5];
  for (n in 1 : N) {
    y[n] ~ gamma(2, s) T[, 5];
    u[n] ~ normal(a, 2) T[u[n] - 1, u[n] + n];
    k[n] ~ poisson(s) T[1, ];
    k[n] ~ poisson(s) T[, 7];
    k[n] ~ neg_binomial_2(s, 3) T[1, 6];
  }
  k[2] ~ binomial(9, inv_logit(a)) T[1, 8];
  y[2] ~ expo(s) T[, 6];
  y[2] ~ expo(s) T[0, ];
  y[2] ~ expo(s) T[0.01, 5];
  k[1] ~ geo(inv_logit(a)) T[1, ];
  k[1] ~ geo(inv_logit(a)) T[, 9];
  k[1] ~ geo(inv_logit(a)) T[1, 9];
  a ~ cauchy(0, 1) T[-10, 10];
  b ~ logistic(0, 1) T[-10, ];
  y ~ exponential(s) T[, 4];
  y ~ lognormal(u, s) T[0.001, 5];
  y[1] ~ weibull(2, s) T[, 4];
  y[1] ~ double_exponential(a, s) T[-3, 6];
}
