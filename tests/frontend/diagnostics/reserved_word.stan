parameters {
  real x__;
  real true;
}
