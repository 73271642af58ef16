"""Every function that draws random numbers, in loops and functions: each iteration draws by its own parameters.

Half of the iterations have one set of parameters, half another. Their draws are compared with those of the function by
itself, by the statistic of Kolmogorov and Smirnov on a sum of the components with weights.
"""
from __future__ import annotations

import contextlib
import functools
import traceback
import warnings

import numpy as np
import pytest
from calls import lifted, overload_of, value_or_none
from programs import declared, double
from scipy.stats import ks_2samp

import stanimport
from stanlib import registry
from stanlib.random.numpy import NumpyRandom
from stanlib.types import INT, scalar_of

registry.load()
RNGS = [f for f in registry.SYMBOLS.values() if f.random and not f.raw]
LANES, ALONE = 60, 300
LEAST = 1e-6  # the probability of a greater difference
SIZE = 30  # functions in one program
CONTEXTS = ("fixed", "all", "some", "carried", "own")
OF_HMM = ([[-0.5, 0.2, -1.0], [0.3, -2.0, 0.1]], [[0.9, 0.1], [0.3, 0.7]], [0.6, 0.4])


def arguments(f):
    """Two sets of parameters, the second as different from the first as it can be."""
    if f.distribution is None:
        return np.array(OF_HMM[0]), np.array(OF_HMM[1]), np.array(OF_HMM[2])
    examples = [tuple(np.array(a) if isinstance(a, list) else a for a in e[1:]) for e in f.distribution.examples]
    if f.name == "bernoulli_logit_glm_rng":
        x, alpha, beta = examples[0]
        return x, np.array([alpha, alpha]), beta
    if f.name in ("multinomial_rng", "dirichlet_multinomial_rng", "multinomial_logit_rng"):
        return examples[0][0], 4
    if f.name.startswith("lkj_corr"):
        return 2, examples[0][0]
    return examples[0]


def sets(f):
    first = arguments(f)
    for factor in (3.0, 0.3, 0.9):
        second = tuple(a * factor if np.asarray(a).dtype.kind == "f" else a for a in first)
        drawn = value_or_none(lambda: f(NumpyRandom(np.random.default_rng(0)), *second))
        if drawn is not None and np.isfinite(drawn).all():
            return first, second
    return first, first


def written(f, i):
    """The parts of a program for a function: declarations, statements and values."""
    pair = sets(f)
    o = overload_of(f, pair[0])
    lanes = [pair[n % 2] for n in range(LANES)]
    shape = np.shape(f(NumpyRandom(np.random.default_rng(0)), *pair[0]))
    count = range(len(pair[0]))
    free = [scalar_of(t) != INT for t in o.types]
    arrays = [np.stack([np.asarray(a[k], float if free[k] else None) for a in lanes]) for k in count]
    several = lambda t, name, own: declared(lifted(t), name, (LANES, *own))
    data = " ".join(several(t, f"d{i}_{k}", arrays[k].shape[1:]) for k, t in enumerate(o.types))
    parameters = " ".join(several(t, f"p{i}_{k}", arrays[k].shape[1:]) for k, t in enumerate(o.types) if free[k])
    fixed = [f"d{i}_{k}[n]" for k in count]
    given = [f"{'p' if free[k] else 'd'}{i}_{k}[n]" for k in count]
    late = [f"{g} + 0 * z" if free[k] and not str(o.types[k]).startswith("array") else g for k, g in enumerate(given)]
    first = f"r[{', '.join('1' for _ in shape)}]" if shape else "r"
    loop, result = f"for (n in 1:{LANES})", lambda name: several(o.result, f"{name}{i}", shape)
    call = lambda args, name=f.name: f"{name}({', '.join(args)})"
    parameters_of = ", ".join(f"{t} a{k}" for k, t in enumerate(o.types))
    return {
        "functions": f"{o.result} f{i}_rng({parameters_of}) {{ return {call([f'a{k}' for k in count])}; }}",
        "data": data, "transformed": f"{result('fixed')} {loop} fixed{i}[n] = {call(fixed)};", "parameters": parameters,
        "quantities": f"{result('all')} {loop} all{i}[n] = {call(given)}; "
        f"{result('some')} {loop} if (w[n] > 0) some{i}[n] = {call(given)}; "
        f"{result('own')} {loop} own{i}[n] = {call(given, f'f{i}_rng')}; "
        f"{result('carried')} {{ real z = 0; {loop} {{ {declared(o.result, 'r', shape)[:-1]} = {call(late)}; "
        f"z = 0.5 * z + {first}; carried{i}[n] = r; }} }}",
        "inputs": {f"d{i}_{k}": a for k, a in enumerate(arrays)},
        "draw": {f"p{i}_{k}": a for k, a in enumerate(arrays) if free[k]},
    }  # fmt: skip


def program(parts):
    blocks = ("functions", "data", "transformed", "parameters", "quantities")
    lines = {block: "\n".join(p[block] for p in parts) for block in blocks}
    return """functions {{ {functions} }}
data {{ {data} }} transformed data {{ {transformed} }} parameters {{ array[{count}] real w; {parameters} }}
generated quantities {{ {quantities} }}""".format(count=LANES, **lines)


def run(functions, backend):
    parts = [written(f, i) for i, f in enumerate(functions)]
    with warnings.catch_warnings(), double(backend):
        warnings.simplefilter("ignore")
        module = stanimport.loads(program(parts), backend=backend)
        with seeded(backend):
            inputs = module.transformed_data(**{k: v for p in parts for k, v in p["inputs"].items()})
            draw = {"w": weights(), **{k: v for p in parts for k, v in p["draw"].items()}}
            return {**inputs, **_QUANTITIES[backend](module, inputs, draw)}


def weights():
    """Of both sets of parameters two iterations out of three."""
    return np.where(np.arange(LANES) % 3 == 0, -1.0, 1.0)


@contextlib.contextmanager
def seeded(backend):
    if backend == "numpyro":
        from numpyro.handlers import seed

        with seed(rng_seed=0):
            yield
        return
    import torch

    with torch.random.fork_rng():
        torch.manual_seed(0)
        yield


def on_jax(module, inputs, draw):
    from numpyro.handlers import seed

    made = seed(module.generated_quantities, 1)(**inputs, **draw)
    return {k: np.asarray(v) for k, v in made.items()}


def on_torch(module, inputs, draw):
    import torch

    made = module.generated_quantities(**inputs, **{k: torch.as_tensor(v) for k, v in draw.items()})
    return {k: np.asarray(v) for k, v in made.items()}


_QUANTITIES = {"numpyro": on_jax, "pyro": on_torch}


@functools.cache
def batch(number, backend):
    return outcomes(RNGS[number * SIZE : (number + 1) * SIZE], backend)


def outcomes(functions, backend):
    """The draws of every function by context, or what went wrong."""
    try:
        made = run(functions, backend)
    except Exception:
        if len(functions) == 1:
            return {functions[0].symbol: traceback.format_exc(limit=-6)}
        half = len(functions) // 2
        return outcomes(functions[:half], backend) | outcomes(functions[half:], backend)
    return {f.symbol: {c: np.asarray(made[f"{c}{i}"]) for c in CONTEXTS} for i, f in enumerate(functions)}


@functools.cache
def alone(symbol):
    """Draws of a function by itself, for both sets of parameters."""
    f = registry.by_symbol(symbol)
    random = NumpyRandom(np.random.default_rng(7))
    return [projected(np.array([f(random, *a) for _ in range(ALONE)])) for a in sets(f)]


def projected(draws):
    flat = np.asarray(draws, float).reshape(len(draws), -1)
    return flat @ np.cos(np.arange(flat.shape[1]))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("function", RNGS, ids=lambda f: f.symbol)
def test_every_iteration_draws_by_its_parameters(function, backend):
    got = batch(RNGS.index(function) // SIZE, backend)[function.symbol]
    assert not isinstance(got, str), got
    for context in CONTEXTS:
        chosen = weights() > 0 if context == "some" else np.ones(LANES, bool)
        for k, wanted in enumerate(alone(function.symbol)):
            draws = got[context][chosen & (np.arange(LANES) % 2 == k)]
            assert ks_2samp(projected(draws), wanted).pvalue > LEAST, f"{context}, parameters {k + 1}"
        if len(set(alone(function.symbol)[0])) == ALONE:
            drawn = projected(got[context][chosen])
            assert len(set(drawn)) == len(drawn), f"{context}: iterations share their draws"
