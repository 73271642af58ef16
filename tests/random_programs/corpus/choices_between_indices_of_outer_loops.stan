parameters { vector[4] go; real<lower=0> p; }
model {
  for (h in 1:2) {
    vector[4 - h] s_ = rep_vector(0.5, 4 - h);
    for (k in 1:4 - h) s_[k] = s_[1] * go[p <= -0.431 ? h : 1];
    target += tanh(sum(s_));
  }
}
