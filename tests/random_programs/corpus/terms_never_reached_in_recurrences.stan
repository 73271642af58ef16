functions {
  real f_lp(real x) {
    real s = 0;
    for (i in 1:2) {
      if (0.5 > -1) {
        i + 2 ~ binomial_logit(4, x);
        if (0 < 1) {
          if (2 < 3) {
          } else if (x < 0.1) {
            target += s;
            s += 0.5;
          }
        }
      }
    }
    return 0.5 + tanh(s);
  }
}
parameters {
  real c;
}
model {
  c ~ cauchy(f_lp(0.3), 1.2);
}
