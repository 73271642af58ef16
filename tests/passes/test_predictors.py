"""Linear predictors as products: what the pass makes of sums, and that densities and gradients stay."""
from __future__ import annotations

import jax
import loop_programs as programs
import numpy as np
import pytest
from numpyro.infer.util import log_density

from stanimport import pipeline
from stanimport.ir import printer
from stanimport.ir.fresh import Fresh
from stanimport.source import Source

DATA = "data { int N; vector[N] x; array[N] real w; array[N] int k; array[N] int<lower=1, upper=3> g; vector[N] y; }"
PARAMETERS = "parameters { real a; real b; vector[3] c; real<lower=0> s; }"
MODELS = {  # the model block, and what becomes of the sum
    "vectors": ("y ~ normal(a + b * x + c[1] * (x .* x), s);",
                "predictor([b, c[1]], [x, (x * x)], a)"),
    "reversed": ("y ~ normal(x * b + (a + c[1]), s);", "predictor([b], [x], a, c[1])"),
    "offset": ("y ~ normal(x + b * x + c[2] * to_vector(k), s);", "predictor([b, c[2]], [x, to_vector(k)], x)"),
    "in a loop": ("for (n in 1:N) y[n] ~ normal(a + b * w[n] + c[2] * k[n], s);",
                  "predictor([b, c[2]], [w[n], k[n]], a)"),
    "by group": ("for (n in 1:N) y[n] ~ normal(c[g[n]] + a + b * x[n], s);", "predictor([b], [x[n]], c[g[n]], a)"),
    "local": ("for (n in 1:N) { real z = w[n] / 2; y[n] ~ normal(a + b * z, s); }", "predictor([b], [z], a)"),
    "on a condition": ("for (n in 1:N) if (x[n] > 0) y[n] ~ normal(a + b * x[n] + c[1] * w[n], s);",
                       "predictor([b, c[1]], [x[n], w[n]], a)"),
    "on a traced condition": ("for (n in 1:N) if (x[n] > a) y[n] ~ normal(a + b * x[n] + c[1] * w[n], s);",
                              "predictor([b, c[1]], [x[n], w[n]], a)"),
}  # fmt: skip
OTHERS = {  # sums that stay as they are
    "one product": "y ~ normal(b * x + y, s);",
    "numbers": "target += a + b * N;",
    "coefficients of groups": "for (n in 1:N) y[n] ~ normal(c[g[n]] + c[g[n]] * x[n], s);",
}


def program(body: str) -> str:
    return f"{DATA}\n{PARAMETERS}\nmodel {{ {body} }}"


def shown(body: str) -> str:
    source, options, names = Source("p.stan", program(body)), pipeline.Options(scheme="comprehensive"), Fresh()
    compiled = pipeline.compile_program(pipeline.analyse(source)[0], options, names)
    made = pipeline.bodies(compiled, names, options)
    return "\n".join(printer.block(body) for _, body in made)


def value_and_gradient(body: str, count: int, without: tuple[str, ...] = ()):
    module, rng = programs.translated(program(body), without=without), np.random.default_rng(3)
    data = {"N": count, "g": rng.integers(1, 4, count), "k": rng.integers(-3, 4, count)}
    inputs = module.transformed_data(**data, **{n: rng.normal(size=count) for n in "xwy"})
    at = {"a": 0.3, "b": -0.6, "c": np.array([0.2, -0.4, 1.1]), "s": 0.8}
    return jax.value_and_grad(lambda p: log_density(module.model, (), inputs, p)[0])(at)


@pytest.mark.parametrize("name", MODELS)
def test_sums_become_predictors(name):
    body, expected = MODELS[name]
    assert expected in shown(body)


@pytest.mark.parametrize("name", OTHERS)
def test_other_sums_stay(name):
    assert "predictor" not in shown(OTHERS[name])


@pytest.mark.sampled(4)
@pytest.mark.parametrize("count", [5, 100])
@pytest.mark.parametrize("name", MODELS)
def test_density_and_gradient_are_those_of_the_sum(name, count, x64):
    found, expected = (value_and_gradient(MODELS[name][0], count, w) for w in ((), ("predictors",)))
    for one, other in zip(*map(jax.tree.leaves, (found, expected))):
        np.testing.assert_allclose(one, other, rtol=1e-11)


def test_many_observations_are_one_product(x64):
    module = programs.translated(program(MODELS["vectors"][0]))
    inputs = module.transformed_data(N=100, g=[1] * 100, k=[1] * 100, **{n: np.linspace(0, 1, 100) for n in "xwy"})
    at = {"a": 0.3, "b": -0.6, "c": np.zeros(3), "s": 0.8}
    jaxpr = str(jax.make_jaxpr(lambda p: log_density(module.model, (), inputs, p)[0])(at))
    assert jaxpr.count("dot_general") == 1


@pytest.mark.parametrize("body", ["y ~ normal(a + b * x + c[1] * x[1:3], s);", "y ~ normal(x[1:3] + b * x + a, s);"])
def test_sizes_that_differ_raise(body, x64):
    with pytest.raises(Exception, match=r"\bsize"):
        value_and_gradient(body, 100)


def test_vectors_in_every_lane(x64):
    body = "for (n in 1:N) target += sum(a + b * x + c[g[n]] * x + c[g[n]] * w[n]);"
    found, expected = (value_and_gradient(body, 70, w) for w in ((), ("predictors",)))
    for one, other in zip(*map(jax.tree.leaves, (found, expected))):
        np.testing.assert_allclose(one, other, rtol=1e-11)
