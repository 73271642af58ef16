model {
}
parameters {
  real mu;
}
