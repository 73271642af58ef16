"""Names that data carry: of the rows of pandas' series, which a program takes by their places."""
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
import xarray

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
        with pytest.raises(stanimport.StanDataError, match="theta has an entry for each school of the fit"):
            stanimport.generate_quantities(module, data, previous_fit=draws, seed=1)
    with pytest.raises(stanimport.StanDataError, match="number 1 was 'a', and is 'c' here"):
        fit.posterior_predictive(turned, seed=1)
    for data in (given, {n: np.asarray(v) for n, v in turned.items()}):
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
    assert fit.coords["day"][0] == "2020-01-02" and "theta[2020-01-01]" in fit.summary().index
    draws = fit.draws_xr().assign_coords(day=days[::-1])
    with pytest.raises(stanimport.StanDataError, match="theta has an entry for each day of the fit"):
        stanimport.generate_quantities(fit.module, given, previous_fit=draws, seed=1)


def test_names_that_are_no_numbers_are_in_one_order():
    index = pd.Index([1.5, np.nan, 2.5], name="dose")
    given = {"N": 3, "y": Y.set_axis(index), "s": ERRORS.set_axis(index)}
    fit = stanimport.sample(stanimport.loads(PROGRAM), given, **FEW)
    assert fit.dims["theta"] == ("dose",) and "theta[nan]" in fit.summary().index
@pytest.mark.sampled(3)
@pytest.mark.parametrize("method", [
    lambda program, wrong, right, fit: stanimport.leave_groups_out(program, wrong, [1, 1, 2], size="N", seed=1),
    lambda program, wrong, right, fit: stanimport.sbc(program, wrong, simulations=2, seed=1),
    lambda program, wrong, right, fit: stanimport.inference.LogProb(program, wrong),
    lambda program, wrong, right, fit: fit.posterior_predictive(wrong, seed=1),
    lambda program, wrong, right, fit: stanimport.generate_quantities(previous_fit=fit, data=wrong),
])  # fmt: skip
def test_what_reads_data_refuses_rows_in_different_orders(method):
    program, right = stanimport.loads(PROGRAM), {"N": 3, "y": Y, "s": ERRORS}
    fit = stanimport.sample(program, right, **FEW)
    with pytest.raises(stanimport.StanDataError, match="y and s have the same school in different orders"):
        method(program, right | {"s": ERRORS[::-1]}, right, fit)


@pytest.mark.parametrize("where", ["together", "threads", "store"])
def test_many_data_sets_have_their_names_and_are_refused_by_them(where, tmp_path):
    data = {"N": 3, "y": Y, "s": ERRORS}
    named = {"y": Y.set_axis(SCHOOLS + "'"), "s": ERRORS.set_axis(SCHOOLS + "'")}
    options = {"seed": 1, "sampling": {n: v for n, v in FEW.items() if n != "seed"}}
    with ThreadPoolExecutor(1) as threads:
        more = {"threads": {"executor": threads}, "store": {"folder": tmp_path / "fits.zarr"}}.get(where, {})
        sets = [data, data | named, data | {"s": ERRORS[::-1]}]
        first, second, third = stanimport.sample_many(stanimport.loads(PROGRAM), sets, **options, **more)
    assert first.coords == {"school": ["a", "b", "c"]} and first.dims["theta"] == ("school",)
    assert second.coords == {"school": ["a'", "b'", "c'"]}
    assert not third and "the same school in different orders" in str(third.error)


@pytest.mark.parametrize("entries", [["c", "a", "b"], ["d", "e", "f"]])
def test_parameters_are_not_taken_for_those_of_other_entries(entries):
    fit = stanimport.sample(stanimport.loads(PROGRAM), {"N": 3, "y": Y, "s": ERRORS}, **FEW)
    other = pd.Index(entries, name="school")
    data = {"N": 3, "y": Y.set_axis(other), "s": ERRORS.set_axis(other)}
    for method in (fit.posterior_predictive, lambda d: stanimport.generate_quantities(previous_fit=fit, data=d)):
        with pytest.raises(stanimport.StanDataError, match=f"number 1 was 'a', and is '{entries[0]}' here"):
            method(data)
    same = fit.posterior_predictive({"N": 3, "y": 2 * Y, "s": ERRORS}, seed=1)
    assert same.coords == {"school": ["a", "b", "c"]}


TABLE = """
data { int J; int K; matrix[J, K] x; vector[J] y; vector[K] w; }
parameters { vector[J] a; vector[K] b; }
model { a ~ normal(0, 1); b ~ normal(w, 1); y ~ normal(a + x * b, 1); }
"""


@pytest.mark.parametrize("coords", [{"school": ["a", "b"], "item": ["u", "v"]}, {}])
def test_square_tables_are_not_taken_transposed(coords):
    program, values = stanimport.loads(TABLE), np.array([[1.0, 2.0], [3.0, 4.0]])
    data = xarray.Dataset({"x": (("school", "item"), values), "y": ("school", [1.0, 2.0]), "w": ("item", [0.0, 1.0])},
                          coords=coords).assign(J=2, K=2)  # fmt: skip
    fit = stanimport.sample(program, data, **FEW)
    assert fit.dims.get("a") == (("school",) if coords else None)
    with pytest.raises(stanimport.StanDataError, match="x has item along J, and w along K"):
        stanimport.sample(program, data.transpose(), **FEW)


def test_sizes_with_other_entries_of_one_name_have_none():
    """The last one's were taken for all."""
    x, w = (pd.Series([1.0, 2.0], pd.Index(entries, name="row")) for entries in (["a", "b"], ["b", "a"]))
    fit = stanimport.sample(stanimport.loads(TABLE), {"J": 2, "K": 2, "x": np.eye(2), "y": x, "w": w}, **FEW)
    assert fit.dims == {} and list(fit.draws_xr()["a"].dims) == ["chain", "draw", "a_dim_0"]
