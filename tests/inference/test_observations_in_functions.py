"""Observations that stand in functions of the program: their log densities are those that the program has in line."""
import warnings

import numpy as np
import pytest
from arviz_groups import groups_of
from scipy import stats

import stanimport
from stanimport.inference import LikelihoodWarning
from stanimport.inference.fits.replications import ReplicationWarning

PROGRAM = """
functions {{
  void whole_lp(vector y, real a) {{ y ~ normal(a, 2); }}
  void each_lp(vector y, vector m) {{ for (n in 1:size(y)) {{ if (is_nan(y[n])) continue; y[n] ~ normal(m[n], 2); }} }}
  real both_lp(vector y, vector z, real a) {{ a ~ normal(0, 1); whole_lp(z, 2 * a); each_lp(y, rep_vector(a, size(y)));
    return a; }}
  real partial(vector y, real a) {{ return normal_lpdf(y | a, 2); }}
  real summed(vector y, real a, vector w) {{
    real total; total = 0; for (n in 1:size(y)) total += w[n] * normal_lpdf(y[n] | a, 2); return total;
  }}
  real one(real y, real a, real top) {{ if (y < top) return normal_lpdf(y | a, 2); return normal_lccdf(y | a, 2); }}
  real mixed(real y, real a) {{ return log_mix(0.3, normal_lpdf(y | a, 2), normal_lpdf(y | 0, 1)); }}
  real cut(real y, real a) {{ return normal_lpdf(y | a, 2) - normal_lccdf(-5 | a, 2); }}
  real partial_sum_lpmf(array[] int seq, int start, int end, data vector Y, data matrix X, vector b, real sigma) {{
    real ptarget = 0;
    int N = end - start + 1;
    vector[N] mu = rep_vector(0.0, N);
    mu += X[start:end] * b;
    ptarget += normal_lpdf(Y[start:end] | mu, sigma);
    return ptarget;
  }}
  real partial_log_lik_lpmf(array[] int seq, int start, int end, data vector Y, data array[] int C, vector m) {{
    real ptarget = 0;
    int N = end - start + 1;
    for (n in 1:N) {{
      int nn = n + start - 1;
      ptarget += C[nn] ? normal_lccdf(Y[nn] | m[nn], 2) : normal_lpdf(Y[nn] | m[nn], 2);
    }}
    return ptarget;
  }}
  real of_slice(array[] real ys, int start, int end, vector m) {{ return normal_lpdf(ys | m[start:end], 2); }}
  real left(real y, real a, int n) {{ return n > 1 ? left(y, a, n - 1) : normal_lpdf(y | a, 2); }}
}}
data {{ int N; vector[N] y; vector[N] z; vector<lower=0>[N] w; array[N] int c; array[N] real v; int K; real top; }}
transformed data {{ array[N] int seq = linspaced_int_array(N, 1, N); matrix[N, 1] X = to_matrix(w, N, 1); }}
parameters {{ real a; }}
transformed parameters {{ vector[N] m = a * w; {derived} }}
model {{
  {statements}
}}
"""
Y, Z, W = np.array([[1.0, 2.0, -0.5, 3.0], [0.3, 2.0, 4.0, -1.0], [1.0, 0.5, 2.0, 3.0]])
C = [0, 1, 0, 1]
DATA = {"N": 4, "y": Y, "z": Z, "w": W, "c": C, "v": Z, "K": 3, "top": 1.5}
A = np.array([0.3, -1.2, 2.0])
COLUMN, MEANS = A[:, None], A[:, None] * W
OF_Y, OF_Z = stats.norm.logpdf(Y, COLUMN, 2), stats.norm.logpdf(Z, 2 * COLUMN, 2)
BY_MEANS, ABOVE = stats.norm.logpdf(Y, MEANS, 2), stats.norm.logsf(Y, MEANS, 2)
PRIOR = stats.norm.logpdf(A)
# The statements, the log densities that they give, and what else they add to the target.
APART = {
    "a whole vector": ("whole_lp(y, a);", {"y": OF_Y}, 0),
    "each in a loop": ("each_lp(y, m);", {"y": BY_MEANS}, 0),
    "a value and a prior": ("target += -both_lp(y, z, a);", {"y": OF_Y, "z": OF_Z}, PRIOR - A),
    "a value that is kept": ("real b = both_lp(y, z, a);", {"y": OF_Y, "z": OF_Z}, PRIOR),
    "by their names": ("target += partial(y, a);", {"y": OF_Y}, 0),
    "added up": ("target += summed(y, a, w);", {"y": W * OF_Y}, 0),
    "added up outside": ("real lp = 1; lp += summed(y, a, w); target += lp;", {"y": W * OF_Y}, 1),
    "two of them": ("target += partial(y, a) + partial(z, 2 * a);", {"y": OF_Y, "z": OF_Z}, 0),
    "beside a prior": ("target += normal_lpdf(a | 0, 1) + partial(y, a);", {"y": OF_Y}, PRIOR),
    "one in a function, one not": ("z ~ normal(2 * a, 2); target += partial(y, a);", {"y": OF_Y, "z": OF_Z}, 0),
    "with weights": ("for (n in 1:N) target += w[n] * partial(segment(y, n, 1), a);", {"y": W * OF_Y}, 0),
    "mixtures": ("for (n in 1:N) target += mixed(y[n], a);",
                 {"y": np.logaddexp(np.log(0.3) + OF_Y, np.log(0.7) + stats.norm.logpdf(Y))}, 0),
    "truncated": ("for (n in 1:N) target += cut(y[n], a);", {"y": OF_Y - stats.norm.logsf(-5, COLUMN, 2)}, 0),
    "by reduce_sum": ("a ~ normal(0, 1); target += reduce_sum(partial_sum_lpmf, seq, 1, y, X, [a]', 2);",
                      {"y": BY_MEANS}, PRIOR),
    "by reduce_sum, of what is cut": ("target += reduce_sum_static(of_slice, v, 2, m);",
                                      {"v": stats.norm.logpdf(Z, MEANS, 2)}, 0),
    "by reduce_sum, in a loop": ("target += reduce_sum(partial_log_lik_lpmf, seq, 1, y, rep_array(0, N), m);",
                                 {"y": BY_MEANS}, 0),
    "beside the target so far": ("y ~ normal(a, 2); if (target() < -1e9) reject(a);", {"y": OF_Y}, 0),
    "the same, by increments": ("for (n in 1:N) target += normal_lpdf(y[n] | a, 2); if (target() > 1e9) reject(a);",
                                {"y": OF_Y}, 0),
    "by a condition": ("target += K > 2 ? partial(y, a) : partial(z, a);", {"y": OF_Y}, 0),
}  # fmt: skip
# Statements of which observations are not told apart, the lines that are named, and what depends on which data.
MISSING = {
    "a function that calls itself": ("for (n in 1:N) target += left(y[n], a, 2);", {"y"}),
    "a missing number": ("vector[N] full = y; full[2] = a; full ~ normal(a, 2);", {"y"}),
    "a missing number, as increment": ("vector[N] full = y; full[2] = a; target += partial(full, a);", {"y"}),
    "residuals": ("vector[N] r = y - a; r ~ normal(0, 2);", {"y"}),
    "an expression": ("y - a ~ normal(0, 2);", {"y"}),
    "by hand": ("target += -0.5 * dot_self(y - a);", {"y"}),
    "a number of outcomes": ("target += K * normal_lccdf(top | a, 2);", {"K", "top"}),
    "what a truncated law is divided by": ("for (n in 1:N) target += -normal_lccdf(y[n] - 9 | a, 2);", {"y"}),
    "the same, of a bound that is none of the data": (
        "for (n in 1:N) target += -normal_lccdf(0 | a * w[n], 2);", {"N", "w"}),
    "the same, as often as there are rows": ("for (n in 1:N) target += -normal_lccdf(0 | a, 2);", {"N"}),
    "the same, by a number": ("for (n in 1:N) target += -1 * normal_lccdf(y[n] - 9 | a, 2);", {"y"}),
    "the same, added up": ("real lp = 1; for (n in 1:N) lp -= normal_lccdf(y[n] - 9 | a, 2); target += lp;", {"y"}),
    "as long as parameters say": ("real x = a; while (x < 10) { x += 3; y[1] ~ normal(x, 2); }", {"y"}),
    "until parameters say": ("real x = a; while (1) { x += 3; if (x > 10) break; y[1] ~ normal(x, 2); }", {"y"}),
    "as long as the data say": ("for (n in 1:N) { real x = -9; while (x < y[n]) { x += 9; y[n] ~ normal(x * a, 2); } }",
                                {"y"}),
    "by a function, beside the target so far": ("for (n in 1:N) target += one(y[n], a, 9 + 0 * target());", {"y"}),
    "what is counted": ("real high = 0; for (n in 1:N) if (y[n] > 1) high += 1; target += -high * a;", {"y"}),
    "what the data of a row decide": ("for (n in 1:N) if (y[n] > 1) target += -a;", {"y"}),
    "the same, over an array of places": ("for (n in seq) if (y[n] > 1) target += normal_lpdf(1 | a, 2); "
                                          "else target += normal_lpdf(0 | a, 2);", {"y"}),
    "the same, at a place that is kept": ("for (i in 1:N) { int n = seq[i]; if (y[n] > 1) target += -a; }", {"y"}),
    "the same, as a value": ("for (n in 1:N) target += y[n] > 1 ? normal_lpdf(1 | a, 2) : normal_lpdf(0 | a, 2);",
                             {"y"}),
    "the target so far": ("target += -0.5 * target();", {"z"}),
    "the same, by way of a variable": ("real so_far = target(); a ~ normal(so_far, 1); target += -so_far;", {"z"}),
    "so far": ("real lp = 0; for (n in 1:N) { lp += normal_lpdf(y[n] | a, 2); target += lp; }", {"y"}),
}


def fit_of(statements, derived=""):
    module = stanimport.loads(PROGRAM.format(statements=statements, derived=derived), name="functions")
    return stanimport.generate_quantities(module, DATA, previous_fit={"a": A})


def told_apart(fit):
    """The log likelihood by variable, and what was warned of."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", LikelihoodWarning)
        groups = fit.to_arviz(posterior_predictive=False, prior=False)
    found = groups["log_likelihood"].data_vars if "log_likelihood" in groups_of(groups) else {}
    return {n: v.values[0] for n, v in found.items()}, [str(w.message) for w in told if w.category is LikelihoodWarning]


@pytest.mark.sampled(8)
@pytest.mark.parametrize("case", APART)
def test_log_densities_are_those_in_line(case):
    statements, expected, rest = APART[case]
    fit = fit_of(statements)
    found, told = told_apart(fit)
    assert found.keys() == expected.keys() and not told
    for name, terms in expected.items():
        np.testing.assert_allclose(found[name], terms, rtol=1e-10)
    density = [stanimport.log_prob(fit.module, DATA, params={"a": float(a)}).lp for a in A]
    np.testing.assert_allclose(density, rest + sum(v.sum(axis=1) for v in expected.values()), rtol=1e-10)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("case", MISSING)
def test_what_is_not_told_apart_is_named(case):
    """Beside an observation that is."""
    statements, data = MISSING[case]
    found, told = told_apart(fit_of(f"z ~ normal(2 * a, 2);\n{statements}"))
    assert found.keys() == {"z"} and len(told) == 1
    np.testing.assert_allclose(found["z"], OF_Z, rtol=1e-10)
    line = 1 + PROGRAM.format(derived="", statements="@").partition("@")[0].count("\n") + 1
    wanted = f"the log likelihood leaves out what line {line} adds to the target, which depends on "
    assert told[0].partition(":")[0] == wanted + ", ".join(sorted(data))


PRIORS = ["target += normal_lpdf(a | w[1], top);", "a ~ normal(mean(y), 2);",
          "target += normal_lpdf(a | 0, 1) - normal_lccdf(top | 0, 1);",
          "for (k in 1:K) target += normal_lpdf(u[k] | w[k], 1) - normal_lccdf(0 | w[k] * a, 1);",
          "target += log(2.0) + normal_lpdf(a * rep_vector(1, K) | 0, 1);",
          "sum(u[c[1] + 1:K]) ~ normal(0, 1);",
          "target += -0.5 * dot_self(u[{1, 2}] - u[linspaced_int_array(2, K, K)]);"]  # fmt: skip


@pytest.mark.sampled(2)
@pytest.mark.parametrize("statements", PRIORS)
def test_priors_that_data_decide_are_no_observations(statements):
    found, told = told_apart(fit_of(f"vector[4] u = [a, a^2, a, a]'; y ~ normal(a, 2); {statements}"))
    assert found.keys() == {"y"} and not told
    np.testing.assert_allclose(found["y"], OF_Y, rtol=1e-10)


def test_places_of_what_is_estimated_count_where_nothing_else_is_observed():
    """A categorical outcome, by hand."""
    statements = "vector[2] p = softmax([0, a]'); for (n in 1:N) target += log(p[c[n] + 1]);"
    found, told = told_apart(fit_of(statements))
    assert not found and [t.partition(":")[0].rpartition(" ")[2] for t in told] == ["c"]


def test_what_transformed_parameters_add():
    found, told = told_apart(fit_of("target += lp;", derived="real lp = 0; lp += normal_lpdf(y | a, 2);"))
    assert not found and told[0].startswith("the log likelihood leaves y out")
    found, told = told_apart(fit_of("target += sum(lp);", "vector[N] lp; for (n in 1:N) lp[n] = one(y[n], a, 9);"))
    np.testing.assert_allclose(found["y"], OF_Y, rtol=1e-10)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("statement", [
    "for (n in 1:N) target += mixed(y[n], a);",
    "for (n in 1:N) target += log_sum_exp(normal_lpdf(y[n] | a, 2), normal_lpdf(y[n] | 0, 2));",
    "for (n in 1:N) { real x = -9; while (x < y[n]) { x += 9; y[n] ~ normal(x * a, 2); } } y ~ normal(a, 2);",
])  # fmt: skip
def test_what_has_no_replications_is_named_with_its_line(statement):
    fit = fit_of(f"z ~ normal(2 * a, 2);\n{statement}")
    line = 1 + PROGRAM.format(derived="", statements="@").partition("@")[0].count("\n") + 1
    with pytest.warns(ReplicationWarning, match=f"y can't be replicated: .*line {line}"):
        assert set(fit.posterior_predictive(seed=1).variables) == {"z"}


def test_replications_of_what_functions_observe():
    fit = fit_of("each_lp(y, m); target += partial(z, a);")
    made = fit.posterior_predictive(seed=1)
    assert made.stan_variable("y").shape == made.stan_variable("z").shape == (len(A), 4)
    given = {n: v for n, v in DATA.items() if n not in ("y", "z")}
    new = fit.posterior_predictive({**given, "w": 1e9 * W}, seed=1)
    np.testing.assert_allclose(new.stan_variable("y"), 1e9 * MEANS, rtol=1e-6)
    np.testing.assert_allclose(new.stan_variable("z"), np.broadcast_to(COLUMN, (3, 4)), atol=9)


def test_groups_left_out_of_what_functions_observe():
    """Under the closed form of the predictive density."""
    module = stanimport.loads("""
      functions { void each_lp(vector y, real a) { for (n in 1:size(y)) y[n] ~ normal(a, 2); } }
      data { int N; vector[N] y; } parameters { real a; } model { a ~ normal(0, 1); each_lp(y, a); }""", name="groups")
    options = {"chains": 2, "iter_warmup": 300, "iter_sampling": 2000}
    left = stanimport.leave_groups_out(module, {"N": 4, "y": Y}, [1, 1, 2, 2], size="N", seed=1, sampling=options)
    for group, (seen, gone) in {1: (Y[2:], Y[:2]), 2: (Y[:2], Y[2:])}.items():
        precision = 1 + len(seen) / 4
        law = stats.multivariate_normal([seen.sum() / 4 / precision] * 2, 4 * np.eye(2) + 1 / precision)
        assert left.by_group[group] == pytest.approx(law.logpdf(gone), abs=0.03)
