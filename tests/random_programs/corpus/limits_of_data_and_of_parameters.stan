data {
  int<lower=0> N;
}
parameters {
  simplex[3] weights;
}
transformed parameters {
  real level = 0;
  for (n in 1:N) {
    level = weights[n];
  }
}
model {
  for (h in 1:3) {
    exp(level) ~ lognormal(weights[h], exp(weights[2])) T[exp(level) * 0.5, exp(level) + weights[1]];
  }
}
