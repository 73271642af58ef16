"""`generate_quantities` for draws of other programs and from elsewhere: what Stan refuses is refused, or NaN."""
import numpy as np
import pandas as pd
import pytest

import stanimport
from stanimport.errors import StanDataError

DRAWS = {"x": np.array([0.5, 2.0, -0.25, 1.0])}


@pytest.mark.sampled(8)
@pytest.mark.parametrize("declaration, values, wrong", [
    ("real<lower=0> x", [0.5, 0.0, -0.25], 3), ("real<lower=0, upper=1> x", [0.5, 1.0, 1.2], 3),
    ("real<upper=2> x", [2.0, 2.1], 2), ("simplex[3] x", [[0.2, 0.3, 0.5], [0.2, 0.3, 0.6]], 2),
    ("ordered[2] x", [[1.0, 2.0], [1.0, 0.5]], 2), ("positive_ordered[2] x", [[1.0, 2.0], [-1.0, 2.0]], 2),
    ("unit_vector[2] x", [[0.6, 0.8], [0.6, 0.9]], 2), ("sum_to_zero_vector[2] x", [[1.0, -1.0], [1.0, -0.5]], 2),
    ("corr_matrix[2] x", [[[1, 0.3], [0.3, 1]], [[1, 1.3], [1.3, 1]]], 2),
    ("cov_matrix[2] x", [[[2, 0.3], [0.3, 1]], [[2, 0.3], [0.4, 1]]], 2),
    ("cholesky_factor_cov[2] x", [[[2, 0], [0.3, 1]], [[2, 0], [0.3, -1]]], 2),
    ("cholesky_factor_corr[2] x", [[[1, 0], [0.6, 0.8]], [[1, 0], [0.6, 0.9]]], 2),
    ("tuple(real, real<lower=0>) x", {"x.1": [1.0, -1.0], "x.2": [1.0, -1.0]}, 2),
    ("vector<lower=[0, 1]'>[2] x", [[0.5, 1.5], [0.5, 0.5]], 2),
])  # fmt: skip
def test_draws_outside_of_their_domain_are_refused(declaration, values, wrong):
    program = stanimport.loads(f"parameters {{ {declaration}; }} generated quantities {{ real q = 1; }}", name="within")
    given = {n: np.array(v, float) for n, v in (values if isinstance(values, dict) else {"x": values}).items()}
    with pytest.raises(StanDataError, match=rf"draw {wrong} of {wrong}: x.* outside its domain.*line 1"):
        stanimport.generate_quantities(program, previous_fit=given)
    good = {n: v[: wrong - 1] for n, v in given.items()}
    assert stanimport.generate_quantities(program, previous_fit=good).stan_variable("q").tolist() == [1.0] * (wrong - 1)


def test_draws_that_a_file_has_rounded_are_taken():
    program = stanimport.loads("parameters { simplex[3] x; } generated quantities { real q = sum(x); }", name="rounded")
    made = stanimport.generate_quantities(program, previous_fit={"x": np.array([[0.333333, 0.333333, 0.333333]])})
    assert made.stan_variable("q")[0] == pytest.approx(0.999999)


def test_draws_of_which_transformed_parameters_are_rejected_have_no_quantities():
    program = stanimport.loads("""parameters { real x; }
      transformed parameters { real<lower=0> t = x; if (x > 1.5) reject("large"); }
      generated quantities { real q = 2 * t; }""", name="rejected")
    made = stanimport.generate_quantities(program, previous_fit=DRAWS)
    np.testing.assert_array_equal(made.stan_variable("q"), [1.0, np.nan, np.nan, 2.0])


GIVEN = stanimport.loads("parameters { real a; vector[2] b; } model { a ~ normal(0, 1); b ~ normal(a, 1); } "
                         "generated quantities { real q = a; }", name="given")  # fmt: skip
FRAME = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b[1]": [1.0, 2.0, 3.0], "b[2]": [1.0, 2.0, 3.0]})


@pytest.mark.parametrize("draws, told", [
    ({"a": np.array([1j, 2]), "b": np.ones((2, 2))}, "draws of a must be real, not complex"),
    ({"a": [1, 2], "b": [[1, 2], [1]]}, "b is ragged"),
    ({"a": ["x", "y"], "b": np.ones((2, 2))}, "a must hold numbers, not 'x'"),
    ({"a": [None, 1.0], "b": np.ones((2, 2))}, "a must hold numbers, not None"),
    (FRAME.assign(a=1j), "a must be one column of real numbers"),
    (FRAME.assign(note="x"), "note must hold numbers"),
    (FRAME.assign(**{"b[x]": 1.0}), "the column b\\[x\\] is none of CmdStan's"),
    (pd.concat([FRAME, FRAME["a"]], axis=1), "a must be one column"),
    (FRAME.set_axis(range(3), axis=1), "the draws lack parameter a"),
])  # fmt: skip
def test_draws_that_are_no_numbers_of_the_parameters(draws, told):
    with pytest.raises(StanDataError, match=told):
        stanimport.generate_quantities(GIVEN, previous_fit=draws, seed=1)


def test_columns_may_be_called_as_groups_of_arviz():
    made = stanimport.generate_quantities(GIVEN, previous_fit=FRAME.assign(posterior=0.0), seed=1)
    assert made.stan_variable("q").tolist() == [1.0, 2.0, 3.0]
