// Zero sizes, arrays of matrices, constrained variables outside of parameters, ragged loops, matrices by loops.
data {
  int<lower=0> Z;
  int<lower=0> N;
  vector[Z] nothing;
  array[Z] int no_ints;
  matrix[N, Z] flat;
  array[2, Z] real no_pairs;
  array[N] int<lower=0> sizes;
  array[2, 2] cov_matrix[2] covs;
  array[2] simplex[3] weights;
  ordered[3] cuts;
}
transformed data {
  vector[sum(sizes)] ragged;
  array[N] int start;
  cholesky_factor_cov[2] L = cholesky_decompose(covs[1, 2]);
  real<lower=0> positive = sum(nothing) + 1;
  {
    int at = 1;
    for (n in 1 : N) {
      start[n] = at;
      for (k in 1 : sizes[n]) {
        ragged[at] = n * 10 + k;
        at += 1;
      }
    }
  }
}
parameters {
  vector[Z] empty;
  array[Z] vector[2] empties;
  vector[N] x;
  array[2] matrix[2, 3] ms;
}
transformed parameters {
  array[2] matrix[3, 2] flipped;
  vector<lower=0>[N] rates = exp(x);
  array[2] simplex[3] mixed;
  array[N] vector[3] stacked;
  for (k in 1 : 2) {
    flipped[k] = ms[k]';
    flipped[k][1, 2] = 0;
    mixed[k] = softmax(ms[k, 1]');
  }
  for (n in 1 : N) {
    stacked[n] = rep_vector(x[n], 3);
    stacked[n, 2] = n;
  }
}
model {
  empty ~ normal(0, 1);
  for (e in empties) {
    e ~ std_normal();
  }
  target += sum(nothing) + sum(flat) + num_elements(no_pairs) + rows(flat) + sum(empty);
  for (n in 1 : N) {
    for (k in 1 : sizes[n]) {
      target += ragged[start[n] + k - 1] * x[n];
    }
    target += sum(segment(ragged, start[n], sizes[n])) * rates[n];
    vector[sizes[n]] part = segment(ragged, start[n], sizes[n]);
    part ~ normal(x[n], 20);
  }
  for (i in 1 : 2) {
    for (j in 1 : 2) {
      ms[i, : , j] ~ multi_normal(rep_vector(0, 2), covs[i, j]);
      target += quad_form(covs[i, j], ms[j][ : , 3]);
    }
  }
  target += dot_product(weights[1], mixed[2]) + sum(L) + sum(flipped[1]) - sum(flipped[2]) + cuts[2] * positive;
  matrix[N, N] K;
  for (i in 1 : N) {
    for (j in i : N) {
      K[i, j] = exp(-square(x[i] - x[j])) + (i == j ? 0.1 : 0);
      K[j, i] = K[i, j];
    }
  }
  target += log_determinant(K);
  vector[N] state = rep_vector(0, N);
  state[1] = x[1];
  for (n in 2 : N) {
    state[n] = 0.5 * state[n - 1] + x[n];
  }
  target += sum(state) + sum(to_matrix({stacked[1]', stacked[2]'})) + sum(to_matrix({{1, 2}, {3, x[1]}}));
  array[2, N] vector[2] lattice;
  for (i in 1 : 2) {
    for (n in 1 : N) {
      lattice[i, n] = [x[n] * i, n]';
    }
  }
  target += lattice[2, 1, 1] + 2 * lattice[1, 2][2] + sum(lattice[2, N]);
  matrix[0, 0] nil;
  target += sum(nil * nil) + size(lattice) + sum(append_row(nothing, x));
  for (n in no_ints) {
    target += n * 1000;
  }
}
generated quantities {
  vector[Z] still_empty = empty;
  matrix[Z, N] also = flat';
  array[2] matrix[2, 2] squares;
  for (k in 1 : 2) {
    squares[k] = ms[k] * flipped[k];
  }
  array[N, Z] real bare;
  array[2] int counted = dims(ms)[2 : 3];
}
