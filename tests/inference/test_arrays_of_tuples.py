"""Arrays of tuples among data and initial values, in fits that are saved, replicated and made without a group."""
import warnings

import numpy as np
import pytest
from scipy import stats

import stanimport
from stanimport import inference

PROGRAM = """
data { int N; vector[N] y; array[N] int g; array[N] tuple(real, array[2] real) t; tuple(vector[N], int) u;
  array[2] tuple(real, real) pair;
  array[2, 3] tuple(int, tuple(vector[2], complex)) nested; array[0] tuple(real, int) none; }
parameters { real a; }
model { a ~ normal(0, 1); y ~ normal(a + u.1 + pair[2].1, 1); }
generated quantities { real first = pair[1].2; real inner = nested[2, 3].2.1[1];
  vector[N] z; for (n in 1:N) z[n] = t[n].2[2]; }
"""
N, Y, U = 6, np.array([0.1, 0.3, 1.0, 0.4, -0.5, 3.0]), np.arange(6) / 2
NESTED = [[(i + j, ([10.0 * i + j, 1], 1j)) for j in range(3)] for i in range(2)]
DATA = {"N": N, "y": Y, "g": [1, 1, 2, 2, 3, 3], "t": [(n, [0.0, n]) for n in range(N)], "u": (U, 4),
        "pair": [(1.0, 2.0), (3.0, 4.0)], "nested": NESTED, "none": []}  # fmt: skip
SHORT = {"chains": 2, "iter_warmup": 300, "iter_sampling": 1500}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_a_saved_fit_has_them(backend, tmp_path):
    module = stanimport.loads(PROGRAM, backend=backend, name="tuples")
    fit = inference.generate_quantities(module, DATA, previous_fit={"a": np.zeros(500)}, seed=1)
    fit.save(tmp_path / "fit.nc")
    again = inference.Fit.load(tmp_path / "fit.nc")
    quantities = inference.generate_quantities(previous_fit=again, seed=1)
    for name, expected in {"first": 2, "inner": 12, "z": np.arange(N)}.items():
        np.testing.assert_array_equal(quantities.stan_variable(name)[0], expected)
    drawn = [f.posterior_predictive(seed=2).stan_variable("y") for f in (fit, again)]
    np.testing.assert_array_equal(*drawn)
    assert stats.kstest((drawn[0] - U - 3).ravel(), stats.norm.cdf).pvalue > 1e-3
    groups = again.to_arviz(prior=False)
    np.testing.assert_allclose(groups["log_likelihood"]["y"].values[0, 0], stats.norm.logpdf(Y, U + 3, 1))
    np.testing.assert_array_equal(groups["constant_data"]["nested.2.1"].values[1, 2], [12, 1])


def test_groups_are_left_out_of_them():
    """The others predict a group by a normal law; what is no array of rows keeps its order and length."""
    module = stanimport.loads(PROGRAM, name="tuples")
    left = stanimport.leave_groups_out(module, DATA, "g", seed=1, sampling=SHORT)
    of_rows, group = Y - U - 3, np.repeat([1, 2, 3], 2)
    for k in (1, 2, 3):
        kept, gone = of_rows[group != k], of_rows[group == k]
        expected = stats.multivariate_normal(np.full(2, kept.sum() / 5), np.eye(2) + 1 / 5).logpdf(gone)
        assert abs(left.by_group[k] - expected) < 0.15
        assert left.fits[k].data["pair"][1].tolist() == [2, 4]
        assert len(left.fits[k].data["t"][0]) == len(left.fits[k].data["u"][0]) == 4


INITS = "parameters { array[2] tuple(vector[2], vector[2]) u; array[2] tuple(tuple(real, real), real) v; } model { }"
A = np.array
ROWS = ((A([1.0, 2]), A([3.0, 4])), (A([5.0, 6]), A([7.0, 8]))), (((1.0, 2.0), 3.0), ((4.0, 5.0), 6.0))


@pytest.mark.parametrize("kind", [tuple, list])
def test_initial_values_are_read_row_by_row(kind):
    """A tuple of tuples of arrays was read as a tuple of the items' arrays."""
    lp = inference.LogProb(stanimport.loads(INITS), {})
    point = lp.unconstrain({"u": kind(ROWS[0]), "v": kind(ROWS[1])})
    np.testing.assert_array_equal(point, [1, 2, 5, 6, 3, 4, 7, 8, 1, 4, 2, 5, 3, 6])
    held = lp.constrain(point)  # a tuple of the items' arrays
    assert held["u"][0].shape == (2, 2) and np.array_equal(lp.unconstrain(held), point)
    with pytest.raises(stanimport.StanDataError, match="array of tuples"):
        lp.unconstrain({"u": kind(ROWS[0]), "v": np.zeros((2, 2))})


@pytest.mark.parametrize("place, is_told", [("n", False), ("N + 1 - n", True), ("order[n]", True)])
def test_items_that_are_observed_in_another_order_are_told(place, is_told):
    program = f"""data {{ int N; array[N] int order; array[N] tuple(real, vector[2]) t; }} parameters {{ real a; }}
                  model {{ a ~ normal(0, 1); for (n in 1:N) t[{place}].1 ~ normal(a, 1); }}"""
    data = {"N": 3, "order": [2, 3, 1], "t": [(0.5, [1, 1]), (2.0, [2, 1]), (1.0, [3, 1])]}
    module = stanimport.loads(program, name="items")
    fit = inference.generate_quantities(module, data, previous_fit={"a": np.zeros(9)}, seed=1)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit.to_arviz(prior=False, posterior_predictive=False)
    assert any(issubclass(w.category, inference.LikelihoodWarning) for w in caught) == is_told


def test_items_that_are_observed_have_their_log_densities():
    """Tuples of arrays of other sizes have no shape."""
    program = """data { int N; array[N] tuple(tuple(real, int), vector[2]) t; }
                 parameters { real a; }
                 model { a ~ normal(0, 1); for (n in 1:N) { t[n].1.1 ~ normal(a, 1); t[n].2 ~ normal(a, 2); } }"""
    data = {"N": 3, "t": [((n, n), [n, n + 0.5]) for n in range(3)]}
    module = stanimport.loads(program, name="items")
    fit = inference.generate_quantities(module, data, previous_fit={"a": np.zeros(9)}, seed=1)
    found = fit.to_arviz(prior=False, posterior_predictive=False)["log_likelihood"]
    np.testing.assert_allclose(found["t"].values[0, 0], stats.norm.logpdf(np.arange(3)))
    of_vectors = stats.norm.logpdf([[n, n + 0.5] for n in range(3)], 0, 2)
    np.testing.assert_allclose(found["t__2"].values[0, 0], of_vectors)
