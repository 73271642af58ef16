data {
  int N;
  vector[N] y;
  array[N] int k;
  matrix[N, N] A;
}
parameters {
  real mu;
  real<lower=0> sigma;
}
model {
  if (N > 3) {
  } elif (N > 2) {
  }
}
