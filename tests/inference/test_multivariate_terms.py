"""Log densities of mixtures of multivariate laws: one for each vector, in the order of the data, not the loops."""
import warnings
from typing import NamedTuple

import numpy as np
import pytest
from scipy import stats

import stanimport

RNG = np.random.default_rng(1)
PAIRS, ROWS, NESTED, FLAT = (RNG.normal(size=s) for s in ((4, 2), (4, 3), (2, 3, 2), (6,)))
MATRICES = np.array([np.eye(2) * k for k in (1.0, 2.0, 3.0)])
WEIGHT = 0.3


def mixture(y, law=None):
    """The log density of one outcome under two laws."""
    y = np.atleast_1d(y)
    one, other = law or (stats.multivariate_normal(np.full(y.size, float(m))).logpdf for m in (0, 2))
    return np.logaddexp(np.log(WEIGHT) + one(y), np.log1p(-WEIGHT) + other(y))


def mixed(outcome, size):
    """The same in Stan."""
    each = (f"multi_normal_lpdf({outcome} | rep_vector({m}, {size}), identity_matrix({size}))" for m in (0, 2))
    return f"log_mix(p, {', '.join(each)})"


def loop(outcome, size, count):
    return f"for (n in 1:{count}) target += {mixed(outcome, size)};"


def each(rows):
    return np.array([mixture(y) for y in rows])


def wishart(y):
    return mixture(y.ravel(), [lambda v, k=k: stats.wishart.logpdf(v.reshape(2, 2), k, np.eye(2)) for k in (3, 4)])


class Case(NamedTuple):
    """A model of a variable Y, and the log densities in the order of the data; `told` is part of a warning."""

    declared: str
    data: np.ndarray
    body: str
    expected: np.ndarray
    told: str = ""


OF_PAIRS, OF_FLAT = ("array[4] vector[2]", PAIRS), ("vector[6]", FLAT)
COMPONENTS = (f"real h = 0; for (n in 1:4) {{ h = 0.5 * h + p; "
              f"target += {mixed('Y[5 - n]', 2).replace('log_mix(p', 'log_mix(p + 0 * h')}; }}")  # fmt: skip
NUMBERS = "log_mix(p, normal_lpdf({0} | 0, 1), normal_lpdf({0} | 2, 1))"
CASES = {
    "vectors": Case(*OF_PAIRS, loop("Y[n]", 2, 4), each(PAIRS)),
    "another order": Case(*OF_PAIRS, loop("Y[o[n]]", 2, 4), each(PAIRS)),
    "rows": Case("matrix[4, 3]", ROWS, loop("Y[n]", 3, 4), each(ROWS)),
    "rows in another order": Case("matrix[4, 3]", ROWS, loop("Y[o[n]]'", 3, 4), each(ROWS)),
    "columns": Case("matrix[4, 3]", ROWS, loop("Y[, n]", 4, 3), each(ROWS.T)),
    "columns from the last": Case("matrix[4, 3]", ROWS, loop("Y[, 4 - n]", 4, 3), each(ROWS.T)),
    "nested": Case("array[2, 3] vector[2]", NESTED,
                   f"for (j in 1:3) for (i in 1:2) target += {mixed('Y[i, j]', 2)};",
                   np.array([each(rows) for rows in NESTED])),
    "segments": Case(*OF_FLAT, loop("segment(Y, 7 - 2 * n, 2)", 2, 3), each(FLAT.reshape(3, 2))),
    "slices": Case(*OF_FLAT, loop("Y[(2 * n - 1):(2 * n)]", 2, 3), each(FLAT.reshape(3, 2))),
    "that overlap": Case(*OF_FLAT, loop("segment(Y, n, 2)", 2, 5), each([FLAT[k : k + 2] for k in range(5)]),
                         "is not known"),
    "a recurrence": Case(*OF_PAIRS, f"{{ {COMPONENTS} }}", each(PAIRS)),
    "components": Case(*OF_PAIRS, "for (n in 1:4) { vector[2] l; for (k in 1:2) l[k] = log(k == 1 ? p : 1 - p) + "
                       "multi_normal_lpdf(Y[5 - n] | rep_vector(2 * k - 2, 2), identity_matrix(2)); "
                       "target += log_sum_exp(l); }", each(PAIRS)),
    "the first apart": Case(*OF_PAIRS, f"target += {mixed('Y[1]', 2)}; for (n in 2:4) target += {mixed('Y[n]', 2)};",
                            each(PAIRS)),
    "halves": Case(*OF_PAIRS, "".join(f"for (n in {r}) target += {mixed('Y[n]', 2)};" for r in ("3:4", "1:2")),
                   each(PAIRS)),
    "halves of a vector": Case(*OF_FLAT, "".join(f"for (n in {r}) target += {NUMBERS.format('Y[n]')};"
                                                 for r in ("1:2", "3:6")), each(FLAT)),
    "a law and a mixture": Case(*OF_PAIRS, f"Y[1] ~ multi_normal(rep_vector(p, 2), identity_matrix(2)); "
                                f"for (n in 2:4) target += {mixed('Y[n]', 2)};",
                                np.append(stats.norm.logpdf(PAIRS[0], WEIGHT).sum(), each(PAIRS[1:]))),
    "the first of each": Case(*OF_PAIRS, f"for (n in 1:4) target += {NUMBERS.format('Y[n, 1]')};",
                              each(PAIRS[:, 0]), "holds 4 of the 8 numbers"),
    "sums": Case("array[4] vector[2]", PAIRS, f"for (n in 1:4) target += {NUMBERS.format('Y[n]')};",
                 np.logaddexp(np.log(WEIGHT) + stats.norm.logpdf(PAIRS).sum(-1),
                              np.log1p(-WEIGHT) + stats.norm.logpdf(PAIRS, 2).sum(-1)), "sums of several"),
    "matrices": Case("array[3] cov_matrix[2]", MATRICES, "for (n in 1:3) target += log_mix(p, wishart_lpdf(Y[4 - n] | "
                     "3, identity_matrix(2)), wishart_lpdf(Y[4 - n] | 4, identity_matrix(2)));",
                     np.array([wishart(y) for y in MATRICES])),
}  # fmt: skip


@pytest.fixture(scope="module")
def found():
    """The log densities of all cases, each of its own variable, and the warnings."""
    names = {case: f"y{i}" for i, case in enumerate(CASES)}
    declared = " ".join(f"{c.declared} {names[n]};" for n, c in CASES.items())
    body = "\n".join(c.body.replace("Y", names[n]) for n, c in CASES.items())
    program = f"data {{ array[4] int o; {declared} }} parameters {{ real<lower=0, upper=1> p; }} model {{ {body} }}"
    data = {"o": [3, 1, 4, 2]} | {names[n]: c.data for n, c in CASES.items()}
    fit = stanimport.generate_quantities(stanimport.loads(program), data, previous_fit={"p": [WEIGHT]})
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        groups = fit.to_arviz(posterior_predictive=False, prior=False)
    return names, groups.log_likelihood.data_vars, [str(w.message) for w in told]


@pytest.mark.parametrize("case", CASES)
def test_each_vector_has_one_log_density(case, found):
    names, log_densities, told = found
    np.testing.assert_allclose(log_densities[names[case]].values[0, 0], CASES[case].expected, rtol=1e-10)
    about = [t for t in told if f"of {names[case]} " in t or f"of {names[case]}:" in t]
    assert len(about) == bool(CASES[case].told) and all(CASES[case].told in t for t in about)


def test_nothing_stands_under_other_names(found):
    names, log_densities, _ = found
    assert set(log_densities) == set(names.values())
