data { int g; }
parameters { vector[3] x; }
model {
  for (d in 1:g) {
    array[1] vector[2] k;
    for (w in 1:1) {
      if (d != 1)
        k[w] = [0.3, 0.1]';
      else
        k[w] = [x[1], 0.1]';
    }
    target += tanh(sum(k[1]));
  }
}
