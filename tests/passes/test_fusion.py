"""A Cholesky factor that only densities need is left out: what has no factor is refused all the same."""
import numpy as np
import pytest
from scipy import stats

from tests.densities import log_density

PROGRAM = """
{functions}
data {{ int N; int M; int flag; array[M] vector[N] y; vector[N] z; }}
parameters {{ real a; }}
model {{
  matrix[N, N] S = add_diag(rep_matrix(a, N, N), 1);
  {statements}
  a ~ normal(0, 1);
}}
"""
FACTOR, LAW = "matrix[N, N] L = cholesky_decompose(S);", "multi_normal_cholesky(rep_vector(a, N), L)"
STATEMENTS = {
    "under a condition": f"{FACTOR} if (flag) z ~ {LAW};",
    "of no vector": f"{FACTOR} y ~ {LAW};",
    "in a loop": f"{FACTOR} for (m in 1:M) y[m] ~ {LAW};",
    "as a number": f"{FACTOR} target += flag ? multi_normal_cholesky_lpdf(z | rep_vector(a, N), L) : 0;",
    "behind a return": "adds_lp(S, z, rep_vector(a, N), flag);",
}
FUNCTION = """functions {
  void adds_lp(matrix S, vector z, vector m, int flag) {
    matrix[rows(S), rows(S)] L = cholesky_decompose(S);
    if (!flag) return;
    z ~ multi_normal_cholesky(m, L);
  }
}"""
Z = np.array([0.3, -0.4])


def density(case, flag, a, backend):
    text = PROGRAM.format(functions=FUNCTION if case == "behind a return" else "", statements=STATEMENTS[case])
    y = np.tile(Z, (flag, 1))
    return log_density(text, {"N": 2, "M": flag, "flag": flag, "y": y, "z": Z}, {"a": a}, backend)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("case", STATEMENTS)
def test_what_has_no_factor_is_refused_where_no_density_runs(case, backend):
    with pytest.raises(np.linalg.LinAlgError):
        np.linalg.cholesky(np.full((2, 2), -0.7) + np.eye(2))
    assert density(case, 0, -0.7, backend) == -np.inf
    prior, covariance = stats.norm.logpdf(0.4), np.full((2, 2), 0.4) + np.eye(2)
    assert density(case, 0, 0.4, backend) == pytest.approx(prior, rel=1e-12)
    expected = prior + stats.multivariate_normal.logpdf(Z, [0.4, 0.4], covariance)
    assert density(case, 1, 0.4, backend) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_what_stands_before_the_definition_has_another_factor(backend):
    text = """data { vector[2] z; } parameters { real<lower=0> a; } model {
      matrix[2, 2] L = diag_matrix(rep_vector(a, 2)); z ~ multi_normal_cholesky(rep_vector(0, 2), L);
      L = cholesky_decompose(add_diag(rep_matrix(a, 2, 2), 1)); z ~ multi_normal_cholesky(rep_vector(0, 2), L); }"""
    before, behind = np.eye(2) * 0.4**2, np.full((2, 2), 0.4) + np.eye(2)
    expected = sum(stats.multivariate_normal.logpdf(Z, [0, 0], s) for s in (before, behind))
    assert log_density(text, {"z": Z}, {"a": 0.4}, backend) == pytest.approx(expected, rel=1e-10)
