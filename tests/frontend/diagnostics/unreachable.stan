functions {
  real f(real x) {
    return x;
    print("done");
  }
}
