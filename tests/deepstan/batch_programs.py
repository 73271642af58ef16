"""Programs whose terms belong to rows of the data in every way that a minibatch knows, by what they show."""
from __future__ import annotations

LOCAL = "data {{ int N; vector[N] y; }} parameters {{ {} }} model {{ {} }}"
LINEAR = """
    data {{ int N; int K; matrix[N, K] x; vector[N] y; }}
    parameters {{ vector[K] b; real a; }}
    {}
"""
SLOPES = "b ~ normal(0, 1); a ~ normal(0, 2); "

UNBIASED = {
    "locals": LOCAL.format("real m; vector[N] z;", "m ~ normal(0, 1); z ~ normal(m, 1); y ~ normal(z, 2);"),
    "half laws": LOCAL.format("real<lower=0> m; vector<lower=0>[N] z;", """
        m ~ cauchy(0, 1);
        z ~ normal(0, m);
        y ~ normal(z, 2);
    """),
    "two priors": LOCAL.format("real m; vector[N] z;", """
        z ~ normal(m, 1);
        z ~ cauchy(0, 2);
        m ~ normal(0, 1);
        m ~ cauchy(1, 1);
    """),
    "factors of none": LOCAL.format("real m;", """
        target += -square(m);
        target += normal_lpdf(m | 0, 1);
        y ~ normal(m, 1);
    """),
    "a sum of rows": LOCAL.format("real m;", "target += -0.5 * dot_self(y - m) - N * log(2) / 3;"),
    "sizes of rows": LOCAL.format("real m;", """
        target += -cols(y') * square(m);
        target += -rows(y') * square(m);
        target += -size([y', y']) * square(m);
      target += -rows(to_vector(rep_matrix(y, 2))) * square(m);
      target += -cols(to_row_vector(rep_matrix(y, 2))) * square(m);
      target += -size(to_array_1d(rep_matrix(y, 2))) * square(m);
      target += -num_elements(to_vector(rep_matrix(y, 2))) * square(m);
    """),
    "densities": LOCAL.format("real m; real<lower=0> s;", """
        target += normal_lpdf(y | m, s) + cauchy_lpdf(y | m, 1);
    """),
    "a loop": LOCAL.format("real m; vector[N] z;", """
        for (n in 1:N) {
          z[n] ~ normal(m, 1);
          y[n] ~ normal(z[n], 2);
          m ~ normal(0, 9);
        }
    """),
    "a running sum": LOCAL.format("real m;", """
        real t = 0;
        for (n in 1:N) {
          if (y[n] > 0) t += normal_lpdf(y[n] | m, 1);
          else t -= square(m);
        }
        target += t;
    """),
    "rows filled in a loop": LINEAR.format("model { vector[N] mu; " + SLOPES + """
        for (n in 1:N) mu[n] = a + dot_product(x[n], b);
        y ~ normal(mu, 1);
    }"""),
    "a predictor": LINEAR.format("transformed parameters { vector[N] mu = x * b + a; }"
                                 "model { " + SLOPES + " y ~ normal(mu, exp(a)); }"),
    "columns": """
        data { int N; int K; matrix[K, N] x; row_vector[N] y; }
        parameters { row_vector[K] b; matrix[K, N] z; }
        model {
          b ~ normal(0, 1);
          to_vector(z) ~ normal(0, 2);
          y ~ normal(b * (x + z), 1);
        }
    """,
    "a linear model's law": LINEAR.format("model { " + SLOPES + " y ~ normal_id_glm(x, a, b, 2); }"),
    "groups": """
        data { int N; int J; array[N] int<lower=1, upper=J> g; vector[N] y; }
        parameters { vector[J] a; real<lower=0> s; }
        model {
          s ~ exponential(1);
          a ~ normal(0, s);
          y ~ normal(a[g], 1);
        }
    """,
    "vectors": """
        data { int N; int K; array[N] vector[K] v; }
        parameters { vector[K] m; array[N] simplex[K] p; }
        model {
          m ~ normal(0, 1);
          p ~ dirichlet(rep_vector(2, K));
          v ~ multi_normal(m, identity_matrix(K));
        }
    """,
    "truncation": LOCAL.format("real<lower=0> m; vector[N] z;", """
        m ~ normal(0, 1);
        for (n in 1:N) z[n] ~ normal(m, 1) T[-9, y[n] + 9];
    """),
    "mixtures": LOCAL.format("vector[2] m; real<lower=0, upper=1> p;", """
        m ~ normal(0, 1);
        for (n in 1:N) {
          vector[2] t;
          for (k in 1:2) t[k] = normal_lpdf(y[n] | m[k], 1);
          target += log_mix(p, t[1], t[2]);
        }
    """),
    "functions": """
        functions {
          real f_lpdf(vector y, real m) {
            real t = 0;
            for (n in 1:rows(y)) t += normal_lpdf(y[n] | m, 1);
            return t;
          }
          vector g(vector y, real m) { return exp(-y) + m; }
          void h_lp(vector y, real m) { target += -sum(g(y, m)); }
          real part(array[] real y, int start, int end, real m, vector w) {
            return normal_lpdf(y | m + w[start:end], 1);
          }
        }
        data { int N; vector[N] y; array[N] real w; }
        parameters { real m; vector[N] z; }
        model {
          m ~ normal(0, 1);
          y ~ f(m);
          h_lp(y, m);
          z ~ normal(g(y, m), 1);
          target += reduce_sum(part, w, 1, m, z);
        }
    """,
    "transformed data": """
        data { int N; vector[N] y; int flip; }
        transformed data { vector[N] l = flip ? exp(y) : -y; }
        parameters { real m; }
        model {
          m ~ normal(0, 1);
          if (flip) l ~ normal(m, 1);
          else y ~ normal(m, 1);
        }
    """,
    "complex locals": LOCAL.format("array[N] complex z; tuple(real, vector[2]) t;", """
        t.1 ~ normal(0, 1);
        t.2 ~ normal(t.1, 1);
        for (n in 1:N) {
          get_real(z[n]) ~ normal(y[n], 1);
          get_imag(z[n]) ~ std_normal();
        }
    """),
}  # fmt: skip

NO_SUM = "no sum of one of each row"
REFUSED = {
    "y ~ normal(mean(y), 1);": rf"{NO_SUM}, for 'mean\(y\)'",
    "for (n in 2:N) y[n] ~ normal(m * y[n - 1], 1);": NO_SUM,
    "target += log_sum_exp(y * m);": r"for 'log_sum_exp\(y \* m\)'",
    "target += normal_lpdf(m | 0, 1) + normal_lpdf(y | m, 1);": NO_SUM,
    "y ~ multi_normal(rep_vector(m, N), identity_matrix(N));": NO_SUM,
    "y[1] ~ normal(m, 1);": rf"{NO_SUM}, for 'y\[1\]'",
    "for (n in 1:N) y[n] ~ normal(m * n, 1);": NO_SUM,
    "for (n in 1:N) for (k in 1:N) target += -y[n] * y[k] * m;": NO_SUM,
    "real t = 0; for (n in 1:N) { t += y[n]; target += -t * m; }": NO_SUM,
    "vector[N] u = y; for (n in 1:N) { target += -u[n] * m; if (n < N) u[n + 1] = m; }": NO_SUM,
    "real t = 0; for (n in 1:N) t += y[n]; m ~ normal(t, 1);": NO_SUM,
    "real t = m; for (n in 1:N) t += y[n]; target += t;": NO_SUM,
    "if (mean(y) > 0) m ~ normal(0, 1);": NO_SUM,
    "target += -m * num_elements(y) * num_elements(y);": NO_SUM,
    "for (n in 1:N) { if (y[n] > 9) break; target += -square(m); }": NO_SUM,
    "while (m > sum(y)) { target += -m; break; }": "decides whether this is reached",
    "y ~ normal(append_row(y[1:(N - 1)], m), 1);": NO_SUM,
    "vector[N] u = sort_asc(y); u ~ normal(m, 1);": NO_SUM,
    "target += -(N / 2) * m;": NO_SUM,
    "to_array_1d({to_array_1d(y), to_array_1d(y)}) ~ normal(to_array_1d([m * y', y']), 1);": NO_SUM,
    "real t = 0; for (n in 1:N) t = y[n] * m - t; target += t;": NO_SUM,
    "real t = 0; for (n in 1:N) { if (N > m) t = 0; t += y[n]; } target += t;": NO_SUM,
    "real t = 0; for (n in 1:N) { for (k in 1:2) { if (k > 1) t = 0; t += y[n]; } } target += t;": NO_SUM,
    "real t = 0; for (n in 1:N) { t = m > 0 ? 0 : t; t += y[n] * m; } target += t;": NO_SUM,
    "real t = 0; while (t < 3) { t += 1 + dot_self(y); target += -m; }": r"for '1 \+ dot_self\(y\)'",
    "vector[N] u = y; for (n in 1:N) u += y * m; target += sum(u);": NO_SUM,
    "vector[N] u = y; for (n in 1:N) u[1:N] = u + y * m; target += sum(u);": NO_SUM,
    "target += sum(exp(rows_dot_product(y', y'))) * m;": r"rows_dot_product\(y', y'\)",
    "target += sum(exp(columns_dot_self(y))) * m;": r"for 'columns_dot_self\(y\)'",
    "target += target() * 0;": r"target\(\) is the density of all rows",
}  # fmt: skip
