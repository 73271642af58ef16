data { int N; int M; }
parameters { vector[N] t; }
transformed parameters {
  real d = t[1];
  for (i in 1:N) {
    d = 0.5;
    for (j in 2:N) {
      if (!(t[2] > -9)) break;
      for (k in 1:M) { for (b in 1:N) { d = 0.4 * d + sin(sum(t)); } }
    }
  }
}
model { t ~ normal(d, 1); }
