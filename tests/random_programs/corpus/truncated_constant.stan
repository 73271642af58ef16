parameters { array[2] real u; }
model {
  real y = ((-3 < 0) && (u[1] <= 1.019) ? 0.5 : 1);
  fmax(y, -29.9) ~ cauchy(u[2], exp(tanh(0.5))) T[-30, ];
  target += normal_lpdf(u | 0, 1);
}
