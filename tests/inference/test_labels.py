"""Names that data carry: of the rows of pandas' series, which a program takes by their places."""
import numpy as np
import pandas as pd
import pytest

import stanimport

PROGRAM = """
data { int N; vector[N] y; vector<lower=0>[N] s; }
parameters { vector[N] theta; }
model { theta ~ normal(0, 1); y ~ normal(theta, s); }
"""
SCHOOLS = pd.Index(["a", "b", "c"], name="school")
Y = pd.Series([1.0, 2.0, 3.0], SCHOOLS)
ERRORS = pd.Series([1.0, 1.0, 2.0], SCHOOLS)
FEW = dict(chains=1, iter_warmup=20, iter_sampling=10, seed=1)


def test_rows_in_different_orders_are_refused_before_the_fit(tmp_path):
    (tmp_path / "rows.stan").write_text(PROGRAM)
    given = {"N": 3, "y": Y, "s": ERRORS[::-1]}
    for program in (stanimport.loads(PROGRAM), tmp_path / "rows.stan"):
        for method in (stanimport.sample, stanimport.optimize):
            with pytest.raises(stanimport.StanDataError, match="y and s have the same school in different orders"):
                method(program, given)


def test_rows_with_different_names_have_none():
    """Of a lagged series, say: no parameter is called by the names of one of them."""
    fit = stanimport.sample(stanimport.loads(PROGRAM), {"N": 3, "y": Y, "s": ERRORS.set_axis(SCHOOLS + "'")}, **FEW)
    assert fit.dims == {} and "theta[1]" in fit.summary().index
    fit = stanimport.sample(stanimport.loads(PROGRAM), {"N": 3, "y": Y, "s": np.ones(3)}, **FEW)
    assert fit.dims["theta"] == ("school",) and "theta[c]" in fit.summary().index


QUANTITIES = f"{PROGRAM} generated quantities {{ vector[N] twice = 2 * theta; }}"


def test_draws_are_not_put_beside_rows_in_another_order(tmp_path):
    """Those of the school "a" would be taken for those of "c", under its name."""
    module, given = stanimport.loads(QUANTITIES), {"N": 3, "y": Y, "s": ERRORS}
    fit = stanimport.sample(module, given, **FEW)
    fit.save(tmp_path / "fit.nc")
    turned = {"N": 3, "y": Y[::-1], "s": ERRORS[::-1]}
    in_order = [fit, tmp_path / "fit.nc", fit.draws_xr(), fit.to_arviz(prior=False)]
    for draws, data in [*((d, turned) for d in in_order), (fit.draws_xr().isel(school=[2, 1, 0]), given)]:
        with pytest.raises(stanimport.StanDataError, match="theta and the data have the same school in different"):
            stanimport.generate_quantities(module, data, previous_fit=draws, seed=1)
    with pytest.raises(stanimport.StanDataError, match="theta and the data have the same school in different orders"):
        fit.posterior_predictive(turned, seed=1)
    others = {"N": 3, "y": Y.set_axis(SCHOOLS + "'"), "s": ERRORS.set_axis(SCHOOLS + "'")}
    for data in (given, others, {n: np.asarray(v) for n, v in turned.items()}):
        made = stanimport.generate_quantities(module, data, previous_fit=fit, seed=1)
        np.testing.assert_array_equal(made.stan_variable("twice"), 2 * fit.stan_variable("theta"))


MATRICES = """parameters { vector[2] x; array[2] matrix[2, 2] m; }
model { x ~ normal(0, 1); for (i in 1:2) to_vector(m[i]) ~ normal(0, 1); }
generated quantities { vector[2] y = x; array[2] matrix[2, 2] n = m; }"""


def test_axes_of_xarray_are_told_by_their_names():
    """Wherever they stand; as many draws as a vector has components are no components."""
    module = stanimport.loads(MATRICES)
    fit = stanimport.sample(module, **FEW | {"iter_sampling": 2})
    draws = fit.draws_xr()
    turned = draws.transpose(*reversed([str(d) for d in draws.dims]))
    samples = turned.stack(sample=("chain", "draw"))  # as arviz.extract gives them
    for given in (draws, turned, samples, samples.transpose("sample", ...), samples.reset_index("sample")):
        made = stanimport.generate_quantities(module, previous_fit=given, seed=1)
        for computed, drawn in {"y": "x", "n": "m"}.items():
            np.testing.assert_array_equal(made.stan_variable(computed), fit.stan_variable(drawn))
    with pytest.raises(stanimport.StanDataError, match="draws of x need the dimensions chain and draw, or sample"):
        stanimport.generate_quantities(module, previous_fit=draws.isel(chain=0, drop=True), seed=1)


@pytest.mark.parametrize("draws", [np.zeros((1, 2, 2, 2)), np.zeros(()), np.zeros((2, 2, 2, 2))])
def test_all_parameters_have_as_many_draws(draws):
    given = {"x": np.zeros((3, 2)), "m": draws}
    with pytest.raises(stanimport.StanDataError, match="m must have"):
        stanimport.generate_quantities(stanimport.loads(MATRICES), previous_fit=given, seed=1)


@pytest.mark.parametrize("unit", ["s", "us", "ns"])
def test_times_are_called_by_their_dates(unit):
    """Those of nanoseconds, the only ones of pandas before 3, too."""
    days = pd.DatetimeIndex(["2020-01-02", "2020-01-01", "2020-01-03"], name="day").as_unit(unit)
    given = {"N": 3, "y": Y.set_axis(days), "s": ERRORS.set_axis(days)}
    fit = stanimport.sample(stanimport.loads(QUANTITIES), given, **FEW)
    assert fit.coords["day"][0] == "2020-01-02 00:00:00" and "theta[2020-01-01 00:00:00]" in fit.summary().index
    draws = fit.draws_xr().assign_coords(day=days[::-1])
    with pytest.raises(stanimport.StanDataError, match="theta and the data have the same day in different orders"):
        stanimport.generate_quantities(fit.module, given, previous_fit=draws, seed=1)


def test_names_that_are_no_numbers_are_in_one_order():
    index = pd.Index([1.5, np.nan, 2.5], name="dose")
    given = {"N": 3, "y": Y.set_axis(index), "s": ERRORS.set_axis(index)}
    fit = stanimport.sample(stanimport.loads(PROGRAM), given, **FEW)
    assert fit.dims["theta"] == ("dose",) and "theta[nan]" in fit.summary().index
