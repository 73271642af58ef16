"""Every function that draws random numbers: two calls of one iteration, and those of all iterations, are independent.

The same call stands twice wherever a program can have it: in loops, in loops inside of loops, in a function of the
program and in one that calls itself, under conditions on parameters, in loops that parameters end, and for all elements
of an array at once. As all have the same parameters, draws that share random numbers are equal or move together.
"""
from __future__ import annotations

import functools
import warnings

import numpy as np
import pytest
from calls import lifted, overload_of
from programs import declared, double
from scipy.stats import rankdata
from test_random_functions import RNGS, arguments, on_torch, projected, seeded

import stanimport
from stanlib.random.numpy import NumpyRandom
from stanlib.types import INT, REAL, is_scalar, scalar_of

COUNT = 100  # iterations
MOST = 5.5  # standard errors that a correlation may be away from 0: 1 of 3e7
SIZE = 20  # functions in one program
LOOP = f"for (n in 1:{COUNT})"
CONTEXTS = {
    "pair": "{loop} {both}",
    "inner": "{loop} for (k in 1:2) {name}[n, k] = {call};",
    "own": "{loop} {name}[n] = own{i}_rng({given});",
    "itself": "{loop} {name}[n] = itself{i}_rng({given}, 2);",
    "branch": "{loop} if (w > 0) {both} else {name}[n] = pair{i}[n];",
    "ended": "{{ int n = 0; while (n < w * {count}) {{ n += 1; {both} }} }}",
    "carried": "{{ real z = w; {loop} {{ z = 0.5 * z + 1; if (z > 0) {both} }} }}",
}
FOR_ALL = ("pair", "own", "carried")  # the others, which take long to trace, are for some functions
IN_ALL = ("std_normal_rng", "gamma_rng", "poisson_rng", "categorical_rng", "multi_normal_rng", "hmm_latent_rng")
FUNCTIONS = """
    {result} own{i}_rng({parameters}) {{ return {{{call}, {call}}}; }}
    {result} itself{i}_rng({parameters}, int k) {{
      if (k == 1) return {{{call}}};
      return append_array({{{call}}}, itself{i}_rng({given}, k - 1));
    }}"""


def contexts(f):
    return CONTEXTS if f.name in IN_ALL else FOR_ALL


def written(f, i):
    """The parts of a program for a function, and the values that it takes."""
    values = (*arguments(f), 1.0)  # the last one is of no argument, so that no list of them is empty
    overload = overload_of(f, values[:-1])
    types = (*overload.types, REAL)
    names = [f"{'d' if scalar_of(t) == INT else 'p'}{i}_{k}" for k, t in enumerate(types)]
    shape = np.shape(f(NumpyRandom(np.random.default_rng(0)), *values[:-1]))
    call = f"{f.name}({', '.join(names[:-1])})"
    texts = {
        "i": i, "call": call, "given": ", ".join(names), "loop": LOOP, "count": COUNT,
        "result": lifted(overload.result),
        "parameters": ", ".join(f"{t} {name}" for t, name in zip(types, names)),
    }  # fmt: skip
    both = lambda name: f"{{ {name}[n, 1] = {call}; {name}[n, 2] = {call}; }}"
    declare = lambda c: declared(lifted(lifted(overload.result)), f"{c}{i}", (COUNT, 2, *shape))
    run = lambda c: CONTEXTS[c].format(name=f"{c}{i}", both=both(f"{c}{i}"), **texts)
    arrays = of_arrays(f, overload, names[:-1])
    declarations = [declared(t, name, np.shape(v)) for t, name, v in zip(types, names, values)]
    return {
        "functions": FUNCTIONS.format(**texts),
        "data": " ".join(d for d, name in zip(declarations, names) if name[0] == "d"),
        "parameters": " ".join(d for d, name in zip(declarations, names) if name[0] == "p"),
        "quantities": " ".join(f"{declare(c)} {run(c)}" for c in contexts(f)),
        "arrays": f"array[2, {COUNT}] {overload.result} arrays{i} = {arrays};" if arrays else "",
        "values": dict(zip(names, values)),
    }


def of_arrays(f, overload, names):
    """Two calls for all elements of arrays, the second one with numbers beside one array; nothing for others."""
    scalars = overload.types and all(map(is_scalar, overload.types))
    if not scalars or overload_of(f, tuple(np.array([v, v]) for v in arguments(f))) is None:
        return ""
    wide = [f"rep_array({name}, {COUNT})" for name in names]
    return f"{{{f.name}({', '.join(wide)}), {f.name}({', '.join([*names[:-1], wide[-1]])})}}"


def program(parts):
    lines = {block: "\n".join(p[block] for p in parts) for block in parts[0] if block != "values"}
    return """functions {{ {functions} }} data {{ {data} }} parameters {{ real w; {parameters} }}
generated quantities {{ {arrays}
{quantities} }}""".format(**lines)


def on_jax(module, inputs, draw):
    """What a traced program draws."""
    from interpreted import traced
    from numpyro.handlers import seed

    return traced(lambda p: seed(module.generated_quantities, 1)(**inputs, **p), draw)


QUANTITIES = {"numpyro": on_jax, "pyro": on_torch}


@functools.cache
def draws(number, backend):
    """What a program of some functions draws: by function and context two sequences of independent draws."""
    functions = RNGS[number * SIZE : (number + 1) * SIZE]
    parts = [written(f, i) for i, f in enumerate(functions)]
    values = {k: v for p in parts for k, v in p["values"].items()}
    with warnings.catch_warnings(), double(backend), seeded(backend):
        warnings.simplefilter("ignore")
        module = stanimport.loads(program(parts), backend=backend)
        inputs = module.transformed_data(**{k: v for k, v in values.items() if k[0] == "d"})
        draw = {"w": np.array(1.0), **{k: np.asarray(v, float) for k, v in values.items() if k[0] == "p"}}
        made = {k: np.asarray(v) for k, v in QUANTITIES[backend](module, inputs, draw).items()}
    return {
        f.symbol: {c: np.swapaxes(made[f"{c}{i}"], 0, 1) for c in contexts(f)}
        | ({"arrays": made[f"arrays{i}"]} if f"arrays{i}" in made else {})
        for i, f in enumerate(functions)
    }


@pytest.mark.sampled(4)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("number", range(-(-len(RNGS) // SIZE)))
def test_draws_are_independent(number, backend):
    for symbol, got in draws(number, backend).items():
        assert_independent(symbol, got)


def assert_independent(symbol, got):
    """Two sequences of draws of a function in each context."""
    rows = {f"{c}, {k + 1}": projected(sequence) for c, pair in got.items() for k, sequence in enumerate(pair)}
    assert all(np.isfinite(row).all() and np.ptp(row) > 0 for row in rows.values())
    if len(set(rows["pair, 1"])) == COUNT:
        drawn = np.concatenate(list(rows.values()))
        assert len(set(drawn)) == len(drawn), f"{symbol}: the same number was drawn twice"
    ranks = np.array([rankdata(row) for row in rows.values()])
    for lag in (0, 1):  # of two calls in one iteration, and of two iterations
        found = np.corrcoef(ranks[:, lag:], ranks[:, : COUNT - lag])[: len(rows), len(rows) :] * np.sqrt(COUNT)
        np.fill_diagonal(found, 0 if lag == 0 else np.diag(found))
        a, b = np.unravel_index(np.abs(found).argmax(), found.shape)
        assert abs(found[a, b]) < MOST, f"{symbol}: {list(rows)[a]} and {list(rows)[b]} {lag} iterations before"
