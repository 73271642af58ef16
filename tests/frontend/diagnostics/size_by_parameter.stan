parameters {
  real n;
  vector[n] x;
}
