parameters { real a; }
model {
  a ~ normal(0, 1);
  target += -square(a);
  target += 0.5 * target();
}
