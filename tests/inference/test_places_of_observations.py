"""Log densities that increments hold, of outcomes in another order than the data's: they stand where the data do."""
import warnings

import numpy as np
import pytest
from scipy import stats

import stanimport
from stanimport.inference import LikelihoodWarning

PROGRAM = """
functions { void one_lp(real y, real m) { target += log_mix(0.3, normal_lpdf(y | m, 1), normal_lpdf(y | 0, 3)); } }
data { int N; vector[N] x; array[N] int order; array[N] int c; array[2] int seen; array[2] int late; %s }
parameters { real a; }
model { %s }
"""
N, X, Y, ORDER, C = 4, np.array([1.0, -2.0, 4.0, 0.5]), np.array([0.5, 0.5, 2.0, 0.25]), [3, 1, 4, 2], [1, 0, 1, 0]
M, SEEN, LATE = np.array([[0.1, 2.0], [-1.0, 0.4]]), [4, 1], [3, 2]
DATA = {"N": N, "x": X, "order": ORDER, "c": C, "seen": SEEN, "late": LATE}
A = np.array([0.3, -1.2, 2.0])
MEANS = A[:, None] * X
NEAR, WIDE, ABOVE = stats.norm.logpdf(Y, MEANS, 1), stats.norm.logpdf(Y, 0, 3), stats.norm.logsf(Y, MEANS, 1)
MIXTURE = np.logaddexp(np.log(0.3) + NEAR, np.log(0.7) + WIDE)
OF_M = stats.norm.logpdf(M, A[:, None, None], 1)
LOGS = """vector[2] ps = log([0.3, 0.7]'); ps[1] += normal_lpdf(Y[n] | a * x[n], 1); ps[2] += normal_lpdf(Y[n] | 0, 3);
          target += log_sum_exp(ps);"""
GROUPS = "array[2] int s = {1, 4}; array[2] int e = {3, 4};"
TERMS = "vector[N] lp; for (n in 1:N) lp[n] = normal_lpdf(Y[{0}] | a * x[{0}], 1);"
IS_LATE = np.isin(np.arange(N), np.array(LATE) - 1)
MIXED = "log_mix(0.3, normal_lpdf(Y[{0}] | a * x[{0}], 1), normal_lpdf(Y[{0}] | 0, 3))"
CASES = {
    "weights": ("for (i in 1:N) target += 2 * normal_lpdf(Y[order[i]] | a * x[order[i]], 1);", 2 * NEAR),
    "from the last": ("for (i in 1:N) target += normal_lccdf(Y[N + 1 - i] | a * x[N + 1 - i], 1);", ABOVE),
    "over the places": (f"for (n in order) {{ {LOGS} }}", MIXTURE),
    "at a place that is kept": (f"for (i in 1:N) {{ int n = order[i]; {LOGS} }}", MIXTURE),
    "by a counter": (f"int n = N; while (n > 0) {{ {{ {LOGS} }} n -= 1; }}", MIXTURE),
    "by a function": ("for (n in order) one_lp(Y[n], a * x[n]);", MIXTURE),
    "group by group": (f"for (k in 0:1) for (n in 1:N) if (c[n] == k) {{ {LOGS} }}", MIXTURE),
    "group by group, left out": (f"for (k in 0:1) for (n in 1:N) {{ if (c[n] != k) continue; {LOGS} }}", MIXTURE),
    "one, then the others": (f"target += {MIXED.format(1)}; for (n in 2:N) target += {MIXED.format('n')};", MIXTURE),
    "chosen ones": ("""for (i in 1:2) target += normal_lpdf(Y[seen[i]] | a * x[seen[i]], 1) + 0.5;
                       for (i in 1:2) target += normal_lccdf(Y[late[i]] | a * x[late[i]], 1);""",
                    np.where(IS_LATE, ABOVE, NEAR + 0.5)),
    "by parameters": ("for (n in 1:N) if (a * x[n] > 0.2) Y[n] ~ normal(a * x[n], 1); else Y[n] ~ normal(0, 3);",
                      np.where(MEANS > 0.2, NEAR, WIDE)),
    "in another order, by parameters": (
        "for (n in order) if (a * x[n] > 0.2) { if (a < 9) Y[n] ~ normal(a * x[n], 1); else Y[n] ~ normal(7, 3); }"
        " else target += normal_lpdf(Y[n] | 0, 3) + 1;", np.where(MEANS > 0.2, NEAR, WIDE + 1)),
    "in groups of two sizes": (f"""{GROUPS} for (g in 1:2)
        Y[s[g]:e[g]] ~ normal_id_glm(to_matrix(x)[s[g]:e[g]], 0, [a]', 1);""", NEAR),
    "in groups of two sizes, from the last": (f"""{GROUPS} for (i in 1:2) {{ int g = 3 - i;
        target += normal_id_glm_lpdf(Y[s[g]:e[g]] | to_matrix(x)[s[g]:e[g]], 0, [a]', 1); }}""", NEAR),
    "column by column": ("for (j in 1:2) for (i in 1:2) target += 0.5 * normal_lpdf(M[i, j] | a, 1);", 0.5 * OF_M),
    "cell by cell": ("""for (k in 0:3) { int i = k %/% 2; int j = k % 2;
                      target += 3 * normal_lpdf(M[i + 1, j + 1] | a, 1); }""",
                     3 * OF_M),
    "of logarithms": ("for (i in 1:N) target += 2 * normal_lpdf(log(Y[order[i]]) | a, 1);",
                      2 * stats.norm.logpdf(np.log(Y), A[:, None], 1)),
    "read from the last": (f"{TERMS.format('n')} for (n in 1:N) target += lp[N + 1 - n];", NEAR),
    "read in another order": (f"{TERMS.format('n')} for (n in 1:N) target += lp[order[n]];", NEAR),
    "read by the other index": ("""matrix[2, 2] lp;
        for (n in 1:2) for (k in 1:2) lp[n, k] = normal_lpdf(M[n, k] | a, 1);
        for (n in 1:2) for (k in 1:2) target += lp[k, n];""", OF_M),
    "components read in another order": ("""vector[N] l; vector[N] w; for (n in 1:N) {
        l[n] = log(0.3) + normal_lpdf(Y[n] | a * x[n], 1); w[n] = log(0.7) + normal_lpdf(Y[n] | 0, 3); }
        for (n in 1:N) target += log_sum_exp(l[order[n]], w[order[n]]);""", MIXTURE),
    "components of other places": ("""matrix[N, 2] l; for (k in 1:2) for (n in 1:N)
        l[n, k] = k == 1 ? log(0.3) + normal_lpdf(Y[order[n]] | a * x[order[n]], 1) :
                           log(0.7) + normal_lpdf(Y[order[n]] | 0, 3);
        for (n in 1:N) target += log_sum_exp(l[n]);""", MIXTURE),
}  # fmt: skip
UNORDERED = {
    "other places as one": f"{TERMS.format('order[n]')} target += sum(lp);",
    "from the last as one": f"{TERMS.format('N + 1 - n')} target += lp;",
    "put elsewhere": f"{TERMS.format('n').replace('lp[n]', 'lp[order[n]]')} for (n in 1:N) target += lp[n];",
    "sorted": "sort_desc(Y) ~ normal(a, 1);",
    "logarithms one by one": "for (i in 1:N) log(Y[order[i]]) ~ normal(a, 1);",
    "logarithms as one": "log(Y[order]) ~ normal(a, 1);",
    "logarithms from the last": "log(reverse(Y)) ~ normal(a, 1);",
    "reversed logarithms": "target += normal_lpdf(reverse(log(Y)) | a, 1);",
    "places of logarithms": "log(Y)[order] ~ normal(a, 1);",
    "halves that change places": "log(append_row(Y[3:4], Y[1:2])) ~ normal(a, 1);",
}


def program(cases: dict[str, str], data: dict[str, np.ndarray]):
    """A module of cases that have data of their own, and its fit to these."""
    declared = " ".join(f"{'matrix[2, 2]' if v is M else 'vector[N]'} {n};" for n, v in data.items())
    blocks = [f"{{ {s.replace('Y[', n + '[').replace('M[', n + '[').replace('(Y)', f'({n})')} }}"
              for n, s in zip(data, cases.values())]  # fmt: skip
    module = stanimport.loads(PROGRAM % (declared, "\n".join(blocks)), name="places")
    return stanimport.generate_quantities(module, {**DATA, **data}, previous_fit={"a": A})


@pytest.mark.sampled(2)
@pytest.mark.parametrize("start", range(3))
def test_they_stand_where_the_data_do(start):
    """Each case has data of its own in one of three programs."""
    cases = dict(list(CASES.items())[start::3])
    data = {f"y{i}": M if "M[" in s else Y for i, (s, _) in enumerate(cases.values())}
    fit = program({n: s for n, (s, _) in cases.items()}, data)
    with warnings.catch_warnings():
        warnings.simplefilter("error", LikelihoodWarning)
        found = fit.to_arviz(posterior_predictive=False, prior=False)["log_likelihood"].data_vars
    assert set(found) == set(data)
    for name, (case, (_, expected)) in zip(data, cases.items()):
        np.testing.assert_allclose(found[name].values[0], expected, rtol=1e-10, err_msg=case)


def test_an_order_that_does_not_show_is_told():
    """Of each of the cases, which have data of their own."""
    data = {f"y{i}": Y for i in range(len(UNORDERED))}
    fit = program(UNORDERED, data)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = fit.to_arviz(posterior_predictive=False, prior=False)["log_likelihood"].data_vars
    told = sorted(str(w.message) for w in caught if issubclass(w.category, LikelihoodWarning))
    assert set(found) == set(data) and len(told) == len(data)
    assert all(f"densities of {name} in the order in which" in one for name, one in zip(data, told))
    logs, means = np.log(Y), A[:, None]
    for name, outcomes, m in zip(data, [Y] * 4 + [logs] * 6, [MEANS] * 3 + [means] * 7):
        ordered = np.sort(found[name].values[0]), np.sort(stats.norm.logpdf(outcomes, m, 1))
        np.testing.assert_allclose(*ordered, rtol=1e-10)


def test_expressions_of_other_numbers_keep_their_order():
    """A component that is standardised moves with its own number most, but also with all others."""
    numbers = Y * [1, 1, 9, 1]
    cases = {"standardised": "((Y) - mean(Y)) / sd(Y) ~ normal(a, 1);", "shares": "(Y) / sum(Y) ~ normal(a, 1);"}
    fit = program(cases, {"y0": numbers, "y1": Y})
    with warnings.catch_warnings():
        warnings.simplefilter("error", LikelihoodWarning)
        found = fit.to_arviz(posterior_predictive=False, prior=False)["log_likelihood"].data_vars
    computed = (numbers - numbers.mean()) / numbers.std(ddof=1)
    np.testing.assert_allclose(found["y0"].values[0], stats.norm.logpdf(computed, A[:, None], 1), rtol=1e-10)
    np.testing.assert_allclose(found["y1"].values[0], stats.norm.logpdf(Y / Y.sum(), A[:, None], 1), rtol=1e-10)


COUNTS, ROWS = np.array([0, 2, 0, 1]), np.array([[0, 2], [1, 0]])
ZERO_INFLATED = ("if (k[{0}] == 0) target += log_mix(0.3, 0, poisson_log_lpmf(0 | a * x[{0}]));"
                 " else target += log(0.7) + poisson_log_lpmf(k[{0}] | a * x[{0}]);")  # fmt: skip
HURDLE = ("if (k[{0}] == 0) target += log(0.3 * exp(-square(a))); else target += log1m(0.3 * exp(-square(a))) + "
          "poisson_log_lpmf(k[{0}] | a * x[{0}]) - poisson_lccdf(0 | exp(a * x[{0}]));")  # fmt: skip


def of_zero_inflated(k, rates):
    return np.where(k == 0, np.log(0.3 + 0.7 * np.exp(-rates)), np.log(0.7) + stats.poisson.logpmf(k, rates))


def of_hurdles(k, rates):
    share = (0.3 * np.exp(-np.square(A)))[:, None]
    above = np.log1p(-share) + stats.poisson.logpmf(k, rates) - stats.poisson.logsf(0, rates)
    return np.where(k == 0, np.log(share), above)


def of_counts(body, k, x):
    """The log likelihood of counts by a body, and what is told of it."""
    declared = "array[2, 2] int k; matrix[2, 2] x;" if k.ndim > 1 else "array[4] int k; vector[4] x;"
    module = stanimport.loads(f"data {{ {declared} array[4] int o; }} parameters {{ real a; }} model {{ {body} }}")
    fit = stanimport.generate_quantities(module, {"k": k, "x": x, "o": ORDER}, previous_fit={"a": A})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        terms = fit.to_arviz(posterior_predictive=False, prior=False)["log_likelihood"]["k"].values[0]
    return terms, [str(w.message) for w in caught if issubclass(w.category, LikelihoodWarning)]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("loop, place", [("n in 1:4", "n"), ("n in o", "n"), ("i in 1:4", "o[i]"),
                                         ("i in 1:4", "5 - i")])  # fmt: skip
@pytest.mark.parametrize("statement, density", [(ZERO_INFLATED, of_zero_inflated), (HURDLE, of_hurdles)])
def test_equal_counts_that_decide_stand_in_the_order_of_the_data_or_it_is_told(statement, density, loop, place):
    terms, told = of_counts(f"for ({loop}) {{ {statement.format(place)} }}", COUNTS, X)
    expected = density(COUNTS, np.exp(A[:, None] * X))
    if loop == "n in 1:4":
        np.testing.assert_allclose(terms, expected, rtol=1e-10)
        assert not told
    else:
        np.testing.assert_allclose(np.sort(terms), np.sort(expected), rtol=1e-10)
        assert [t.partition(":")[0].rpartition("densities of ")[2] for t in told] == [
            "k in the order in which the program computes them"]  # fmt: skip


@pytest.mark.sampled(2)
@pytest.mark.parametrize("loops, is_in_order", [("for (n in 1:2) for (m in 1:2)", True),
                                                ("for (m in 1:2) for (n in 1:2)", False)])  # fmt: skip
def test_tables_of_equal_counts_have_their_axes_or_it_is_told(loops, is_in_order):
    x = X.reshape(2, 2)
    terms, told = of_counts(f"{loops} {{ {ZERO_INFLATED.format('n, m')} }}", ROWS, x)
    expected = of_zero_inflated(ROWS, np.exp(A[:, None, None] * x))
    assert bool(told) != is_in_order
    if is_in_order:
        np.testing.assert_allclose(terms, expected, rtol=1e-10)
    else:
        np.testing.assert_allclose(np.sort(terms.reshape(3, 4)), np.sort(expected.reshape(3, 4)), rtol=1e-10)
