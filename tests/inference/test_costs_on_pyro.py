"""What inference on Pyro does once for each run or draw: it costs no more than it has to."""
from __future__ import annotations

import traceback

import numpy as np
import pytest

import stanimport

torch = pytest.importorskip("torch", reason="the pyro extra is not installed")
pytest.importorskip("pyro", reason="the pyro extra is not installed")

from stanimport.inference.methods import pyro_methods  # noqa: E402


@pytest.mark.skipif(pyro_methods._has_gpu(), reason="GPUs have random numbers of their own, which are seeded too")
def test_seeding_formats_no_stack(monkeypatch):
    """As torch does for each device that might be there one day; the numbers are those of the seed."""
    expected = torch.rand(3, dtype=torch.float64, generator=torch.Generator().manual_seed(5))
    before = torch.get_rng_state()
    monkeypatch.setattr(traceback, "format_stack", None)
    with pyro_methods.double_precision(5):
        torch.testing.assert_close(torch.rand(3), expected, rtol=0, atol=0)
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("bounds", ["lower=-1, upper=2", "lower=-1", "upper=2", "offset=-1, multiplier=2"])
def test_bounds_of_integers_are_numbers(bounds):
    """They make no tensor in every transform, and have the density of the same bounds written as real numbers."""
    written = bounds.replace("=-1", "=-1.0").replace("=2", "=2.0")
    values = []
    for text in (bounds, written):
        source = f"parameters {{ real<{text}> x; }} model {{ x ~ normal(0.5, 1); }}"
        density = pyro_methods.Density(stanimport.loads(source, backend="pyro"), {})
        point = torch.tensor([0.3], dtype=torch.float64)
        values.append(float(density(point)))
        (support,) = {type(a) for a in _arguments(density)}
        assert support is float
    np.testing.assert_array_equal(*values)


def _arguments(density):
    from pyro import poutine

    trace = poutine.trace(density.module.model).get_trace()
    return trace.nodes["x"]["fn"].support.arguments
