"""The multimodal example: histograms of NUTS, of its own guide and of a mean-field guide, as a PNG.

    python models/run_multimodal.py [--backend numpyro|pyro] [--picture multimodal.png]

NUTS stays near the mode where a chain starts, and a mean-field guide has one mode only; the program's guide finds both.
"""
from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
import stanimport

DRAWS = 4000


def numpyro_draws(steps: int) -> dict[str, np.ndarray]:
    """Draws of theta by each method, on NumPyro."""
    import jax
    import numpyro
    from numpyro.infer import MCMC, NUTS, SVI, Predictive, Trace_ELBO
    from numpyro.infer.autoguide import AutoNormal

    numpyro.enable_x64()
    module = stanimport.load(Path(__file__).with_name("multimodal.stan"), backend="numpyro")
    mcmc = MCMC(NUTS(module.model), num_warmup=500, num_samples=DRAWS, progress_bar=False)
    mcmc.run(jax.random.PRNGKey(0))
    drawn = {"NUTS": np.asarray(mcmc.get_samples()["theta"])}
    for name, guide in (("explicit guide", module.guide), ("mean-field guide", AutoNormal(module.model))):
        svi = SVI(module.model, guide, numpyro.optim.Adam(0.05), Trace_ELBO(num_particles=5))
        result = svi.run(jax.random.PRNGKey(1), steps, progress_bar=False)
        draws = Predictive(guide, params=result.params, num_samples=DRAWS)(jax.random.PRNGKey(2))
        drawn[name] = np.asarray(draws["theta"])
    return drawn


def pyro_draws(steps: int) -> dict[str, np.ndarray]:
    """Draws of theta by each method, on Pyro."""
    import pyro
    import torch
    from pyro.infer import MCMC, NUTS, SVI, Predictive, Trace_ELBO
    from pyro.infer.autoguide import AutoNormal

    torch.set_default_dtype(torch.float64)
    pyro.set_rng_seed(1)
    module = stanimport.load(Path(__file__).with_name("multimodal.stan"), backend="pyro")
    mcmc = MCMC(NUTS(module.model), num_samples=DRAWS // 4, warmup_steps=200, disable_progbar=True)
    mcmc.run()
    drawn = {"NUTS": mcmc.get_samples()["theta"].numpy()}
    for name, guide in (("explicit guide", module.guide), ("mean-field guide", AutoNormal(module.model))):
        with pyro.get_param_store().scope():
            svi = SVI(module.model, guide, pyro.optim.ClippedAdam({"lr": 0.05, "lrd": 0.999}), Trace_ELBO())
            for _ in range(steps):
                svi.step()
            draws = Predictive(guide, num_samples=DRAWS, return_sites=("theta",))()
            drawn[name] = draws["theta"].numpy().ravel()
    return drawn


def describe(name: str, theta: np.ndarray) -> str:
    """The weights and means of the draws on either side of the middle."""
    above = theta > 10
    parts = [f"{above.mean():6.3f} around {theta[above].mean():6.2f}" if above.any() else " 0.000" + " " * 14]
    parts.append(f"{1 - above.mean():6.3f} around {theta[~above].mean():6.2f}" if not above.all() else " 0.000")
    return f"{name:17}{parts[0]} | {parts[1]}"


def draw(drawn: dict[str, np.ndarray], path: str) -> None:
    """The histograms, one below the other."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(len(drawn), sharex=True, figsize=(6, 5), layout="constrained")
    for ax, (name, theta) in zip(axes, drawn.items()):
        ax.hist(theta, bins=np.linspace(-5, 25, 91), density=True)
        ax.set_title(name)
    axes[-1].set_xlabel("theta")
    figure.savefig(path, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", default="numpyro", choices=["numpyro", "pyro"])
    parser.add_argument("--steps", type=int, default=3000, help="of stochastic variational inference")
    parser.add_argument("--picture", help="where to write the histograms")
    given = parser.parse_args()
    drawn = (numpyro_draws if given.backend == "numpyro" else pyro_draws)(given.steps)
    for name, theta in drawn.items():
        print(describe(name, theta))
    if given.picture:
        draw(drawn, given.picture)


if __name__ == "__main__":
    main()
