"""Data of which statements observe only some entries: which ones log densities and replications are of."""
import arviz
import numpy as np
import pandas as pd
import pytest
from scipy import stats

import stanimport
from stanimport.inference.fits.observations import LikelihoodWarning
from stanimport.inference.fits.replications import ReplicationWarning

SERIES = """
data { int T; vector[T] y; %s }
parameters { real a; real<lower=-1, upper=1> b; real<lower=0> s; %s }
model { s ~ exponential(1); %s }
"""
AUTOREGRESSIONS = {
    "loop": "for (t in 2:T) y[t] ~ normal(a + b * y[t - 1], s);",
    "slice": "y[2:T] ~ normal(a + b * y[1:(T - 1)], s);",
    "carried": "real before = y[1]; for (t in 2:T) { y[t] ~ normal(a + b * before, s); before = y[t]; }",
}
Y = np.linspace(0, 1, 8) + 0.1 * np.sin(3.0 * np.arange(8))
DRAWS = {"a": np.linspace(-1, 1, 4000), "b": np.full(4000, 0.5), "s": np.linspace(0.5, 1, 4000)}


def fit_of(program, data, draws):
    return stanimport.generate_quantities(stanimport.loads(program), data, previous_fit=draws, seed=3)


@pytest.mark.parametrize("form", AUTOREGRESSIONS)
def test_first_values_of_series_stay(form):
    fit = fit_of(SERIES % ("", "", AUTOREGRESSIONS[form]), {"T": 8, "y": Y}, DRAWS)
    with pytest.warns(ReplicationWarning, match="1 of the 8 numbers of y are those of the data: no statement observes"):
        y = fit.posterior_predictive(seed=1).stan_variable("y")
    assert (y[:, 0] == Y[0]).all()
    scaled = (y[:, 1:] - DRAWS["a"][:, None] - 0.5 * Y[:-1]) / DRAWS["s"][:, None]
    for t in range(7):  # each given the observation before it
        assert stats.kstest(scaled[:, t], "norm").pvalue > 1e-3


@pytest.mark.parametrize("form", AUTOREGRESSIONS)
def test_log_densities_have_the_names_of_their_entries(form, tmp_path):
    years = pd.Index(range(2000, 2008), name="year")
    program = SERIES % ("vector[T] z;", "", AUTOREGRESSIONS[form] + " z ~ normal(a, s);")
    draws = {n: v[:3] for n, v in DRAWS.items()}
    fit = fit_of(program, {"T": 8, "y": pd.Series(Y, index=years), "z": pd.Series(Y, index=years)}, draws)
    fit.dims, fit.coords = {"y": ("year",), "z": ("year",)}, {"year": list(years)}
    with pytest.warns(LikelihoodWarning, match="holds 7 of the 8 numbers of y"):
        groups = fit.to_arviz(prior=False)
    terms = groups.log_likelihood
    assert terms["z"].dims[2:] == ("year",) and terms["z"]["year"].values.tolist() == [*years]
    assert terms["y"].dims[2:] == ("y_dim_0",) and terms["y"]["y_dim_0"].values.tolist() == [*years[1:]]
    expected = stats.norm.logpdf(Y[1:], draws["a"][:, None] + 0.5 * Y[:-1], draws["s"][:, None])
    np.testing.assert_allclose(terms["y"].values.reshape(3, 7), expected, rtol=1e-10)
    assert groups.observed_data["y"].sizes == {"year": 8}
    fit.save(tmp_path / "fit.nc", log_likelihood=True)
    again = stanimport.Fit.load(tmp_path / "fit.nc").to_arviz(prior=False, posterior_predictive=False).log_likelihood
    assert again.equals(terms)


def test_names_of_entries_without_names():
    fit = fit_of(SERIES % ("", "", AUTOREGRESSIONS["loop"]), {"T": 8, "y": Y}, {n: v[:50] for n, v in DRAWS.items()})
    with pytest.warns(LikelihoodWarning):
        groups = fit.to_arviz(prior=False, posterior_predictive=False)
        labelled = fit.to_arviz(prior=False, posterior_predictive=False, dims={"y": ["time"]})
    assert groups.log_likelihood["y"]["y_dim_0"].values.tolist() == [*range(1, 8)]
    assert labelled.log_likelihood["y"]["time"].values.tolist() == [*range(1, 8)]
    assert arviz.loo(groups).n_data_points == 7


TABLE = "data { array[3, 5] real y; array[2] int o; } parameters { real a; real<lower=0> s; } model { %s }"
ROWS = {  # the entries along the axes of an (3, 5) table that a body observes
    "later ones of each series": ("for (i in 1:3) for (t in 3:5) y[i, t] ~ normal(a + y[i, t - 1], s);",
                                  [0, 1, 2], [2, 3, 4]),
    "rows by an index": ("for (k in 1:2) for (t in 1:5) y[o[k], t] ~ normal(a, s);", [2, 0], [0, 1, 2, 3, 4]),
    "under a condition": ("for (i in 1:3) for (t in 1:5) if (t > 3) y[i, t] ~ normal(a, s);", [0, 1, 2], [3, 4]),
    "scattered ones": ("for (i in 1:3) for (t in 1:5) if ((i + t) % 2 == 0) y[i, t] ~ normal(a, s);", None, None),
}


@pytest.mark.parametrize("case", ROWS)
def test_entries_of_tables(case):
    body, rows, columns = ROWS[case]
    program = TABLE % body
    y = np.arange(15.0).reshape(3, 5) ** 1.5
    fit = fit_of(program, {"y": y, "o": [3, 1]}, {"a": np.linspace(-1, 1, 6), "s": np.linspace(0.5, 1, 6)})
    names = {"dims": {"y": ["row", "column"]}, "coords": {"row": [*"abc"], "column": [10, 20, 30, 40, 50]}}
    with pytest.warns(LikelihoodWarning):
        terms = fit.to_arviz(prior=False, posterior_predictive=False, **names).log_likelihood["y"]
    if rows is not None:
        assert terms["row"].values.tolist() == ["abc"[i] for i in rows]
        assert terms["column"].values.tolist() == [10 * (i + 1) for i in columns]
    else:  # cells of no rows and columns are told by no name
        assert "row" not in terms.coords and terms.sizes["y_dim_0"] == 8


def test_values_that_no_statement_observes_are_asked_for_in_new_data():
    module = stanimport.loads("data { vector[3] y; } parameters { real m; } model { y[1:2] ~ normal(m, 1); }")
    fit = stanimport.generate_quantities(module, {"y": [1.0, 2.0, 4.0]}, previous_fit={"m": np.zeros(4)})
    with pytest.raises(stanimport.StanError, match="only parts of it: it must be among the data"):
        fit.posterior_predictive({})
    with pytest.warns(ReplicationWarning, match="1 of the 3 numbers of y"):
        y = fit.posterior_predictive({"y": [7.0, 8.0, 9.0]}, seed=1).stan_variable("y")
    assert (y[:, 2] == 9).all() and np.abs(y[:, :2]).max() < 6


COUNTRIES, YEARS = pd.Index([*"abc"], name="country"), pd.Index(range(2000, 2004), name="year")
PANEL = pd.DataFrame(np.arange(12.0).reshape(3, 4) ** 1.5, index=COUNTRIES, columns=YEARS)
PANEL_PROGRAM = """data { int G; int T; %s y; }
parameters { vector[G] a; real<lower=0> s; } model { s ~ exponential(1); %s }"""
BY_YEARS = {  # laws of the later years of each country
    "columns": "for (t in 2:T) y[, t] ~ normal(a + y[, t - 1], s);",
    "cells, by years": "for (t in 2:T) for (g in 1:G) y[g, t] ~ normal(a[g] + y[g, t - 1], s);",
    "cells, by countries": "for (g in 1:G) for (t in 2:T) y[g, t] ~ normal(a[g] + y[g, t - 1], s);",
}


@pytest.mark.parametrize("form", BY_YEARS)
def test_panels_have_their_axes_whatever_the_order_of_the_loops(form):
    draws = {"a": np.array([[0.0, 1.0, 2.0], [3.0, -1.0, 0.5]]), "s": np.array([1.0, 4.0])}
    fit = fit_of(PANEL_PROGRAM % ("matrix[G, T]", BY_YEARS[form]), {"G": 3, "T": 4, "y": PANEL}, draws)
    with pytest.warns(LikelihoodWarning, match="holds 9 of the 12"):
        terms = fit.to_arviz(prior=False, posterior_predictive=False).log_likelihood["y"]
    assert terms.sizes["country"] == 3 and terms["country"].values.tolist() == [*"abc"]
    assert terms["year"].values.tolist() == [2001, 2002, 2003]
    y = PANEL.to_numpy()
    expected = stats.norm.logpdf(y[:, 1:], draws["a"][..., None] + y[:, :-1], draws["s"][:, None, None])
    np.testing.assert_allclose(terms.values.reshape(2, 3, 3), expected, rtol=1e-10)


def test_vectors_that_are_observed_have_their_places_among_all():
    body = "for (t in 2:T) y[t] ~ multi_normal(a + y[t - 1], diag_matrix(rep_vector(square(s), G)));"
    draws = {"a": np.array([[0.0, 1.0, 2.0], [3.0, -1.0, 0.5]]), "s": np.array([1.0, 4.0])}
    y = PANEL.to_numpy().T
    fit = fit_of(PANEL_PROGRAM % ("array[T] vector[G]", body), {"G": 3, "T": 4, "y": y}, draws)
    with pytest.warns(LikelihoodWarning):
        terms = fit.to_arviz(prior=False, posterior_predictive=False).log_likelihood["y"]
    assert terms["y_dim_0"].values.tolist() == [1, 2, 3]
    expected = stats.norm.logpdf(y[1:], draws["a"][:, None] + y[:-1], draws["s"][:, None, None]).sum(axis=2)
    np.testing.assert_allclose(terms.values.reshape(2, 3), expected, rtol=1e-10)


PARTS = {  # several statements that observe parts of one variable
    "ranges": ("vector[8] y", "y[1:3] ~ normal(m, 1); y[6:8] ~ normal(m, 2);", np.arange(8.0), [[0, 1, 2, 5, 6, 7]],
               lambda y, m: stats.norm.logpdf(y[[0, 1, 2, 5, 6, 7]], m, [1, 1, 1, 2, 2, 2])),
    "a first one": ("vector[5] y", "y[2] ~ normal(m, 1); for (t in 3:5) y[t] ~ normal(m + y[t - 1], 2);",
                    np.arange(5.0), [[1, 2, 3, 4]],
                    lambda y, m: stats.norm.logpdf(y[1:], m + np.r_[0, y[1:-1]], [1, 2, 2, 2])),
    "the later one first": ("vector[5] y", "y[5] ~ normal(m, 1); y[1:2] ~ normal(m, 2);", np.arange(5.0), [[0, 1, 4]],
                            lambda y, m: stats.norm.logpdf(y[[0, 1, 4]], m, [2, 2, 1])),
    "rows": ("matrix[3, 2] y", "y[1, ] ~ normal(m, 1); y[3, ] ~ normal(m, 2);", np.arange(6.0).reshape(3, 2),
             [[0, 2], [0, 1]], lambda y, m: stats.norm.logpdf(y[[0, 2]], m, [[1], [2]])),
    "vectors": ("array[4] vector[2] y", "y[1] ~ multi_normal(rep_vector(m, 2), identity_matrix(2)); "
                "y[4] ~ multi_normal(rep_vector(m, 2), identity_matrix(2));", np.arange(8.0).reshape(4, 2), [[0, 3]],
                lambda y, m: stats.norm.logpdf(y[[0, 3]], m).sum(axis=1)),
    "conditions": ("array[6] int y", "for (n in 1:6) { if (y[n] == 1) y[n] ~ poisson(m); else if (y[n] > 4) "
                   "y[n] ~ poisson(2); }", np.array([1, 2, 5, 1, 3, 6]), [[0, 2, 3, 5]],
                   lambda y, m: stats.poisson.logpmf(y[[0, 2, 3, 5]], [m, 2, m, 2])),
}  # fmt: skip


@pytest.mark.parametrize("case", PARTS)
def test_parts_that_several_statements_observe_are_one_variable(case):
    declared, body, y, entries, density = PARTS[case]
    program = f"data {{ {declared}; }} parameters {{ real<lower=0> m; }} model {{ {body} }}"
    fit = fit_of(program, {"y": y}, {"m": np.array([0.5, 1.5])})
    with pytest.warns(LikelihoodWarning):
        made = fit.to_arviz(prior=False, posterior_predictive=False).log_likelihood
    assert list(made.data_vars) == ["y"]
    terms = made["y"]
    assert [terms.coords[d].values.tolist() for d in terms.dims[2:]] == entries
    np.testing.assert_allclose(terms.values[0], [density(y, m) for m in (0.5, 1.5)], rtol=1e-10)


BESIDE = {  # some of several equal numbers decide which statements run
    "hurdles": ("array[N] int y", "if (y[n] > 0) y[n] ~ poisson(m) T[1, ];", [0, 0, 3, 1, 0, 3],
                lambda y, m: stats.poisson.logpmf(y, m) - np.log(stats.poisson.sf(0, m))),
    "below a limit": ("vector[N] y", "if (y[n] < 2) y[n] ~ normal(m, 1);", [2.0, 2.0, 0.5, 1.0, 2.0, 0.5],
                      lambda y, m: stats.norm.logpdf(y, m)),
    "missing numbers": ("vector[N] y", "if (!is_nan(y[n])) y[n] ~ normal(m, 1);", [np.nan, np.nan, 3, 1, np.nan, 3],
                        lambda y, m: stats.norm.logpdf(y, m)),
}  # fmt: skip


@pytest.mark.parametrize("case", BESIDE)
def test_numbers_beside_others_that_are_equal_have_their_places(case):
    declared, body, given, density = BESIDE[case]
    program = f"data {{ int N; {declared}; }} parameters {{ real<lower=0> m; }} model {{ for (n in 1:N) {body} }}"
    m = np.full(2000, 2.0)
    fit = fit_of(program, {"N": 6, "y": given}, {"m": m})
    with pytest.warns(LikelihoodWarning, match="holds 3 of the 6 numbers of y"):
        terms = fit.to_arviz(prior=False, posterior_predictive=False).log_likelihood["y"]
    assert terms["y_dim_0"].values.tolist() == [2, 3, 5]
    np.testing.assert_allclose(terms.values[0, 0], density(np.array(given)[[2, 3, 5]], 2.0), rtol=1e-10)
    with pytest.warns(ReplicationWarning, match="3 of the 6 numbers of y are those of the data"):
        drawn = fit.posterior_predictive(seed=1).stan_variable("y")
    np.testing.assert_array_equal(drawn[:, [0, 1, 4]], np.broadcast_to(np.array(given)[[0, 1, 4]], (2000, 3)))
    mean = 2 / (1 - np.exp(-2)) if case == "hurdles" else 2
    assert np.abs(drawn[:, [2, 3, 5]].mean(axis=0) - mean).max() < 0.15


VECTORS = {  # the declaration of a table with rows by country, and the names of what its log densities are of
    "vectors": ("array[G] vector[T]", "for (g in 1:G) y[g] ~ multi_normal(rep_vector(a[g], T), S);", "country",
                [*"abc"]),
    "in another order": ("array[G] vector[T]", "for (g in 1:G) y[G + 1 - g] ~ multi_normal(rep_vector(a[G + 1 - g], T),"
                         " S);", "country", [*"abc"]),
    "all at once": ("array[G] vector[T]", "y ~ multi_normal(rep_vector(a[1], T), S);", "country", [*"abc"]),
    "rows": ("matrix[G, T]", "for (g in 1:G) y[g]' ~ multi_normal(rep_vector(a[g], T), S);", "country", [*"abc"]),
    "later ones": ("array[G] vector[T]", "for (g in 2:G) y[g] ~ multi_normal(y[g - 1] + a[g], S);", "country",
                   ["b", "c"]),
    "columns": ("matrix[G, T]", "for (t in 1:T) y[, t] ~ multi_normal(a, identity_matrix(G));", "year", [*YEARS]),
    "counts": ("array[G, T] int", "for (g in 1:G) y[g] ~ multinomial(softmax(a[g] * linspaced_vector(T, 0, 1)));",
               "country", [*"abc"]),
}  # fmt: skip


@pytest.mark.sampled(2)
@pytest.mark.filterwarnings("ignore::stanimport.inference.LikelihoodWarning")
@pytest.mark.parametrize("case", VECTORS)
def test_log_densities_of_vectors_have_the_names_of_their_axis(case, tmp_path):
    """Beside data that have all of its entries."""
    declared, statement, axis, names = VECTORS[case]
    module = stanimport.loads(f"""
        data {{ int G; int T; {declared} y; vector[G] z; }} transformed data {{ matrix[T, T] S = identity_matrix(T); }}
        parameters {{ vector[G] a; }} model {{ z ~ normal(a, 1); {statement} }}
    """)
    table = PANEL.round().astype(int)
    data = {"G": 3, "T": 4, "y": table, "z": pd.Series([0.5, 1.0, 2.0], index=COUNTRIES)}
    fit = stanimport.generate_quantities(module, data, previous_fit={"a": np.array([[0.0, 1.0, 2.0]])})
    terms = fit.to_arviz(prior=False, posterior_predictive=False).log_likelihood
    assert terms["z"].dims[2:] == ("country",) and len(terms["y"].dims) == 3
    own = terms["y"].dims[2]
    assert own == ("y_dim_0" if case == "later ones" else axis) and terms["y"][own].values.tolist() == names
    a, y = np.array([0.0, 1.0, 2.0]), table.to_numpy()
    means = {"later ones": y[:-1] + a[1:, None], "columns": a, "all at once": 0.0}.get(case, a[:, None])
    rows = y.T if case == "columns" else y[1:] if case == "later ones" else y
    expected = stats.norm.logpdf(rows, means).sum(axis=1)
    if case == "counts":
        shares = np.exp(np.outer(a, np.linspace(0, 1, 4)))
        expected = stats.multinomial.logpmf(y, y.sum(axis=1), shares / shares.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(terms["y"].values[0, 0], expected, rtol=1e-10)
    fit.save(tmp_path / "fit.nc", log_likelihood=True)
    again = stanimport.Fit.load(tmp_path / "fit.nc").to_arviz(prior=False, posterior_predictive=False).log_likelihood
    assert again.equals(terms)
