data { int N; }
parameters { vector[N] x; vector[N] w; }
model {
  for (n in 1:N) target += -dot_product(x[1:n], w[1:n]);
}
