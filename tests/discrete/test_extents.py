"""Sizes that don't match and components that there are not: rejected as where the discrete parameters are data."""
from __future__ import annotations

import itertools

import numpy as np
import pytest

import stanimport
from stanimport import StanError
from stanimport.inference.density.posterior import condition

HEAD = "data { int N; vector[4] y; %data% } parameters { vector[2] mu; %parameters% } "
Z = "array[4] int<lower=1, upper=2> z;"
BODIES = {
    "declared": "vector[N] m = mu[z]; for (n in 1:3) y[n] ~ normal(m[n], 1);",
    "assigned": "vector[N] m; m = mu[z]; y[1:3] ~ normal(m[1:3], 1);",
    "ints": "array[N] int k = z; y[1:3] ~ normal(mu[k[1:3]], 1);",
    "in a loop": "for (i in 1:2) { vector[N] m = mu[z] * i; y[1:3] ~ normal(m[1:3], 1); }",
    "under a condition": "if (N > 1) { vector[N] m = mu[z]; y[1:3] ~ normal(m[1:3], 1); }",
    "operands": "vector[N] a = rep_vector(0.3, N); y ~ normal(mu[z] + a, 1);",
    "of a function": "vector[N] m = exp(mu[z]); y[2] ~ normal(m[2], 1);",
    "appended": "array[N] int k = append_array({1, 2}, z[1:2]); y[1:3] ~ normal(mu[k[1:3]], 1);",
    "a row": "vector[N] m = append_row(0.4, mu[z[1:3]]); y[1:3] ~ normal(m[1:3], 1);",
    "a vector of an array": "array[4] vector[N] m; for (n in 1:4) m[n] = [mu[z[n]], 1, 2, 3]'; target += m[1, 2];",
    "part": "vector[4] m = mu[z]; m[2:N] = mu[z[1:3]]; y ~ normal(m, 1);",
}
# components that are read, or set, up to a number
UP_TO = {
    "set": "vector[4] m; for (n in 1:N) m[n] = mu[z[min(n, 4)]]; for (n in 1:3) y[n] ~ normal(m[n], 1);",
    "read": "vector[4] m = mu[z]; for (n in 1:N) y[min(n, 3)] ~ normal(m[n], 1);",
    "a slice": "vector[4] m = mu[z]; y[1] ~ normal(sum(m[1:N]), 1);",
    "of a matrix": "matrix[4, 2] m; for (n in 1:4) for (k in 1:2) m[n, k] = mu[z[n]] * k;"
    " for (n in 1:N) target += m[n, 1];",
    "ahead": "vector[4] m = mu[z]; for (n in 1:(N - 1)) y[n] ~ normal(m[n + 1], 1);",
}
# those that conditions keep apart
KEPT = {
    "a condition": "vector[4] m = mu[z]; for (n in 1:N) if (n <= 4) y[n] ~ normal(m[n], 1);",
    "a choice": "vector[4] m = mu[z]; for (n in 1:N) y[min(n, 4)] ~ normal(n <= 4 ? m[n] : 0.5, 1);",
    "both": "vector[4] m = mu[z]; for (n in 1:N) if (n <= 4 && m[n] > 0) target += 0.3;",
}
# components that are read where nothing has set them, of 3 that are set
UNSET = {
    "one": "for (n in 1:3) m[n] = mu[z[n]]; y[1] ~ normal(m[N], 1);",
    "all": "for (n in 1:3) m[n] = mu[z[n]]; y[1:N] ~ normal(m[1:N], 1);",
    "slices": "m[1:3] = mu[z[1:3]]; for (n in 1:N) y[n] ~ normal(m[n], 1);",
    "a copy": "for (n in 1:3) m[n] = mu[z[n]]; vector[4] v; for (n in 1:3) v[n] = m[n + 1];"
    " y[1] ~ normal(v[N - 1], 1);",
    "a sum": "for (n in 1:3) m[n] = mu[z[n]]; real t = 0; for (n in 1:N) t += m[n]; y[1] ~ normal(t, 1);",
    "ahead": "for (n in 1:4) { if (n < 4 && N == 4) y[n] ~ normal(m[n + 1], 1); m[n] = mu[z[n]]; }",
    "under a condition": "for (n in 1:4) if (n < 4) m[n] = mu[z[n]]; for (n in 1:N) y[n] ~ normal(m[n], 1);",
    "left early": "for (n in 1:4) { if (n == 4) break; m[n] = mu[z[n]]; } for (n in 1:N) y[n] ~ normal(m[n], 1);",
    "left inside": "for (n in 1:4) for (k in 1:2) { if (n == 4) break; m[n] = mu[z[n]] * k; }"
    " for (n in 1:N) y[n] ~ normal(m[n], 1);",
    "gone on": "for (n in 1:4) { if (n == 4) continue; m[n] = mu[z[n]]; } for (n in 1:N) y[n] ~ normal(m[n], 1);",
    "ints": "array[4] int k; for (n in 1:3) k[n] = z[n]; y[1] ~ normal(mu[k[N]], 1);",
    "of a matrix": "matrix[4, 2] a; for (n in 1:3) a[n, 1] = mu[z[n]]; for (n in 1:N) y[n] ~ normal(a[n, 1], 1);",
}
# what looks like it, and sets all that terms read
SET = {
    "a copy": "for (n in 1:3) m[n] = mu[z[n]]; vector[4] v = m; y[1:3] ~ normal(v[1:3], 1);",
    "by elements": "for (n in 1:4) { if (z[n] == 1) m[n] = mu[1]; if (z[n] == 2) m[n] = 0.1; } y ~ normal(m, 1);",
    "by parameters": "for (n in 1:4) { if (mu[1] > 0) m[n] = mu[z[n]]; else m[n] = 0; } y ~ normal(m, 1);",
    "by a loop with steps": "int t = 1; while (t <= 4) { m[t] = mu[z[t]]; t += 1; } y ~ normal(m, 1);",
    "by a counter": "int at = 1; for (n in 1:4) { m[at] = mu[z[n]]; at += 1; } y ~ normal(m, 1);",
    "by a loop that is left": "for (n in 1:6) { if (n > N) break; m[n] = mu[z[n]]; } y ~ normal(m, 1);",
    "left by parameters": "for (n in 1:4) { if (mu[1] < -9) break; m[n] = mu[z[n]]; } y ~ normal(m, 1);",
    "backwards": "m[4] = 0; for (s in 1:3) { int t = 4 - s; m[t] = m[t + 1] * 0.5 + mu[z[t]]; } y ~ normal(m, 1);",
    "in parts": "for (i in 1:2) { for (n in (2 * i - 1):(2 * i)) m[n] = mu[z[n]];"
    " y[1:(2 * i)] ~ normal(m[1:(2 * i)], 1); }",
    "before, and not used": "array[4] int k; for (n in 1:4) { int last = k[max(n - 1, 1)]; k[n] = z[n];"
    " if (n > 1) y[n] ~ normal(mu[last], 1); }",
    "by rows": "array[4] vector[2] a; for (n in 1:4) { a[n, 1] = mu[z[n]]; a[n, 2] = 1; y[n] ~ normal(sum(a[n]), 1); }",
    "by columns": "matrix[2, 4] a; for (n in 1:4) a[:, n] = [mu[z[n]], 1]'; y ~ normal(a[1] + a[2], 1);",
}
# sizes as they were when variables were declared, of choices, of matrices, of empty ranges
SIZES = {
    "changed": "int k = 3; vector[k] m = mu[z[1:3]]; k = 2; m = mu[z[2:4]];"
    " for (n in 1:size(m)) y[n] ~ normal(m[n], 1);",
    "changed in a loop": "int k = 2; for (i in 1:2) { vector[k] m = mu[z[1:k]]; k += 1;"
    " for (n in 1:size(m)) y[n] ~ normal(m[n], 1); }",
    "in a function": "y[1] ~ normal(longer(z, mu), 1);",
    "chosen": "vector[N] m = N == 4 ? mu[z] : mu[z[1:N]]; y[1:N] ~ normal(m, 1);",
    "chosen in a law": "y[1:N] ~ normal(N == 4 ? mu[z] : mu[z[1:N]], 1);",
    "of a matrix": "matrix[4, 2] a; for (n in 1:4) a[n] = [mu[z[n]], 1]; target += size(a) * mu[z[1]] + cols(a);",
    "empty": "vector[0] m = mu[z[N:1]]; vector[size(z[N:1])] a = m;"
    " y[1] ~ normal(mu[z[1]] + sum(a) + size(z[N:1]), 1);",
    "empty operands": "vector[0] a; y[N:1] ~ normal(mu[z[N:1]] + a, 1); y[1] ~ normal(mu[z[2]], 1);",
    "empty parts": "array[4] int k = append_array(append_array(z[N:1], z), z[N:1]); y ~ normal(mu[k], 1);",
    "of one name": "{ vector[2] m = mu[z[1:2]]; more_lp(size(m), m[1]); }"
    " { vector[3] m = mu[z[2:4]]; more_lp(size(m), m[3]); }"
    " { vector[1] m = mu[z[2:2]]; target += size(m) * m[1]; }",
    "of a loop that is left": "vector[4] m = rep_vector(0, 4); for (n in 1:4) { if (n == N) break; m[n] = mu[z[n]]; }"
    " y ~ normal(m, 1);",
    "told by elements": "array[num_elements(z)] int k = z; vector[size(k)] m = mu[k]; y ~ normal(m, 1);",
    "of rows": "matrix[2, 3] a = rep_matrix(mu[z[1]], 2, 3); vector[rows(a)] b = a[:, 1];"
    " row_vector[cols(a)] c = a[2]; y[1:2] ~ normal(b, 1); y[1:3] ~ normal(c, 1);",
}
FUNCTION = """functions { real longer(array[] int z, vector mu) { int k = size(z) - 1; vector[k] v = mu[z[1:k]]; k = 1;
  real t = k; for (i in 1:size(v)) t += v[i] * i; return t; }
  void more_lp(int n, real m) { target += n * m; } }
"""
POINT = np.array([0.5, -0.5])


def density(body, size, of_data=False, z=(1, 2, 2, 1)):
    """The log density, with the discrete parameters or with values of theirs as data."""
    data, parameters = (Z, "") if of_data else ("", Z)
    program = FUNCTION + HEAD.replace("%data%", data).replace("%parameters%", parameters) + f"model {{ {body} }}"
    given = {"N": size, "y": [0.1, 0.2, 0.3, 0.4], **({"z": list(z)} if of_data else {})}
    return float(condition(stanimport.loads(program), given).log_density(POINT))


def is_rejected(body, size):
    """By both, at the line."""
    for of_data in (True, False):
        with pytest.raises(StanError, match="line 4, column"):
            density(body, size, of_data)


def is_finite(body, size, of_data):
    try:
        return np.isfinite(density(body, size, of_data))
    except StanError:
        return False


def is_accepted(body, size):
    assert np.isfinite([density(body, size, of_data) for of_data in (True, False)]).all()


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", BODIES)
def test_other_sizes_are_rejected(name):
    for size in (3, 5):
        is_rejected(BODIES[name], size)
    is_accepted(BODIES[name], 4)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", UP_TO)
def test_components_that_there_are_not(name):
    is_rejected(UP_TO[name], 5)
    is_accepted(UP_TO[name], 4)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", KEPT)
def test_what_is_not_reached_is_not_rejected(name):
    for size in (4, 6):
        is_accepted(KEPT[name], size)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", UNSET)
def test_components_that_nothing_has_set(name):
    body = f"vector[4] m; {UNSET[name]}"
    with pytest.raises(StanError, match="before anything has set them.* line 4, column"):
        density(body, 4)
    assert not is_finite(body, 4, of_data=True)
    assert np.isfinite(density(body, 3))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", SET)
def test_components_that_are_set(name):
    is_accepted(f"vector[4] m; {SET[name]}", 4)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("size", (3, 4))
@pytest.mark.parametrize("name", SIZES)
def test_sizes_are_those_of_the_containers(name, size):
    terms = [density(SIZES[name], size, True, z) for z in itertools.product((1, 2), repeat=4)]
    np.testing.assert_allclose(density(SIZES[name], size), np.logaddexp.reduce(terms), rtol=1e-6)
