data { int h; }
parameters { vector[h] t; }
transformed parameters {
  real m2 = 2;
  real k = t[1] * 3;
  for (i in 1:h) {
    m2 = k;
    k += tanh(t[i]);
  }
  real t2 = t[1];
  real f = 0.5;
  for (s in 1:h) {
    f = t[h];
    for (j in 1:h) {
      t2 = 0.4 * t2 + 1;
      f = 0.4 * f + 0.7;
    }
  }
}
