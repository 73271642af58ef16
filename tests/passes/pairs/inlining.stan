functions {
  real first(vector x, int n) {
    vector[n] z;
    for (i in 1:n) z[i] = x[i] * i;
    return sum(z);
  }
}
data { int N; array[N] int<lower=0, upper=N> size; }
parameters { vector[N] x; vector[N] y; }
model {
  for (n in 1:N) target += y[n] * first(x, size[n]);
}
