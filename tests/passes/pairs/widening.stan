data { int N; array[N] int<lower=0> size; }
parameters { vector[9] x; }
model {
  for (n in 1:N) {
    vector[size[n]] part;
    for (i in 1:size[n]) part[i] = x[i] * n;
    for (i in 1:size[n]) target += -square(part[i]);
  }
}
