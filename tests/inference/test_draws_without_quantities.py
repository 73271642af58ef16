"""Draws for which Stan throws in generated quantities: NaN there, all else as it is, and one warning.

So it is in CmdStan, whose mcmc_writer logs the message and writes the draw. For which draws Stan throws is told by
their parameters.
"""
from __future__ import annotations

import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import stanimport
from stanimport.inference import RejectionWarning

LEAST = -(2**31)
PROGRAM = """data { int N; vector[N] y; }
parameters { vector[2] x; real<lower=0> s; }
transformed parameters {
  vector[2] t = 2 * x; array[N] tuple(real, complex) u; for (n in 1:N) u[n] = (n * x[1], to_complex(s, n)); }
model { x ~ normal(0, 1); s ~ exponential(1); }
generated quantities { real before = x[1] + 3; array[N] int k = rep_array(N, N);
  %s
  complex c = to_complex(x[1], 1); tuple(int, real) p = (4, x[2]); }"""
GIVEN = {"N": 3, "y": [10.0, 20.0, 30.0]}
CAUSES = {  # statements, for which draws Stan throws, and what
    'if (x[1] < 0) reject("x is ", x[1]);': (lambda x: x[:, 0] < 0, r"x is -\d.*line 7, column \d+"),
    "real r = normal_rng(0, x[1]);": (lambda x: x[:, 0] <= 0, r"normal_rng: .*is -\d.*in `normal_rng\(0, x\[1\]\)`"),
    "real r = y[x[1] < 0 ? 7 : 2];": (lambda x: x[:, 0] < 0, r"index 7 is out of range: the size is 3"),
    "real<lower=0> r = x[1];": (lambda x: x[:, 0] < 0, r"r is -\d.*line 7"),
    "int i = 1; if (x[1] < 0) i = 4; real r = y[i];": (lambda x: x[:, 0] < 0, r"index 4 is out of range"),
    "vector[N] r; for (n in 1:N) r[n] = poisson_rng(x[1] + n);": (lambda x: x[:, 0] < -1, r"poisson_rng: "),
    "matrix[2, 2] r = cholesky_decompose([[1, x[1]], [x[1], 1]]);": (lambda x: abs(x[:, 0]) >= 1, r"cholesky"),
}  # fmt: skip
SHORT = dict(chains=2, iter_warmup=30, iter_sampling=60, seed=3, show_progress=False)
# a step of Pyro takes milliseconds
SHORTEST = {"numpyro": SHORT, "pyro": SHORT | dict(iter_warmup=10, max_treedepth=2)}


def program(cause, backend="numpyro"):
    return stanimport.loads(PROGRAM % cause, name="rejecting", backend=backend)


def told(run):
    """A result, and the texts of its warnings of rejections."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        made = run()
    return made, [str(w.message) for w in caught if issubclass(w.category, RejectionWarning)]


def verify(fit, bad, message, texts, of="draws"):
    """That exactly the quantities of bad draws are missing, and that one warning tells of them."""
    x, s, t = (fit.stan_variable(n) for n in ("x", "s", "t"))
    bad = bad(x)
    assert 0 < bad.sum() < len(x) and np.isfinite(x).all() and np.isfinite(s).all()
    np.testing.assert_array_equal(t, 2 * x)
    n = np.arange(1, 4)
    np.testing.assert_array_equal(fit.variables["u.1"].reshape(-1, 3), n * x[:, :1])
    np.testing.assert_array_equal(fit.variables["u.2"].reshape(-1, 3), s[:, None] + 1j * n)
    np.testing.assert_array_equal(fit.stan_variable("before"), np.where(bad, np.nan, x[:, 0] + 3))
    np.testing.assert_array_equal(fit.stan_variable("k"), np.where(bad[:, None], LEAST, 3) * np.ones(3, int))
    np.testing.assert_array_equal(fit.stan_variable("c").real, np.where(bad, np.nan, x[:, 0]))
    np.testing.assert_array_equal(fit.variables["p.1"].ravel(), np.where(bad, LEAST, 4))
    np.testing.assert_array_equal(fit.variables["p.2"].ravel(), np.where(bad, np.nan, x[:, 1]))
    assert np.isfinite(fit.stan_variable("r")[~bad]).all() if "r" in fit.variables else True
    (text,) = texts
    assert f" of {bad.sum()} of {len(x)} {of} are NaN" in text and re.search(message, text), text


@pytest.mark.sampled(8)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("cause", CAUSES)
def test_samples_have_all_but_the_quantities_that_are_not(cause, backend):
    fit, texts = told(lambda: stanimport.sample(program(cause, backend), GIVEN, **SHORTEST[backend]))
    verify(fit, *CAUSES[cause], texts)
    assert fit.num_draws == 120 and np.isfinite(fit.stats["lp__"]).all()


@pytest.mark.sampled(4)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("cause", CAUSES)
def test_quantities_of_given_draws(cause, backend):
    x = np.stack([np.linspace(-2, 2, 600), np.ones(600)], axis=1)
    given = {"x": x, "s": np.linspace(0.1, 2, 600)}
    module = program(cause, backend)
    fit, texts = told(lambda: stanimport.generate_quantities(module, GIVEN, previous_fit=given, seed=1))
    verify(fit, *CAUSES[cause], texts)


CAUSE = 'if (x[1] < 0) reject("x is ", x[1]);'
METHODS = {
    "numpyro": lambda m: stanimport.sample(m, GIVEN, method="numpyro", **SHORT),
    "walnuts": lambda m: stanimport.sample(m, GIVEN, method="walnuts", thin=2, **SHORT),
    "in the background": lambda m: stanimport.sample(m, GIVEN, blocking=False, **SHORT).wait(),
    "pathfinder": lambda m: stanimport.pathfinder(m, GIVEN, draws=100, seed=1),
    "laplace_sample": lambda m: stanimport.laplace_sample(m, GIVEN, draws=100, seed=1),
    "advi": lambda m: stanimport.advi(m, GIVEN, draws=100, seed=1, require_converged=False),
    "variational": lambda m: stanimport.variational(m, GIVEN, draws=100, iter=50, seed=1),
}  # fmt: skip


@pytest.mark.sampled(6)
@pytest.mark.parametrize("method", METHODS)
def test_methods_on_numpyro(method):
    fit, texts = told(lambda: METHODS[method](program(CAUSE)))
    center = [t for t in texts if " of the center of the approximation are NaN" in t]
    assert bool(center) == ("center" in fit.info and fit.info["center"]["x"][0] < 0)
    verify(fit, *CAUSES[CAUSE], [t for t in texts if t not in center])


def test_variational_inference_on_pyro():
    fit, texts = told(lambda: stanimport.variational(program(CAUSE, "pyro"), GIVEN, draws=100, iter=50, seed=1))
    verify(fit, *CAUSES[CAUSE], texts)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_guides(backend):
    guided = PROGRAM % CAUSE + "guide { x ~ normal(0, 1); s ~ lognormal(0, 1); }"
    module = stanimport.loads(guided, name="guided", backend=backend)
    fit, texts = told(lambda: stanimport.variational(module, GIVEN, algorithm="guide", draws=100, iter=20, seed=1))
    verify(fit, *CAUSES[CAUSE], texts)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_batches_of_data(backend):
    module = stanimport.loads("""data { int N; vector[N] y; } parameters { real m; }
      transformed parameters { real t = 2 * m; }
      model { m ~ normal(0, 1); y ~ normal(m, 8); }
      generated quantities { real q = normal_rng(7, m); }""", name="in_batches", backend=backend)  # fmt: skip
    given = {"N": 64, "y": np.linspace(-1, 1, 64)}
    fit, (text,) = told(lambda: stanimport.variational(module, given, minibatch={"N": 32}, draws=80, iter=40, seed=1))
    m = fit.stan_variable("m")
    np.testing.assert_array_equal(fit.stan_variable("t"), 2 * m)
    np.testing.assert_array_equal(np.isnan(fit.stan_variable("q")), m <= 0)
    assert f" of {(m <= 0).sum()} of 80 draws" in text and "normal_rng: " in text and 0 < (m <= 0).sum() < 80


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_the_mode(backend):
    module = stanimport.loads("""parameters { real x; } transformed parameters { real t = 2 * x; }
      model { x ~ normal(-1, 1); } generated quantities { real q = sqrt(normal_rng(0, x)); int k = 2; }""",
      name="at_the_mode", backend=backend)  # fmt: skip
    fit, (text,) = told(lambda: stanimport.optimize(module, seed=1))
    assert fit.stan_variable("t") == pytest.approx(-2, abs=1e-4) and np.isnan(fit.stan_variable("q"))
    assert fit.stan_variable("k") == LEAST and re.search(r"of the mode are NaN.* throws: normal_rng: .*is -", text)


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_fixed_parameters_and_no_parameters(backend):
    text = "data { int N; } generated quantities { real z = normal_rng(0, 1); real<lower=0> q = z + N; int k = 1; }"
    module = stanimport.loads(text, name="no_parameters", backend=backend)
    fit, (text,) = told(lambda: stanimport.sample(module, {"N": 0}, chains=2, iter_sampling=50, seed=1))
    bad = np.isnan(fit.stan_variable("q"))
    assert 20 < bad.sum() < 80 and f" of {bad.sum()} of 100 draws" in text
    np.testing.assert_array_equal(fit.stan_variable("k"), np.where(bad, LEAST, 1))
    assert np.isnan(fit.stan_variable("z")[bad]).all() and (fit.stan_variable("z")[~bad] >= 0).all()


@pytest.mark.sampled(4)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_some_variables_alone_are_kept(backend):
    module = program(CAUSE, backend)
    without, texts = told(lambda: stanimport.sample(module, GIVEN, keep=["x", "t"], **SHORTEST[backend]))
    assert set(without.variables) == {"x", "t"} and not texts  # what is not kept is not computed
    np.testing.assert_array_equal(without.stan_variable("t"), 2 * without.stan_variable("x"))
    fit, (text,) = told(lambda: stanimport.sample(module, GIVEN, keep=["t", "before"], **SHORTEST[backend]))
    t, bad = fit.stan_variable("t"), fit.stan_variable("t")[:, 0] < 0
    np.testing.assert_allclose(fit.stan_variable("before"), np.where(bad, np.nan, t[:, 0] / 2 + 3), atol=1e-12)
    assert f" of {bad.sum()} of 120 draws" in text and re.search(r"x is -\d.*line 7", text)


def test_journals_and_the_warm_up(tmp_path):
    module = program(CAUSE)
    run = lambda: stanimport.sample(module, GIVEN, journal=tmp_path / "run", save_warmup=True, **SHORT)
    fit, texts = told(run)
    verify(fit, *CAUSES[CAUSE], texts[:1])
    (warm_up,) = texts[1:]
    bad = fit.warmup[0]["x"][..., 0] < 0
    assert f" of {bad.sum()} of 60 draws of the warm-up" in warm_up
    np.testing.assert_array_equal(np.isnan(fit.warmup[0]["before"]), bad)
    again, texts = told(lambda: stanimport.Fit.load(tmp_path / "run"))
    verify(again, *CAUSES[CAUSE], texts[:1])
    assert not list(Path(tmp_path).rglob("rejected__*"))
    longer, texts = told(lambda: stanimport.sample(module, resume=tmp_path / "run", iter_sampling=100))
    bad = longer.stan_variable("x")[:, 0] < 0
    np.testing.assert_array_equal(np.isnan(longer.stan_variable("before")), bad)
    np.testing.assert_array_equal(longer.stan_variable("t"), 2 * longer.stan_variable("x"))


def test_quantities_in_files(tmp_path):
    x = np.stack([np.linspace(-2, 2, 900), np.ones(900)], axis=1)
    given = {"x": x, "s": np.linspace(0.1, 2, 900)}
    fit, texts = told(lambda: stanimport.generate_quantities(
        program(CAUSE), GIVEN, previous_fit=given, folder=tmp_path / "made"))  # fmt: skip
    verify(fit, *CAUSES[CAUSE], texts)
    assert not list(tmp_path.rglob("rejected__*"))


def test_many_data_sets():
    module = stanimport.loads("""data { real y; } parameters { real x; } transformed parameters { real t = 2 * x; }
      model { x ~ normal(0, 1); y ~ normal(x, 1); } generated quantities { real q = normal_rng(9, x); }""", name="many")
    fits, (text,) = told(lambda: stanimport.sample_many(
        module, [{"y": y} for y in (-0.5, 0.1, 0.6)], seed=1, sampling=dict(chains=2, iter_sampling=50)))  # fmt: skip
    x = np.concatenate([f.stan_variable("x") for f in fits])
    np.testing.assert_array_equal(np.concatenate([f.stan_variable("t") for f in fits]), 2 * x)
    np.testing.assert_array_equal(np.isnan(np.concatenate([f.stan_variable("q") for f in fits])), x <= 0)
    assert f" of {(x <= 0).sum()} of 300 draws of all fits" in text and "normal_rng: " in text


@pytest.mark.sampled(2)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_sizes_that_are_drawn(backend):
    """Where nothing can be compiled on NumPyro, each draw is computed by itself; there, too."""
    module = stanimport.loads("""parameters { real x; } transformed parameters { real t = 2 * x; }
      model { x ~ normal(0, 1); }
      generated quantities { int n; real q; array[2] int k = {1, 2};
        { int m = 1 + poisson_rng(3); vector[m] v = rep_vector(x, m); n = m; q = sum(sqrt(v)) + normal_rng(0, x); } }
      """, name="drawn_sizes", backend=backend)  # fmt: skip
    fit, (text,) = told(lambda: stanimport.sample(module, **SHORTEST[backend]))
    x, n = fit.stan_variable("x"), fit.stan_variable("n")
    np.testing.assert_array_equal(fit.stan_variable("t"), 2 * x)
    np.testing.assert_array_equal(np.isnan(fit.stan_variable("q")), x <= 0)
    np.testing.assert_array_equal(fit.stan_variable("k"), np.where(x[:, None] > 0, [1, 2], LEAST))
    assert (n[x > 0] >= 1).all() and (n[x <= 0] == LEAST).all() and n.dtype.kind == "i"
    assert f" of {(x <= 0).sum()} of 120 draws" in text and "normal_rng: " in text


@pytest.mark.sampled(2)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("size", ["N", "num_elements(y)"])
def test_no_draw_has_quantities(size, backend):
    module = stanimport.loads(f"""data {{ int N; vector[N] y; }} parameters {{ real x; }}
      transformed parameters {{ real t = 2 * x; }} model {{ x ~ normal(0, 1); }}
      generated quantities {{ vector[{size}] q = rep_vector(normal_rng(0, -1 - x^2), N); array[2, N] int k;
        k[1] = rep_array(1, N); k[2] = k[1]; }}""", name="none", backend=backend)  # fmt: skip
    run = lambda: stanimport.sample(module, GIVEN, **SHORTEST[backend])
    fit, (text,) = told(run)
    assert fit.stan_variable("q").shape == (120, 3) and np.isnan(fit.stan_variable("q")).all()
    assert fit.stan_variable("k").shape == (120, 2, 3) and (fit.stan_variable("k") == LEAST).all()
    np.testing.assert_array_equal(fit.stan_variable("t"), 2 * fit.stan_variable("x"))
    assert " of 120 of 120 draws are NaN" in text


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("cause", ["real r = y[7];", 'if (N > 2) reject("N is ", N);', "real<upper=2> r = N;"])
def test_what_data_alone_decide_is_an_error_before_anything_is_drawn(cause, backend, monkeypatch):
    from stanimport.inference.methods import drawing, pyro_methods

    for place, name in ((drawing.initial, "starting_points"), (pyro_methods, "MCMC")):
        monkeypatch.setattr(place, name, lambda *a, **k: pytest.fail("something was drawn"))
    with pytest.raises(stanimport.StanError, match="line 7"):
        stanimport.sample(program(cause, backend), GIVEN, **SHORTEST[backend])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_discrete_parameters_are_no_quantities(backend):
    module = stanimport.loads("""data { real y; } parameters { real x; int<lower=1, upper=2> z; }
      transformed parameters { real t = 2 * x; real d = z * x; }
      model { x ~ normal(0, 1); z ~ categorical([0.5, 0.5]'); y ~ normal(z, 1); }
      generated quantities { real q = normal_rng(0, x); }""", name="discrete", backend=backend)  # fmt: skip
    fit, (text,) = told(lambda: stanimport.sample(module, {"y": 1.5}, **SHORTEST[backend]))
    x, z = fit.stan_variable("x"), fit.stan_variable("z")
    assert set(z.tolist()) == {1, 2} and set(z[x <= 0].tolist()) == {1, 2}
    np.testing.assert_array_equal(fit.stan_variable("d"), z * x)
    np.testing.assert_array_equal(np.isnan(fit.stan_variable("q")), x <= 0)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_no_warning_without_a_reason(backend):
    module = program("real r = normal_rng(0, s);", backend)
    _, texts = told(lambda: stanimport.sample(module, GIVEN, **SHORTEST[backend]))
    assert texts == []
