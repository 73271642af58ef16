data {
  int N;
  array[N] int k;
}
parameters {
  real x;
  real y;
}
transformed parameters {
  vector[N] s;
  real t = 0;
  for (n in 1:N) {
    int b = (x > 0) + (n > 2) * 2;
    s[n] = (0 || b) + 3 * (1 && b) + 5 * (n || b) + 7 * (b && n) + 9 * (k[n] && b) + 11 * (b || 0) + 13 * (b || k[n]);
  }
  {
    int b = (x > 0) * 2;
    int c = (y > 0) * 3;
    t += (b || c) + (c || b) + 2 * ((b && c) + (0 || c)) + 4 * (b && 3);
  }
}
model {
  target += x * sum(s) + y * t - square(x);
}
