"""Calls of a module's functions as they are tried first: data without names, a model without a key."""
from __future__ import annotations

import math

import numpy as np
import pytest

import stanimport
from stanlib.errors import StanError, StanUnsupportedError

PROGRAM = "data {{ int N; }} parameters {{ real a; }} model {{ {} }} generated quantities {{ real b = a + N; }}"


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("name", ["transformed_data", "model", "generated_quantities"])
def test_data_without_names(backend, name):
    module = stanimport.loads(PROGRAM.format("a ~ normal(0, 1);"), backend=backend)
    with pytest.raises(TypeError, match=rf"{name}\(\) takes values by their names: {name}\(\*\*data\)"):
        getattr(module, name)({"N": 1})


@pytest.mark.parametrize("prior", [
    "a ~ normal(0, 1);", "a ~ skew_double_exponential(0, 1, 0.5);", "a ~ normal(0, 1) T[0, ];", "",
])
def test_a_model_on_numpyro_without_a_key(prior):
    """With and without handlers around, for laws of NumPyro's and of this package, and without one."""
    from numpyro import handlers

    module = stanimport.loads(PROGRAM.format(prior))
    for run in (module.model, handlers.trace(module.model).get_trace):
        with pytest.raises(StanUnsupportedError, match=r"a has no value.*handlers\.seed\(model, key\).*line 1"):
            run(N=1)


@pytest.mark.parametrize("guide, said", [
    ("guide parameters { real m; } guide { a ~ normal(m, 1); }", "m has no value"),
    ("guide parameters { real m = 2; } guide { a ~ normal(m, 1); }", "m has no value|a has no value"),
    ("guide { b ~ normal(0, 1); }", r"(a\$loc|b) has no value"),
])  # fmt: skip
def test_a_guide_on_numpyro_without_a_key(guide, said):
    """Where it starts from what it learned it needs none."""
    import jax.numpy as jnp
    from numpyro import handlers

    module = stanimport.loads(f"parameters {{ real a; real b; }} model {{ a + b ~ normal(0, 1); }} {guide}")
    for run in (module.guide, handlers.trace(module.guide).get_trace):
        with pytest.raises(StanUnsupportedError, match=rf"({said}).*handlers\.seed\(model, key\).*line 1"):
            run()
    values = {"m": 2.0, "a$loc": 2.0, "b$loc": 2.0, "a": 0.5, "b": 1.5}
    known = {name: jnp.array(value) for name, value in values.items()}
    assert float(handlers.substitute(module.guide, data=known)()["a"]) == 0.5


def test_without_a_law_a_key_does_not_help():
    from numpyro import handlers

    module = stanimport.loads(PROGRAM.format(""))
    with pytest.raises(StanUnsupportedError, match="no law of this parameter can be drawn from"):
        handlers.seed(module.model, 0)(N=1)


def test_data_that_jit_takes_as_arguments_are_told():
    """Their sizes can't be known then; bound before, they are."""
    import functools

    import jax
    from numpyro.infer.util import log_density

    program = stanimport.loads("data { int N; vector[N] y; } parameters { vector[N] m; } model { y ~ normal(m, 1); }")
    data = program.transformed_data(N=2, y=[1.0, 2.0])
    density = lambda m, **data: log_density(program.model, (), data, {"m": m})[0]
    m = np.array([0.5, 0.7])
    with pytest.raises(StanError, match="known only at run time") as caught:
        jax.jit(density)(m, **data)
    assert any("['N']" in note and "functools.partial" in note for note in caught.value.__notes__)
    expected = -0.5 * ((1 - 0.5) ** 2 + (2 - 0.7) ** 2) - math.log(2 * math.pi)
    assert float(jax.jit(functools.partial(density, **data))(m)) == pytest.approx(expected, rel=1e-5)


SHAPED = """data { int<lower=1> N; vector[N] y; }
transformed data { real<lower=0> total = sum(y); }
parameters { real mu; vector[2] b; }
model { b ~ normal(0, 1); y ~ normal(mu, 1); }
guide { mu ~ normal(total, 1); b ~ normal(0, 1); }
generated quantities { if (mu > 5) reject("too large"); }
"""
RIGHT = {"N": 1, "y": [1.0], "mu": 1.0, "b": [1.0, 2.0]}
WRONG = {
    "y is missing.*line 1": {"y": ...}, "y must have shape": {"y": [1.0, 2.0]}, "N is out of bounds": {"N": 0},
    r"total is -3\.0": {"y": [-3.0]}, "N must be of type int": {"N": 1.5},
}  # fmt: skip
DRAWS = {
    r"b has a value of sizes \(3,\): declared as `vector\[2\] b` in .*, line 3": {"b": [1.0, 2.0, 3.0]},
    "b must hold numbers, not None: declared .*, line 3": {"b": None},
    "b is ragged.*line 3": {"b": [[1.0], [2.0, 3.0]]}, "mu must hold numbers, not 'a'.*line 3": {"mu": "a"},
    "too large.*line 6": {"mu": 6.0}, "the draw lacks parameter b": {"b": ...},
}  # fmt: skip
CALLS = [(f, *c) for f in ("transformed_data", "model", "guide", "generated_quantities") for c in WRONG.items()]


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("function, message, changed", [*CALLS, *(("generated_quantities", *c) for c in DRAWS.items())])
def test_errors_show_no_lines_of_the_packages(backend, function, message, changed):
    module = stanimport.loads(SHAPED, name="shaped", backend=backend)
    given = {n: v for n, v in {**RIGHT, **changed}.items() if v is not ...}
    with pytest.raises(StanError, match=message) as caught:
        getattr(module, function)(**given)
    called, *rest = [str(entry.path) for entry in caught.traceback if not entry.ishidden(caught)]
    assert called == __file__ and len(rest) <= 2 and all("shaped" in name for name in rest)
