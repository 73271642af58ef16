data {
  int N;
}
parameters {
  real mu;
}
model {
  int n = N;
  vector[n] x = rep_vector(mu, n);
  n = 1;
  x[n] = 0;
  target += sum(x);
}
