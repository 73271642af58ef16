parameters { real a; }
model {
  real x = a;
  for (n in 1:9) {
    x = 0.5 * x;
    if (x < 0.1) break;
  }
  target += -x;
}
