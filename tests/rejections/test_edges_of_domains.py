"""Densities and distribution functions at the edges of their domains and of their laws' supports, beside Stan's.

Where Stan throws they do, and where it has a number they have the same; both are asked with numbers, one by one.
"""
from __future__ import annotations

import itertools
import math
import warnings

import numpy as np
import pytest

from stanlib import registry
from stanlib.errors import StanDomainError
from stanlib.types import INT, REAL

REALS, WHOLE = (-1.0, 0.0, 0.5, 1.0, 2.0), (-1, 0, 1, 3)
METHODS = ("lpdf", "lpmf", "cdf", "lcdf", "lccdf")
MOST = 5  # arguments
# docs/functions.md tells what Stan computes there, and why it is something else here
OTHER_VALUES = {
    "bernoulli_cdf", "bernoulli_lcdf", "beta_neg_binomial_cdf", "beta_neg_binomial_lccdf", "beta_neg_binomial_lcdf",
    "skew_normal_lccdf", "skew_normal_lcdf", "uniform_cdf", "uniform_lccdf", "wiener_lpdf",
}  # fmt: skip
FAILING = {"beta_binomial_cdf", "beta_binomial_lccdf", "beta_binomial_lcdf"}  # in Stan, for arguments of their domains


def laws():
    """Names of laws of numbers, with the kinds of their arguments."""
    registry.load()
    for name in sorted(n for n in registry.names() if n.rpartition("_")[2] in METHODS):
        kinds = [k for k in registry.exact(name) if len(k) <= MOST and set(k) <= {INT, REAL}]
        if kinds:
            yield name, max(kinds, key=lambda k: k.count(REAL))


LAWS = dict(laws())


def program(name, kinds):
    names = [f"x{i}" for i in range(len(kinds))]
    given = " ".join(f"int {n};" for n, k in zip(names, kinds) if k == INT)
    sought = " ".join(f"real {n};" for n, k in zip(names, kinds) if k == REAL)
    call = f"{name}({names[0]} | {', '.join(names[1:])})"
    return f"data {{ {given} }} parameters {{ {sought} }} model {{ target += {call}; }}"


def stans(name, kinds):
    """Stan's values at all points; None where it throws."""
    stanli = pytest.importorskip("stanli")
    whole, real = ([i for i, k in enumerate(kinds) if k == kind] for kind in (INT, REAL))
    for ints in itertools.product(WHOLE, repeat=len(whole)):
        data = {f"x{i}": v for i, v in zip(whole, ints)}
        model = stanli.Model(stan_code=program(name, kinds), data=data)
        for reals in itertools.product(REALS, repeat=len(real)):
            at = dict(zip(whole, ints)) | dict(zip(real, reals))
            try:
                value = float(model.log_prob_grad(np.array(reals))[0])
            except RuntimeError:
                value = None
            yield tuple(at[i] for i in range(len(kinds))), value


def own(name, kinds, at):
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return float(registry.exact(name)[kinds][0](*at))
    except StanDomainError:
        return None


def differ(name, found, wanted):
    if wanted is None and name in FAILING:
        return False
    if found is None or wanted is None:
        return found is not wanted
    if name in OTHER_VALUES:
        return False
    if math.isnan(wanted):  # a rejection, as any density of NaN; or a limit that Stan does not take
        return False
    return found != wanted and not abs(found - wanted) <= 1e-6 * max(1.0, abs(wanted))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", [n for n in LAWS if any(k == REAL for k in LAWS[n])])
def test_what_stan_throws_for_and_its_values(name):
    kinds = LAWS[name]
    all_of = ((at, own(name, kinds, at), wanted) for at, wanted in stans(name, kinds))
    wrong = [(at, found, wanted) for at, found, wanted in all_of if differ(name, found, wanted)]
    assert not wrong, f"{name}, {len(wrong)} of them: {wrong[:6]}"


def test_a_message_names_the_bound_of_the_first_component_that_is_outside():
    lower, upper = np.array([0.0, 2.0, 3.0]), np.array([1.0, 1.5, 2.5])
    with pytest.raises(StanDomainError, match=r"uniform_lpdf: beta\[2\] is 1\.5, but must be greater than 2\.0!"):
        registry.by_symbol("uniform_lpdf")(np.array(0.5), lower, upper)
