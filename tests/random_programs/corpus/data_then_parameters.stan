data { int n; }
parameters { vector[4] u; }
transformed parameters {
  vector[n] x;
  for (i in 1:n) x[i] = 2;
  if (u[1] > -50) {
    x[1] = -1.25;
    for (a in 2:4) x[1:] *= u[4];
  }
  x -= u[1:n] * 2;
  vector[3] q = [0, 0, 0]';
  for (i in 1:2) {
    int k = 0;
    while (k < 3 && (u[2] < 40)) {
      k += 1;
      for (m in 1:2) {
        array[2] real w;
        for (g in 1:2) w[g] = u[1] * g;
        for (b in 1:3) q[b] += sum([w[2], w[1]] * m);
      }
    }
  }
}
model { u ~ normal(0, 1); target += sum(x) + sum(q); }
