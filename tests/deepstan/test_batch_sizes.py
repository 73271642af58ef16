"""Minibatches of rows whose size has the value of another one by chance, and of what is refused in functions.

All data of such a program fit together; a batch has fewer rows, and then its containers don't.
"""
from __future__ import annotations

import numpy as np
import pytest

import stanimport

PROGRAM = """
functions {{
  vector either(vector u, vector v, real a) {{ if (a > 0) return u; return v; }}
  real rejects(vector v, real a) {{ if (sum(v) * a > 3) reject("far"); return a; }}
  real counted(vector v) {{ real t = 0; for (i in 1:5) {{ if (sum(v) > i) break; t += 1; }} return t; }}
}}
data {{
  int N; int M; int K; vector[N] y; vector[M] w; vector[K] h; matrix[N, K] x; array[N] int<lower=1, upper=K> d;
}}
parameters {{ real m; vector[M] b; {} }}
model {{ m ~ normal(0, 1); b ~ normal(0, 1); {} }}
"""

A_ROW_EACH = "v, declared with M, gets an entry for every row"
OTHER = "v, declared with N, gets a value of other sizes"

OTHER_SIZES = {
    "vector[M] v = y;": A_ROW_EACH,
    "vector[M] v; v = y * m; target += -sum(v);": A_ROW_EACH,
    "vector[N] v = w; target += -sum(v);": OTHER,
    "vector[N] v; v = b * m; target += -sum(v);": OTHER,
    "matrix[M, K] v = x;": "v, declared with M, K, gets an entry for every row",
    "array[K] vector[M] v; v[1] = y;": "v, declared with K, M, gets an entry for every row",
    "vector[M] v = w; v[1:M] = y;": A_ROW_EACH,
    "vector[N] v = y; v[1:N] = w;": OTHER,
    "vector[N] v = y + w;": r"of 'y \+ w' one part",
    "vector[N] v = y .* b;": r"of 'y \.\* b' one part",
    "vector[N] v = m > 0 ? y : w;": r"of 'm > 0 \? y : w' one part",
    "array[2] vector[N] v = {y, w};": "of '{y, w}' one part",
    "target += sum(either(y, w, m));": "of 'return v;' one part",
}

OTHER_SIZES |= dict.fromkeys((  # all rows decide each entry: the containers have as many as what they are made of
    "vector[M] v = reverse(y);", "vector[M] v = exp(cumulative_sum(y));", "array[M] int v = sort_indices_desc(y);",
    "vector[M] v = y - mean(y);", "vector[M] v = y / sd(y);", "vector[M] v = log_softmax(x * h);",
    "vector[M] v = reverse(y')';", "vector[M] v = reverse(y)[1:N];", "vector[M] v = y[d];",
    "vector[M] v = to_vector(sort_asc(d));", "vector[M] v = rep_vector(sum(y), N);",
    "vector[M] v; v[1:M] = sort_asc(y);", "vector[M] v = w * sum(y); v[1:M] = y;",
    "vector[N] u; u[1] = m; for (n in 2:N) u[n] = u[n - 1] + y[n]; vector[M] v = u;",
    "vector[M] v = append_row(y[2:N], m);", "vector[M] v = y[2:];", "vector[M] v = append_row(m, -y[:(N - 1)]);",
    "vector[M] v = head(y, N - 1);", "vector[M] v = segment(y, 2, N + 1 - 2);", "vector[M] v = append_row(w[1:2], y);",
    "vector[M] v = (sum(y) + w)[(M - 3):(2 + N - 3)];", "vector[M] v = rep_vector(m, N - 1);",
    "vector[M] v = linspaced_vector(N, 0, 1);", "array[M] real v = append_array({m}, to_array_1d(y)[2:]);",
), A_ROW_EACH) | dict.fromkeys((
    "vector[N] v = w * sum(y);", "vector[N] v = rep_vector(sum(y), M);", "vector[N] v = [y[1], y[2]]';",
    "vector[N] v = (w + y[1])[1:K];", "vector[N] v = append_row(w[2:] * sum(y), y[1]);",
    "vector[N] v = append_row(m, head(y, 3));", "vector[N] v = y[(N - 1):N];", "vector[N] v = tail(y, K);",
), OTHER) | {
    "vector[M - 1] v = y[2:N] - w[2:M];": r"of 'y\[2:N\] - w\[2:M\]' one part",
    "vector[N] v = reverse(y) + w;": r"of 'reverse\(y\) \+ w' one part",
    "vector[N] v = m * sum(y) > 0 ? reverse(y) : w;": "one part",
    "array[2] vector[N] v = {reverse(y), w};": "of '{reverse\\(y\\), w}' one part",
}  # fmt: skip


@pytest.mark.parametrize("statements", OTHER_SIZES)
def test_containers_of_other_sizes_than_rows_are_refused_before_any_batch_is_taken(statements):
    module = stanimport.loads(PROGRAM.format("", statements))
    with pytest.raises(stanimport.StanSemanticError, match=OTHER_SIZES[statements]) as raised:
        module.model.minibatch(N=10)
    assert "declare what has as many entries with N" in str(raised.value)


@pytest.mark.parametrize("declared", ["vector<lower=w>[N] z;", "vector<offset=w>[N] z;"])
def test_bounds_of_other_sizes_than_rows_are_refused(declared):
    module = stanimport.loads(PROGRAM.format(declared, ""))
    with pytest.raises(stanimport.StanSemanticError, match="z has an entry for every row, a bound of it has other"):
        module.model.minibatch(N=10)


@pytest.mark.parametrize("declared, statements", [
    ("", "vector[rows(y)] v = y; v ~ normal(m, 1);"),
    ("", "vector[K] v = h; v = x' * y; m ~ normal(sum(h), 1);"),
    ("", "vector[N] v = h[d]; v ~ normal(m, 1);"),
    ("", "vector[N] v = K > 1 ? y : rep_vector(m, N); v ~ normal(m, 1);"),
    ("array[N] vector<lower=m>[K] z;", "for (n in 1:N) z[n] ~ normal(h, 1);"),
    ("vector<lower=y>[N] z;", "z ~ normal(y, 1);"),
    ("", "vector[N] v = reverse(y) + y; v -= mean(v); v[2:N] = v[1:(N - 1)];"),
    ("", "vector[N] v = y[sort_indices_asc(y)]; v = append_row(v[2:N], m); v[1:2] = [sum(y), 1]';"),
    ("", "vector[M] v = w + mean(y); v[1] = sum(y); v[1:2] = [y[1], y[2]]'; v = rep_vector(sum(y), M);"),
    ("", "vector[K] v = x' * y; v = reverse(v); row_vector[3] u = [min(y), max(y), m]; u = sort_asc(u);"),
    ("", "matrix[N, N] s = y * y'; vector[N] v = s * y; vector[N - 1] u = y[2:N] - y[1:(N - 1)];"),
    ("", "vector[N] v = append_row(head(y, N - 1), m); v = append_row(w, y[(M + 1):]) + v; v[1:2] = tail(y, 2);"),
    ("", "vector[M] v = w; v[2:3] = y[(N - 1):N]; vector[2] u = y[(N - 1):]; v = append_row(u, tail(y, 2));"),
])  # fmt: skip
@pytest.mark.filterwarnings("ignore::stanimport.StanWarning", "ignore:.*has an entry for every row")
def test_sizes_that_follow_the_rows_are_taken(declared, statements):
    """A batch of all rows has the density of all data."""
    infer = pytest.importorskip("numpyro.infer.util", reason="NumPyro is not installed")
    rng = np.random.default_rng(3)
    sizes = {"N": 10, "M": 4, "K": 2}
    data = {**sizes, "y": rng.normal(size=10), "w": rng.normal(size=4), "h": rng.normal(size=2),
            "x": rng.normal(size=(10, 2)), "d": rng.integers(1, 3, 10)}  # fmt: skip
    model = stanimport.loads(PROGRAM.format(declared, statements)).model
    values = {"m": 0.3, "b": rng.normal(size=4), "z": 5.0 + rng.random((10, 2) if "array" in declared else 10)}
    expected, found = (infer.log_density(m, (), data, values)[0] for m in (model, model.minibatch(N=10)))
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("statements", [
    "real t = 0; for (k in 1:K) t += rejects(y, m);",
    "real t = 0; for (k in 1:K) t += counted(y); target += t;",
    "real t = m; for (k in 1:K) { real q = rejects(y, t); t = sum(y); }",
    "real q = rejects(y, sum(y));",
    "int i = 0; while (i < K) { i += 1; real q = rejects(y, m); }",
])  # fmt: skip
def test_functions_that_all_rows_stop_are_refused_wherever_they_are_called(statements):
    """A loop is looked at again once a variable has changed in it: what was refused in functions is refused again."""
    module = stanimport.loads(PROGRAM.format("", statements))
    with pytest.raises(stanimport.StanSemanticError, match="what depends on all rows decides whether this is reached"):
        module.model.minibatch(N=10)


ROWS_BY_VALUES = {
    "vector[N] v; for (n in 1:N) v[n] = y[d[n]];": r"y\[d\[n\]\]",
    "vector[N] v = exp(y)[d];": r"exp\(y\)\[d\]",
    "vector[N] v = cumulative_sum(y)[d];": r"cumulative_sum\(y\)\[d\]",
    "matrix[N, K] v = x[d];": r"x\[d\]",
    "for (n in 1:N) { real t = sum(y[d[n]:(d[n] + 1)]); }": r"y\[d\[n\]:\(d\[n\] \+ 1\)\]",
    "vector[N] v = y; for (n in 1:N) v[d[n]] = m;": r"v\[d\[n\]\]",
}


@pytest.mark.parametrize("statements", ROWS_BY_VALUES)
def test_rows_that_values_of_rows_choose_are_refused_where_no_term_needs_them(statements):
    module = stanimport.loads(PROGRAM.format("", statements + " y ~ normal(m, 1);"))
    with pytest.raises(stanimport.StanSemanticError, match=f"'{ROWS_BY_VALUES[statements]}' takes rows by values of"):
        module.model.minibatch(N=10)
