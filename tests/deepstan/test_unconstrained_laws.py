"""Laws of unconstrained parameters in guides: draws through the transform, densities with its Jacobian."""
from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import stanimport

GUIDED = """
    parameters {{ {} }} model {{ }}
    guide parameters {{ real m; real<lower=0> s; }}
    guide {{ {} }}
"""
# Parameters, their law, a point, and the log density of the law m = 0.3, s = 0.7 there.
NORMAL = stats.norm(0.3, 0.7).logpdf
CASES = {
    "a lower bound": ("real<lower=1> b;", "lower_bound_unconstrain(b, 1) ~ normal(m, s);", 2.5,
                      NORMAL(np.log(1.5)) - np.log(1.5)),
    "two bounds": ("vector<lower=0, upper=2>[2] b;", "lower_upper_bound_unconstrain(b, 0, 2) ~ normal(m, s);",
                   np.array([0.5, 1.2]),
                   sum(NORMAL(np.log(x / (2 - x))) - np.log(x * (2 - x) / 2) for x in (0.5, 1.2))),
    "order": ("ordered[3] b;", "ordered_unconstrain(b) ~ normal(m, s);", np.array([-1.0, 0.2, 0.7]),
              NORMAL([-1.0, np.log(1.2), np.log(0.5)]).sum() - np.log(1.2) - np.log(0.5)),
    "a law of vectors": ("positive_ordered[2] b;",
                         "positive_ordered_unconstrain(b) ~ multi_normal([m, m]', diag_matrix([s^2, s^2]'));",
                         np.array([0.5, 2.0]), NORMAL(np.log([0.5, 1.5])).sum() - np.log([0.5, 1.5]).sum()),
}  # fmt: skip


def density(module, value):
    """The guide's log density at a value."""
    if module.stan.backend == "numpyro":
        from numpyro.infer.util import log_density

        return float(log_density(module.guide, (), {}, {"b": value, "m": 0.3, "s": 0.7})[0])
    import pyro
    import torch

    pyro.clear_param_store()
    pyro.param("m", torch.tensor(0.3))
    pyro.param("s", torch.tensor(0.7))
    conditioned = pyro.poutine.condition(module.guide, {"b": torch.as_tensor(value)})
    return float(pyro.poutine.trace(conditioned).get_trace().log_prob_sum())


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("case", CASES)
def test_the_density_has_the_jacobian_of_the_transform(case, backend, x64, torch_double):
    declared, law, value, expected = CASES[case]
    module = stanimport.loads(GUIDED.format(declared, law), backend=backend)
    assert density(module, value) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_draws_are_in_the_domain(backend, x64, torch_double):
    declared = "simplex[3] b; real<lower=0> c;"
    law = "simplex_unconstrain(b) ~ normal(c, s); lower_bound_unconstrain(c, 0) ~ normal(m, s);"
    module = stanimport.loads(GUIDED.format(declared, law), backend=backend)
    if backend == "numpyro":
        from numpyro import handlers

        drawn = handlers.seed(module.guide, 1)()
    else:
        import pyro

        pyro.clear_param_store()
        drawn = module.guide()
    assert float(drawn["b"].sum()) == pytest.approx(1) and float(drawn["c"]) > 0 and np.shape(drawn["b"]) == (3,)


def test_branches_choose_among_such_laws(x64):
    law = """
        a ~ normal(0, 1);
        if (a > 0) lower_bound_unconstrain(b, 1) ~ normal(m, s);
        else lower_bound_unconstrain(b, 1) ~ normal(-m, s);
    """
    module = stanimport.loads(GUIDED.format("real a; real<lower=1> b;", law))
    from numpyro.infer.util import log_density

    found = log_density(module.guide, (), {}, {"a": -0.5, "b": 2.5, "m": 0.3, "s": 0.7})[0]
    expected = stats.norm.logpdf(-0.5) + stats.norm(-0.3, 0.7).logpdf(np.log(1.5)) - np.log(1.5)
    assert float(found) == pytest.approx(expected)


@pytest.mark.parametrize("declared, law, said", [
    ("real<lower=1> b;", "lower_bound_unconstrain(b, 0) ~ normal(m, s);", "another transform than the declaration's"),
    ("real b;", "lower_bound_unconstrain(b, 0) ~ normal(m, s);", "another transform than the declaration's: nothing"),
    ("ordered[2] b;", "positive_ordered_unconstrain(b) ~ normal(m, s);", "another transform"),
    ("ordered[2] b;", "ordered_unconstrain(b) ~ lognormal(m, s);", "is not one of all real numbers"),
    ("array[2] simplex[3] b;", "for (i in 1:2) simplex_unconstrain(b[i]) ~ normal(m, s);", "whole, not a part of b"),
    ("ordered[2] b;", "ordered_unconstrain(2 * b) ~ normal(m, s);", "must be a parameter as a whole"),
    ("real<lower=0> b;", "lower_bound_unconstrain(b, 0) ~ normal(b, s);", "depends on b itself"),
    ("real<lower=0> b;", "b ~ normal(m, s);", "give the unconstrained parameter a law"),
])  # fmt: skip
def test_what_is_no_such_law_is_refused(declared, law, said):
    with pytest.raises(stanimport.StanSemanticError, match=said):
        stanimport.loads(GUIDED.format(declared, law))
