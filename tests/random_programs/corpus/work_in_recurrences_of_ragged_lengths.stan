data {
  int groups;
  int n;
  array[groups] int last;
  vector[n] r;
}
parameters {
  real q;
  vector[n] v;
}
model {
  q ~ normal(0, 1);
  v ~ normal(r, 1);
  for (g in 1 : groups) {
    for (x in 1 : n) {
      vector[n] held = r;
      for (u in 1 : 1) {
        vector[groups] sums;
        for (i in 1 : groups) {
          held[{1}] = 0.4 * held[{1}] + [q * x]';
          sums[i] = sum(tanh(head(r .* v, last[g])));
        }
        target += sum(sums) * sum(held);
      }
    }
  }
}
