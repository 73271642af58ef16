"""The mean over all batches of two rows, in any order, of density and gradient is that of all data; else a refusal."""
from __future__ import annotations

import itertools

import numpy as np
import pytest
from means_over_batches import assert_unbiased
from rows_of_any_kind import REFUSED, UNBIASED

import stanimport

N = 4


def data_of(program):
    """Data of four rows, and three of everything else."""
    rng, given = np.random.default_rng(3), {"N": N, "M": N}
    for v in program.data:
        shape = tuple(given.get(s, 3) for s in v.shape)
        drawn = rng.integers(1, 4, shape) if v.type.endswith("int") else rng.normal(size=shape)
        given.setdefault(v.name, (np.abs(drawn) if v.constraint else drawn) if shape else 3)
    return {v.name: given[v.name] for v in program.data}


@pytest.mark.sampled(6)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("case", UNBIASED)
def test_batches_of_any_two_rows(case, backend, x64, torch_double):
    module = stanimport.loads(UNBIASED[case], backend=backend)
    given = data_of(module.stan)
    totals = {s: N for s in ("N", "M") if s in given}
    pairs = [np.array(p) for p in itertools.combinations([2, 0, 3, 1], 2)]
    assert_unbiased(module, given, totals, pairs, atol=1e-10)


@pytest.mark.parametrize("case", REFUSED)
def test_what_no_batch_can_tell_is_refused_by_its_statement(case):
    module = stanimport.loads(REFUSED[case], name="refused")
    with pytest.raises(stanimport.StanSemanticError, match=r"\.stan>:\d+:\d+: error: in a minibatch of N: "):
        module.model.with_batches(N=2)
