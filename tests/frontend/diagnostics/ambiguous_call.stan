functions {
  real f(int a, real b) {
    return 1;
  }
  real f(real a, int b) {
    return 2;
  }
}
model {
  real x = f(1, 1);
}
