data { int N; vector[N] y; }
parameters { real d; }
model { d ~ normal(0,1); }
generated quantities {
  real z = 0;
  for (i in 2:N) {
    real t = z < 0.1 ? d : y[i];
    z += tanh(t);
    t = sd(y);
    z = sin(z);
  }
}
