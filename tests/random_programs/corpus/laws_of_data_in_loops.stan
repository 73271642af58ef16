data { int N; }
parameters { vector[N] d; real q; }
model {
  for (k in 1:N) 1.8 ~ wiener((1.5 * exp(0.02 * tanh(q))), 0.2, 0.4, -0.7, 0.3, 0.1, (0.2 * exp(0.02 * tanh(q))));
  for (i in 1:N) for (k in 2:N) fmax(d[1], -29) ~ normal(0.5, exp(tanh(0.5))) T[-30, ];
  for (i in 1:N) fmax(d[i], -29) ~ normal(0.5, 2) T[-30, ];
}
