data { int N; array[N] int size; }
parameters { vector[9] x; }
model {
  for (n in 1:N) target += -sum(head(x, size[n]));
}
