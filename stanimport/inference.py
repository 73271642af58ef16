"""Sampling from a translated module, in double precision whatever the caller's configuration is."""
from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from stanlib.errors import StanDataError


def read_data(path: Path) -> dict[str, Any]:
    """The data in a JSON file.

    Raises:
        StanDataError: if the file can't be read or holds no JSON object.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as e:
        raise StanDataError(f"{path}: no readable JSON: {e}") from None
    if not isinstance(data, dict):
        raise StanDataError(f"{path}: the data must be a JSON object, {{name: value, ...}}")
    return data


def sample(
    module: ModuleType, data: Mapping[str, Any], *, chains: int = 4, iter_warmup: int = 1000,
    iter_sampling: int = 1000, seed: int = 1, show_progress: bool = False,
) -> Any:  # fmt: skip
    """Draws by NumPyro's NUTS, as ArviZ InferenceData with 1-based coordinates.

    Args:
        module: a translated module of the NumPyro backend.
        data: the program's data.
        chains, iter_warmup, iter_sampling: how much to sample.
        seed: of all random numbers.
        show_progress: draw a progress bar.

    Raises:
        StanDataError: for data that are not as declared.
    """
    import jax
    from numpyro.infer import MCMC, NUTS

    with jax.enable_x64(True):
        inputs = module.transformed_data(**data)
        kernel = NUTS(module.model)
        mcmc = MCMC(
            kernel, num_warmup=iter_warmup, num_samples=iter_sampling, num_chains=chains, chain_method="vectorized",
            progress_bar=show_progress,
        )  # fmt: skip
        key, quantities_key = jax.random.split(jax.random.PRNGKey(seed))
        mcmc.run(key, **inputs, extra_fields=("diverging",))
        draws = mcmc.get_samples(group_by_chain=True)
        draws |= _quantities(module, inputs, draws, quantities_key)
    return _inference_data(draws, mcmc.get_extra_fields(group_by_chain=True))


def _quantities(module: ModuleType, inputs: Mapping[str, Any], draws: Mapping[str, Any], key: Any) -> dict[str, Any]:
    """The generated quantities of all draws at once, each draw with random numbers of its own."""
    import jax
    from numpyro import handlers

    names = module.stan.names("parameters")
    if not module.stan.generated_quantities:
        return {}
    known = set(module.stan.names("generated_quantities"))

    def one(key: Any, draw: Mapping[str, Any]) -> dict[str, Any]:
        made = handlers.seed(module.generated_quantities, key)(**inputs, **draw)
        return {k: v for k, v in made.items() if k in known}

    chains, count = next(iter(draws.values())).shape[:2]
    keys = jax.random.split(key, chains * count).reshape(chains, count, -1)
    run = jax.jit(jax.vmap(jax.vmap(one)))
    made: dict[str, Any] = run(keys, {n: draws[n] for n in names})
    return made


def _inference_data(draws: Mapping[str, Any], fields: Mapping[str, Any]) -> Any:
    """The draws with dimensions that count from 1."""
    import arviz
    import numpy as np

    dims: dict[str, list[str]] = {}
    coords: dict[str, Any] = {}
    for name, value in draws.items():
        dims[name] = [f"{name}_dim_{i + 1}" for i in range(np.ndim(value) - 2)]
        coords |= {d: np.arange(1, n + 1) for d, n in zip(dims[name], np.shape(value)[2:])}
    posterior = {k: np.asarray(v) for k, v in draws.items()}
    stats = {k: np.asarray(v) for k, v in fields.items()}
    return arviz.from_dict(posterior=posterior, sample_stats=stats, dims=dims, coords=coords)


def summary(draws: Any) -> str:
    """The table of means, intervals and convergence diagnostics."""
    import arviz

    return str(arviz.summary(draws).to_string())
