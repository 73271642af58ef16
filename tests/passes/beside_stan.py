"""Log densities and gradients of a program on either backend, beside Stan's."""
from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import stanli

import stanimport
from stanimport.inference import LogProb


def compare(program: str, data: dict[str, Any], backend: str) -> None:
    """Values, up to a constant, and gradients at two points of the unconstrained scale must be Stan's."""
    reference = stanli.Model(stan_code=program, data=data)
    module = stanimport.loads(program, backend=backend)
    points = [np.random.default_rng(seed).normal(size=reference.n_unconstrained) * 0.5 for seed in (0, 1)]
    expected = [reference.log_prob_grad(q) for q in points]
    found = [value_and_gradient(module, data, backend, q) for q in points]
    off = [f[0] - e[0] for f, e in zip(found, expected)]
    assert off[1] == pytest.approx(off[0], abs=1e-8)
    for (_, gradient), (_, wanted) in zip(found, expected):
        np.testing.assert_allclose(gradient, wanted, rtol=1e-9, atol=1e-9)


def value_and_gradient(module: Any, data: dict[str, Any], backend: str, point: np.ndarray) -> tuple[float, Any]:
    """The log density at a point, and its gradient."""
    if backend == "numpyro":
        return LogProb(module, data).at(point)
    import torch

    from stanimport.inference.methods.pyro_methods import Density

    given = torch.tensor(point, requires_grad=True)
    value = Density(module, data)(given)
    (gradient,) = torch.autograd.grad(value, given)
    return float(value.detach()), gradient.numpy()
