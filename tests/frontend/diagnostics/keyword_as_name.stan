parameters {
  real model;
}
