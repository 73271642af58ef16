functions {
  void f(real x) {
    print(x);
  }
}
model {
  real y = f(1);
}
