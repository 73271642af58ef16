"""Log densities of a model that computes them itself: of each observation where they can be told apart, else none."""
import warnings

import numpy as np
import pytest
from arviz_groups import groups_of
from scipy import stats

import stanimport
from stanimport.inference import LikelihoodWarning

PROGRAM = """
functions {{
  real one_lpdf(real y, real m) {{ return normal_lpdf(y | m, 1) + 0.25; }}
  real all_lpdf(vector y, vector m) {{ return normal_lpdf(y | m, 1) + 0.25; }}
}}
data {{ int N; vector[N] x; vector[N] w; vector[N] y; }}
parameters {{ real a; }}
model {{ {statements} }}
"""
N = 4
X, W, Y = np.array([[1.0, 2.0, 4.0, 8.0], [0.5, 1.0, 2.0, 0.25], [0.1, 2.0, 3.0, 9.0]])
DATA = {"N": N, "x": X, "w": W, "y": Y}
A = np.array([0.3, -1.2, 2.0])
EACH = stats.norm.logpdf(Y, A[:, None] * X, 1)
WHOLE = "the log likelihood leaves y out: the log densities of the 4 numbers of y are one sum"
PART, WIDE = "normal_lpdf(y[n] | a * x[n], 1)", "normal_lpdf(y[n] | 0, 3)"
TOLD_APART = {
    "weights": ("for (n in 1:N) target += w[n] * normal_lpdf(y[n] | a * x[n], 1);", W * EACH),
    "weights of its own": ("for (n in 1:N) target += w[n] * one_lpdf(y[n] | a * x[n]);", W * (EACH + 0.25)),
    "its own": ("for (n in 1:N) y[n] ~ one(a * x[n]);", EACH + 0.25),
    "truncated": ("for (n in 1:N) target += normal_lpdf(y[n] | a * x[n], 1) - normal_lccdf(0 | a * x[n], 1);",
                  EACH - stats.norm.logsf(0, A[:, None] * X, 1)),
    "a total": (f"real lp = 0; for (n in 1:N) lp += {PART}; target += lp;", EACH),
    "a total that begins later": (f"real lp; real m = a; lp = 0; for (n in 1:N) lp += {PART}; target += lp;", EACH),
    "a total with a weight": (f"real lp = 0; for (n in 1:N) lp += {PART}; target += 0.5 * lp;", 0.5 * EACH),
    "totals of groups": ("""for (g in 1:2) {
        real lp = 0; for (i in 1:2) lp += normal_lpdf(y[2 * g + i - 2] | a * x[2 * g + i - 2], 1); target += lp; }""",
        EACH),
    "a prior before": (f"for (n in 1:N) {{ real p = normal_lpdf(a | 0, 1); target += p + {PART}; }}", EACH),
    "a prior beside": (f"target += normal_lpdf(a | 0, 1) + {PART.replace('[n]', '')};", EACH),
}  # fmt: skip
MIXTURE = np.logaddexp(np.log(0.3) + EACH, np.log(0.7) + stats.norm.logpdf(Y, 0, 3))
MIXTURES = {
    "of a new array": f"""for (n in 1:N) {{
        array[2] real ps; ps[1] = log(0.3) + {PART}; ps[2] = log(0.7) + {WIDE}; target += log_sum_exp(ps);
      }}""",
    "of weights and densities added": f"""for (n in 1:N) {{
        vector[2] ps = log([0.3, 0.7]'); ps[1] += {PART}; ps[2] += {WIDE}; target += log_sum_exp(ps);
      }}""",
    "in a loop over the components": """for (n in 1:N) {
        vector[2] ps = log([0.3, 0.7]');
        for (k in 1:2) ps[k] += normal_lpdf(y[n] | k == 1 ? a * x[n] : 0, k == 1 ? 1 : 3);
        target += log_sum_exp(ps);
      }""",
    "of an array for all": f"""array[2] real ps; for (n in 1:N) {{
        ps[1] = log(0.3) + {PART}; ps[2] = log(0.7) + {WIDE}; target += log_sum_exp(ps);
      }}""",
    "of an array for all that is set anew": f"""vector[2] ps; for (n in 1:N) {{
        ps = log([0.3, 0.7]'); ps[1] += {PART}; ps[2] += {WIDE}; target += log_sum_exp(ps);
      }}""",
    "of components with a law": f"""for (n in 1:N) {{
        vector[2] ps; for (k in 1:2) ps[k] = categorical_lpmf(k | [0.3, 0.7]'); ps[1] += {PART}; ps[2] += {WIDE};
        target += log_sum_exp(ps);
      }}""",
    "of a component that is, or is not": f"""for (n in 1:N) {{
        real p = bernoulli_lpmf(1 | 0.3) + {PART}; real q = bernoulli_lpmf(0 | 0.3) + {WIDE};
        target += log_sum_exp(p, q);
      }}""",
    "through several variables": f"""for (n in 1:N) {{
        real p = {PART}; real q = {WIDE}; real both; both = log_mix(0.3, p, q); target += both;
      }}""",
}
VECTORS = {
    "summed": f"vector[N] lp; for (n in 1:N) lp[n] = log_mix(0.3, {PART}, {WIDE}); target += sum(lp);",
    "itself": f"vector[N] lp; for (n in 1:N) lp[n] = log_mix(0.3, {PART}, {WIDE}); target += lp;",
    "in two loops": f"""vector[N] lp; for (n in 1:2) lp[n] = log_mix(0.3, {PART}, {WIDE});
        for (n in 3:N) {{ vector[2] ps = [{PART}, {WIDE}]'; lp[n] = log_sum_exp(log([0.3, 0.7]') + ps); }}
        target += lp;""",
    "under conditions": f"""array[N] real lp; for (n in 1:N) {{
        if (w[n] > 1) {{ lp[n] = log_mix(0.3, {PART}, {WIDE}); }} else {{ lp[n] = log_mix(0.7, {WIDE}, {PART}); }} }}
        target += sum(lp);""",
    "added to zeros": f"""vector[N] lp = rep_vector(0, N); for (n in 1:N) lp[n] += log_mix(0.3, {PART}, {WIDE});
        target += sum(lp);""",
}
SUMS_OF_VECTORS = {
    "some entries": f"vector[N] lp = zeros_vector(N); for (n in 2:N) lp[n] = {PART}; target += sum(lp);",
    "some of them by a condition": f"""vector[N] lp = zeros_vector(N);
        for (n in 1:N) if (w[n] > 1) lp[n] = {PART}; target += sum(lp);""",
    "entries of others": f"""vector[N] lp; lp[1] = normal_lpdf(y[1] | a * x[1], 1);
        for (n in 2:N) lp[n] = lp[n - 1] + {PART}; target += sum(lp);""",
    "all in one": f"vector[2] lp = zeros_vector(2); for (n in 1:N) for (k in 1:2) lp[k] += {PART}; target += sum(lp);",
}
SUMS_BEFORE = {
    "a mixture of all": f"""vector[2] ps = log([0.3, 0.7]');
        for (n in 1:N) {{ ps[1] += {PART}; ps[2] += {WIDE}; }} target += log_sum_exp(ps);""",
    "one after the other": f"""vector[N] lp; lp[1] = normal_lpdf(y[1] | a * x[1], 1);
        for (n in 2:N) {{ lp[n] = log_sum_exp(lp[n - 1], 0) + {PART}; }} target += lp[N];""",
    "groups": """for (g in 1:2) {
        real lp = 1; for (i in 1:2) lp *= exp(normal_lpdf(y[2 * g + i - 2] | a * x[2 * g + i - 2], 1));
        target += log(lp); }""",
}
SUMS_SO_FAR = {
    "a total": f"real lp = 0; for (n in 1:N) {{ lp += {PART}; target += lp; }}",
    "a mixture": f"""vector[2] ps = rep_vector(0, 2);
        for (n in 1:N) {{ ps[1] += {PART}; ps[2] += {WIDE}; target += log_sum_exp(ps); }}""",
    "set afterwards": f"real lp = 0; for (n in 1:N) {{ target += lp; lp = {PART}; }}",
    "set under a condition": f"real lp = 0; for (n in 1:N) {{ if (w[n] > 1) lp = {PART}; target += lp; }}",
    "an array": f"""vector[N] lp; lp[1] = normal_lpdf(y[1] | a * x[1], 1);
        for (n in 2:N) {{ lp[n] = log_sum_exp(lp[n - 1], 0) + {PART}; target += lp[n]; }}""",
}
SUMS = {
    "a power": "target += 0.5 * normal_lpdf(y | a * x, 1);",
    "truncated": "target += normal_lpdf(y | a * x, 1) - N * normal_lccdf(-10 | a, 1);",
    "its own": "y ~ all(a * x);",
    "its own as an increment": "target += all_lpdf(y | a * x);",
    "a power of its own": "target += 0.5 * all_lpdf(y | a * x);",
}


# Loops that are no array code, for the tuples in them: statements under conditions on data, and the places observed.
TUPLES = "array[N] tuple(real, real) e; for (n in 1:N) { e[n].1 = a; e[n].2 = x[n]; } "
EACH_OF_TUPLES = "y[n] ~ normal(e[n].1 * e[n].2, 1);"
UNDER_CONDITIONS = {
    "some": (f"for (n in 1:N) if (n % 2 == 1) {EACH_OF_TUPLES}", [0, 2]),
    "left out": (f"for (n in 1:N) {{ if (n % 2 == 0) continue; {EACH_OF_TUPLES} }}", [0, 2]),
    "group by group": (f"for (k in 0:1) for (n in 1:N) if (n % 2 == k) {EACH_OF_TUPLES}", [1, 3, 0, 2]),
    "up to a place": (f"for (n in 1:N) {{ if (n > 3) break; {EACH_OF_TUPLES} }}", [0, 1, 2]),
    "scaled": (f"for (k in 1:2) for (n in 1:N) {{ if (k == 2) continue; {EACH_OF_TUPLES} }}", [0, 1, 2, 3]),
}


def log_likelihood(statements):
    """By variable, and what was warned of."""
    module = stanimport.loads(PROGRAM.format(statements=statements), name="summed")
    fit = stanimport.generate_quantities(module, DATA, previous_fit={"a": A})
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", LikelihoodWarning)
        groups = fit.to_arviz(posterior_predictive=False, prior=False)
    found = groups["log_likelihood"].data_vars if "log_likelihood" in groups_of(groups) else {}
    return {n: v.values[0] for n, v in found.items()}, [str(w.message) for w in told if w.category is LikelihoodWarning]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("case", TOLD_APART)
def test_terms_of_single_observations_are_told_apart(case):
    statements, expected = TOLD_APART[case]
    found, told = log_likelihood(statements)
    assert list(found) == ["y"] and not told
    np.testing.assert_allclose(found["y"], expected, rtol=1e-10)


@pytest.mark.parametrize("case", SUMS)
def test_one_sum_for_all_is_no_log_density_of_one_observation(case):
    found, told = log_likelihood(SUMS[case])
    assert not found and len(told) == 1 and told[0].startswith(WHOLE)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("case", UNDER_CONDITIONS)
def test_iterations_that_observe_nothing_have_no_log_density(case):
    statements, places = UNDER_CONDITIONS[case]
    found, told = log_likelihood(TUPLES + statements)
    np.testing.assert_allclose(found["y"], EACH[:, places], rtol=1e-10)
    part = f"the log likelihood holds {len(places)} of the 4 numbers of y"
    assert [t.partition(":")[0] for t in told] == [part] * (len(places) < N)
    module = stanimport.loads(PROGRAM.format(statements=TUPLES + statements), name="summed")
    density = [stanimport.log_prob(module, DATA, params={"a": float(a)}).lp for a in A]
    np.testing.assert_allclose(density, EACH[:, places].sum(axis=1), rtol=1e-12)


def test_an_iteration_that_parameters_leave_out_adds_nothing():
    statements = f"{TUPLES} for (n in 1:N) if (a > 0) {EACH_OF_TUPLES}"
    found, told = log_likelihood(statements)
    np.testing.assert_allclose(found["y"], np.where(A[:, None] > 0, EACH, 0), rtol=1e-10)
    assert not told


@pytest.mark.sampled(4)
@pytest.mark.parametrize("case", MIXTURES)
def test_components_may_stand_before_the_increment(case):
    found, told = log_likelihood(MIXTURES[case])
    assert list(found) == ["y"] and not told
    np.testing.assert_allclose(found["y"], MIXTURE, rtol=1e-10)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("case", VECTORS)
def test_entries_of_a_vector_are_told_apart(case):
    found, told = log_likelihood(VECTORS[case])
    assert list(found) == ["y"] and not told
    np.testing.assert_allclose(found["y"], MIXTURE, rtol=1e-10)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("case", [*MIXTURES, *VECTORS])
def test_the_log_density_is_that_of_all_observations(case):
    module = stanimport.loads(PROGRAM.format(statements=MIXTURES.get(case) or VECTORS[case]), name="summed")
    found = [stanimport.log_prob(module, DATA, params={"a": float(a)}).lp for a in A]
    np.testing.assert_allclose(found, MIXTURE.sum(axis=1), rtol=1e-12)


@pytest.mark.parametrize("case", [*MIXTURES, *VECTORS])
def test_pyro_has_a_site_of_all_observations(case, torch_double):
    import pyro
    import torch

    source = PROGRAM.format(statements=MIXTURES.get(case) or VECTORS[case])
    model = stanimport.loads(source, name="summed", backend="pyro").model
    for a, expected in zip(A, MIXTURE):
        trace = pyro.poutine.trace(pyro.poutine.condition(model, data={"a": torch.tensor(a)})).get_trace(**DATA)
        trace.compute_log_prob()
        np.testing.assert_allclose(trace.nodes["y"]["log_prob"].detach(), expected, rtol=1e-12)


@pytest.mark.parametrize("case", SUMS_OF_VECTORS)
def test_a_vector_of_other_entries_is_one_sum(case):
    found, told = log_likelihood(SUMS_OF_VECTORS[case])
    assert not found and told[0].startswith(WHOLE)


@pytest.mark.parametrize("case", SUMS_BEFORE)
def test_what_holds_several_observations_is_none_of_them(case):
    found, told = log_likelihood(SUMS_BEFORE[case])
    of_groups = "the log likelihood holds 2 log densities of the 4 numbers of y: there are sums"
    assert told[0].startswith(of_groups if found else WHOLE) and len(told) == 1 and bool(found) == (case == "groups")


@pytest.mark.parametrize("case", SUMS_SO_FAR)
def test_what_iterations_bring_along_is_no_observation(case):
    found, told = log_likelihood(SUMS_SO_FAR[case])
    assert not found and len(told) == 1
    line = PROGRAM.format(statements=SUMS_SO_FAR[case]).partition("target +=")[0].count("\n") + 1
    assert told[0].startswith(f"the log likelihood leaves out what line {line} adds to the target, which depends on y:")


def test_what_a_density_depends_on_is_no_part_of_it():
    statements = f"for (n in 1:N) {{ real p = {WIDE}; target += normal_lpdf(y[n] | a * x[n] + p - {WIDE}, 1) + 0.25; }}"
    found, told = log_likelihood(statements)
    assert list(found) == ["y"] and not told
    np.testing.assert_allclose(found["y"], EACH + 0.25, rtol=1e-10)


def test_sums_for_some_of_several_statements_stay():
    """Those of groups, say: they can be left out one by one."""
    found, told = log_likelihood("y[1] ~ normal(a * x[1], 1); y[2:N] ~ all(a * x[2:N]);")
    np.testing.assert_allclose(found["y"], EACH[:, 0], rtol=1e-10)
    np.testing.assert_allclose(found["y__2"][:, 0], EACH[:, 1:].sum(axis=1) + 0.25, rtol=1e-10)
    assert told[0].startswith("the log likelihood holds 2 log densities of the 4 numbers of y: there are sums")


def test_priors_of_the_program_s_own_are_no_observations():
    found, told = log_likelihood("target += 2 * one_lpdf(a | 0); y ~ normal(a * x, 1);")
    assert list(found) == ["y"] and not told
    np.testing.assert_allclose(found["y"], EACH, rtol=1e-10)


GAPS = Y - W
OF_GAPS, OF_TOTALS = stats.norm.logpdf(GAPS, A[:, None], 1), stats.norm.logpdf(Y + W, A[:, None], 1)
PAIR = "multi_normal_lpdf([y[n], w[n]]' | [a, 0]', [[1, 0.5], [0.5, 1]])"
OF_PAIRS = np.array([stats.multivariate_normal.logpdf(np.c_[Y, W], [a, 0], [[1, 0.5], [0.5, 1]]) for a in A])
OF_TWO = {
    "a difference": ("target += normal_lpdf(y - w | a, 1);", OF_GAPS),
    "differences in a loop": ("for (n in 1:N) target += normal_lpdf(y[n] - w[n] | a, 1);", OF_GAPS),
    "a statement": ("y - w ~ normal(a, 1);", OF_GAPS),
    "pairs": (f"for (n in 1:N) target += {PAIR};", OF_PAIRS),
    "pairs that are kept": (f"for (n in 1:N) {{ vector[2] z = [y[n], w[n]]'; target += "
                            f"{PAIR.replace('[y[n], w[n]]' + chr(39), 'z')}; }}", OF_PAIRS),
    "weights": ("for (n in 1:N) target += 2 * normal_lpdf(y[n] - w[n] | a, 1);", 2 * OF_GAPS),
    "a density of its own": ("for (n in 1:N) target += one_lpdf(y[n] - w[n] | a);", OF_GAPS + 0.25),
    "a mixture": ("for (n in 1:N) target += log_mix(0.3, normal_lpdf(y[n] - w[n] | a, 1), normal_lpdf(y[n] + w[n] | "
                  "a, 1));", np.logaddexp(np.log(0.3) + OF_GAPS, np.log(0.7) + OF_TOTALS)),
    "components of two each": (
        "for (n in 1:N) target += log_mix(0.3, normal_lpdf(y[n] | a, 1) + normal_lpdf(w[n] | a, 2), "
        "normal_lpdf(y[n] | 0, 3) + normal_lpdf(w[n] | 0, 1));",
        np.logaddexp(np.log(0.3) + stats.norm.logpdf(Y, A[:, None], 1) + stats.norm.logpdf(W, A[:, None], 2),
                     np.log(0.7) + stats.norm.logpdf(Y, 0, 3) + stats.norm.logpdf(W, 0, 1))),
}  # fmt: skip
SUMS_OF_TWO = {
    "a power": "target += 0.5 * normal_lpdf(y - w | a, 1);",
    "a mixture of all": "target += log_mix(0.3, normal_lpdf(y - w | a, 1), normal_lpdf(y + w | a, 1));",
    "its own": "(y - w) ~ all(a * x);",
    "its own as an increment": "target += all_lpdf(y - w | a * x);",
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("case", OF_TWO)
def test_each_observation_of_two_data_is_one(case):
    statements, expected = OF_TWO[case]
    found, told = log_likelihood(statements)
    assert len(found) == 1 and not told
    (terms,) = found.values()
    np.testing.assert_allclose(terms, expected, rtol=1e-10)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("case", SUMS_OF_TWO)
def test_one_sum_of_what_two_data_make_is_no_observation(case):
    """Beside single ones, of an expression too, which stay."""
    found, told = log_likelihood(f"y + w ~ normal(a, 1);\n{SUMS_OF_TWO[case]}")
    assert [t.partition(":")[0].partition(" adds ")[2] for t in told] == ["to the target, which depends on w, y"]
    (terms,) = found.values()
    np.testing.assert_allclose(terms, OF_TOTALS, rtol=1e-10)


def test_a_sum_for_numbers_that_are_no_data_is_no_observation():
    """A pseudo-prior."""
    found, told = log_likelihood("vector[2] z = [0, 1]'; target += 0.5 * normal_lpdf(z | a, 1); y ~ normal(a * x, 1);")
    assert found.keys() == {"y"} and not told
