data { matrix[2,3] D; array[2] matrix[2,2] A; }
parameters { matrix[2,3] u; real s; }
model { real k = 0; for (x in u) { k = k * 0.5 + x; if (x > 0.5) break; } target += k;
  for (x in D) { x ~ normal(s, 1); k = 0.3 * k + sin(x * s); }
  for (x in u) target += -0.1 * x^2;
  for (m in A) for (x in m) { if (x > 2) break; k += x * s; }
  target += k; }
