"""Densities that are NaN only where the target is: which ones, and that a draw with NaN in one lane is rejected."""
from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import stanli
from beside_stan import value_and_gradient

import stanimport
from stanimport import pipeline
from stanimport.ir import traversal
from stanimport.ir.fresh import Fresh
from stanimport.source import Source

HEAD = "data { int N; vector[N] y; array[N] int c; } parameters { vector[N] v; real a; } model {"
EACH = "normal_lpdf(y[n] | log(v[n]), 1)"  # NaN for a component of v below 0
MODELS = {  # how many densities are added, and the statements
    # whole increments by densities are observations
    "alone": (0, f"for (n in 1:N) target += {EACH};"),
    "in a sum": (1, f"for (n in 1:N) target += -a * (2 + {EACH}) / 3 - log1p_exp(a);"),
    "a mixture": (2, f"for (n in 1:N) target += log_mix(0.3, {EACH}, normal_lpdf(y[n] | a, 1));"),
    "of none of it": (2, f"for (n in 1:N) target += log_mix(0, {EACH}, normal_lpdf(y[n] | a, 1));"),
    "a distribution function": (1, "for (n in 1:N) target += normal_lcdf(y[n] | log(v[n]), 1);"),
    "under a condition": (0, f"for (n in 1:N) if (c[n] == 1) target += {EACH};"),
    "under one of parameters": (0, f"for (n in 1:N) if (a < 2) target += {EACH};"),
    "a number of the iteration": (1, f"for (n in 1:N) {{ real t = {EACH}; t -= a; target += t; }}"),
    "lost from one": (0, f"for (n in 1:N) {{ real t = {EACH}; target += t > -2; t = a; target += t; }}"),
    "lost at times": (0, f"for (n in 1:N) {{ real t = {EACH}; if (c[n] == 1) t = a; target += t; }}"),
    "an array of the iteration": (1, f"for (n in 1:N) {{ vector[2] t = rep_vector(a, 2);"
                                     f" for (k in 1:2) t[k] += {EACH}; target += log_sum_exp(t); }}"),
    "written over": (0, f"for (n in 1:N) {{ vector[2] t = rep_vector(a, 2);"
                        f" for (k in 1:2) t[1] = a + k; for (k in 1:2) t[k] = {EACH}; t[1] = 2; target += sum(t); }}"),
    "an array": (1, f"vector[N] t; for (n in 1:N) t[n] = {EACH}; target += sum(t);"),
    "one of two": (2, "vector[N] t; for (n in 1:N) { if (c[n] == 1) t[n] = normal_lpdf(y[n] | a, 1);"
                      f" else t[n] = {EACH}; }} target += t;"),
    "two of them": (2, f"vector[N] t; for (n in 1:N) t[n] = {EACH};"
                       " for (n in 1:N) t[n] += normal_lpdf(y[n] | a, 1); target += log_sum_exp(t);"),
    "the last of them": (0, f"real t = 0; for (n in 1:N) t = {EACH}; target += t;"),
    "summed up": (1, f"real t = 0; for (n in 1:N) t += {EACH}; target += t;"),
    "in a choice": (0, f"for (n in 1:N) target += {EACH} > -2 ? a : -a;"),
    "of an argument": (0, f"for (n in 1:N) target += inv_logit({EACH});"),
    "where it is less": (0, f"for (n in 1:N) target += fmin(a, {EACH});"),
    "of an argument of another": (1, f"for (n in 1:N) target += normal_lpdf(fmax({EACH}, a) | a, 1);"),
}  # fmt: skip
DATA = {"N": 3, "y": [0.3, -0.5, 1.0], "c": [1, 0, 1]}


def added(program: str) -> int:
    """How many densities of a program are taken to be NaN only where the target is."""
    source, options, names = Source("p.stan", program), pipeline.Options(scheme="comprehensive"), Fresh()
    compiled = pipeline.compile_program(pipeline.analyse(source)[0], options, names)
    nodes = [n for _, body in pipeline.bodies(compiled, names, options) for s in body for n in traversal.walk(s)]
    return sum(getattr(n, "added", False) for n in nodes)


@pytest.mark.parametrize("name", MODELS)
def test_those_are_added_whose_nan_gets_to_the_target(name: str) -> None:
    count, statements = MODELS[name]
    assert added(f"{HEAD} v ~ normal(1, 1); a ~ normal(0, 1); {statements} }}") == count


def test_increments_that_may_be_left_out_are_none() -> None:
    each = f"for (n in 1:N) {{ real t = {EACH}; target += t; jacobian += t - a; }}"
    program = HEAD.replace("model", "transformed parameters")
    assert added(f"{program} {each.replace('target += t;', '')} }} model {{ }}") == 0


@pytest.mark.sampled(6)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("name", MODELS)
def test_a_draw_is_rejected_where_stan_rejects_it(name: str, backend: str, x64: None, torch_double: None) -> None:
    program = f"{HEAD} v ~ normal(1, 1); a ~ normal(0, 1); {MODELS[name][1]} }}"
    reference, module = stanli.Model(stan_code=program, data=DATA), stanimport.loads(program, backend=backend)
    points = [[1.0, 0.5, 2.0, 0.7], [0.3, 1.5, 0.4, -0.2], [1.0, -0.5, 2.0, 0.7], [1.0, 0.5, -2.0, 0.7]]
    off, digits = [], 1e-5 if "_lcdf" in program else 1e-9  # Stan's own gradients of it have six
    for point in map(np.asarray, points):
        expected = stans(reference, point)
        found = value_and_gradient(module, DATA, backend, point)
        if expected is None:
            assert found[0] == -np.inf
        else:
            off.append(found[0] - expected[0])
            np.testing.assert_allclose(found[1], expected[1], rtol=digits, atol=digits)
    assert off and max(off) - min(off) < 1e-9


def stans(reference: Any, point: np.ndarray) -> tuple[float, Any] | None:
    """Stan's log density and gradient; None where it throws."""
    try:
        return reference.log_prob_grad(point)
    except RuntimeError as e:
        assert "domain error" in str(e), e
        return None
