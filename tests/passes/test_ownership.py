"""Variables never share memory: what is assigned to a part of one changes no other, and no term that came before."""
from __future__ import annotations

import numpy as np
import pytest
from densities import module_log_density
from loop_programs import translated

import stanimport
from stanimport.passes import loops

X, S = np.array([0.3, 0.9, -1.0]), np.array([[2.0, 0.1, 0.2], [0.1, 2.0, 0.3], [0.5, 0.6, 2.0]])
PROGRAM = """
functions { vector same(vector x) { return x; } }
data { vector[3] x; matrix[3, 3] S; array[3] real r; }
%s"""
# what takes its value from data that must not change, and what it is
VIEWS = {
    "to_vector(r)": X, "to_vector(x)": X, "same(x)": X, "reverse(x)": X[::-1], "segment(x, 1, 3)": X,
    "head(x, 3)": X, "diagonal(S)": S.diagonal(), "col(S, 1)": S[:, 0], "S[, 2]": S[:, 1], "S[1]'": S[0], "x''": X,
    "+x": X, "r[1] > 0 ? x : -x": X, "to_vector(to_array_1d(x))": X, "col(block(S, 1, 1, 3, 3), 2)": S[:, 1], "x": X,
    "{x, x}[2]": X, "(x, 1.0).1": X,
}  # fmt: skip
# statements of a vector v, and what it becomes
STATEMENTS = {
    "vector[3] q = x; v = same(q); q[1] = 100;": X,
    "vector[3] q = x; v = r[1] > 0 ? q : x; q[1] = 100;": X,
    "array[3] real q = r; v = to_vector(q); q[1] = 100;": X,
    "vector[3] q = x; tuple(vector[3], real) t = (q, 1.0); q[1] = 100; v = t.1;": X,
    "vector[3] q = x; tuple(vector[3], real) t; t.1 = q; q[1] = 100; v = t.1;": X,
    "vector[3] q = x; for (n in 1:3) { real w = q[n]; q[n] = 0; v[n] = w; }": X,
    "matrix[3, 3] q = S; for (n in 1:3) { row_vector[3] w = q[n]; q[n] = 2 * w; v[n] = sum(w); }": S.sum(axis=1),
    "matrix[3, 3] q = S; for (n in 1:3) { vector[3] w = q[n]'; q[n, 1] = 100; v[n] = sum(w); }": S.sum(axis=1),
    "matrix[3, 3] q = S; for (n in 1:3) { vector[3] w; for (k in 1:3) w[k] = q[n, k]; for (k in 1:3) q[n, k] = 0;"
    " v[n] = sum(w); }": S.sum(axis=1),
    "for (n in 1:2) { for (k in 1:3) v[k] = S[n, k]; } v[1] = 7;": [7, *S[1, 1:]],
    "for (n in 1:2) { for (k in 1:3) v[k] = n; } v[1] = 7;": [7, 2, 2],
    "for (n in 1:2) { v = S[n]'; } v[1] = 7;": [7, *S[1, 1:]],
    "for (n in 1:3) { vector[3] w = S[n]'; if (n > 1) { for (k in 1:3) w[k] = 0; } v[n] = sum(w); }":
        [S[0].sum(), 0, 0],
    "for (n in 1:3) { vector[3] w = rep_vector(0, 3); for (k in 2:3) w[k] = w[k - 1] + S[n, k]; v[n] = sum(w); }":
        S[:, 1] * 2 + S[:, 2],
    # an array that every iteration of a recurrence begins with
    "real p = 0; for (n in 1:3) { vector[3] w = rep_vector(0, 3); for (k in 2:3) w[k] += 1 + p;"
    " p = 0.5 * p + sum(w) * x[n]; v[n] = p; }": [0.6, 3.18, -6.77],
    "real p = 1; for (n in 1:3) { vector[3] w = rep_vector(0, 3); w[1] = 1; for (k in 2:3) w[k] = p + 0.5 * w[k - 1];"
    " p = 0.5 * p + sum(w) * x[n]; v[n] = p; }": [1.775, 6.45625, -14.6625],
    "real p = 0; for (n in 1:3) { vector[3] w = x + p; p = 0.5 * p + sum(w); w[{1, 2}] = [n, p]'; v[n] = p + w[1]; }":
        [1.2, 2.9, 6.35],
    "matrix[3, 3] q = S; for (j in 1:3) { vector[3] c = col(q, j); q[, j] = rep_vector(0, 3); v[j] = c[1]; }": S[0],
    "v = x; v[1:3] = reverse(v);": X[::-1],
    "v = x; v[{3, 1, 2}] = reverse(v);": X[[1, 0, 2]],
    "v = x; { vector[3] w = v; for (n in 1:3) v[n] += w[4 - n]; }": X + X[::-1],
    "real m = -9; for (n in 1:3) { for (k in 1:3) if (S[n, k] > m) m = S[n, k]; } v[1:3] = [m, m, m]';":
        [2, 2, 2],
}  # fmt: skip


def unchanged(module, inputs):
    """The data of a module's call, and its quantities that repeat them, are as they were."""
    for name, value in (("x", X), ("S", S), ("r", X)):
        np.testing.assert_array_equal(inputs[name], value, err_msg=name)


def numbered(statements):
    """A block of a vector for each of some groups of statements."""
    return "\n".join(f"vector[3] v{i}; {{ vector[3] v; {s} v{i} = v; }}" for i, s in enumerate(statements))


@pytest.mark.parametrize("without", [(), loops.PASSES], ids=["all passes", "no passes"])
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_data_stay_as_they_are(backend, without):
    made = numbered(f"v = {e}; v[2] = 99;" for e in VIEWS)
    for program in (f"transformed data {{ {made} }} parameters {{ real a; }}",
                    f"parameters {{ real a; }} generated quantities {{ {made} }}"):  # fmt: skip
        module = translated(PROGRAM % program, backend, without)
        inputs = module.transformed_data(x=X, S=S, r=X)
        quantities = module.generated_quantities(**inputs, a=0.5)
        for i, (e, value) in enumerate(VIEWS.items()):
            got = np.asarray((inputs | quantities)[f"v{i}"])
            np.testing.assert_array_equal(got, [value[0], 99, value[2]], err_msg=e)
        unchanged(module, inputs)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("without", [(), loops.PASSES], ids=["all passes", "no passes"])
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_variables_stay_as_they_are(backend, without):
    for block in ("transformed data {{ {} }} parameters {{ real a; }}",
                  "parameters {{ real a; }} generated quantities {{ {} }}"):  # fmt: skip
        module = translated(PROGRAM % block.format(numbered(STATEMENTS)), backend, without)
        inputs = module.transformed_data(x=X, S=S, r=X)
        quantities = module.generated_quantities(**inputs, a=0.5)
        for i, (statements, value) in enumerate(STATEMENTS.items()):
            got = np.asarray((inputs | quantities)[f"v{i}"])
            np.testing.assert_allclose(got, value, rtol=1e-14, err_msg=statements)
        unchanged(module, inputs)


@pytest.mark.parametrize("without", [(), loops.PASSES], ids=["all passes", "no passes"])
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_terms_keep_the_values_that_they_were_computed_from(backend, without):
    program = PROGRAM % """
        parameters { vector[3] p; }
        model {
          vector[3] q = x; array[3] int k = {1, 1, 2}; vector[3] v = p;
          target += dot_product(p, q) + sum(p[k]);
          p ~ normal(q, 1);
          v = q;
          q[1] = 100; k[2] = 3;
          target += dot_product(p, q) + sum(p[k] .* v);
        }"""
    module = translated(program, backend, without)
    inputs = module.transformed_data(x=X, S=S, r=X)
    p = np.array([0.1, 0.2, 0.3])
    terms = p @ X + p[[0, 0, 1]].sum() - ((p - X) ** 2).sum() / 2 - 1.5 * np.log(2 * np.pi)
    terms += p @ [100, *X[1:]] + (p[[0, 2, 1]] * X).sum()
    assert module_log_density(module, inputs, {"p": p}, backend) == pytest.approx(terms, rel=1e-12)


SHIFTED = """
    functions {
      vector shifted(vector v, real a) {
        vector[rows(v)] u = v;
        for (i in 1:rows(v)) u[i] = v[i] + a;
        return u;
      }
    }
    data { int N; vector[N] y; }
    transformed data { vector[N] w = shifted(y, 0.5); vector[N] kept = w; PLACE }
"""


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("changed, expected", [
    ("w[1] = 50;", [50.0, 2.5, 3.5]),
    ("w[1:2] = y[2:3];", [2.0, 3.0, 3.5]),
    ("w[{3, 1}] = shifted(y, 9)[1:2];", [11.0, 2.5, 10.0]),
    ("w[{1, 1}] = y[2:3];", [3.0, 2.5, 3.5]),
    ("for (n in 1:N) w[n] += n;", [2.5, 4.5, 6.5]),
    ("for (n in 2:N) w[n] = w[n - 1] + y[n];", [1.5, 3.5, 6.5]),
])  # fmt: skip
def test_what_a_function_returns_of_data_is_changed_in_no_other_variable(changed, expected, backend, torch_double):
    """Functions may make tensors of data on Pyro."""
    module = stanimport.loads(SHIFTED.replace("PLACE", changed), backend=backend)
    made = module.transformed_data(N=3, y=[1.0, 2.0, 3.0])
    np.testing.assert_allclose(made["w"], expected)
    np.testing.assert_allclose(made["kept"], [1.5, 2.5, 3.5])
