"""Laws of the elements of matrices and arrays in nested loops of guides are one law of the whole."""
from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import stanimport
from stanlib.errors import StanError, StanIndexError

N, M = 3, 2
MEANS, WIDTHS = np.arange(6.0).reshape(N, M) / 5, np.array([0.5, 2.0])
Z = np.array([[0.3, 1.0], [2.5, 0.1], [0.7, 0.4]])
PROGRAM = """
    data {{ int N; int M; matrix[N, M] m; vector[M] s; }}
    parameters {{ {declared}; }}
    model {{ for (i in 1:N) for (j in 1:M) target += -square(z[i, j]); }}
    guide parameters {{ real k = 1; }}
    guide {{ {loops} }}
"""
LAW = "z[i, j] ~ normal(m[i, j], k * s[j]);"
PROGRAMS = {
    "by rows": ("matrix[N, M] z", f"for (i in 1:N) for (j in 1:M) {LAW}"),
    "by columns": ("matrix[N, M] z", f"for (j in 1:M) {{ for (i in 1:N) {{ {LAW} }} }}"),
    "vectors": ("array[N] vector[M] z", "for (i in 1:N) for (j in 1:M) z[i][j] ~ normal(m[i, j], k * s[j]);"),
    "numbers": ("array[N, M] real z", f"for (i in 1:N) for (j in 1:M) {LAW}"),
}


def log_density(backend, guide, inputs, z):
    if backend == "pyro":
        import pyro
        import torch

        with pyro.get_param_store().scope():
            run = pyro.poutine.condition(guide, data={"z": torch.as_tensor(z)})
            return pyro.poutine.trace(run).get_trace(**inputs).log_prob_sum().item()
    from numpyro import handlers
    from numpyro.infer.util import log_density

    return float(log_density(handlers.seed(guide, 0), (), inputs, {"z": z})[0])


def rows(chosen):
    return {"N": len(chosen), "M": M, "m": MEANS[chosen], "s": WIDTHS}


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_nested_loops_give_the_whole_one_law(name, backend, x64, torch_double):
    declared, loops = PROGRAMS[name]
    guide = stanimport.loads(PROGRAM.format(declared=declared, loops=loops), backend=backend).guide
    terms = stats.norm.logpdf(Z, MEANS, WIDTHS)
    assert log_density(backend, guide, rows([0, 1, 2]), Z) == pytest.approx(terms.sum(), rel=1e-12)
    part = guide.minibatch(N=N)
    for i in range(N):
        assert log_density(backend, part, rows([i]), Z[[i]]) == pytest.approx(N * terms[i].sum(), rel=1e-12)


@pytest.mark.parametrize("loops", [
    f"for (i in 2:N) for (j in 1:M) {LAW}",
    f"for (i in 1:N) for (j in 1:i) {LAW}",
    "for (i in 1:N) for (j in 1:M) z[i, i] ~ normal(m[i, j], 1);",
])  # fmt: skip
def test_other_loops_are_refused_where_they_leave_out_elements(loops, x64):
    guide = stanimport.loads(PROGRAM.format(declared="matrix[N, M] z", loops=loops)).guide
    with pytest.raises(StanError, match="a second time|elements or rows, and laws for|index 3 is out of range"):
        log_density("numpyro", guide, rows([0, 1, 2]), Z)


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_loops_over_some_elements_are_refused(backend, x64, torch_double):
    source = PROGRAM.format(declared="matrix[N, M] z", loops="for (i in 1:2) for (j in 1:M) z[i, j] ~ normal(i, j);")
    with pytest.raises(StanIndexError, match="z and its law are of different sizes: 3 x 2 and 2 x 2"):
        log_density(backend, stanimport.loads(source, backend=backend).guide, rows([0, 1, 2]), Z)
