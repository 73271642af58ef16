"""The time of a step of variational inference of compiled programs, beside the same written by hand.

    python tests/benchmarks/variational_steps.py [vae] [mlp] [logistic] [factors] [--backend numpyro] [--rounds 12]

An auto-encoder and a Bayesian network of scikit-learn's digits, a hierarchical logistic regression of 10^6 rows and
a matrix factorization of 10^6 ratings, all by batches, in NumPyro and in Pyro, with the backend's own SVI and, but for
the first two, AutoNormal. Both sides are at the same point with the same random numbers, where their losses must agree.
They take steps in turn; a line shows the two losses, milliseconds of processor time per step, and the median of the
rounds' ratios.
"""
from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")
sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parents[1] / "deepstan")]
import jax  # noqa: E402
import numpy as np  # noqa: E402
import numpyro  # noqa: E402
import pyro  # noqa: E402
import torch  # noqa: E402
import twins  # noqa: E402
import variational_twins as by_hand  # noqa: E402
from flax import nnx  # noqa: E402

import stanimport  # noqa: E402
from models import digits, networks  # noqa: E402

ROWS, BATCH, IMAGES = 1_000_000, 8192, 128
SECONDS = 0.4  # of a round, about


@dataclass
class Side:
    """A way to take steps: `loss()` at the common start, and `step()`."""

    loss: Callable[[], float]
    step: Callable[[], Any]


@dataclass
class Pair:
    """A compiled program and its twin: models and guides, and what each takes of a batch."""

    compiled: tuple[Any, Any]
    twin: tuple[Any, Any]
    sizes: dict[str, Any]
    batch: dict[str, np.ndarray]
    more: dict[str, Any]  # the compiled program's networks
    names: tuple[str, ...]  # of the batch, that the twin takes


# --- the four models -------------------------------------------------------------------------------------------------


def vae(backend: str) -> Pair:
    data = digits.load()[0].black_and_white
    total, pixels = data.shape
    module = stanimport.load("models.vae", backend=backend, scheme="mixed")
    sizes = {"N": IMAGES, "latent": networks.LATENT, "pixels": pixels}
    nets: dict[str, Any]
    if backend == "numpyro":
        shape = (pixels, 128, networks.LATENT)
        nets = {"encoder": by_hand.Encoder(*shape, nnx.Rngs(1)), "decoder": by_hand.Decoder(*shape, nnx.Rngs(2))}
        twin = by_hand.NumPyroVAE(total, networks.LATENT, **nets)
    else:
        nets = {"encoder": networks.Encoder(pixels=pixels), "decoder": networks.Decoder(pixels=pixels)}
        twin = twins.VAE(**nets, total=total, latent=networks.LATENT)
    compiled = module.model.minibatch(N=total), module.guide.minibatch(N=total)
    return Pair(compiled, (twin.model, twin.guide), sizes, {"images": data[:IMAGES]}, nets, ("images",))


def mlp(backend: str) -> Pair:
    data = digits.load()[0]
    total, side, _ = data.images.shape
    module = stanimport.load("models.mlp", backend=backend, scheme="mixed")
    hidden, classes = networks.HIDDEN, networks.CLASSES
    sizes = {"N": IMAGES, "side": side, "hidden": hidden, "classes": classes, "prior_sd": np.float64(1.0)}
    net: Any = networks.MLP(side * side) if backend == "pyro" else by_hand.MLP(side * side, hidden, classes)
    twin = (twins.MLP(net, total, 1.0) if backend == "pyro"
            else by_hand.NumPyroMLP(total, side * side, hidden, classes))  # fmt: skip
    compiled = module.model.minibatch(N=total), module.guide.minibatch(N=total)
    batch = {"images": data.images[:IMAGES], "labels": data.labels[:IMAGES]}
    return Pair(compiled, (twin.model, twin.guide), sizes, batch, {"mlp": net}, tuple(batch))


def logistic(backend: str) -> Pair:
    K, J, rng = 10, 1000, np.random.default_rng(1)
    x, g = rng.normal(size=(ROWS, K)), rng.integers(1, J + 1, ROWS)
    odds = x @ rng.normal(size=K) + rng.normal(size=J)[g - 1]
    y = (rng.random(ROWS) < 1 / (1 + np.exp(-odds))).astype(int)
    rows = rng.permutation(ROWS)[:BATCH]
    module = stanimport.loads(by_hand.LOGISTIC, backend=backend)
    twin = (by_hand.numpyro_logistic if backend == "numpyro" else by_hand.pyro_logistic)(ROWS, J)
    batch = {"x": x[rows], "g": g[rows], "y": y[rows]}
    sizes = {"N": BATCH, "K": K, "J": J}
    return Pair((module.model.minibatch(N=ROWS), None), (twin, None), sizes, batch, {}, tuple(batch))


def factors(backend: str) -> Pair:
    U, F, D, rng = 2000, 1000, 8, np.random.default_rng(1)
    u, f = rng.integers(1, U + 1, BATCH), rng.integers(1, F + 1, BATCH)
    y = (rng.normal(size=(U, D))[u - 1] * rng.normal(size=(F, D))[f - 1]).sum(1) + rng.normal(size=BATCH)
    module = stanimport.loads(by_hand.FACTORS, backend=backend)
    twin = (by_hand.numpyro_factors if backend == "numpyro" else by_hand.pyro_factors)(ROWS, U, F, D)
    batch, sizes = {"u": u, "f": f, "y": y}, {"N": BATCH, "U": U, "F": F, "D": D}
    return Pair((module.model.minibatch(N=ROWS), None), (twin, None), sizes, batch, {}, tuple(batch))


MODELS = {m.__name__: m for m in (vae, mlp, logistic, factors)}


# --- NumPyro ---------------------------------------------------------------------------------------------------------


def numpyro_sides(pair: Pair) -> tuple[Side, Side]:
    batch = {n: jax.numpy.asarray(v) for n, v in pair.batch.items()}
    compiled = _numpyro_svi(*pair.compiled, **pair.sizes, **pair.more)
    state = compiled.init(jax.random.PRNGKey(1), **batch)
    params = compiled.get_params(state)
    twin = _numpyro_svi(*pair.twin)
    return _numpyro_side(compiled, params, batch), _numpyro_side(twin, params, batch)


def _numpyro_svi(model: Any, guide: Any, **static: Any) -> Any:
    guide = guide or numpyro.infer.autoguide.AutoNormal(model)
    return numpyro.infer.SVI(model, guide, numpyro.optim.Adam(0.01), numpyro.infer.Trace_ELBO(), **static)


def _numpyro_side(svi: Any, params: dict[str, Any], batch: dict[str, Any]) -> Side:
    first = svi.init(jax.random.PRNGKey(2), **batch)
    own = {n: params[n] for n in svi.get_params(first)}
    loss = partial(svi.loss.loss, jax.random.PRNGKey(3), own, svi.model, svi.guide, **svi.static_kwargs)
    update = jax.jit(svi.update)
    state = [first]

    def step() -> Any:
        state[0], value = update(state[0], **batch)
        return value.block_until_ready()

    return Side(lambda: float(jax.jit(loss)(**batch)), step)


# --- Pyro ------------------------------------------------------------------------------------------------------------


def pyro_sides(pair: Pair) -> tuple[Side, Side]:
    batch = {n: torch.as_tensor(v) for n, v in pair.batch.items()}
    twin = {n: batch[n] for n in pair.names}
    compiled = pair.sizes | batch | pair.more
    return _pyro_side(*pair.compiled, compiled), _pyro_side(*pair.twin, twin)


def _pyro_side(model: Any, guide: Any, inputs: dict[str, Any]) -> Side:
    guide = guide or pyro.infer.autoguide.AutoNormal(model, init_loc_fn=pyro.infer.autoguide.init_to_feasible)
    svi = pyro.infer.SVI(model, guide, pyro.optim.Adam({"lr": 0.001}), pyro.infer.Trace_ELBO())
    held: dict[str, Any] = {"params": {}, "constraints": {}}

    def loss() -> float:
        nonlocal held
        pyro.set_rng_seed(1)
        with pyro.get_param_store().scope(held) as held:
            svi.evaluate_loss(**inputs)
            pyro.set_rng_seed(2)
            return float(svi.evaluate_loss(**inputs))

    def steps() -> None:
        nonlocal held
        with pyro.get_param_store().scope(held) as held:
            svi.step(**inputs)

    return Side(loss, steps)


# --- timing ----------------------------------------------------------------------------------------------------------


def measured(sides: tuple[Side, Side], rounds: int) -> tuple[list[float], float]:
    """Milliseconds per step of both sides, and the median of their ratios over the rounds."""
    for side in sides:
        side.step()
    count = max(3, int(SECONDS / max(_seconds(sides[1], 3), 1e-5)))
    times = []
    for r in range(rounds):
        order = (0, 1) if r % 2 else (1, 0)
        found = {k: _seconds(sides[k], count) for k in order}
        times.append((found[0], found[1]))
    ratios = [a / b for a, b in times]
    return [1000 * float(np.median([t[k] for t in times])) for k in (0, 1)], float(np.median(ratios))


def _seconds(side: Side, count: int) -> float:
    start = time.process_time()
    for _ in range(count):
        side.step()
    return (time.process_time() - start) / count


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", metavar="model", help=", ".join(MODELS))
    parser.add_argument("--backend", choices=("numpyro", "pyro"))
    parser.add_argument("--rounds", type=int, default=12)
    given = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
    worst = 0.0
    print(f"{'':22}{'loss':>16}{'by hand':>16}{'ms':>9}{'by hand':>9}{'ratio':>7}")
    for backend in [given.backend] if given.backend else ["numpyro", "pyro"]:
        for name in given.models or MODELS:
            sides = (numpyro_sides if backend == "numpyro" else pyro_sides)(MODELS[name](backend))
            losses = [s.loss() for s in sides]
            np.testing.assert_allclose(losses[0], losses[1], rtol=1e-8)
            milliseconds, ratio = measured(sides, given.rounds)
            worst = max(worst, ratio)
            print(f"{backend + ' ' + name:22}{losses[0]:16.3f}{losses[1]:16.3f}"
                  f"{milliseconds[0]:9.3f}{milliseconds[1]:9.3f}{ratio:7.3f}", flush=True)  # fmt: skip
    print(f"largest ratio {worst:.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
