paramters {
  real mu;
}
