data {
  int N;
  vector[N] y;
  array[N] int k;
}
parameters {
  real mu;
  real<lower=0> sigma;
}
model {
  array[N] real x;
  x = y;
}
