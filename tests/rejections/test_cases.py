"""Where Stan throws, the log density is -inf and data are an error; where it does not, the value is Stan's.

Stan itself says where it throws (stanli: Stan's own arithmetic).
"""
from __future__ import annotations

import functools
import math

import cases
import numpy as np
import pytest

import stanimport
from stanlib.errors import StanError, StanRuntimeError

RELATIVE = 1e-6
PARTS = ("abcd", "efghijkl", "mnop", "qrstuvwxyz")  # what the names of cases begin with


@functools.cache
def all_cases():
    """Those whose functions stanli has, and which have a finite value where Stan does not throw."""
    made = [*cases.of_functions(), *cases.BY_HAND]
    return [c for c in made if of_stan(c) and of_stan(c)[0][0] > -math.inf]


@functools.cache
def of_stan(case):
    """The value that Stan gives at each point and whether it throws there; nothing if stanli can not tell."""
    if case.stan:
        return [(value, value == -math.inf) for value in case.stan]
    stanli = pytest.importorskip("stanli")
    try:
        model = stanli.Model(stan_code=case.model, data={})
    except RuntimeError:
        return ()
    return [_value(model, p) for p in case.points]


def _value(model, point):
    """Value, and whether Stan throws."""
    try:
        value = float(model.log_prob_grad(np.array(point))[0])
    except RuntimeError:
        return -math.inf, True
    return (-math.inf if math.isnan(value) else value), False


def differences(case, values):
    """A line for each point at which a value is not Stan's."""
    for point, value, (expected, _) in zip(case.points, values, of_stan(case)):
        if not (value == expected or abs(value - expected) <= RELATIVE * max(1, abs(expected))):
            yield f"{case.name}:{case.lines} at {point}: {value}, not {expected}"


def test_there_are_cases_of_every_kind():
    made = all_cases()
    assert len(made) > 0.85 * len([*cases.of_functions(), *cases.BY_HAND]) > 300
    assert len({c.name for c in made}) == len(made)
    assert {c.name[0].lower() for c in made} <= set("".join(PARTS))
    assert sum(any(thrown for _, thrown in of_stan(c)) for c in made) > 0.9 * len(made)


@pytest.fixture
def x64_everywhere():
    """JAX in double precision in all threads: those that call the host back too."""
    import jax

    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("part", PARTS)
def test_compiled_log_densities(part, x64_everywhere):
    """All but the distribution functions, whose arguments are checked by the same code."""
    import jax
    from numpyro.infer.util import log_density

    def value(module):
        return lambda x: log_density(module.model, (), {}, {"x": x})[0]

    made = [c for c in all_cases() if "cdf: " not in c.name and c.name[0].lower() in part]
    models = [value(stanimport.loads(c.model)) for c in made]
    points = [np.array(c.points) for c in made]
    program = jax.jit(lambda ps: [jax.vmap(f)(p) for f, p in zip(models, ps)]).lower(points)
    results = program.compile({"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True})(points)
    assert [line for case, values in zip(made, results) for line in differences(case, values)] == []


def test_log_densities_on_torch(torch_double):
    from pyro import poutine

    def value(model, point):
        x = torch_double.tensor(point, dtype=torch_double.float64)
        return float(poutine.trace(poutine.condition(model, data={"x": x})).get_trace().log_prob_sum())

    wrong = []
    for case in all_cases():
        model = stanimport.loads(case.model, backend="pyro").model
        try:
            wrong += differences(case, [value(model, p) for p in case.points])
        except StanError as e:
            wrong.append(f"{case.name}:{case.lines} {e}")
    assert wrong == []


@pytest.mark.sampled(2)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_by_data_alone_it_is_an_error_that_names_the_line(backend):
    wrong = []
    for case in all_cases():
        module = stanimport.loads(case.quantities, backend=backend)
        for point, (expected, thrown) in zip(case.points, of_stan(case)):
            shown = _raised(module, point)
            if shown != ("located" if thrown else "") and expected > -math.inf or thrown and not shown:
                wrong.append(f"{case.name}:{case.lines} at {point}: {shown}, not {expected}")
    assert wrong == []


def _raised(module, point):
    """"" if there is no error, "located" for one of this package's that names the place, else its text."""
    try:
        module.transformed_data(x=np.array(point))
    except StanError as e:
        told = e.place is not None and e.place.line in (1, 5) and e.place.column
        return "located" if told and not isinstance(e, StanRuntimeError) else str(e)
    return ""
