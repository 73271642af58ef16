"""Sample sites on NumPyro: those that are sums over the rows of a minibatch are scaled to all rows."""
from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import jax
import jax.numpy as jnp
import numpyro
from numpyro.distributions import constraints
from numpyro.handlers import condition, do, reparam, replay, scale, scope, substitute, uncondition
from numpyro.infer.reparam import NeuTraReparam

from ... import batches, predicted
from ...conditioned import no_outcomes
from ...drawn import note, note_observed
from ...errors import StanError, StanUnsupportedError
from ..laws import keep_checks, unsuited
from ..values import check_value
from .distributions import Drawn, of_shape


def latent(name: str, law: Any) -> Any:
    """A parameter. One without components is one event: NumPyro's guides can't sum over batches that are empty.

    Raises:
        StanDataError: where a handler gives it a value of other sizes.
        StanUnsupportedError: where it is to be drawn without a key, and where a reparametrisation does not suit it.
    """
    handlers = _reparametrising()
    if 0 in law.batch_shape or any(map(_warps, handlers)):
        law = law.to_event(len(law.batch_shape))
    value = _drawn(name, law)
    if handlers:
        keep_checks(law)
    check_value(name, jnp.shape(value), law.shape())
    return note(name, jnp.asarray(value))  # never NumPy's: what it leads to depends on parameters


def _reparametrising() -> list[reparam]:
    return [m for m in numpyro.primitives._PYRO_STACK if isinstance(m, reparam)]


def _warps(handler: reparam) -> bool:
    """Whether it is one for NeuTraReparam, which adds the Jacobian of all parameters to every entry of the first."""
    by_name = handler.config.values() if isinstance(handler.config, dict) else ()
    return any(isinstance(r, NeuTraReparam) for r in (*by_name, getattr(handler.config, "__self__", None)))


def _drawn(name: str, law: Any) -> Any:
    """The value of a site without one.

    Raises:
        StanUnsupportedError: as for `latent`.
    """
    with _scaled(name):
        try:
            return numpyro.sample(name, law)
        except (AssertionError, AttributeError, NotImplementedError, TypeError, ValueError) as e:
            told = _told(name, law, e)
            if told is None:
                raise
            raise told from e


def _told(name: str, law: object, error: Exception) -> StanUnsupportedError | None:
    """What NumPyro's error at a site means; None for one that says it."""
    keyless = isinstance(error, (AssertionError, NotImplementedError)) and not _has_key()
    if isinstance(error, StanError) or isinstance(error, NotImplementedError) and not keyless:
        return None
    if _reparametrising() and not keyless:
        return unsuited(name, law, error)
    if not keyless and (str(error) or not isinstance(error, AssertionError)):
        return None
    return _keyless(name)


def _keyless(name: str) -> StanUnsupportedError:
    return StanUnsupportedError(
        f"{name} has no value, and to draw one NumPyro needs a key: numpyro.handlers.seed(model, key)(**data)"
    )


def learned(
    name: str, start: Callable[[jax.Array], jax.Array], constraint: constraints.Constraint = constraints.real
) -> jax.Array:
    """A parameter of a guide, which starts from what `start` makes of a key.

    Raises:
        StanUnsupportedError: where it has no value, and nothing gives a key.
    """
    try:
        value: jax.Array = numpyro.param(name, start, constraint=constraint)
        return value
    except (AssertionError, TypeError) as e:
        if isinstance(e, StanError) or _has_key():
            raise
        raise _keyless(name) from e


def _has_key() -> bool:
    """Whether a handler around gives keys."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPyro's, where there is no handler
        return numpyro.prng_key() is not None


def discrete(name: str, drawn: Any) -> Any:
    """A discrete parameter that was drawn: what handlers give it, or the same object."""
    return numpyro.sample(name, Drawn(drawn))


def given_names(without_sites: Sequence[str] = ()) -> set[str]:
    """The names to whose sites handlers around give values, as the model has them: without what scopes put in front.

    Functions, such as that of Predictive, are asked for the values of those that have no sites of their own.
    """
    names, prefix = set[str](), ""
    for handler in reversed(numpyro.primitives._PYRO_STACK):
        if isinstance(handler, scope) and "sample" not in handler.hide_types:
            prefix = f"{handler.prefix}{handler.divider}{prefix}"
        elif isinstance(handler, (condition, do, substitute)):
            names.update(n[len(prefix) :] for n in handler.data or () if n.startswith(prefix))
            names.update(n for n in without_sites if _gives(handler, prefix + n))
        elif isinstance(handler, replay):
            latent = (n for n, s in handler.trace.items() if s["type"] == "sample" and not s["is_observed"])
            names.update(n[len(prefix) :] for n in latent if n.startswith(prefix))
    return names


def unheeded(name: str) -> list[object]:
    """What `condition` and `do` give a deterministic site, which take no notice of those."""
    found = []
    for handler in reversed(numpyro.primitives._PYRO_STACK):
        if isinstance(handler, scope) and "deterministic" not in handler.hide_types:
            name = f"{handler.prefix}{handler.divider}{name}"
        elif isinstance(handler, (condition, do)) and name in (handler.data or ()):
            found.append(handler.data[name])
    return found


def _gives(handler: object, name: str) -> bool:
    """Whether a function of a handler gives a value by the name alone; those that start samplers need a law."""
    function = getattr(handler, "substitute_fn", None) or getattr(handler, "condition_fn", None)
    site = {"type": "sample", "name": name, "is_observed": True, "value": None, "fn": None, "infer": {}, "kwargs": {}}
    try:
        return function is not None and function(site) is not None
    except (AttributeError, KeyError, TypeError):
        return False


def observed(name: str, law: Any, value: Any) -> None:
    """Data: one observation for every entry of the law's batch shape; a draw of those that are asked for.

    Raises:
        StanDataError: where a handler gives them a value of other sizes, and for what is asked for and can't be drawn.
        StanUnsupportedError: where it is to be drawn without a key.
    """
    law = of_shape(law, jnp.shape(value))
    if predicted.is_drawn(name, value):
        taken = _drawn(name, law)
    else:
        with _scaled(name):
            taken = numpyro.sample(name, law, obs=value)
    note_observed(name)
    check_value(name, jnp.shape(taken), jnp.shape(value))


def observed_terms(name: str, law: object, value: object) -> None:
    """Data of whose log densities the law is made.

    Raises:
        StanUnsupportedError: where a handler gives others.
    """
    note_observed(name)
    with _scaled(name):
        if numpyro.sample(name, law, obs=value) is not value:
            raise no_outcomes(name)


def weighted(name: str, terms: object) -> None:
    """Terms of the log density."""
    if not is_predicting():
        with _scaled(name):
            numpyro.factor(name, terms)


def is_predicting() -> bool:
    """Whether no log density is asked for, as under Predictive: what only adds to it is no quantity to predict."""
    return numpyro.get_mask() is False


def is_unconditioned() -> bool:
    """Whether what is observed is to be drawn instead: of densities alone that is refused, not left out."""
    return any(isinstance(m, uncondition) for m in numpyro.primitives._PYRO_STACK)


def _scaled(name: str) -> AbstractContextManager[Any]:
    factor = batches.factor(name)
    return nullcontext() if factor is None else scale(scale=factor)
