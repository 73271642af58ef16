data {
  int J;
  int N;
  array[J] int s;
  vector[N] y;
}
parameters {
  vector[J] a;
  real<lower=0> sigma;
}
model {
  int pos = 1;
  for (j in 1 : J) {
    segment(y, pos, s[j]) ~ normal(a[j], sigma);
    pos += s[j];
  }
}
