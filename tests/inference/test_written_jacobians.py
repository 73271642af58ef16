"""What `jacobian +=` adds counts with the Jacobian alone, as what declared constraints add."""
import numpy as np
import pytest
from scipy import stats

import stanimport

BOTH = " ".join(f"jacobian += {k} * c; add_lp(b);" for k in range(1, 12))
MANY = " ".join(f"jacobian += {k} * c;" for k in range(1, 18))
PROGRAM = """
functions {
  void add_lp(real x) { target += 2 * x; }
  real one_jacobian(real x) { jacobian += x; return exp(x); }
  real all_jacobian(vector x) { real t = 0; for (v in x) t += one_jacobian(v); return t; }
}
parameters { real<lower=0> a; real b; real c; vector[3] x; }
transformed parameters {
  real s = exp(b);
  %s
}
model { a ~ gamma(3, 2); target += gamma_lpdf(s | 3, 2); c ~ normal(0, 1); x ~ normal(0, 1); }
"""
A, B, C, X = 0.75, 0.25, 0.5, np.array([0.5, -1.0, 2.0])
WITHOUT = stats.gamma.logpdf([A, np.exp(B)], 3, scale=0.5).sum() + stats.norm.logpdf([C, *X]).sum()
TERMS = {
    "a statement": ("jacobian += b;", B),
    "a vector": ("jacobian += x;", X.sum()),
    "a function": ("real t = one_jacobian(b);", B),
    "one that calls it": ("real t = all_jacobian(x);", X.sum()),
    "a function of the library": ("real t = lower_bound_jacobian(b, 2);", B),
    "a loop": ("for (i in 1:3) jacobian += x[i];", X.sum()),
    "a loop that parameters end": ("real d = 2 + c; while (d > 1) { d -= 0.75; jacobian += d; }", 1.75 + 1.0),
    "a branch": ("if (c > 0) jacobian += b; else jacobian += c;", B),
    "a branch of many": (f"if (c > 0) {{ {MANY} }}", 153 * C),
    "a loop of many": (f"real d = 2 + c; while (d > 1) {{ d -= 2; if (c > 0) {{ {MANY} }} }}", 153 * C),
}


def densities(statements, backend="numpyro"):
    """Without and with the Jacobian."""
    module, params = stanimport.loads(PROGRAM % statements, backend=backend), {"a": A, "b": B, "c": C, "x": X}
    return [stanimport.log_prob(module, params=params, jacobian=j).lp for j in (False, True)]


@pytest.mark.sampled(8)
@pytest.mark.parametrize("case", TERMS)
def test_log_densities(case):
    statements, term = TERMS[case]
    np.testing.assert_allclose(densities(statements), [WITHOUT, WITHOUT + np.log(A) + term], rtol=1e-10)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("around", ["{{ {} }}", "real d = 2 + c; while (d > 1) {{ d -= 2; {} }}"])
def test_sums_of_both(around):
    """Where so many statements of a branch add that they make one sum, these are two."""
    with pytest.warns(stanimport.StanDeprecationWarning, match="_lp functions in transformed parameters"):
        found = densities(around.format(f"if (c > 0) {{ {BOTH} }} else {{ add_lp(b); }}"))
    wanted = WITHOUT + 22 * B
    np.testing.assert_allclose(found, [wanted, wanted + np.log(A) + 66 * C], rtol=1e-10)


def test_programs_for_pyro():
    statements, term = " ".join(f"{{ {s} }}" for s, _ in TERMS.values()), sum(t for _, t in TERMS.values())
    np.testing.assert_allclose(densities(statements, "pyro"), [WITHOUT, WITHOUT + np.log(A) + term], rtol=1e-10)


def test_modes():
    module = stanimport.loads(PROGRAM % "jacobian += b;")
    for jacobian, mode in ((False, 1.0), (True, 1.5)):
        fit = stanimport.optimize(module, {}, jacobian=jacobian, seed=1)
        assert [float(np.squeeze(fit.stan_variable(n))) for n in "as"] == pytest.approx([mode, mode], rel=1e-4)


def test_laplace_approximations():
    module = stanimport.loads("parameters { real b; } transformed parameters { real s = exp(b); jacobian += b; } "
                              "model { s ~ gamma(3, 2); }")  # fmt: skip
    for jacobian, center, curvature in ((False, 0.0, 2.0), (True, np.log(1.5), 3.0)):
        b = stanimport.laplace_sample(module, {}, jacobian=jacobian, draws=2000, seed=1).stan_variable("b")
        assert b.mean() == pytest.approx(center, abs=0.06) and b.std() == pytest.approx(curvature**-0.5, rel=0.06)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["jacobian__y", "jacobian__call", "jacobian__term"])
def test_data_of_such_names_are_observed_where_they_are_summed(name):
    many = " ".join(f"{name} ~ normal(m, {k});" for k in range(1, 19))
    for statements, sds in ((f"if (m > 0) {{ {many} }}", range(1, 19)), (f"{name} ~ normal(m, 2);", [2])):
        module = stanimport.loads(f"data {{ real {name}; }} parameters {{ real m; }} model {{ real d = 2 + m; "
                                  f"while (d > 1) {{ d -= 2; {statements} }} }}")  # fmt: skip
        found = [stanimport.log_prob(module, {name: 1.0}, params={"m": 0.5}, jacobian=j).lp for j in (False, True)]
        np.testing.assert_allclose(found, stats.norm.logpdf(1.0, 0.5, list(sds)).sum(), rtol=1e-10)


def test_data_of_such_a_name_are_observed():
    module = stanimport.loads("data { real jacobian__term; } parameters { real m; } "
                              "transformed parameters { jacobian += m; } model { jacobian__term ~ normal(m, 1); }")
    found = stanimport.log_prob(module, {"jacobian__term": 1.0}, params={"m": 0.5}, jacobian=False).lp
    assert found == pytest.approx(stats.norm.logpdf(0.5))
