"""Values of constrained types of sizes that Stan takes for parameters alone, and sums that it does not look at."""
from __future__ import annotations

import numpy as np
import pytest

from tests.random_programs.referee import ours

THROWN = ("cov_matrix[0] x = rep_matrix(1, 0, 0)", "array[2] cov_matrix[0] x = rep_array(rep_matrix(1, 0, 0), 2)",
          "cholesky_factor_cov[0] x = rep_matrix(1, 0, 0)", "cholesky_factor_cov[2, 0] x = rep_matrix(1, 2, 0)",
          "sum_to_zero_vector[0] x = rep_vector(1, 0)", "sum_to_zero_matrix[0, 0] x = rep_matrix(1, 0, 0)",
          "sum_to_zero_matrix[2, 0] x = rep_matrix(1, 2, 0)", "simplex[0] x = rep_vector(1, 0)",
          "unit_vector[0] x = rep_vector(1, 0)", "row_stochastic_matrix[0, 2] x = rep_matrix(1, 0, 2)",
          "row_stochastic_matrix[2, 0] x = rep_matrix(1, 2, 0)",
          "column_stochastic_matrix[2, 0] x = rep_matrix(1, 2, 0)",
          "cholesky_factor_cov[1, 2] x = [[1, 0]]", "cholesky_factor_cov[0, 2] x = rep_matrix(1, 0, 2)",
          "array[2] cholesky_factor_cov[1, 2] x = rep_array([[1, 0]], 2)",
          "sum_to_zero_matrix[2, 2] x = [[1, 2], [3, 6]]",
          "sum_to_zero_matrix[2, 2] x = [[1e-8, 0], [0, 0.9e-8]]")  # fmt: skip
TAKEN = ("corr_matrix[0] x = rep_matrix(1, 0, 0)", "cholesky_factor_corr[0] x = rep_matrix(1, 0, 0)",
         "ordered[0] x = rep_vector(1, 0)", "positive_ordered[0] x = rep_vector(1, 0)", "unit_vector[1] x = [-1]'",
         "array[0] unit_vector[0] x = rep_array(rep_vector(1, 0), 0)",
         "array[0] cholesky_factor_cov[1, 2] x = rep_array([[1, 0]], 0)",
         "array[0] row_stochastic_matrix[0, 2] x = rep_array(rep_matrix(1, 0, 2), 0)",
         # the sum of all components is 0, those of rows and columns are not
         "sum_to_zero_matrix[2, 2] x = [[1, 2], [-1, -2]]", "sum_to_zero_matrix[2, 2] x = [[1, -1], [2, -2]]",
         "array[1] sum_to_zero_matrix[2, 2] x = {[[1, 2], [3, -6]]}")  # fmt: skip
BACKENDS = pytest.mark.parametrize("backend", ["numpyro", "pyro"])


def outcome(text, backend):
    if backend == "pyro":
        pytest.importorskip("pyro", reason="the pyro extra is not installed")
    return ours.outcomes(text, {}, [np.array([0.3])], backend, jit=False, parts=("gradient",))[0]


@BACKENDS
@pytest.mark.parametrize("block", ["transformed data", "transformed parameters"])
@pytest.mark.parametrize("declaration", [*THROWN, *TAKEN])
def test_values_are_checked_as_stan_checks_them(declaration, block, backend):
    blocks = {block: f"{declaration};", "parameters": "real a;", "model": "target += a;"}
    order = ("transformed data", "parameters", "transformed parameters", "model")
    text = "".join(f"{b} {{ {blocks[b]} }}\n" for b in order if b in blocks)
    found = outcome(text, backend)
    if declaration in TAKEN:
        assert found.log_density == pytest.approx(0.3)
    else:
        assert ", line " in found.rejected or found.log_density == -np.inf


@BACKENDS
@pytest.mark.parametrize("declaration", ["cov_matrix[0] x", "cholesky_factor_cov[2, 0] x"])
def test_empty_parameters_are_not_checked(declaration, backend):
    found = outcome(f"parameters {{ real a; {declaration}; }} model {{ target += a; }}", backend)
    assert found.log_density == pytest.approx(0.3) and list(found.gradient) == [1.0]
