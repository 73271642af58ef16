"""The mean over all batches of two rows, in any order, of density and gradient is that of all data; else a refusal."""
from __future__ import annotations

import itertools

import numpy as np
import pytest
from rows_of_any_kind import REFUSED, UNBIASED
from test_minibatch_densities import density_of

import stanimport
from stanimport.inference.methods.minibatch.fitting import _of_batches

N = 4


def data_of(program):
    """Data of four rows, and three of everything else."""
    rng, given = np.random.default_rng(3), {"N": N, "M": N}
    for v in program.data:
        shape = tuple(given.get(s, 3) for s in v.shape)
        drawn = rng.integers(1, 4, shape) if v.type.endswith("int") else rng.normal(size=shape)
        given.setdefault(v.name, (np.abs(drawn) if v.constraint else drawn) if shape else 3)
    return {v.name: given[v.name] for v in program.data}


def places_of(name, shape, chosen, model):
    """The places of a batch in an array."""
    index = [np.arange(k) for k in shape]
    for size, rows in chosen.items():
        axis = model.batches.rows[size].axes.get(name)
        if axis is not None:
            index[axis] = rows
    return np.ix_(*index) if index else ()


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("case", UNBIASED)
def test_batches_of_any_two_rows(case, backend, x64, torch_double):
    module = stanimport.loads(UNBIASED[case], backend=backend)
    given = data_of(module.stan)
    sizes = {s: 2 for s in ("N", "M") if s in given}
    model = module.model.with_batches(**sizes)
    scaled = _of_batches(module, model, {s: N for s in sizes})
    shapes, of_all = density_of(module, module.transformed_data(**given))
    rng = np.random.default_rng(5)
    point = {n: rng.normal(size=s) for n, s in shapes.items()}
    expected, slopes = of_all(point)
    value, found = 0.0, {n: np.zeros(s) for n, s in shapes.items()}
    pairs = [np.array(p) for p in itertools.combinations([2, 0, 3, 1], 2)]
    batches = list(itertools.product(pairs, repeat=len(sizes)))
    for batch in batches:
        chosen = dict(zip(sizes, batch))
        places = {n: places_of(n, np.shape(v), chosen, model) for n, v in {**given, **point}.items()}
        cut = {n: v[places[n]] if np.ndim(v) else v for n, v in given.items()} | {s: 2 for s in sizes}
        _, density = density_of(scaled, scaled.transformed_data(**cut))
        one, gradient = density({n: v[places[n]] for n, v in point.items()})
        value += float(one) / len(batches)
        for name, g in gradient.items():
            found[name][places[name]] += np.asarray(g) / len(batches)
    np.testing.assert_allclose(value, float(expected), rtol=1e-10)
    for name, g in slopes.items():
        np.testing.assert_allclose(found[name], np.asarray(g), rtol=1e-9, atol=1e-10, err_msg=name)


@pytest.mark.parametrize("case", REFUSED)
def test_what_no_batch_can_tell_is_refused_by_its_statement(case):
    module = stanimport.loads(REFUSED[case], name="refused")
    with pytest.raises(stanimport.StanSemanticError, match=r"\.stan>:\d+:\d+: error: in a minibatch of N: "):
        module.model.with_batches(N=2)
