functions {
  real f(int a) {
    return 1;
  }
  real f(int b) {
    return 2;
  }
}
