transformed_parameters {
  real mu;
}
