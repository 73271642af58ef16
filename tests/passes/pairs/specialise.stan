functions {
  real twice(real x) { return 2 * x; }
}
data { real y; }
parameters { real a; }
model {
  a ~ normal(twice(y), 1);
  target += -twice(a);
}
