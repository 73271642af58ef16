data { int N; array[N] real y; }
parameters { real mu; }
model {
  for (v in y) v ~ normal(mu, 1);
}
