"""Log densities of small models, on both backends, against SciPy: everything that adds to the target."""
from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import stanimport

sys.path.insert(0, str(Path(__file__).parent.parent))
from densities import gradient, log_density, module_log_density

Y = np.array([0.3, -1.2, 2.5])
K = np.array([2, 0, 5])
norm = stats.norm


def tilted(y, m):
    """The density of the user-defined law in the programs: not normalised."""
    return -np.abs(y - m) ** 1.5


def between(law, y, lower, upper, *arguments):
    """The log density of a law with cut tails; of a discrete one the values above `lower`."""
    log_density = getattr(law, "logpdf", None) or law.logpmf
    return log_density(y, *arguments) - np.log(law.cdf(upper, *arguments) - law.cdf(lower, *arguments))


DENSITY = "functions { real tilt_lpdf(real y, real m) { return -pow(abs(y - m), 1.5); } }"
TRUNCATED = """functions {
  real expo_lpdf(real y, real r) { return log(r) - r * y; }
  real expo_lcdf(real y, real r) { return log1m_exp(-r * y); }
  real expo_lccdf(real y, real r) { return -r * y; }
}"""
LP = """functions { real f_lp(real x) { target += 10 * x; return x; } int k_lp(int n) { target += n; return n; } }"""
HEAD = "data { vector[3] y; array[3] int k; } parameters { real m; real<lower=0> s; }"

# name: (functions, rest of the program behind HEAD, log density at m and s)
MODELS = {
    "vectorised": ("", "model { y ~ normal(m, s); }", lambda m, s: norm.logpdf(Y, m, s).sum()),
    "loop": (
        "", "model { for (n in 1:3) y[n] ~ normal(m * n, s); }",
        lambda m, s: norm.logpdf(Y, m * np.arange(1, 4), s).sum(),
    ),
    "long loop": (
        "", "model { for (n in 1:30) y[1 + n % 3] ~ normal(m, s + n); }",
        lambda m, s: sum(norm.logpdf(Y[n % 3], m, s + n) for n in range(1, 31)),
    ),
    "target": (
        "", "model { target += normal_lpdf(y | m, s); target += m; }",
        lambda m, s: norm.logpdf(Y, m, s).sum() + m,
    ),
    "container target": ("", "model { target += [m, s]'; target += {m, 2}; }", lambda m, s: 2 * m + s + 2),
    "prior of a transformed parameter": (
        "", "transformed parameters { real q = m * s; } model { q ~ normal(0, 1); }", lambda m, s: norm.logpdf(m * s),
    ),
    "condition on data": (
        "", "model { for (n in 1:3) if (y[n] > 0) y[n] ~ normal(m, s); else target += normal_lcdf(0 | m, s); }",
        lambda m, s: norm.logpdf(Y[0], m, s) + norm.logcdf(0, m, s) + norm.logpdf(Y[2], m, s),
    ),
    "condition on a parameter": (
        "", "model { if (m > 0) y ~ normal(m, s); else y ~ cauchy(m, s); }", lambda m, s: norm.logpdf(Y, m, s).sum(),
    ),
    "condition in a loop": (
        "", "model { for (n in 1:20) { if (m > n * 0.1) target += m * n; else if (s > n) y[1] ~ normal(n, s); } }",
        lambda m, s: sum(m * n if m > n * 0.1 else norm.logpdf(Y[0], n, s) if s > n else 0 for n in range(1, 21)),
    ),
    "while": ("", "model { real q = s; while (q < 50) { q *= 2; target += log(q); } }", None),
    "user density": (DENSITY, "model { m ~ tilt(1); y[1] ~ tilt(m); target += tilt_lpdf(s | m); }",
                     lambda m, s: tilted(m, 1) + tilted(Y[0], m) + tilted(s, m)),
    "lower truncation": (
        "", "model { y[1] ~ normal(m, s) T[0, ]; }", lambda m, s: norm.logpdf(Y[0], m, s) - norm.logsf(0, m, s),
    ),
    "upper truncation": (
        "", "model { y ~ normal(m, s) T[, 3]; }", lambda m, s: (norm.logpdf(Y, m, s) - norm.logcdf(3, m, s)).sum(),
    ),
    "both": (
        "", "model { y ~ normal([m, 0, 1], s) T[-2, m + 3]; }",
        lambda m, s: sum(
            norm.logpdf(v, a, s) - np.log(norm.cdf(m + 3, a, s) - norm.cdf(-2, a, s)) for v, a in zip(Y, [m, 0, 1])
        ),
    ),
    "no truncation": ("", "model { y ~ normal(m, s) T[,]; }", lambda m, s: norm.logpdf(Y, m, s).sum()),
    "discrete truncation": (
        "", "model { k[1] ~ poisson(s) T[1, ]; k[3] ~ poisson(s) T[2, 6]; }",
        lambda m, s: stats.poisson.logpmf(2, s) - stats.poisson.logsf(0, s) + stats.poisson.logpmf(5, s)
        - np.log(stats.poisson.cdf(6, s) - stats.poisson.cdf(1, s)),
    ),
    "outside the truncation": ("", "model { y ~ normal(m, s) T[0, ]; }", lambda m, s: -np.inf),
    "user truncation": (
        TRUNCATED, "model { y[1] ~ expo(s) T[0.1, 2]; y[3] ~ expo(s) T[1, ]; }",
        lambda m, s: stats.expon.logpdf(Y[0], scale=1 / s)
        - np.log(stats.expon.cdf(2, scale=1 / s) - stats.expon.cdf(0.1, scale=1 / s))
        + stats.expon.logpdf(Y[2], scale=1 / s) - stats.expon.logsf(1, scale=1 / s),
    ),
    "lp function": (
        "functions { void p_lp(real a) { a ~ normal(0, 1); target += a; }"
        " real q_lp(real a) { target += a; return 2 * a; } }",
        "model { p_lp(m); real z = 1 + q_lp(s); target += z; }", lambda m, s: norm.logpdf(m) + m + s + 1 + 2 * s,
    ),
    "lp function with control flow": (
        "functions { real r_lp(vector v, real t) { real c = 0; for (n in 1:size(v)) { if (v[n] > t) { target += v[n];"
        " c += 1; } } return c; } }",
        "model { target += 10 * r_lp(y, m - 1); }", lambda m, s: (Y[Y > m - 1]).sum() + 10 * (Y > m - 1).sum(),
    ),
    "jacobian": (
        "functions { real up_jacobian(real a) { jacobian += a; return exp(a); } }",
        "transformed parameters { real t = up_jacobian(m); jacobian += 2; } model { t ~ normal(0, 1); }",
        lambda m, s: m + 2 + norm.logpdf(np.exp(m)),
    ),
    "densities of before 2.33": (
        "functions { real weak_log(real a, real b) { return -a * b; } }",
        "model { increment_log_prob(normal_log(m, 0, 2)); s ~ weak(3);"
        " increment_log_prob(exponential_ccdf_log(s, 2)); }",
        lambda m, s: norm.logpdf(m, 0, 2) - 3 * s - 2 * s,
    ),
    "target read": (
        "", "model { target += m; if (target() > 0) target += 2; target += target(); }",
        lambda m, s: 2 * (m + 2),
    ),
    "truncation in a program that reads the target": (
        "", "model { y ~ normal([m, 0, 1], s) T[-2, m + 3]; m ~ normal(y, s) T[-3, 3]; k ~ poisson([s, 1, 2]') T[0, 9];"
        " target += target(); }",
        lambda m, s: 2 * (
            sum(between(norm, v, -2, m + 3, a, s) + between(norm, m, -3, 3, v, s) for v, a in zip(Y, [m, 0, 1]))
            + sum(between(stats.poisson, n, -1, 9, a) for n, a in zip(K, [s, 1, 2]))
        ),
    ),
    "outside of a truncation in a program that reads the target": (
        "", "model { y ~ normal(m, s) T[-1, ]; if (target() > 0) target += 1; }", lambda m, s: -np.inf,
    ),
    "lp function in a conditional expression": (
        LP, "model { real z = m > 0 ? f_lp(m) : s; target += z + (m < 0 ? f_lp(3) : 0); }", lambda m, s: 10 * m + m,
    ),
    "lp function behind a logical operator": (
        LP, "model { if (m > 0 && f_lp(s) > 1) target += 1; if (m > 0 || f_lp(2) > 1) target += 2;"
        " if (m < 0 || f_lp(4) > 5) target += 3; if (m < 0 && f_lp(6) > 1) target += 4; }",
        lambda m, s: 10 * s + 1 + 2 + 40,
    ),
    "lp function in the condition of a loop": (
        LP, "model { int n = 3; real q = m; while (k_lp(n)) n -= 1; while (f_lp(q) < 5) q *= 2; }",
        lambda m, s: 6 + 10 * m * (1 + 2 + 4 + 8),
    ),
    "rejected": ("", 'model { if (m > 0) reject("m is ", m); target += s; }', lambda m, s: -np.inf),
    "not rejected": ("", 'model { if (m < 0) reject("m is ", m); target += s; }', lambda m, s: s),
    "rejected in a loop": (
        "", 'model { for (n in 1:9) if (m * n > 5) reject("large"); target += s; }',
        lambda m, s: -np.inf,
    ),
    "rejected in a function": (
        'functions { real need(real a) { if (a > 1) reject("large"); return a; } }',
        "model { target += need(s); }", lambda m, s: np.nan,
    ),
    "violated constraint": (
        "", "transformed parameters { real<upper=0> t = m; } model { target += s; }",
        lambda m, s: -np.inf,
    ),
    "constraint that holds": (
        "", "transformed parameters { simplex[2] t = [s / (s + m), m / (s + m)]'; } model { target += t[1]; }",
        lambda m, s: s / (s + m),
    ),
    "zero observations": ("", "model { y[1:0] ~ normal(m, s); for (n in 5:4) y[n] ~ normal(m, s); }", lambda m, s: 0.0),
}  # fmt: skip
AT = {"m": 0.7, "s": 1.3}


@pytest.fixture(params=["numpyro", "pyro"])
def backend(request):
    if request.param == "pyro":
        request.getfixturevalue("torch_double")
    return request.param


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", MODELS)
def test_log_density(name, backend):
    functions, rest, expected = MODELS[name]
    got = log_density(functions + HEAD + rest, {"y": Y, "k": K}, AT, backend)
    if expected is None:
        q, want = AT["s"], 0.0
        while q < 50:
            q *= 2
            want += np.log(q)
    else:
        want = expected(**AT)
    if np.isnan(want):
        assert not np.isfinite(got)
    else:
        assert got == pytest.approx(want, rel=1e-12)


def test_observed_sites_have_one_entry_per_observation(x64):
    from numpyro import handlers

    text = HEAD + "model { m ~ normal(0, 1); y ~ normal(m, s); for (n in 1:3) k[n] ~ poisson(s); }"
    module = stanimport.loads(text)
    seeded = handlers.seed(handlers.substitute(module.model, AT), 0)
    trace = handlers.trace(seeded).get_trace(**module.transformed_data(y=Y, k=K))
    sites = {n: s for n, s in trace.items() if s["type"] == "sample" and s["is_observed"]}
    observed = {n: s for n, s in sites.items() if not s["infer"].get("is_auxiliary")}
    assert set(observed) == {"y", "k"}
    np.testing.assert_allclose(observed["y"]["fn"].log_prob(observed["y"]["value"]), norm.logpdf(Y, 0.7, 1.3))
    np.testing.assert_allclose(observed["k"]["fn"].log_prob(observed["k"]["value"]), stats.poisson.logpmf(K, 1.3))


@pytest.mark.sampled(2)
def test_every_parameter_is_a_site_under_its_stan_name(backend):
    text = """parameters { real lambda; real<lower=0> def; vector<lower=0, upper=1>[2] x__y; simplex[3] class; }
        model { lambda ~ normal(0, 1); def ~ exponential(1); }"""
    module = stanimport.loads(text, backend=backend)
    if backend == "numpyro":
        from jax.random import PRNGKey
        from numpyro.infer.util import initialize_model

        sites = initialize_model(PRNGKey(0), module.model).param_info.z
    else:
        from pyro import poutine

        sites = poutine.trace(module.model).get_trace().stochastic_nodes
    assert set(sites) >= {"lambda", "def", "class"}


def test_masked_branches_do_not_poison_gradients():
    text = """data { vector[3] y; } parameters { real<lower=0> a; }
      model { for (n in 1:3) target += y[n] > 0 ? a * y[n] : log(a - 2) * 0;
              for (n in 1:3) { if (a > 100) target += sqrt(a - 100); else target += a; } }"""
    module = stanimport.loads(text.replace("log(a - 2) * 0", "0"))
    inputs = module.transformed_data(y=[1.0, -1.0, 2.0])
    assert float(gradient(module, inputs, {"a": 1.5})["a"]) == pytest.approx(3.0 + 3.0)


def test_an_error_in_a_model_points_at_its_stan_line():
    text = (
        "data { int n; vector[2] v; }\nparameters { real a; }\n"
        "model {\n  a ~ normal(0, 1);\n  v[n] ~ normal(a, 1);\n}\n"
    )
    module = stanimport.loads(text)
    inputs = module.transformed_data(n=3, v=[1.0, 2.0])
    with pytest.raises(IndexError, match="index 3 is out of range: the size is 2") as caught:
        module_log_density(module, inputs, {"a": 0.0})
    assert "`v[n]`" in str(caught.value) and "line 5, column 3" in str(caught.value)
    frames = [f for f in caught.traceback if str(f.path).endswith(".stan>") or f.path == module.stan.filename]
    import traceback

    shown = "".join(traceback.format_exception(caught.value))
    assert "line 5, in model" in shown and "v[n] ~ normal(a, 1);" in shown, frames


def test_rejections_outside_of_models_are_errors():
    module = stanimport.loads('transformed data { reject("no ", 1 + 1, " good"); }')
    with pytest.raises(stanimport.StanError, match="no 2 good"):
        module.transformed_data()
    module = stanimport.loads("transformed data { real<lower=3> x = 2; }")
    with pytest.raises(stanimport.StanError, match="x is 2.0, but must be within its bounds"):
        module.transformed_data()
    module = stanimport.loads("generated quantities { simplex[2] x = [0.5, 0.6]'; }")
    with pytest.raises(stanimport.StanError, match="a simplex"):
        module.generated_quantities()
    module = stanimport.loads("transformed data { real x = normal_lpdf(1 | 0, -1); }")
    with pytest.raises(stanimport.StanError, match="sigma is -1"):
        module.transformed_data()
