parameters {
  real lower=0 sigma;
}
