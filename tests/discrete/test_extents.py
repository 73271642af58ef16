"""Sizes that don't match and components that there are not: rejected as where the discrete parameters are data."""
from __future__ import annotations

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
POINT = np.array([0.5, -0.5])


def density(body, size, of_data=False):
    """The log density, with the discrete parameters or with values of theirs as data."""
    data, parameters = (Z, "") if of_data else ("", Z)
    program = HEAD.replace("%data%", data).replace("%parameters%", parameters) + f"model {{ {body} }}"
    given = {"N": size, "y": [0.1, 0.2, 0.3, 0.4], **({"z": [1, 2, 2, 1]} if of_data else {})}
    return float(condition(stanimport.loads(program), given).log_density(POINT))


def is_rejected(body, size):
    """By both, at the line."""
    for of_data in (True, False):
        with pytest.raises(StanError, match="line 1, column"):
            density(body, size, of_data)


def is_accepted(body, size):
    assert np.isfinite([density(body, size, of_data) for of_data in (True, False)]).all()


@pytest.mark.parametrize("name", BODIES)
def test_other_sizes_are_rejected(name):
    for size in (3, 5):
        is_rejected(BODIES[name], size)
    is_accepted(BODIES[name], 4)


@pytest.mark.parametrize("name", UP_TO)
def test_components_that_there_are_not(name):
    is_rejected(UP_TO[name], 5)
    is_accepted(UP_TO[name], 4)


@pytest.mark.parametrize("name", KEPT)
def test_what_is_not_reached_is_not_rejected(name):
    for size in (4, 6):
        is_accepted(KEPT[name], size)
