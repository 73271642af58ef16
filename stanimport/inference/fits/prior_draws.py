"""Draws of parameters from their priors: by the laws that the scheme "simulation" finds for them."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from numpyro.distributions import Unit

from stanlib import constraints, places
from stanlib.arrays import named
from stanlib.discrete import WEIGHT
from stanlib.errors import StanError
from stanlib.ppl.numpyro.distributions import Improper, drawn_by_streams
from stanlib.program import Program
from stanlib.random.jax import JaxRandom
from stanlib.random.streams import key_of
from stanlib.rejection import gathering
from stanlib.sites import REJECTED
from stanlib.unknown_outcomes import unknown_outcomes

from ..density.posterior import Posterior, is_parameter
from ..density.quantities import Batched
from ..modules import drawn_integers
from ..precision import random_keys

xp = named("jax")
MOST_TRIES = 1000  # for one draw that is not rejected
_WEIGHED = 100  # draws that tell whether weights are all the same


class NoPriorError(StanError):
    """A program has no prior that can be drawn from; the message names the parameter or statement."""


class PriorDraws(NamedTuple):
    """Draws by the laws of parameters, (1, draws, ...) each.

    Attributes:
        parameters: by name.
        discrete: the discrete parameters that they came with, which their laws may depend on.
        in_place: whether any came in the place of others, which the program rejects or leaves out.
    """

    parameters: dict[str, np.ndarray]
    discrete: dict[str, np.ndarray]
    in_place: bool


def prior_draws(posterior: Posterior, count: int, seed: int) -> PriorDraws:
    """Draws of the parameters by their laws, with those of the discrete ones, of one run of the model.

    Where the program rejects one, by a `reject` statement or because Stan throws, the density is 0: another takes its
    place. So it does where elements of an ordered vector, each with its law, come out in another order, and as often
    as the laws of discrete parameters give values beyond their bounds, where that depends on the parameters.

    Raises:
        NoPriorError: where a parameter has no law that can be drawn from, for terms that are none of a law, and where
            nearly all draws are rejected.
    """
    run = Batched(of_one_prior(posterior), np.zeros(()), count)
    made, in_place = _accepted(run, count, seed, posterior.program)
    discrete = {n: made.pop(n)[None] for n in drawn_integers(posterior.program)}
    return PriorDraws({n: v[None] for n, v in made.items()}, discrete, in_place)


def of_one_prior(posterior: Posterior) -> Callable[[Any, Any], dict[str, Any]]:
    """One draw by a key: parameters, discrete ones, whether the program rejects it, and its weight if it has one."""
    program, whole = posterior.program, drawn_integers(posterior.program)

    def one(key: Any, _: object) -> dict[str, Any]:
        drawn: dict[str, Any] = {}
        handles: dict[str, places.Handle | None] = {}

        def draw(site: dict[str, Any]) -> object:
            handles[site["name"]] = places.here()
            if not is_parameter(site):
                return None
            drawn[site["name"]] = _drawn(site, key_of(key, len(drawn)), program)
            return drawn[site["name"]]

        with gathering(), unknown_outcomes(), drawn_by_streams():
            trace = posterior.with_values(draw, key)
        _require_laws(trace, program, handles)
        rejected = jnp.asarray(_rejected(trace, drawn))
        weight = {WEIGHT: trace[WEIGHT]["fn"].log_factor} if WEIGHT in trace else {}
        return drawn | {n: trace[n]["value"] for n in whole} | {REJECTED: rejected} | weight

    return one


def _rejected(trace: Mapping[str, Any], drawn: Mapping[str, Any]) -> object:
    """Whether the program rejects what was drawn; False if it can't."""
    flags = [trace[REJECTED]["fn"].log_factor == -jnp.inf] if REJECTED in trace else []
    for name, value in drawn.items():
        law = trace[name]["fn"]
        if isinstance(law, Improper) and law.drawn is not None and _is_ordered(law):
            flags.append(~jnp.all(law.support(value)))
    return jnp.any(jnp.stack(flags)) if flags else False


def _is_ordered(law: Improper) -> bool:
    record = getattr(law.support, "record", None)
    return record is not None and constraints.get("ordered").has_all_of(record.name)


def _accepted(run: Batched, count: int, seed: int, program: Program) -> tuple[dict[str, np.ndarray], bool]:
    """Draws that the program does not reject, and whether it rejects any. Raises NoPriorError if nearly all are."""
    made = run(random_keys(seed, 5, count=count), np.zeros(count))
    chance, most = np.random.default_rng([seed, 5]), _most(run, made, seed)
    levels = _levels(made, chance)
    waiting, tried, stream = np.flatnonzero(~(levels >= most)), count, 0  # NaN is taken never
    in_place = bool(waiting.size)
    if in_place:
        made = {n: np.array(v) for n, v in made.items()}  # what JAX made is read-only
    while waiting.size:
        if tried > MOST_TRIES * (count - waiting.size + 20):
            share = f"more than {MOST_TRIES - 1} in {MOST_TRIES}"
            raise NoPriorError(f"{program.name} can't be drawn from its prior: it rejects {share} draws of its laws")
        stream += 1
        size = max(waiting.size, run.batch)
        more = run(random_keys(seed, 5, stream, count=size), np.zeros(size))
        most, found = max([most, *_weights(more)]), _levels(more, chance)
        good = np.flatnonzero(found >= most)[: waiting.size]
        levels[waiting[: good.size]] = found[good]
        for name, value in more.items():
            made[name][waiting[: good.size]] = value[good]
        waiting, tried = np.flatnonzero(~(levels >= most)), tried + size
    return made, in_place


def _levels(made: dict[str, np.ndarray], chance: np.random.Generator) -> np.ndarray:
    """Up to which logarithm of the largest weight each draw is taken: those of a weight are in proportion to it.

    Rejected ones never are. Both are dropped from `made`.
    """
    rejected, weights = made.pop(REJECTED), made.pop(WEIGHT, None)
    levels = np.zeros(len(rejected)) if weights is None else weights - np.log1p(-chance.random(len(rejected)))
    return np.where(rejected, -np.inf, levels)


def _weights(made: Mapping[str, np.ndarray]) -> np.ndarray:
    """The logarithms of the weights of draws that are not rejected, if they have any."""
    found = made.get(WEIGHT, np.full(len(made[REJECTED]), np.nan))
    known: np.ndarray = found[~made[REJECTED] & np.isfinite(found)]
    return known


def _most(run: Batched, made: Mapping[str, np.ndarray], seed: int) -> float:
    """The logarithm of the largest weight: of a probability, unless some discrete parameters have no law.

    Then it is that of the draws so far. Where these show that all are the same, it is theirs.
    """
    if WEIGHT not in made:
        return 0.0
    runs = [made]
    if len(made[WEIGHT]) < _WEIGHED:
        runs.append(run(random_keys(seed, 5, 0, count=_WEIGHED), np.zeros(_WEIGHED)))
    known = np.concatenate([*map(_weights, runs)])
    if not known.size:
        return 0.0
    greatest = float(known.max())
    return greatest if np.ptp(known) < 1e-3 else max(0.0, greatest)


def _drawn(site: Mapping[str, Any], key: Any, program: Program) -> Any:
    """A draw from the law of a parameter. Raises NoPriorError, with the reason, where it has none to draw from."""
    law = site["fn"]
    if 0 in law.shape():
        return jnp.zeros(law.shape())
    try:
        if not isinstance(law, Improper) or law.drawn is not None:
            return law.sample(key)
    except NotImplementedError:
        pass
    if isinstance(law, Improper) and (value := _uniform_on(law, key)) is not None:
        return value
    if not isinstance(law, Improper):
        reason = f"has a prior ({type(law).__name__}) without draws"
    elif law.undrawn is not None:
        reason = f"has no proper prior: its law {law.undrawn}"
    else:
        reason = "has no proper prior"
    raise NoPriorError(f"{program.name} can't be drawn from its prior: parameter {site['name']} {reason}")


def _uniform_on(law: Improper, key: Any) -> Any:
    """A draw from the uniform law on a domain of finite volume that is no interval; None for other domains."""
    record = getattr(law.support, "record", None)
    if record is None or record.uniform is None:
        return None
    return record.uniform(xp, JaxRandom(key), law.shape())


def _require_laws(
    trace: Mapping[str, Any], program: Program, handles: Mapping[str, places.Handle | None]
) -> None:  # fmt: skip
    """Raise NoPriorError for a factor, which may tie parameters beyond their laws; `handles` tell the statements."""
    laws = {n for site in trace.values() if isinstance(site.get("fn"), Improper) for n in site["fn"].laws}
    laws |= {REJECTED, WEIGHT}
    for name, site in trace.items():
        if site["type"] == "sample" and isinstance(site["fn"], Unit) and name not in laws:
            with places.blamed(handles.get(name)):
                raise NoPriorError(f"{program.name} can't be drawn from its prior: the statement of site {name!r} adds "
                                   "to the log density without being a law of one parameter or of data")  # fmt: skip
