"""Elements of containers that are no finite numbers, because of parameters: where Stan throws, no number comes out.

Of each law of numbers every argument is a container of two, of which one element is infinite or NaN at a time.
"""
from __future__ import annotations

import math

import numpy as np
import pytest

from stanlib import registry
from stanlib.distribution import DISTRIBUTIONS

pytest.importorskip("stanli")
from tests.random_programs.referee import ours
from tests.random_programs.referee.stan import Stan

WRONG = (math.inf, -math.inf, math.nan)
METHODS = ("lpdf", "lpmf", "cdf", "lcdf", "lccdf")
FAILING = ("beta_binomial", "beta_neg_binomial", "wiener")  # in Stan, for arguments of their domains
OF_CONTAINERS = {
    "categorical_logit_glm": "categorical_logit_glm_lpmf({2, 2} | [[1.0], [1.0]], [0, 0]', [[x[1], 2]])",
    "sort_asc": "sort_asc(x)[1]",
    "sort_desc": "sort_desc(x)[1]",
    "rising_factorial": "sum(rising_factorial(x, 0))",
    "categorical_logit": "categorical_logit_lpmf(2 | x)",
    "categorical_logit of several": "categorical_logit_lpmf({1, 2} | x)",
    "lkj_corr_cholesky": "lkj_corr_cholesky_lpdf([[x[1], 0], [0.6, 0.8]] | 2)",
    "lkj_corr_cholesky of three": "lkj_corr_cholesky_lpdf([[1, 0, 0], [0.6, x[1], 0], [0, 0.6, 0.8]] | 2)",
}  # fmt: skip


def calls():
    """The names of laws and of methods that they have, with calls and the numbers of their arguments' elements."""
    registry.load()
    for name, law in sorted(DISTRIBUTIONS.items()):
        scalars = [np.ndim(a) == 0 for a in law.examples[0]] if law.examples else []
        if not all(scalars) or law.event_dims or law.argument_dims or name in FAILING or name.endswith("_glm"):
            continue
        for method in METHODS:
            if method in law.methods and registry.is_known(f"{name}_{method}"):
                yield f"{name}_{method}", *_call(f"{name}_{method}", law.examples[0])


def _call(name, example):
    given, at = [], []
    for value in example:
        if isinstance(value, int):
            given.append(f"{{{value}, {value}}}")
        else:
            given.append(f"x[{len(at) + 1}:{len(at) + 2}]")
            at += [value, value]
    return f"{name}({given[0]} | {', '.join(given[1:])})", at


CALLS = {name: (call, at) for name, call, at in calls() if at} | {
    name: (call, [0.3, -0.2]) for name, call in OF_CONTAINERS.items()
}


@pytest.mark.sampled(6)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("name", CALLS)
def test_no_number_comes_out_where_stan_throws(name, backend):
    call, at = CALLS[name]
    text = f"parameters {{ vector[{len(at)}] x; }} model {{ target += {call}; }}"
    points = [np.where(np.arange(len(at)) == i, w, at) for i in range(0, len(at), 2) for w in (*WRONG, -1.0)]
    stan = Stan(text, {})
    throws = [p for p in points if stan.at(p).rejected]
    found = ours.outcomes(text, {}, throws, backend, jit=False, parts=("gradient",))
    wrong = [(p, f.log_density) for p, f in zip(throws, found) if not _is_rejected(f)]
    assert not wrong, f"{call}, {len(wrong)} of {len(points)}: {wrong[:3]}"


def _is_rejected(outcome):
    return outcome.log_density == -math.inf or ", line " in outcome.rejected
