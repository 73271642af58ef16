"""Laws of vectors and matrices without components: what Stan Math throws for, and what it takes as 0."""
from __future__ import annotations

import numpy as np
import pytest

import stanimport
from stanlib.errors import StanIndexError
from tests.random_programs.referee import ours

DECLARED = """data { int K; int N; array[K] int y; }
parameters { real a; vector[K] v; matrix[K, K] M; matrix[0, K] rows; array[N] vector[K] vs; cholesky_factor_corr[K] L; }
"""
# Stan Math's checks: `check_positive` of the rows, `check_cholesky_factor`, `check_simplex`, `check_nonzero_size`
THROWN = (
    "multi_normal_lpdf(v | v, M)", "multi_normal_lpdf(vs | v, M)", "multi_normal_prec_lpdf(v | v, M)",
    "multi_gp_lpdf(rows | M, v)", "multi_gp_cholesky_lpdf(rows | M, v)", "multi_student_t_cholesky_lpdf(v | 3, v, M)",
    "wishart_cholesky_lpdf(M | 1, M)", "inv_wishart_cholesky_lpdf(M | 1, M)", "lkj_corr_cholesky_lpdf(M | 2)",
    "lkj_corr_cholesky_lpdf(L | 2)", "dirichlet_lpdf(v | v)", "multinomial_lpmf(y | v)", "categorical_lpmf(y | v)",
    "ordered_probit_lpmf(1 | a, v)",
)  # fmt: skip
TAKEN = (
    "multi_normal_cholesky_lpdf(v | v, M)", "multi_student_t_lpdf(v | 3, v, M)", "wishart_lpdf(M | 1, M)",
    "inv_wishart_lpdf(M | 1, M)", "lkj_corr_lpdf(M | 2)", "lkj_cov_lpdf(M | v, v, 2)", "multinomial_logit_lpmf(y | v)",
    "categorical_logit_lpmf(y | v)", "ordered_logistic_lpmf(1 | a, v)",
    "multi_student_t_cholesky_lpdf(vs[1:0] | 3, v, M)",
)  # fmt: skip


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("guarded", [False, True], ids=["always", "never"])
@pytest.mark.parametrize("term", [*THROWN, *TAKEN])
def test_laws_of_nothing(term, guarded, backend):
    """Those that are never reached reject nothing."""
    if backend == "pyro":
        pytest.importorskip("pyro", reason="the pyro extra is not installed")
    text = f"{DECLARED}model {{ target += a;\nif (a > {9 * guarded}) target += {term}; }}"
    data = {"K": 0, "N": 2, "y": []}
    found = ours.outcomes(text, data, [np.array([0.3])], backend, jit=False, parts=("gradient",))[0]
    if term in THROWN and not guarded:
        assert "line 4" in found.rejected or found.log_density == -np.inf
    else:
        assert found.log_density == pytest.approx(0.3) and list(found.gradient) == [1.0]


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("law", ["vs ~ multi_normal(v, M)", "L ~ lkj_corr_cholesky(2)"])
def test_priors_of_nothing(law, backend):
    """With data alone, too, and as the laws of parameters."""
    if backend == "pyro":
        pytest.importorskip("pyro", reason="the pyro extra is not installed")
    text = f"{DECLARED}model {{ target += a;\n{law}; }}"
    data = {"K": 0, "N": 2, "y": []}
    found = ours.outcomes(text, data, [np.array([0.3])], backend, jit=False, parts=("gradient",))[0]
    assert "line 4" in found.rejected or found.log_density == -np.inf


DRAWN = (
    "sum(multi_normal_rng(v, M))", "sum(multi_normal_cholesky_rng(v, M))", "sum(multi_student_t_rng(3, v, M))",
    "sum(multi_student_t_cholesky_rng(3, v, M))", "sum(wishart_cholesky_rng(1, M))",
    "sum(inv_wishart_cholesky_rng(1, M))", "categorical_rng(v)", "sum(multinomial_rng(v, 3))",
)  # fmt: skip


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("draw", DRAWN)
def test_draws_of_nothing(draw, backend):
    if backend == "pyro":
        pytest.importorskip("pyro", reason="the pyro extra is not installed")
    text = f"data {{ int K; }} transformed data {{ vector[K] v; matrix[K, K] M;\nreal d = {draw}; }}"
    module = stanimport.loads(text, backend=backend)
    with pytest.raises(StanIndexError, match="non-zero size.*line 2"):
        module.transformed_data(K=0)
