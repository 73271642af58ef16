"""Values that handlers give parameters have the sizes that the program declares; a plate around a model is refused."""
from __future__ import annotations

import numpy as np
import pytest

import stanimport

SOURCE = "parameters { vector[3] b; real a; } model { b ~ normal(a, 1); }"
WRONG = {"b": [(1,), (2,), (), (1, 3)], "a": [(1,), (3,)]}
CASES = [(name, shape) for name, shapes in WRONG.items() for shape in shapes]


def values(name, shape):
    return {"b": np.zeros(3), "a": np.zeros(()), name: np.zeros(shape)}


@pytest.mark.parametrize("scheme", ["comprehensive", "mixed"])
@pytest.mark.parametrize("name, shape", CASES)
def test_numpyro(name, shape, scheme, x64):
    from numpyro import handlers

    model = stanimport.loads(SOURCE, scheme=scheme).model
    with pytest.raises(stanimport.StanError, match=name):
        handlers.trace(handlers.substitute(model, data=values(name, shape))).get_trace()


@pytest.mark.parametrize("scheme", ["comprehensive", "mixed"])
@pytest.mark.parametrize("name, shape", CASES)
def test_pyro(name, shape, scheme, torch_double):
    from pyro import poutine

    model = stanimport.loads(SOURCE, backend="pyro", scheme=scheme).model
    given = {k: torch_double.as_tensor(v) for k, v in values(name, shape).items()}
    with pytest.raises(stanimport.StanError, match=name):
        poutine.trace(poutine.condition(model, data=given)).get_trace()


def test_a_plate_around_a_model_is_refused_on_numpyro(x64):
    """As on Pyro: what is one value of the program would be several."""
    import numpyro
    from numpyro import handlers

    source = "data { vector[3] y; } parameters { real m; } model { m ~ normal(0, 1); y ~ normal(m, 1); }"
    model = stanimport.loads(source).model

    def several():
        with numpyro.plate("studies", 3):
            model(y=[1.0, 2.0, 3.0])

    with pytest.raises(stanimport.StanError, match="one draw at a time.*studies"):
        handlers.seed(several, 0)()


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_draws_that_generated_quantities_take(backend, x64, torch_double):
    source = """
        data { int N; }
        parameters { vector[N] b; real s; simplex[3] p; vector[N * (N - 1)] u; array[2] tuple(real, vector[N + 1]) t; }
        generated quantities { real x = sum(b) + s + sum(p) + t[1].1 + sum(t[2].2); }"""
    module = stanimport.loads(source, backend=backend)
    draw = {"b": [1.0, 2.0], "s": 0.5, "p": [0.2, 0.3, 0.5], "u": np.zeros(2), "t": (np.ones(2), np.ones((2, 3)))}
    assert float(module.generated_quantities(N=2, **draw)["x"]) == pytest.approx(8.5)
    wrong = {"b": [1.0], "s": [0.5], "p": [0.5, 0.5], "u": np.zeros(3), "t": (np.ones(2), np.ones((2, 2)))}
    for name, value in wrong.items():
        with pytest.raises(stanimport.StanDataError, match=name):
            module.generated_quantities(N=2, **{**draw, name: value})


OBSERVING = "data { vector[3] y; } parameters { real m; } model { y ~ normal(m, 1); }"


@pytest.mark.parametrize("shape", [(), (1,), (6,), (2, 3)])
def test_observations_that_handlers_give(shape, x64, torch_double):
    import pyro
    from numpyro import handlers

    model, other = (stanimport.loads(OBSERVING, backend=b).model for b in ("numpyro", "pyro"))
    given, inputs = {"m": np.zeros(()), "y": np.zeros(shape)}, {"y": [1.0, 2.0, 3.0]}
    with pytest.raises(stanimport.StanDataError, match="y is declared with sizes"):
        handlers.trace(handlers.condition(model, data=given)).get_trace(**inputs)
    tensors = {k: torch_double.as_tensor(v) for k, v in given.items()}
    with pytest.raises(stanimport.StanDataError, match="y is declared with sizes"):
        pyro.poutine.trace(pyro.poutine.condition(other, data=tensors)).get_trace(**inputs)


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_sizes_that_are_called_as_constants_of_python(backend, x64, torch_double):
    source = """data { int True; int None; } parameters { matrix[True, 2 * None] False; }
    model { to_vector(False) ~ normal(0, 1); } generated quantities { real x = sum(False); }"""
    module, data = stanimport.loads(source, backend=backend), {"True": 2, "None": 1}
    assert float(module.generated_quantities(**data, **{"False": np.ones((2, 2))})["x"]) == 4
    with pytest.raises(stanimport.StanDataError, match=r"False has a value of sizes \(1, 2\)"):
        module.generated_quantities(**data, **{"False": np.ones((1, 2))})
