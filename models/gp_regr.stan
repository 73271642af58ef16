// Gaussian process regression: a smooth function with exponentiated quadratic covariance, observed with noise, and its
// posterior mean and standard deviation at new points. Rasmussen and Williams (2006), algorithm 2.1.
data {
  int<lower=1> N;
  array[N] real x;
  vector[N] y;
  int<lower=0> M;
  array[M] real x_new;
}
parameters {
  real<lower=0> length_scale;
  real<lower=0> amplitude;
  real<lower=0> noise;
}
model {
  matrix[N, N] covariance = add_diag(gp_exp_quad_cov(x, amplitude, length_scale), square(noise));
  matrix[N, N] L = cholesky_decompose(covariance);
  length_scale ~ inv_gamma(4, 4);
  amplitude ~ normal(0, 2);
  noise ~ normal(0, 1);
  y ~ multi_normal_cholesky(rep_vector(0, N), L);
}
generated quantities {
  vector[M] f_mean;
  vector<lower=0>[M] f_sd;
  {
    matrix[N, M] between = gp_exp_quad_cov(x, x_new, amplitude, length_scale);
    matrix[N, N] L = cholesky_decompose(add_diag(gp_exp_quad_cov(x, amplitude, length_scale), square(noise)));
    matrix[N, M] half = mdivide_left_tri_low(L, between);
    f_mean = half' * mdivide_left_tri_low(L, y);
    for (m in 1 : M) {
      f_sd[m] = sqrt(square(amplitude) - dot_self(col(half, m)));
    }
  }
}
