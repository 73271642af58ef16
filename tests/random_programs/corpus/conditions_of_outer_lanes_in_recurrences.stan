data { int N; }
parameters { real a; }
transformed parameters {
  real z = 0;
  real w = 0;
  while (w < 3) {
    w += 1;

    for (b in 2:3) {
      for (k in 2:N) {
        if (w != b) continue;
        z = 0.5 * z + k * a;
      }
      z = z + a;
    }
  }
}
model { target += z; }
