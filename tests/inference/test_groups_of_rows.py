"""Groups that are left out: the log densities are those of their rows, or an error says that these are not known."""
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import stanimport

PROGRAM = """
data { int N; int M; array[N] int g; vector[N] y; vector[M] o; matrix[M, 2] w; }
transformed data { vector[N] e = exp(y); }
parameters { real a; }
model { a ~ normal(0, 1); %s }
"""
Y, GROUP = np.array([0.1, 0.3, 1.0, 0.4, -0.5, 3.0]), np.repeat([1, 2, 3], 2)
SHORT = {"chains": 2, "iter_warmup": 300, "iter_sampling": 1500}


def left_out(statements, sampling=SHORT, rows=6):
    data = {"N": 6, "M": rows, "g": GROUP, "y": Y, "o": np.arange(rows), "w": np.ones((rows, 2))}
    module = stanimport.loads(PROGRAM % statements, name="rows")
    return stanimport.leave_groups_out(module, data, "g", seed=1, sampling=sampling)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("statement", ["log(e) ~ normal(a, 1);", "for (n in 1:N) y[N + 1 - n] ~ normal(a, 1);"])
def test_rows_of_every_order_that_is_known(statement):
    found = left_out(statement).by_group
    for k in (1, 2, 3):
        law = stats.multivariate_normal(np.full(2, Y[GROUP != k].sum() / 5), np.eye(2) + 1 / 5)
        assert abs(found[k] - law.logpdf(Y[GROUP == k])) < 0.15


@pytest.mark.sampled(2)
@pytest.mark.parametrize("statement", [
    "y ~ normal(a, 1); o ~ normal(a, 2);",  # as many by chance: they were taken for rows
    "y ~ normal(a, 1); to_vector(w) ~ normal(a, 1);", "sort_asc(y) ~ normal(a, 1);", "reverse(log(e)) ~ normal(a, 1);",
    "vector[N] lp; for (n in 1:N) lp[N + 1 - n] = normal_lpdf(y[n] | a, 1); target += lp;",
])  # fmt: skip
def test_what_is_not_known_of_every_row(statement):
    with pytest.raises(stanimport.StanError, match="is not known for every row"):
        left_out(statement, {"chains": 1, "iter_warmup": 5, "iter_sampling": 5})


@pytest.mark.sampled(2)
@pytest.mark.parametrize("statement", [
    "y ~ normal(a * (z - mean(z)), 1);", "y[place] ~ normal(a, 1);", "for (n in 1:M) y[n] ~ normal(a, 1);",
    "for (n in 2:N) y[n] ~ normal(a * y[n - 1], 1);", "y ~ normal(a, sd(y));", "y ~ normal(a + 0.1 * N, 1);",
])  # fmt: skip
def test_laws_that_depend_on_other_rows(statement):
    """The refits had other laws for their rows than those by which the rows without them were predicted."""
    text = PROGRAM.replace("matrix[M, 2] w;", "vector[N] z; array[M] int place;")
    data = {"N": 6, "M": 4, "g": GROUP, "y": Y, "o": np.arange(4), "z": Y**2, "place": [1, 2, 3, 4]}
    with pytest.raises(stanimport.StanError, match="laws of rows depend on which others there are"):
        stanimport.leave_groups_out(stanimport.loads(text % statement), data, "g", seed=1,
                                    sampling={"chains": 1, "iter_warmup": 5, "iter_sampling": 5})  # fmt: skip


MEAN = "data { int N; vector[N] y; } parameters { real a; } model { a ~ normal(0, 1); y ~ normal(a, 1); }"
DAYS = np.array(["2024-01-01", "2024-01-02", "2024-03-01"], "M8[ns]")
AT = {"chains": 1, "iter_sampling": 2, "fixed_param": True, "inits": {"a": 0.3}}


@pytest.mark.parametrize("groups", [
    list("aabbcc"), pd.Series(list("aabbcc")), pd.Categorical(list("aabbcc")), np.repeat(DAYS, 2),
    pd.Series([3, 3, 1, 1, 2, 2], dtype="Int64"), np.array([1, 1, "b", "b", 2.5, 2.5], object),
])  # fmt: skip
def test_groups_of_any_kind(groups):
    """Texts of pandas' were an error of Python's."""
    left = stanimport.leave_groups_out(stanimport.loads(MEAN), {"N": 6, "y": Y}, groups, size="N", seed=1, sampling=AT)
    wanted = {groups[2 * k]: stats.norm.logpdf(Y[2 * k : 2 * k + 2], 0.3).sum() for k in range(3)}
    assert left.by_group == pytest.approx({np.datetime64(k, "us").item() if isinstance(k, np.datetime64) else k: v
                                           for k, v in wanted.items()})  # fmt: skip


@pytest.mark.parametrize(("groups", "data", "message"), [
    ([1, 1, np.nan, np.nan, 2, 2], {}, "row 3 is in none"), (["a", "b", "a", None, "b", "b"], {}, "row 4 is in none"),
    (pd.array([1, 2, 1, 2, 2, pd.NA], dtype="Int64"), {}, "row 6 is in none"),
    ([1, 1, 2, 2, 3, 3], {"N": None}, "N is missing"),
    (pd.Series(GROUP, pd.Index(range(6, 0, -1), name="row")), {"y": pd.Series(Y, pd.Index(range(1, 7), name="row"))},
     "y and groups have the same row in different orders"),
])  # fmt: skip
def test_groups_that_are_not_known_of_every_row(groups, data, message):
    """Rows of no group stood as one that was left out with no rows, which had the density 1."""
    given = {n: v for n, v in ({"N": 6, "y": Y} | data).items() if v is not None}
    with pytest.raises(stanimport.StanDataError, match=message):
        stanimport.leave_groups_out(stanimport.loads(MEAN), given, groups, size="N", seed=1, sampling=AT)


SQUARE = """data {{ int N; int M; array[N] int g; array[M] int h; {declared} y; }} parameters {{ real a; }}
model {{ a ~ normal(0, 1); {statement} }}"""
VECTORS, TABLE = "array[N] vector[M]", "matrix[N, M]"


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("declared", "statement", "axes"), [
    (VECTORS, "y ~ multi_normal(rep_vector(a, M), identity_matrix(M));", (0,)),
    (VECTORS, "for (n in 1:N) y[n] ~ multi_normal(rep_vector(a, M), identity_matrix(M));", (0,)),
    (TABLE, "for (m in 1:M) y[, m] ~ multi_normal(rep_vector(a, N), identity_matrix(N));", (1,)),
    (TABLE, "for (m in 1:M) y[, M + 1 - m] ~ multi_normal(rep_vector(a, N), identity_matrix(N));", (1,)),
    (TABLE, "to_vector(y) ~ normal(a, 1);", (0, 1)),
    (TABLE, "for (m in 1:M) y[1, m] ~ normal(a, 1); to_vector(y[2:]) ~ normal(a, 1);", (0, 1)),
    (TABLE, "exp(y[1]) ~ normal(a, 1); to_vector(y[2:]) ~ normal(a, 1);", ()),  # of expressions no place is known
])  # fmt: skip
def test_rows_and_columns_of_which_there_are_as_many(declared, statement, axes):
    """The log densities of rows were taken for those of columns."""
    y = np.array([[0.1, 0.7, -1.2], [1.5, -0.4, 0.2], [-0.3, 2.0, 0.9]])
    data, module = {"N": 3, "M": 3, "g": [1, 2, 2], "h": [1, 1, 2], "y": y}, SQUARE.format(**locals())
    fixed = {"chains": 1, "iter_sampling": 2, "fixed_param": True, "inits": {"a": 0.3}}
    for axis, groups in enumerate("gh"):
        if axis in axes:
            left = stanimport.leave_groups_out(stanimport.loads(module), data, groups, seed=1, sampling=fixed)
            lines = stats.norm.logpdf(y, 0.3).sum(1 - axis)
            wanted = {k: lines[np.array(data[groups]) == k].sum() for k in (1, 2)}
            assert left.by_group == pytest.approx(wanted)
        else:
            with pytest.raises(stanimport.StanError, match="is not known for every row"):
                stanimport.leave_groups_out(stanimport.loads(module), data, groups, seed=1, sampling=fixed)


def test_fits_that_fail_warn_of_no_numbers():
    """Of two groups the fits ask for rows that are gone."""
    program = stanimport.loads("""
        data { int N; array[N] int o; vector[N] y; }
        parameters { real a; }
        model { a ~ normal(0, 1); y[o] ~ normal(a, 1); }
    """)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        left = stanimport.leave_groups_out(program, {"N": 6, "o": [6, 5, 4, 3, 2, 1], "y": Y}, GROUP, size="N", seed=1,
                                           sampling={"chains": 2, "iter_warmup": 50, "iter_sampling": 50})  # fmt: skip
    assert list(left.by_group) == [1] and np.isnan(left.se) and not left.fits[2]


COUNTS = np.array([0, 2, 0, 1, 3, 0, 0, 1, 0])
THIRDS = np.array([1, 1, 1, 2, 2, 2, 3, 3, 3])
RATES = np.linspace(1e-3, 15, 6001)
DECIDED = {
    "zero-inflated": ("if (k[{0}] == 0) target += log_mix(0.3, 0, poisson_lpmf(0 | r)); "
                      "else target += log(0.7) + poisson_lpmf(k[{0}] | r);", np.log(0.3 + 0.7 * np.exp(-RATES)),
                      np.log(0.7) + stats.poisson.logpmf(COUNTS[:, None], RATES)),
    "hurdles": ("if (k[{0}] == 0) target += bernoulli_lpmf(1 | r / (1 + r)); else target += "
                "bernoulli_lpmf(0 | r / (1 + r)) + poisson_lpmf(k[{0}] | r) - poisson_lccdf(0 | r);",
                np.log(RATES / (1 + RATES)), -np.log1p(RATES) + stats.poisson.logpmf(COUNTS[:, None], RATES)
                - np.log1p(-np.exp(-RATES))),
}  # fmt: skip


def without(body, place, **options):
    """The program of counts with a body for each row, at a place, refitted without each third of them."""
    module = stanimport.loads(f"""
        data {{ int N; array[N] int k; }} parameters {{ real<lower=0> r; }}
        model {{ r ~ gamma(2, 1); for (n in 1:N) {{ {body.format(place)} }} }}
    """)
    return stanimport.leave_groups_out(module, {"N": 9, "k": COUNTS}, THIRDS, size="N", seed=1, sampling=options)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("case", DECIDED)
def test_equal_counts_that_decide_are_left_out_with_their_rows(case):
    """By quadrature over the rate."""
    body, of_none, of_some = DECIDED[case]
    terms = np.where(COUNTS[:, None] == 0, of_none, of_some)
    prior = RATES * np.exp(-RATES)
    every = np.log((np.exp(terms.sum(axis=0)) * prior).sum())
    expected = [every - np.log((np.exp(terms[THIRDS != k].sum(axis=0)) * prior).sum()) for k in (1, 2, 3)]
    left = without(body, "n", chains=2, iter_sampling=2000)
    np.testing.assert_allclose(list(left.by_group.values()), expected, atol=0.1)


def test_equal_counts_in_another_order_are_refused():
    with pytest.raises(stanimport.StanError, match="the log density of k is not known for every row"):
        without(DECIDED["zero-inflated"][0], "N + 1 - n", chains=1, iter_warmup=50, iter_sampling=20)
