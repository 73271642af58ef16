data { int w; array[2] int end_g; vector[3] r;  }
parameters { vector[w] s; }
model {
  vector[w] s2 = s;
  for (e in 1:3) {
      for (x in 1:w) {
        for (y2 in 1:2) {
          vector[1] p3;
          for (h in 1:1) {
            s2 *= 0.3;
            s2[min({max({x, 1}), 1})] *= 0.4;
            p3[h] = dot_self(head(r, end_g[(y2 <= e) + 1]));
          }
          target += 0.3 * tanh(sum(p3));
        }
      }
  }
}
