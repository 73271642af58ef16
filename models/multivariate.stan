// Mean, scales and correlations of vectors: Cholesky factors from the prior to the likelihood. Lewandowski, Kurowicka
// and Joe (2009), Journal of Multivariate Analysis 100.
data {
  int<lower=1> N;
  int<lower=2> D;
  array[N] vector[D] y;
}
parameters {
  vector[D] centre;
  vector<lower=0>[D] scale;
  cholesky_factor_corr[D] factor;
}
model {
  centre ~ normal(0, 5);
  scale ~ exponential(1);
  factor ~ lkj_corr_cholesky(2);
  y ~ multi_normal_cholesky(centre, diag_pre_multiply(scale, factor));
}
generated quantities {
  corr_matrix[D] correlation = multiply_lower_tri_self_transpose(factor);
  vector[D] y_new = multi_normal_cholesky_rng(centre, diag_pre_multiply(scale, factor));
}
