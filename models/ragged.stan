// Groups of unequal size, their observations one behind the other in a vector: group g holds length[g] of them from
// start[g] on. Each group has a mean of its own.
data {
  int<lower=1> groups;
  array[groups] int<lower=1> length;
  vector[sum(length)] y;
}
transformed data {
  array[groups] int start;
  start[1] = 1;
  for (g in 2 : groups) {
    start[g] = start[g - 1] + length[g - 1];
  }
}
parameters {
  real overall;
  real<lower=0> between;
  real<lower=0> within;
  vector[groups] centre;
}
model {
  overall ~ normal(0, 10);
  between ~ normal(0, 5);
  within ~ normal(0, 5);
  centre ~ normal(overall, between);
  for (g in 1 : groups) {
    segment(y, start[g], length[g]) ~ normal(centre[g], within);
  }
}
generated quantities {
  vector[groups] log_lik; // of whole groups
  for (g in 1 : groups) {
    log_lik[g] = normal_lpdf(segment(y, start[g], length[g]) | centre[g], within);
  }
}
