data { int N; vector[N] y; }
parameters { real<lower=0, upper=1> p; vector[2] m; }
model {
  for (n in 1:N) {
    vector[2] lp = [log(p), log1m(p)]';
    for (k in 1:2) lp[k] += normal_lpdf(y[n] | m[k], 1);
    target += log_sum_exp(lp) + fmin(0, normal_lpdf(y[n] | 0, p));
  }
}
