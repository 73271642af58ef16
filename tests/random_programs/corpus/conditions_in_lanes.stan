data { int b; int z; }
parameters { vector<upper=1.5>[2] c; array[z] real<lower=-1, upper=2> none; }
transformed parameters {
  vector[b] w;
  for (g in 1:b) {
    w[g] = 1;
    if (!((c[1] >= -0.431) || (b < g))) w[g] = 2;
    if ((c[1] >= -0.431) && (1 < g)) w[g] += 3;
    if ((c[1] >= -0.431) && (c[g] < 0.3)) w[g] += c[g];
    if (((c[1] >= -0.431) || (-3 < 0)) && (-3 < 0)) w[g] += c[g];
  }
}
model {
  for (n in 1:b) {
    if (c[1] > 1.019) break;
    for (p in 1:0) 1 ~ bernoulli(inv_logit(c[2]));
  }
  target += sum(reverse([0.5, 0.4]) * [[c[1], 0.3], [c[2], 1]]);
  target += sum(w);
}
