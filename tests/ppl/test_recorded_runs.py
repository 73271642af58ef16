"""PyTorch's just-in-time compilation: what it records is right for all parameters, or the program is refused."""
from __future__ import annotations

import numpy as np
import pytest

import stanimport

REPEATED = {
    "matrices": "parameters { corr_matrix[3] r; cholesky_factor_corr[2] l; cov_matrix[2] v; } "
    "model { r ~ lkj_corr(2); l ~ lkj_corr_cholesky(2); v ~ wishart(4, identity_matrix(2)); }",
    "vectors": "data { array[3] int g; vector[3] y; } parameters { vector<offset=0, multiplier=2>[2] t; simplex[2] p; "
    "ordered[2] c; } model { t ~ normal(p, 1); y ~ normal(t[g], exp(c[1])); c ~ normal(0, 1); }",
    "arrays": "data { vector[3] y; } parameters { real<lower=-1, upper=1> s; } "
    "model { y[1:2] ~ multi_normal([s, s], [[1, s], [s, 1]]); for (n in 2:3) target += fmax(y[n], s * y[n - 1]); }",
    "conditions in a loop": "data { vector[3] y; array[3] int g; } parameters { vector[3] x; matrix[2, 2] m; } model { "
    "vector[3] w = rep_vector(0, 3); for (n in 1:3) { if (x[n] > 0) w[n] = x[n] * m[1, g[n]]; else w[n] += 2; "
    "if (x[n] > 1) target += -sum(m[g[n]]) * x[n]; y[n] ~ normal(x[n] > 0 ? w[n] : -2 * x[n], 1); } }",
    "numbers beside bounds": "parameters { real<lower=1> b; } model { target += uniform_lpdf(1 | 0, b) "
    "+ 2 * uniform_lcdf(1 | 0, b) + uniform_lpdf(0.5 | -b, 1) + uniform_lccdf(0.5 | -b, 1); }",
    "vectors in a loop": "data { array[3] int g; } parameters { row_vector[2] x; } model { "
    "for (n in 1:2) { g[1:2] ~ neg_binomial_2_log(x, exp(x[n] * x)); g[1:2] ~ binomial(5, inv_logit(x * n)); } }",
}
DECIDED = {
    "branch": "if (s > 0) target += -s; else target += -2 * s ^ 2;",
    "value": "s ~ normal(s > 0 ? 1 : 2, 1);",
    "rejection": 'if (s > 1) reject("too large"); s ~ normal(0, 1);',
    "while": "real t = s; while (t > 0) t -= 1; target += -t ^ 2;",
    "bound": "int n = 1 + (s > 0); for (i in 1:n) target += -s * i;",
    "carried": "int n = 1 + (s > 0); vector[2] v = [s, 1]'; for (i in 2:n) v[i] = v[i - 1] * s; target += sum(v);",
    "size": "int n = 1 + (s > 0); target += sum(rep_vector(s, n));",
    "left": "for (i in 1:3) { if (s > i) break; target += -s ^ 2; }",
}


def potential(module, inputs, jit):
    from pyro.infer.mcmc.util import initialize_model

    start, function, _, _ = initialize_model(
        module.model, model_kwargs=inputs, jit_compile=jit, skip_jit_warnings=True
    )
    return start, function


@pytest.mark.sampled(2)
@pytest.mark.parametrize("program", REPEATED)
def test_recorded_densities_are_those_that_are_not(program, torch_double):
    module = stanimport.loads(REPEATED[program], backend="pyro")
    given = {"y": [1.0, 2.0, 0.5], "g": [1, 2, 1]}
    inputs = module.transformed_data(**{v.name: given[v.name] for v in module.stan.data})
    start, recorded = potential(module, inputs, True)
    _, run = potential(module, inputs, False)
    rng = np.random.default_rng(0)
    for _ in range(3):
        point = {k: torch_double.as_tensor(rng.normal(size=tuple(v.shape))) for k, v in start.items()}
        assert float(recorded(point)) == pytest.approx(float(run(point)), rel=1e-12)


@pytest.mark.parametrize("program", DECIDED)
def test_programs_that_run_on_by_their_parameters_are_refused(program, torch_double):
    module = stanimport.loads(f"parameters {{ real s; }} model {{ {DECIDED[program]} }}", backend="pyro")
    _, recorded = potential(module, {}, True)
    with pytest.raises(stanimport.StanError, match="parameters decide what runs next.*jit_compile=True"):
        recorded({"s": torch_double.tensor(0.5)})
