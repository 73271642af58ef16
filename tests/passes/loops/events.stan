functions {
  vector after(vector x, int event, int where, real dose) {
    vector[3] z = 0.9 * x;
    if (event == 1) z[where] += dose;
    return z;
  }
}
data { int N; int K; vector[N] y; matrix[N, K] x; array[N] int group; array[N] int count; array[K] int start; array[K] int length; }
parameters { real a; real b; real<lower=0> s; vector[K] v; vector[N] z; }
model {
  real w = 0;
  vector[3] state = v;
  vector[N] m;
  vector[N] total;
  for (n in 1:N) {
    if (group[n] == 1) w = w * a + 1;
    else if (w > b) w = -w;
    m[n] = w;
  }
  for (n in 1:N) {
    state = after(state * s, group[n], count[n] > 0 ? 1 : 2, y[n] * a);
    total[n] = sum(state);
  }
  y ~ normal(m + total, s);
}
