"""The programs in models/: log densities, gradients and generated quantities against independent mathematics."""
from __future__ import annotations

import json
import runpy
import warnings
from pathlib import Path
from types import SimpleNamespace

import closed_forms
import jax
import numpy as np
import numpyro
import pytest
from numpyro.infer.util import constrain_fn, log_density, unconstrain_fn
from points import POINTS
from quantities import EXPECTED, RANDOM

import stanimport

FOLDER = Path(__file__).parents[2] / "models"
DEEPSTAN = {"multimodal", "vae", "mlp"}  # with networks and guides: see tests/deepstan
DISCRETE = {"discrete_mixture", "discrete_hmm", "capture_recapture"}
PROGRAMS = sorted(path.stem for path in FOLDER.glob("*.stan") if path.stem not in DEEPSTAN)
SOLVED = {"lotka_volterra": 3e-5}  # how close a differential equation of the default tolerances comes
STEP = 1e-5  # of finite differences, in unconstrained space


def raw_data(name):
    return json.loads((FOLDER / f"{name}.json").read_text())


def data_of(name):
    return _namespace(raw_data(name))


def _namespace(values):
    return SimpleNamespace(**{k: v if isinstance(v, int) else np.asarray(v) for k, v in values.items()})


def load(name, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", stanimport.StanDeprecationWarning)
        return stanimport.load(FOLDER / f"{name}.stan", **options)


def point(name, seed):
    return {k: np.asarray(v) for k, v in POINTS[name](data_of(name), np.random.default_rng(seed)).items()}


def density(name, parameters):
    return getattr(closed_forms, name)(data_of(name), _namespace(parameters))


# --- the folder ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_program_is_stan_of_today_but_the_old_one(name):
    path = FOLDER / f"{name}.stan"
    if name == "old_syntax":
        with pytest.raises(stanimport.StanError):
            stanimport.check(path, strict=True)
        assert {w.severity for w in stanimport.check(path)} == {"deprecation"}
    elif name in DISCRETE:
        with pytest.raises(stanimport.StanError, match="parameters can't hold integers"):
            stanimport.check(path, strict=True)
        assert stanimport.check(path) == []
    else:
        assert stanimport.check(path, strict=True) == []


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_program_has_small_data_and_a_line_in_the_readme(name):
    assert (FOLDER / f"{name}.json").stat().st_size < 20_000
    assert f"| {name}.stan |" in (FOLDER / "README.md").read_text()


def test_simulated_data_are_reproducible():
    script = runpy.run_path(str(FOLDER / "simulate.py"))
    for name in script["SIMULATIONS"]:
        assert script["simulate"](name) == raw_data(name), name


# --- NumPyro ---------------------------------------------------------------------------------------------------------


def compiled_density(module, inputs):
    """Log density and its gradient at an unconstrained point, and the constrained values there."""

    def f(unconstrained):
        values = constrain_fn(module.model, (), inputs, unconstrained)
        return log_density(module.model, (), inputs, values)[0], values

    return jax.jit(jax.value_and_grad(f, has_aux=True))


def direction(name, unconstrained):
    rng = np.random.default_rng(3)
    v = {k: rng.normal(size=np.shape(x)) for k, x in unconstrained.items()}
    norm = np.sqrt(sum(np.sum(x**2) for x in v.values()))
    return {k: x / norm for k, x in v.items()}


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", PROGRAMS)
def test_log_density_and_gradient(name, x64):
    module = load(name)
    inputs = module.transformed_data(**raw_data(name))
    f = compiled_density(module, inputs)
    first, second = point(name, 1), point(name, 2)
    start, end = (unconstrain_fn(module.model, (), inputs, p) for p in (first, second))
    (value, constrained), gradient = f(start)
    assert set(constrained) == set(first)
    assert np.isfinite(value) and all(np.all(np.isfinite(g)) for g in gradient.values())
    for k in first:
        np.testing.assert_allclose(constrained[k], first[k], rtol=1e-9, atol=1e-12, err_msg=k)
    difference = f(end)[0][0] - value
    exact = density(name, second) - density(name, first)
    np.testing.assert_allclose(difference, exact, rtol=SOLVED.get(name, 1e-9), atol=1e-9)
    v = direction(name, start)
    ahead, behind = (density(name, f({k: x + s * v[k] for k, x in start.items()})[0][1]) for s in (STEP, -STEP))
    slope = sum(np.sum(gradient[k] * v[k]) for k in v)
    np.testing.assert_allclose(slope, (ahead - behind) / (2 * STEP), rtol=SOLVED.get(name, 1e-6), atol=1e-6)


def generate(module, inputs, draw, seed):
    with numpyro.handlers.seed(rng_seed=seed):
        return module.generated_quantities(**inputs, **draw)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", PROGRAMS)
def test_generated_quantities(name, x64):
    module, draw = load(name), point(name, 1)
    inputs = module.transformed_data(**raw_data(name))
    made = generate(module, inputs, draw, 0)
    expected = EXPECTED[name](data_of(name), _namespace(draw))
    shapes = RANDOM.get(name, lambda d: {})(data_of(name))
    assert set(made) == {*expected, *shapes}
    for k, value in expected.items():
        np.testing.assert_allclose(made[k], value, rtol=SOLVED.get(name, 1e-9), err_msg=k)
    for k, shape in shapes.items():
        assert np.shape(made[k]) == shape and np.all(np.isfinite(made[k])), k


@pytest.mark.parametrize("name", [n for n in RANDOM if n != "coin"])  # whose one bit may well be the same
def test_random_quantities_follow_the_key(name, x64):
    module, draw = load(name), point(name, 1)
    inputs = module.transformed_data(**raw_data(name))
    one, again, other = (generate(module, inputs, draw, seed) for seed in (0, 0, 1))
    for k in RANDOM[name](data_of(name)):
        np.testing.assert_array_equal(one[k], again[k])
        assert np.shape(one[k]) == () and name in DISCRETE or np.any(one[k] != other[k])


def test_every_draw_has_noise_of_its_own(x64):
    module, draw = load("linear_regression"), point("linear_regression", 1)
    inputs = module.transformed_data(**raw_data("linear_regression"))
    keys = jax.random.split(jax.random.PRNGKey(0), 4)
    made = jax.jit(jax.vmap(lambda key: generate(module, inputs, draw, key)))(keys)
    assert np.shape(made["y_rep"]) == (4, inputs["N"])
    assert len(np.unique(made["y_rep"])) == 4 * inputs["N"]
    assert len(np.unique(made["log_lik"], axis=0)) == 1


# --- Pyro ------------------------------------------------------------------------------------------------------------


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", PROGRAMS)
def test_log_density_on_pyro(name, torch_double):
    from pyro import poutine

    module = load(name, backend="pyro")
    inputs = module.transformed_data(**raw_data(name))

    def log_density_at(values):
        tensors = {k: torch_double.as_tensor(v, dtype=torch_double.float64) for k, v in values.items()}
        conditioned = poutine.condition(module.model, tensors)
        return float(poutine.trace(conditioned).get_trace(**inputs).log_prob_sum())

    first, second = point(name, 1), point(name, 2)
    difference = log_density_at(second) - log_density_at(first)
    exact = density(name, second) - density(name, first)
    np.testing.assert_allclose(difference, exact, rtol=SOLVED.get(name, 1e-9))
