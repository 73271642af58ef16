"""Programs whose terms are sums over rows in ways that users write them, and others that no batch can tell."""
from __future__ import annotations

UNBIASED = {
    "truncated in a loop": """
        data { int N; vector[N] y; }
        parameters { real m; real<lower=0> s; }
        model { m ~ normal(0, 1); s ~ exponential(1); for (n in 1:N) y[n] ~ normal(m, s) T[-9, ]; }
    """,
    "truncated laws of vectors": """
        data { int N; vector[N] y; }
        parameters { real m; real<lower=0> s; }
        model { y ~ normal(m, s) T[-9, 9]; }
    """,
    "bounds of rows": """
        data { int N; vector[N] y; vector[N] lo; }
        parameters { real m; }
        model { for (n in 1:N) y[n] ~ normal(m, 2) T[lo[n]-20, ]; }
    """,
    "censored rows": """
        data { int N; vector[N] y; array[N] int d; }
        parameters { real m; real<lower=0> s; }
        model { for (n in 1:N) { if (d[n]>1) target += normal_lccdf(y[n]|m, s); else y[n] ~ normal(m, s); } }
    """,
    "three kinds of rows": """
        data { int N; vector[N] y; array[N] int d; }
        parameters { real m; }
        model { for (n in 1:N) { if (d[n]==1) { y[n] ~ normal(m, 1);
          } else if (d[n]==2) target += normal_lcdf(y[n]|m, 1);
          else target += log_diff_exp(normal_lcdf(y[n]+1|m, 1), normal_lcdf(y[n]|m, 1)); } m ~ normal(0, 1); }
    """,
    "groups": """
        data { int N; int K; vector[N] y; array[N] int d; }
        parameters { vector[K] b; }
        model { b ~ normal(0, 1); y ~ normal(b[d], 1); }
    """,
    "functions of the program": """
        functions { real f(vector y, real m) { return normal_lpdf(y|m, 1);
          } real g_lpdf(vector y, real m) { real t = 0; for (i in 1:size(y)) t += cauchy_lpdf(y[i]|m, 1); return t;
          } }
        data { int N; vector[N] y; }
        parameters { real m; }
        model { target += f(y, m); y ~ g(m); }
    """,
    "slices": """
        functions { real ps(array[] real y, int a, int b, real m) { return normal_lpdf(y|m, 1); } }
        data { int N; array[N] real y; }
        parameters { real m; }
        model { target += reduce_sum(ps, y, 1, m); m ~ normal(0, 1); }
    """,
    "slices beside slices": """
        functions { real ps(array[] real y, int a, int b, real m, vector x) { return normal_lpdf(y|m*x[a:b],
          1); } }
        data { int N; array[N] real y; vector[N] x; }
        parameters { real m; }
        model { target += reduce_sum(ps, y, 2, m, x); }
    """,
    "transformed rows": """
        data { int N; vector[N] y; }
        transformed data { vector[N] z=log1p(square(y)); }
        parameters { real m; }
        model { z ~ normal(m, 1); }
    """,
    "a sum of transformed data": """
        data { int N; vector[N] y; }
        transformed data { real s = sum(y); }
        parameters { real m; }
        model { target += -s*m; }
    """,
    "transformed data in a loop": """
        data { int N; vector[N] y; }
        transformed data { vector[N] z; real t = 0; for (n in 1:N) { z[n]=y[n]^2; t += y[n]; } }
        parameters { real m; }
        model { z ~ normal(m, 1); target += t*m; }
    """,
    "a count": """
        data { int N; array[N] int d; }
        transformed data { int c = 0; for (n in 1:N) if (d[n]>1) c += 1; }
        parameters { real m; }
        model { target += c*m; }
    """,
    "transformed parameters": """
        data { int N; vector[N] y; vector[N] x; }
        parameters { real a; real b; }
        transformed parameters { vector[N] mu=a+b*x; }
        model { y ~ normal(mu, 1); }
    """,
    "locals by offset": """
        data { int N; vector[N] y; }
        parameters { real m; real<lower=0> t; vector[N] z; }
        transformed parameters { vector[N] th=m+t*z; }
        model { z ~ std_normal(); y ~ normal(th, 1); t ~ normal(0, 1); }
    """,
    "discrete parameters": """
        data { int N; vector[N] y; }
        parameters { array[N] int<lower=0, upper=1> z; real m; real<lower=0, upper=1> p; }
        model { z ~ bernoulli(p); for (n in 1:N) y[n] ~ normal(m*z[n], 1); }
    """,
    "mixtures": """
        data { int N; vector[N] y; }
        parameters { ordered[2] m; real<lower=0, upper=1> p; }
        model { for (n in 1:N) target += log_mix(p, normal_lpdf(y[n]|m[1], 1), normal_lpdf(y[n]|m[2], 1)); }
    """,
    "mixtures of three": """
        data { int N; vector[N] y; }
        parameters { vector[3] m; simplex[3] p; }
        model { for (n in 1:N) { vector[3] l=log(p); for (k in 1:3) l[k] += normal_lpdf(y[n]|m[k], 1);
          target += log_sum_exp(l); } }
    """,
    "rows of vectors": """
        data { int N; array[N] vector[3] y; }
        parameters { vector[3] m; cholesky_factor_corr[3] L; }
        model { y ~ multi_normal_cholesky(m, L); L ~ lkj_corr_cholesky(2); }
    """,
    "a linear model": """
        data { int N; int K; matrix[N, K] x; vector[N] y; }
        parameters { vector[K] b; real a; }
        model { y ~ normal_id_glm(x, a, b, 1); b ~ normal(0, 1); }
    """,
    "offsets of rows": """
        data { int N; int K; matrix[N, K] x; array[N] int d; vector[N] o; }
        parameters { vector[K] b; }
        model { d ~ poisson_log_glm(x, o, b); }
    """,
    "rows along columns": """
        data { int N; int K; matrix[K, N] x; row_vector[N] y; }
        parameters { vector[K] b; }
        model { y ~ normal(b'*x, 1); }
    """,
    "two sizes": """
        data { int N; int M; array[N, M] int d; }
        parameters { vector[N] a; vector[M] b; }
        model { a ~ normal(0, 1); b ~ normal(0, 2); for (n in 1:N) d[n] ~ poisson_log(a[n]+b); }
    """,
    "two sizes in loops": """
        data { int N; int M; matrix[N, M] y; vector[M] w; }
        parameters { real m; real<lower=0> s; }
        model { w ~ normal(m, 1); for (j in 1:M) for (n in 1:N) y[n, j] ~ normal(m*w[j], s);
          to_vector(y) ~ cauchy(m, 1); }
    """,
    "rows left out": """
        data { int N; vector[N] y; }
        parameters { real m; }
        model { for (n in 1:N) { if (y[n]>0) continue; y[n] ~ normal(m, 1); } }
    """,
    "a loop over values": """
        data { int N; vector[N] y; }
        parameters { real m; }
        model { for (v in y) v ~ normal(m, 1); }
    """,
    "profiled": """
        data { int N; vector[N] y; }
        parameters { real m; }
        model { profile("a") { y ~ normal(m, 1); } m ~ normal(0, 1); }
    """,
    "an equation for every row": """
        functions { vector f(real t, vector u, real k) { return -k*u; } }
        data { int N; array[N] real y; array[N] real<lower=0> x; }
        parameters { real<lower=0> k; }
        model { for (n in 1:N) { array[1] vector[1] u=ode_rk45(f, [1.0]', 0, { abs(x[n])+1 }, k);
          y[n] ~ normal(u[1, 1], 1); } }
    """,
    "vectors of rows": """
        data { int N; vector[N] y; }
        parameters { array[N] vector[2] z; vector[2] m; }
        model { z ~ multi_normal(m, identity_matrix(2)); for (n in 1:N) y[n] ~ normal(z[n, 1]*z[n, 2], 1); }
    """,
    "affine locals": """
        data { int N; vector[N] y; }
        parameters { real m; real<lower=0> s; vector<offset=m, multiplier=s>[N] z; }
        model { z ~ normal(m, s); y ~ normal(z, 1); }
    """,
    "bounds of locals": """
        data { int N; vector[N] y; vector[N] lo; }
        parameters { vector<lower=lo>[N] z; }
        model { z ~ normal(0, 1); y ~ normal(z, 1); }
    """,
    "matrices of locals": """
        data { int N; int K; vector[N] y; }
        parameters { matrix[N, K] z; vector[K] m; }
        model { to_vector(z) ~ normal(0, 1); y ~ normal(z*m, 1); }
    """,
    "products of rows": """
        data { int N; vector[N] y; vector[N] x; }
        parameters { real m; }
        model { target += dot_product(y, x)*m; target += -m^2*dot_self(x); target += sum(y.*x)*m; target += x'*y*m;
          target += quad_form(diag_matrix([m]'), to_matrix([m]'))[1, 1]; }
    """,
    "transforms of rows": """
        data { int N; vector[N] y; }
        parameters { real m; vector[N] u; array[N] vector[2] v; array[N] vector[3] w; }
        transformed parameters { vector[N] s=lower_upper_bound_jacobian(u, y-1, 9);
          array[N] vector[3] p=simplex_jacobian(v); array[N] matrix[2, 2] L=cholesky_factor_cov_jacobian(w, 2, 2);
          array[N] vector[3] o=ordered_constrain(w); array[N] vector[2] q=simplex_unconstrain(p); }
        model { y ~ normal(m, s+2); for (n in 1:N) { p[n] ~ dirichlet([1, 2, 3]'); target += -m*L[n, 2, 1]; }
          for (n in 1:N) o[n] ~ normal(q[n, 1], 2); }
    """,
}  # fmt: skip
REFUSED = {
    "transform over rows": """
        data { int N; vector[N] y; }
        parameters { vector[N] z; }
        transformed parameters { vector[N+1] p=simplex_jacobian(z); }
        model { z ~ normal(0, 1); }
    """,
    "transform of columns": """
        data { int N; }
        parameters { array[2] vector[N] z; }
        transformed parameters { array[2] vector[N] p=ordered_jacobian(z); }
        model { for (k in 1:2) z[k] ~ normal(0, 1); }
    """,
    "transform of sizes": """
        data { int N; }
        parameters { array[N] vector[N] z; }
        transformed parameters { array[N] matrix[N, N] p=cov_matrix_jacobian(z, N); }
        model { z[1] ~ normal(0, 1); }
    """,
    "missing": """
        data { int N; int M; array[M] int d; vector[N] y; }
        parameters { real m; }
        model { y[d] ~ normal(m, 1); }
    """,
    "userfun mean": """
        functions { real f(vector y, real m) { return square(mean(y)-m); } }
        data { int N; vector[N] y; }
        parameters { real m; }
        model { target += f(y, m); }
    """,
    "userfun rec": """
        functions { real f(vector y, int i, real m) { if (i>size(y)) return 0;
          return normal_lpdf(y[i]|m, 1)+f(y, i+1, m); } }
        data { int N; vector[N] y; }
        parameters { real m; }
        model { target += f(y, 1, m); }
    """,
    "reduce idx": """
        functions { real ps(array[] real y, int a, int b, real m, vector x) { real t = 0;
          for (i in a:b) t += normal_lpdf(y[i-a+1]|m*x[i], 1); return t; } }
        data { int N; array[N] real y; vector[N] x; }
        parameters { real m; }
        model { target += reduce_sum(ps, y, 1, m, x); }
    """,
    "reduce first": """
        functions { real ps(array[] real y, int a, int b, real m) { real t = normal_lpdf(y|m, 1);
          if (a==1) t += -square(m); return t; } }
        data { int N; array[N] real y; }
        parameters { real m; }
        model { target += reduce_sum(ps, y, 1, m); }
    """,
    "td std": """
        data { int N; vector[N] y; }
        transformed data { vector[N] z=(y-mean(y))/sd(y); }
        parameters { real m; }
        model { z ~ normal(m, 1); }
    """,
    "td sort": """
        data { int N; vector[N] y; }
        transformed data { vector[N] z=sort_asc(y); }
        parameters { real m; }
        model { z ~ normal(m, 1); }
    """,
    "td which": """
        data { int N; vector[N] y; array[N] int d; }
        transformed data { int c = 0; for (n in 1:N) if (d[n]>1) c += 1; array[c] int w; { int k = 0;
          for (n in 1:N) if (d[n]>1) { k += 1; w[k]=n; } } }
        parameters { real m; }
        model { y[w] ~ normal(m, 1); }
    """,
    "dint sum": """
        data { int N; vector[N] y; }
        parameters { array[N] int<lower=0, upper=1> z; real m; }
        model { z ~ bernoulli(0.3); target += -square(sum(z)-m); }
    """,
    "dint shared": """
        data { int N; vector[N] y; }
        parameters { int<lower=0, upper=1> z; real m; }
        model { z ~ bernoulli(0.3); y ~ normal(m*z, 1); }
    """,
    "dint hmm": """
        data { int N; vector[N] y; }
        parameters { array[N] int<lower=1, upper=2> z; vector[2] m; }
        model { z[1] ~ categorical([.5, .5]'); for (n in 2:N) z[n] ~ categorical(z[n-1]==1?[.2, .8]':[.5,
          .5]'); for (n in 1:N) y[n] ~ normal(m[z[n]], 1); }
    """,
    "gp": """
        data { int N; vector[N] y; array[N] real x; }
        parameters { real<lower=0> s; }
        model { y ~ multi_normal(rep_vector(0, N), add_diag(gp_exp_quad_cov(x, s, 1), 1)); }
    """,
    "ar": """
        data { int N; vector[N] y; }
        parameters { real a; }
        model { for (n in 2:N) y[n] ~ normal(a*y[n-1], 1); }
    """,
    "ar2": """
        data { int N; vector[N] y; }
        parameters { real a; }
        model { y[2:N] ~ normal(a*y[1:(N-1)], 1); }
    """,
    "const N": """
        data { int N; vector[N] y; }
        parameters { real m; }
        model { y ~ normal(m, 1); target += -log(N)*square(m); }
    """,
    "invN": """
        data { int N; vector[N] y; }
        parameters { real m; }
        model { target += normal_lpdf(y|m, 1)/N; }
    """,
    "mean": """
        data { int N; vector[N] y; }
        parameters { real m; }
        model { mean(y) ~ normal(m, 1/sqrt(N)); }
    """,
    "rowno": """
        data { int N; vector[N] y; }
        parameters { real m; }
        model { for (n in 1:N) y[n] ~ normal(m*n, 1); }
    """,
    "first": """
        data { int N; vector[N] y; }
        parameters { real m; }
        model { for (n in 1:N) { if (n==1) y[n] ~ normal(m, 9); else y[n] ~ normal(m, 1); } }
    """,
    "break": """
        data { int N; vector[N] y; }
        parameters { real m; }
        model { for (n in 1:N) { if (y[n]>100) break; y[n] ~ normal(m, 1); } }
    """,
    "while": """
        data { int N; vector[N] y; }
        parameters { real m; }
        model { int n = 1; while (n<=N) { y[n] ~ normal(m, 1); n += 1; } }
    """,
    "ragged": """
        data { int N; int K; array[K] int s; vector[N] y; }
        parameters { vector[K] b; }
        model { int p = 1; for (k in 1:K) { segment(y, p, s[k]) ~ normal(b[k], 1); p += s[k]; } }
    """,
    "tupledata": """
        data { int N; array[N] tuple(real, int) t; }
        parameters { real m; }
        model { for (n in 1:N) t[n].1 ~ normal(m*t[n].2, 1); }
    """,
    "matrow": """
        data { int N; int K; matrix[N, K] x; }
        parameters { vector[K] m; }
        model { for (n in 1:N) x[n] ~ normal(m, 1); for (k in 1:K) x[, k] ~ normal(m[k], 2);
          col(x, 1) ~ normal(m[1], 1); sub_col(x, 1, 1, N) ~ normal(m[1], 3); }
    """,
    "block": """
        data { int N; int K; matrix[N, K] x; }
        parameters { real m; }
        model { to_vector(block(x, 1, 1, N, 2)) ~ normal(m, 1); to_array_1d(x[, 1:2]) ~ normal(m, 2); }
    """,
    "prod": """
        data { int N; vector[N] y; }
        parameters { real m; }
        model { real t = 1; for (n in 1:N) t *= normal_cdf(y[n]|m, 1); target += log(t); }
    """,
    "lprod": """
        data { int N; vector[N] y; }
        parameters { real m; }
        model { target += log(prod(Phi(y-m))); }
    """,
    "nested sum": """
        data { int N; vector[N] y; }
        parameters { real m; }
        model { real a = 0; for (n in 1:N) a += y[n]; target += -square(a-m); }
    """,
    "scaled sum": """
        data { int N; vector[N] y; }
        parameters { real m; }
        model { real a = 0; for (n in 1:N) a += y[n]*m; target += a; target += 2*a-m; }
    """,
    "dims": """
        data { int N; vector[N] y; }
        parameters { real m; }
        model { target += dims(y)[1]*m; target += size(y)*square(m); }
    """,
    "ifN": """
        data { int N; vector[N] y; }
        parameters { real m; }
        model { if (N>3) m ~ normal(0, 1); y ~ normal(m, 1); }
    """,
    "pairwise": """
        data { int N; vector[N] y; }
        parameters { real m; }
        model { for (i in 1:N) for (j in 1:N) target += -m*square(y[i]-y[j]); }
    """,
    "neighbour": """
        data { int N; vector[N] y; array[N] int d; }
        parameters { vector[N] z; }
        model { for (n in 1:N) y[n] ~ normal(z[d[n]], 1); z ~ normal(0, 1); }
    """,
    "rev": """
        data { int N; vector[N] y; vector[N] x; }
        parameters { real m; }
        model { y ~ normal(m*reverse(x), 1); }
    """,
    "crossprod": """
        data { int N; int K; matrix[N, K] x; }
        parameters { vector[K] b; }
        model { target += -quad_form(crossprod(x), b); target += -b'*(x'*x)*b; }
    """,
    "suff": """
        data { int N; int K; matrix[N, K] x; vector[N] y; }
        transformed data { matrix[K, K] S=crossprod(x); vector[K] v=x'*y; }
        parameters { vector[K] b; }
        model { target += -quad_form(S, b)+2*b'*v; }
    """,
}  # fmt: skip
