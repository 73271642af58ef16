"""A model that is called with None for data draws them, or says which it can't draw and why."""
from __future__ import annotations

import numpy as np
import pytest

import stanimport
from stanimport import StanDataError

N = 4
LINE = """
    data { int N; vector[N] x; vector[N] y; array[N] int<lower=0, upper=1> k; }
    transformed data { real shift = normal_rng(0, 100); }
    parameters { real a; real<lower=0> s; }
    model {
      a ~ normal(0, 5);
      s ~ exponential(1);
      y ~ normal(a + x + shift, s);
      for (n in 1:N) k[n] ~ bernoulli_logit(50 * x[n]);
    }
"""
DATA = {"N": N, "x": [-1.0, 1.0, 2.0, -2.0], "y": [9.0] * N, "k": [1, 0, 0, 1]}
DRAWS = {"a": [10.0, 20.0], "s": [1e-3, 1e-3]}


def _predicted(backend, model, draws, given, **options):
    """What Predictive of a backend makes of draws, as NumPy's arrays."""
    if backend == "numpyro":
        import jax
        from numpyro.infer import Predictive

        predictive = Predictive(model, {n: np.array(v) for n, v in draws.items()} or None, **options)
        made = predictive(jax.random.PRNGKey(1), **given)
    else:
        import torch
        from pyro.infer import Predictive

        made = Predictive(model, {n: torch.tensor(v) for n, v in draws.items()} or None, **options)(**given)
    return {n: np.asarray(v) for n, v in made.items()}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("scheme", ["comprehensive", "mixed", "generative"])
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_none_is_drawn(backend, scheme, x64, torch_double):
    module = stanimport.loads(LINE, backend=backend, scheme=scheme)
    inputs = module.transformed_data(**DATA)
    made = _predicted(backend, module.model, DRAWS, {**inputs, "y": None, "k": None})
    expected = np.array(DRAWS["a"])[:, None] + inputs["x"] + float(inputs["shift"])
    assert made["y"] == pytest.approx(expected, abs=0.01) and (np.diff(made["y"] - expected) != 0).all()
    assert made["k"].tolist() == [[0, 1, 1, 0]] * 2
    half = _predicted(backend, module.model, DRAWS, {**DATA, "y": None})
    assert half["k"].tolist() == [DATA["k"]] * 2 and (half["y"] != 9).all()
    assert np.diff(half["y"] - np.array(DRAWS["a"])[:, None] - DATA["x"]) == pytest.approx(0, abs=0.02)


def test_pyros_parallel_draws_are_those_of_each(torch_double):
    module = stanimport.loads(LINE, backend="pyro")
    inputs = module.transformed_data(**DATA)
    made = _predicted("pyro", module.model, DRAWS, {**inputs, "y": None, "k": None}, parallel=True)
    expected = np.array(DRAWS["a"])[:, None] + inputs["x"] + float(inputs["shift"])
    assert made["y"] == pytest.approx(expected, abs=0.01) and made["k"].tolist() == [[0, 1, 1, 0]] * 2


@pytest.mark.sampled(2)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_draws_from_the_prior_draw_it_too(backend, x64, torch_double):
    module = stanimport.loads(LINE, backend=backend)
    given = {**module.transformed_data(**DATA), "y": None}
    made = _predicted(backend, module.model, {}, given, num_samples=300)
    rest = made["y"] - made["a"].reshape(-1, 1) - DATA["x"] - float(given["shift"])
    assert rest.std() == pytest.approx(np.sqrt(2), rel=0.3)  # a normal of an exponential scale


def test_matrices_and_vectors_are_drawn_as_they_stand(x64):
    module = stanimport.loads("""
        data { int N; int M; matrix[N, M] y; array[N] vector[2] v; real one; }
        parameters { real a; }
        model {
          a ~ normal(0, 1);
          for (i in 1:N) for (j in 1:M) y[i, j] ~ normal(10 * i + j, 1e-6);
          v ~ multi_normal([1, 2]', diag_matrix([1e-9, 1e-9]'));
          one ~ normal(1, 1e-6);
        }
    """)
    data = {"N": 2, "M": 3, "y": None, "v": None, "one": None}
    made = _predicted("numpyro", module.model, {"a": [0.0]}, data)
    assert made["y"][0] == pytest.approx(np.array([[11, 12, 13], [21, 22, 23]]), abs=1e-4)
    assert made["v"][0] == pytest.approx(np.array([[1, 2], [1, 2]]), abs=1e-3)
    assert made["one"][0] == pytest.approx(1, abs=1e-4)


REFUSED = {
    "log(y) ~ normal(a, 1);": "line 3 reads it",
    "y[2:N] ~ normal(a, 1);": "a part of it",
    "for (n in 1:N) y[order[n]] ~ normal(a + n, 1);": "in another order",
    "y[2:N] ~ normal(a * y[1 : N - 1], 1);": "line 3 reads it",
    "y ~ normal(a, 1); y ~ normal(0, 1);": "more than once",
    "target += normal_lpdf(y | a, 1) + 1;": "line 3 reads it",
    "y ~ mine(a);": "by the program itself",
    "for (n in 1:N) if (y[n] > 0) y[n] ~ normal(a, 1);": "line 3 reads it",
    "real h = a; for (n in 1:N) { y[n] ~ normal(h, 1); h = sin(a * h) + 1; }": "in a loop",
    "y ~ normal(a, 1); if (target() > 0) a ~ normal(0, 1);": "reads target()",
    "a ~ normal(0, 1);": "no statement `~` draws it",
}


@pytest.mark.parametrize("statements", REFUSED)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_what_it_can_not_draw_is_told(backend, statements, x64, torch_double):
    module = stanimport.loads(f"""functions {{ real mine_lpdf(vector y, real a) {{ return normal_lpdf(y | a, 1); }} }}
        data {{ int N; vector[N] y; array[N] int order; }} parameters {{ real a; }}
        model {{ {statements} }}""", backend=backend)
    given = {"N": N, "y": None, "order": [2, 1, 3, 4]}
    with pytest.raises(StanDataError, match="^y is None, and the model of .* can't draw it") as told:
        _predicted(backend, module.model, {"a": [0.5]}, given)
    assert REFUSED[statements] in str(told.value)


@pytest.mark.parametrize("block, reason", [
    ("transformed data { real m = mean(y); }", "sizes, domains or transformed data"),
    ("transformed data { int N2 = N; }", "sizes, domains or transformed data"),
])
def test_what_others_are_computed_from_is_told(block, reason, x64):
    module = stanimport.loads(f"""data {{ int N; vector[N] y; }} {block}
        parameters {{ real a; }} model {{ y ~ normal(a, 1); N ~ poisson(3); }}""")
    name = "N" if "N2" in block else "y"
    with pytest.raises(StanDataError, match=f"{name} is None, .*{reason}"):
        _predicted("numpyro", module.model, {"a": [0.5]}, {"N": 2, "y": [1.0, 2.0], name: None})


def test_discrete_parameters_are_named_as_the_reason(x64):
    module = stanimport.loads("""data { real y; } parameters { int<lower=0, upper=1> z; real a; }
        model { z ~ bernoulli(0.5); a ~ normal(0, 1); y ~ normal(a + z, 1); }""")
    with pytest.raises(StanDataError, match="where discrete parameters are summed out"):
        _predicted("numpyro", module.model, {"a": [0.5]}, {"y": None})


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_guides_take_none_for_what_they_do_not_read(backend, x64, torch_double):
    plain = """data { int N; vector[N] y; } parameters { real a; } model { a ~ normal(0, 1); y ~ normal(a, 1e-3); }
        guide parameters { real m; } guide { a ~ normal(MEAN, 1e-3); }"""
    import pyro

    for mean, fails in (("m", False), ("m + mean(y)", True)):
        module = stanimport.loads(plain.replace("MEAN", mean), backend=backend)
        pyro.clear_param_store()
        options = {"guide": module.guide, "num_samples": 3} | ({"params": {"m": 2.0}} if backend == "numpyro" else {})
        if fails:
            with pytest.raises(StanDataError, match="line 2 reads it elsewhere"):
                _predicted(backend, module.model, {}, {"N": 2, "y": None}, **options)
        else:
            made = _predicted(backend, module.model, {}, {"N": 2, "y": None}, **options)
            assert made["y"].reshape(3, 2).std() < 0.1


def test_methods_of_inference_refuse_none():
    module = stanimport.loads(LINE)
    with pytest.raises(StanDataError, match="y must hold numbers, not None, which module.model alone takes"):
        stanimport.sample(module, {**DATA, "y": None}, chains=1)
