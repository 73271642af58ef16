"""Log densities of translated models, for tests: constants kept, no Jacobian, priors of bounded parameters included."""
from __future__ import annotations

import numpy as np

import stanimport


def log_density(program: str, data: dict, params: dict, backend: str = "numpyro") -> float:
    """The log density of a program's model at constrained parameter values, in double precision."""
    module = stanimport.loads(program, backend=backend)
    inputs = module.transformed_data(**data)
    return module_log_density(module, inputs, params, backend)


def module_log_density(module, inputs: dict, params: dict, backend: str = "numpyro") -> float:
    return module_log_densities(module, inputs, [params], backend)[0]


def module_log_densities(module, inputs: dict, points: list[dict], backend: str = "numpyro") -> list[float]:
    """The log densities at several points, compiled once."""
    if backend == "numpyro":
        import jax
        from numpyro.infer.util import log_density as numpyro_log_density

        with jax.enable_x64(True):
            compiled = jax.jit(lambda p: numpyro_log_density(module.model, (), inputs, p)[0])
            return [float(compiled({k: np.asarray(v, float) for k, v in p.items()})) for p in points]
    return [_on_torch(module, inputs, p) for p in points]


def _on_torch(module, inputs: dict, params: dict) -> float:
    import torch
    from pyro import poutine

    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        values = {k: torch.tensor(v, dtype=torch.float64) for k, v in params.items()}
        trace = poutine.trace(poutine.condition(module.model, data=values)).get_trace(**inputs)
        return float(trace.log_prob_sum())
    finally:
        torch.set_default_dtype(before)


def gradient(module, inputs: dict, params: dict) -> dict:
    """The gradient of a NumPyro model's log density, in double precision."""
    import jax
    from numpyro.infer.util import log_density as numpyro_log_density

    params = {k: np.asarray(v, float) for k, v in params.items()}
    with jax.enable_x64(True):
        return jax.jit(jax.grad(lambda p: numpyro_log_density(module.model, (), inputs, p)[0]))(params)
