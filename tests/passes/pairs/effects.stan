functions {
  real added_lp(real x) { target += -x; return 2 * x; }
}
parameters { real a; real b; }
model {
  if (a > 0) target += added_lp(a) * added_lp(b);
}
