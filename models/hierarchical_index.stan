// Growth of young rats: each has a weight and a rate of growth of its own, found by the rat's number in every row of
// the data. Gelfand, Hills, Racine-Poon and Smith (1990), Journal of the American Statistical Association 85.
data {
  int<lower=1> rats;
  int<lower=1> N;
  array[N] int<lower=1, upper=rats> rat;
  vector[N] age; // days
  vector[N] weight; // grams
}
transformed data {
  real middle = 22;
}
parameters {
  real mean_size;
  real mean_growth;
  real<lower=0> sd_size;
  real<lower=0> sd_growth;
  real<lower=0> sigma;
  vector<offset=mean_size, multiplier=sd_size>[rats] size_at_middle;
  vector[rats] growth;
}
model {
  mean_size ~ normal(250, 50);
  mean_growth ~ normal(5, 5);
  sd_size ~ normal(0, 20);
  sd_growth ~ normal(0, 2);
  sigma ~ normal(0, 10);
  size_at_middle ~ normal(mean_size, sd_size);
  growth ~ normal(mean_growth, sd_growth);
  for (n in 1 : N) {
    weight[n] ~ normal(size_at_middle[rat[n]] + growth[rat[n]] * (age[n] - middle), sigma);
  }
}
generated quantities {
  real size_at_birth = mean_size - mean_growth * middle;
}
