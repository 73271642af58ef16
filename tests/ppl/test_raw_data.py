"""Models that are called with raw data check and convert them, whatever they look like."""
from contextlib import nullcontext

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

import stanimport

PROGRAM = """
data { int N; vector<lower=0>[N] x; array[N] int<lower=0> k; tuple(int, vector[N]) t; }
parameters { real a; }
model {
  a ~ normal(0, 1);
  x ~ normal(a, t.1);
  for (n in 1:N) target += k[n] * k[n] * a * t.2[n];
}
"""
X, K, T = np.array([1.0, 2.0, 3.0]), np.array([100, 2, 3]), (2, np.ones(3))


@pytest.fixture(params=["numpyro", "pyro"])
def density(request, x64):
    if request.param == "pyro":
        pytest.importorskip("pyro", reason="the pyro extra is not installed")
    module = stanimport.loads(PROGRAM, name="raw", backend=request.param)

    def of(**data):
        return _numpyro(module, data) if request.param == "numpyro" else _pyro(module, data)

    return of


def _numpyro(module, data):
    from numpyro.infer.util import log_density

    return float(log_density(module.model, (), data, {"a": 0.5})[0])


def _pyro(module, data):
    import pyro
    import torch

    torch.set_default_dtype(torch.float64)
    try:
        model = pyro.condition(module.model, data={"a": torch.tensor(0.5)})
        return float(pyro.poutine.trace(model).get_trace(**data).log_prob_sum())
    finally:
        torch.set_default_dtype(torch.float32)


EXPECTED = stats.norm.logpdf(0.5) + stats.norm.logpdf(X, 0.5, 2).sum() + 0.5 * (K**2).sum()


@pytest.mark.parametrize("x, k", [
    (X, K.astype(np.int8)), (X, K.astype(np.uint8)), (X.astype(np.float16), K.astype(np.int16)),
    (X.astype(">f8"), K.astype(">i4")), (np.asfortranarray(np.stack([X, X]))[0], np.stack([K, K], axis=1)[:, 1]),
    (jnp.asarray(X, jnp.float32), jnp.asarray(K, jnp.int8)), (list(X), list(K)),
    (jnp.asarray(X), jnp.asarray(K, jnp.float32)),
], ids=["int8", "uint8", "half", "big-endian", "strides", "jax", "lists", "whole reals"])  # fmt: skip
def test_arrays_of_any_type_have_one_density(density, x, k):
    assert density(N=3, x=x, k=k, t=T) == pytest.approx(EXPECTED)


@pytest.mark.parametrize("wrong, told", [
    ({"x": np.arange(4.0)}, r"x must have shape \(3\), not \(4\)"), ({"N": 2}, r"x must have shape \(2\), not \(3\)"),
    ({"x": -X}, r"x is out of bounds: x\[1\] is -1"), ({"k": jnp.asarray(K + 0.5)}, "k must be of type int, not real"),
    ({"k": -K}, "k is out of bounds"), ({"t": (2, np.ones(1))}, r"t.2 must have shape \(3\), not \(1\)"),
], ids=["longer", "fewer", "negative", "reals", "negative integers", "in a tuple"])  # fmt: skip
def test_arrays_that_are_not_as_declared_are_refused(density, wrong, told):
    with pytest.raises(stanimport.StanDataError, match=told):
        density(**{"N": 3, "x": X, "k": K, "t": T, **wrong})


def test_what_was_checked_is_not_checked_again(monkeypatch):
    """Neither are transformed data computed again where data are exchanged."""
    program = PROGRAM.replace("parameters", "transformed data { real s = normal_rng(0, 1); } parameters")
    module = stanimport.loads(program.replace("normal(a, t.1)", "normal(a + s, t.1)"), name="raw")
    with jax.enable_x64(True):
        inputs = module.transformed_data(N=3, x=X, k=K, t=T)
        other = {**inputs, "x": X + 1}
        first = _numpyro(module, inputs)
        expected = stats.norm.logpdf([X, X + 1], 0.5 + inputs["s"], 2).sum(axis=1)
        assert _numpyro(module, other) - first == pytest.approx(expected[1] - expected[0])
        with pytest.raises(stanimport.StanDataError, match="x must have shape"):
            _numpyro(module, {**inputs, "x": X[:1]})
        monkeypatch.setattr("stanlib.data.check", None)  # none of its values is
        assert _numpyro(module, inputs) == first


def test_transformed_data_of_torch_are_recognised(torch_double):
    """Some of what is computed from data on PyTorch are tensors, which are known by their identity too."""
    module = stanimport.loads("""functions { array[] real centred(array[] real x) { array[size(x)] real out;
      for (i in 1:size(x)) out[i] = x[i] - mean(x); return out; } }
      data { int N; array[N] real x; } transformed data { array[N] real c = centred(x); }
      parameters { real a; } model { a ~ normal(0, 1); c ~ normal(a, 1); }""", backend="pyro")
    inputs = module.transformed_data(N=3, x=[1.0, 2.0, 6.0])
    expected = stats.norm.logpdf(0.5) + stats.norm.logpdf([-2, -1, 3], 0.5).sum()
    assert _pyro(module, inputs) == pytest.approx(expected)


def test_batches_of_pixels_may_be_tensors_of_reals(torch_double):
    """Networks take reals, so that data loaders give integers as such."""
    torch = torch_double
    module = stanimport.loads("""data { int N; array[N] int<lower=0, upper=1> y; } parameters { real a; }
      model { a ~ normal(0, 1); y ~ bernoulli_logit(a); }""", backend="pyro")
    expected = stats.norm.logpdf(0.5) + stats.bernoulli.logpmf([1, 0, 1], 1 / (1 + np.exp(-0.5))).sum()
    assert _pyro(module, {"N": 3, "y": torch.tensor([1.0, 0.0, 1.0])}) == pytest.approx(expected)
    for wrong, told in (([1.0, 0.5, 1.0], "must be of type int"), ([1.0, 2.0, 1.0], "out of bounds")):
        with pytest.raises(stanimport.StanDataError, match=told):
            _pyro(module, {"N": 3, "y": torch.tensor(wrong)})


def test_tensors_are_checked_once_until_they_are_written_to(torch_double, monkeypatch):
    """A guide and a model take the same batch one after the other."""
    torch = torch_double
    from stanlib import given_again

    module = stanimport.loads("""data { int N; array[N] int<lower=0, upper=1> y; real<lower=0> s; }
      parameters { real a; }
      model { a ~ normal(0, s); y ~ bernoulli_logit(a); }""", backend="pyro")
    read, checked = [], given_again.checked
    monkeypatch.setattr(given_again, "checked", lambda *args: read.append(1) or checked(*args))
    y = torch.tensor([1, 0, 1])
    given = {"N": 3, "y": y, "s": np.float64(1)}
    first, second, third = (_pyro(module, g) for g in (given, given, {**given, "y": y.clone()}))
    assert len(read) == 2 and first == second == third
    with pytest.raises(stanimport.StanDataError, match="must have shape"):
        _pyro(module, {**given, "N": 2})
    with pytest.raises(stanimport.StanDataError, match="s is out of bounds"):
        _pyro(module, {**given, "s": np.float64(-1)})
    y[1] = 2
    with pytest.raises(stanimport.StanDataError, match="out of bounds"):
        _pyro(module, given)
    with torch.inference_mode():
        apart = torch.tensor([1, 0, 1])
    for value in (0, 2):  # nobody counts what is written to these
        with torch.inference_mode():
            apart[1] = value
        with pytest.raises(stanimport.StanDataError, match="out of bounds") if value else nullcontext():
            _pyro(module, {**given, "y": apart})


def test_transformed_data_without_data_are_not_drawn_again(x64):
    """What is drawn decides how often a loop runs, which nothing may while JAX traces the model."""
    text = """transformed data { int n = binomial_rng(40, 0.5); int c = 0; for (i in n:49) c += 1; }
      parameters { real x; } model { target += (c + n) * x; }"""
    from stanimport.inference import LogProb

    density = LogProb(stanimport.loads(text), {})
    assert float(density.at(np.ones(1))[0]) == 50


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_transformed_data_are_known_by_their_names(backend, x64, torch_double):
    """Arrays of one call are no data under each other's names."""
    source = """
        data { int N; int M; vector[N] x; vector[M] y; } parameters { real a; }
        model { a ~ normal(0, 1); x ~ normal(a, 1); y ~ normal(a, 2); }
    """
    model = stanimport.loads(source, backend=backend)
    inputs = model.transformed_data(N=2, M=3, x=[1.0, 2.0], y=[1.0, 2.0, 3.0])
    density = _numpyro if backend == "numpyro" else _pyro
    density(model, inputs)
    with pytest.raises(stanimport.StanDataError, match=r"x must have shape \(2\), not \(3\)"):
        density(model, {**inputs, "x": inputs["y"], "y": inputs["x"]})


WHOLE = """
    data {{ int N; vector[N] y; array[2] int k; }}
    transformed data {{ {} q = {}; }}
    parameters {{ real mu; }}
    model {{ mu ~ normal(0, 1); y ~ normal(mu, 2); }}
"""


@pytest.mark.parametrize("declared, value, expected", [
    ("real", "N", 3), ("real", "max(N, 2) * 2", 6), ("real", "N %/% 2", 1), ("complex", "k[2]", 5),
    ("array[2] real", "k", [4, 5]), ("tuple(real, array[2] real)", "(N, k)", (3, [4, 5])),
])  # fmt: skip
def test_whole_numbers_in_reals_of_transformed_data_are_reals(declared, value, expected, x64):
    """So they are recognised, and a model takes other data beside them, also such as JAX traces."""
    from numpyro.infer.util import log_density

    module = stanimport.loads(WHOLE.format(declared, value))
    inputs = module.transformed_data(N=3, y=[1.0, 2.0, 3.0], k=[4, 5])
    kind = "c" if declared == "complex" else "f"
    for found, number in zip(*(x if isinstance(x, tuple) else (x,) for x in (inputs["q"], expected))):
        assert found.dtype.kind == kind
        np.testing.assert_array_equal(found, number)
    sets = np.random.default_rng(1).normal(size=(4, 3))
    found = jax.vmap(lambda y: log_density(module.model, (), {**inputs, "y": y}, {"mu": 0.3})[0])(jnp.asarray(sets))
    np.testing.assert_allclose(found, stats.norm.logpdf(0.3) + stats.norm.logpdf(sets, 0.3, 2).sum(1), rtol=1e-12)


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_what_transformed_data_draw_beside_whole_numbers_is_not_drawn_again(backend, x64, torch_double):
    """The data of a copied dict are other objects, as those of another process are."""
    source = """
        data { int N; } transformed data { real q = N; real drawn = normal_rng(0, 1); }
        parameters { real mu; } model { mu ~ normal(0, 1); } generated quantities { real kept = drawn + q; }
    """
    module = stanimport.loads(source, backend=backend)
    inputs = module.transformed_data(N=3)
    copied = {name: value.copy() if hasattr(value, "copy") else value for name, value in inputs.items()}
    assert float(module.generated_quantities(**copied, mu=0.0)["kept"]) == float(inputs["drawn"]) + 3
