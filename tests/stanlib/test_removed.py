"""Functions that Stan has removed: they compute what their successors do, and programs that call them are told so."""
import numpy as np
import pytest
from libraries import as_array

import stanimport
from stanlib import registry

registry.load()
REMOVED = sorted({f.name for f in registry.SYMBOLS.values() if f.removed})
CALLS = {
    "binomial_coefficient_log": "real r = binomial_coefficient_log(5, 2);",
    "cov_exp_quad": "matrix[2, 2] r = cov_exp_quad({0.1, 0.4}, 1.0, 0.5);",
    "fabs": "real r = fabs(-1.5);",
    "if_else": "real r = if_else(1, 2.0, 3.0);",
    "multiply_log": "real r = multiply_log(2.0, 3.0);",
}
OLD_NAMES = {
    "normal_log": ("real r = normal_log(0.1, 0, 1);", "normal_lpdf"),
    "poisson_log": ("real r = poisson_log(3, 1.5);", "poisson_lpmf"),
    "gamma_cdf_log": ("real r = gamma_cdf_log(0.1, 1, 1);", "gamma_lcdf"),
    "binomial_ccdf_log": ("real r = binomial_ccdf_log(1, 2, 0.5);", "binomial_lccdf"),
}


def warnings(statement):
    return [str(w) for w in stanimport.check("old.stan", source=f"generated quantities {{ {statement} }}")]


def test_the_list_of_removed_functions():
    assert REMOVED == sorted(CALLS)


@pytest.mark.parametrize("name", CALLS)
def test_a_call_is_translated_with_a_warning_that_names_the_successor(name):
    successor = registry.FUNCTIONS[name][0].successor
    (warning,) = warnings(CALLS[name])
    assert f"{name} has been removed from Stan (2.33)" in warning and successor in warning
    with pytest.raises(stanimport.StanError, match=name):
        stanimport.check("old.stan", source=f"generated quantities {{ {CALLS[name]} }}", strict=True)


@pytest.mark.parametrize("name", OLD_NAMES)
def test_densities_go_by_their_old_names(name):
    statement, successor = OLD_NAMES[name]
    (warning,) = warnings(statement)
    assert f"{name} has been removed" in warning and successor in warning


@pytest.mark.parametrize("name", [n for n in REMOVED if n != "if_else"])
def test_values_are_those_of_the_successor(name):
    for f in registry.FUNCTIONS[name]:
        for example in f.examples:
            args = [as_array(a) for a in example]
            later = next(s for s in registry.FUNCTIONS[f.successor] if len(s.examples[0]) == len(args))
            np.testing.assert_allclose(f(*args), later(*args), rtol=1e-14)


def test_if_else_is_the_conditional_operator():
    f = registry.by_symbol("if_else")
    assert f(1, 2.0, 3.0) == 2.0 and f(0, 2.0, 3.0) == 3.0
