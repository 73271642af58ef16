functions {
  void f_lp(real x) {
    target += x;
  }
}
generated quantities {
  f_lp(1);
}
