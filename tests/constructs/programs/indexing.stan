// Multi-indices on both sides, slices of every kind, arrays of containers.
data {
  int<lower=0> N;
  array[3] int idx;
  array[4] int perm;
  matrix[3, 4] given;
}
transformed data {
  array[2, 3] matrix[2, 2] blocks;
  array[0] int none;
  for (i in 1 : 2) {
    for (j in 1 : 3) {
      blocks[i, j] = [[i, j], [i * j, given[j, i]]];
    }
  }
  matrix[3, 4] moved = given;
  moved[idx] = given;
  moved[2 : 3, {4, 1}] = given[1 : 2, 3 : 4];
}
parameters {
  vector[4] x;
  matrix[3, 4] m;
  array[2] vector[3] av;
  array[2, 2] row_vector[2] ar;
}
transformed parameters {
  matrix[3, 4] y = m;
  array[2] vector[3] w = av;
  y[2] = x';
  y[ : , 3] = av[1];
  y[idx[1], 2 : 3] = x[{4, 1}]';
  y[1 : 2, {1, 4}] += m[{3, 2}, 2 : 3];
  w[ : , 2] = {x[1], x[2]};
  w[2, {3, 1}] = x[3 : 4];
}
model {
  target += sum(x[perm]) + 2 * sum(x[ : 2]) - sum(x[3 : ]) + prod(x[{1, 1, 2}]);
  target += sum(m[idx, perm]) + sum(m[ : , 2]) * sum(m[3]) + sum(m[idx, 2]) - sum(m[2, perm[1 : 2]]);
  target += dot_product(m[1, 2 : 4], m[2, { 3, 1, 2 }]) + m[3, 4] * m[3][4];
  target += sum(y .* moved);
  vector[4] z = x;
  z[2 : 4] = z[1 : 3];
  target += dot_product(z, x);
  z[perm] = z;
  target += 2 * dot_product(z, x);
  z[1 : 2] *= 3;
  z[{4, 3}] -= x[1 : 2];
  target += 3 * dot_product(z, x);
  z[3 : 2] = x[none];
  target += sum(z[none]) + rows(m[none]) + cols(m[none]);
  array[2, 3] matrix[2, 2] b = blocks;
  b[1, 2, 1] = x[1 : 2]';
  b[2, : , 2, 1] = {x[1], x[2], x[3]};
  b[ : , 3] = {m[1 : 2, 1 : 2], m[2 : 3, 3 : 4]};
  b[2, {1, 2}, : , 2] = {x[1 : 2], x[3 : 4]};
  target += sum(b[1, 2]) - sum(b[2, 1]) + 2 * sum(b[2, 2]) + 3 * sum(b[2, 3]) + sum(b[1, 3]);
  array[2] vector[2] picked = b[{2, 1}, 2, : , 1];
  target += picked[1, 1] - 2 * picked[2, 2];
  array[2, 2] row_vector[2] rr = ar;
  rr[1] = ar[2];
  rr[ : , 2, 1] = {x[3], x[4]};
  rr[2, 1][2] = 7;
  target += sum(rr[1, 1]) + 2 * sum(rr[1, 2]) + 3 * sum(rr[2, 1]) + 4 * sum(rr[2, 2]);
  for (n in 1 : N) {
    vector[n] part = x[1 : n];
    part[n] = 0;
    target += sum(part) * n;
    z[idx[1 + n % 3]] += part[1];
  }
  target += sum(z) + sum(w[1]) * 2 + sum(w[2]) * 3;
  array[3] int counts = rep_array(0, 3);
  for (k in idx) {
    counts[k] += k;
  }
  counts[{1, 3}] = counts[{3, 1}];
  target += counts[1] * x[1] + counts[2] * x[2] + counts[3] * x[3];
  x[idx] ~ normal(av[1], 1);
  to_vector(m[ : , perm]) ~ std_normal();
}
generated quantities {
  matrix[2, 3] cut = m[idx[{2, 3}], 2 : 4];
  array[2] vector[2] sub = w[ : , {3, 1}];
  vector[2] col = (m')[{1, 2}, 3];
  row_vector[4] mirrored = x[{4, 3, 2, 1}]';
}
