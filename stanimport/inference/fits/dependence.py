"""Whether what a model computes depends on data that are to be predicted, which others stand for.

Which transformed data depend on them is read off the program. They are computed for several values in the places of
these too, in NumPy, and those that differ depend on them: random numbers may come in another order.
What the model computes is traced, with symbols in the places of all these, so that no draw of the parameters and no
outcome is left out; what can't be traced with symbols has conditions, sizes or indices that depend on them, and so has
what then gives other results: of an observation under a condition on a symbol only the density is known.
"""
from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence, Set
from contextlib import suppress
from typing import Any

import jax
import numpy as np
from jax.interpreters.partial_eval import dce_jaxpr

from stanlib.data import KINDS, StandIn
from stanlib.errors import StanError
from stanlib.program import Module
from stanlib.unknown_outcomes import finite_symbols, moved_outcomes

from .. import nested
from ..density.posterior import Posterior, transformed_data
from ..precision import TRACING, double_precision


def stood_in(module: Module, given: Mapping[str, object], lacking: Sequence[str], seed: int) -> Posterior:
    """The posterior for data of which some are to be predicted, with values in the places of these.

    Args:
        given: the other data.
        lacking: what is to be predicted, by name.
    """
    return Posterior(module, inputs_of(module, given, lacking, seed, 0))


def others_of(posterior: Posterior, names: Collection[str], seed: int) -> list[dict[str, Any]]:
    """The inputs of a posterior's model with other values in the places of some data, as far as the program takes them.

    Args:
        names: of the data; others that a model observes, such as transformed ones, are left out.
        seed: of random transformed data, as for the posterior.
    """
    module, data, found = posterior.module, posterior.program.names("data"), []
    given = {n: posterior.inputs[n] for n in data if n in posterior.inputs and n not in names}
    for kind in range(1, KINDS):
        with suppress(StanError):
            found.append(inputs_of(module, given, [n for n in data if n in names], seed, kind))
    return found


def with_computed(
    posterior: Posterior, names: Collection[str], others: Sequence[Mapping[str, object]]
) -> set[str]:  # fmt: skip
    """Data, and what of the inputs of a posterior's model is computed of them.

    Args:
        others: the inputs with other values in their places: what differs there depends on them.
    """
    inputs, data = posterior.inputs, posterior.program.names("data")
    static = computed_from(posterior.module, [n for n in names if n in data])
    return {*names, *static, *(n for v in others for n in v if n not in data and not _are_equal(inputs.get(n), v[n]))}


def inputs_of(
    module: Module, given: Mapping[str, object], names: Sequence[str], seed: int, kind: int
) -> dict[str, Any]:
    """The inputs of a model with values of a kind in the places of some data."""
    return transformed_data(module, {**given, **{n: StandIn(kind) for n in names}}, seed)


def computed_from(module: Module, names: Sequence[str]) -> set[str]:
    """The transformed data that are computed from some data, as the program has it; none of one that is gone."""
    with suppress(StanError):
        return set[str]().union(*map(module.model.computed_from, names))
    return set()


def are_read(module: Module, names: Set[str]) -> bool:
    """Whether a program reads some data elsewhere than as outcomes of its statements; so may one that is gone."""
    with suppress(StanError):
        return not names.isdisjoint(module.model.undrawn())
    return True


def depend(posterior: Posterior, unknown: Set[str], function: Callable[..., object], *examples: object) -> bool:
    """Whether results of a function that runs the posterior's model depend on some of its inputs.

    Args:
        examples: arguments of the function, arrays in dicts, of which the values are of no importance.
    """
    symbols = {n: v for n, v in posterior.inputs.items() if n in unknown}

    def of_unknown(values: Mapping[str, object], *arguments: object) -> Any:
        with moved_outcomes(values):
            return function(*arguments)

    with TRACING, double_precision(), finite_symbols():
        try:
            traced, made = jax.make_jaxpr(of_unknown, return_shape=True)(symbols, *examples)
        except Exception:  # of any kind: NumPy can't compute with symbols
            return True
        if made != jax.eval_shape(function, *examples):
            return True
    _, used = dce_jaxpr(traced.jaxpr, [True] * len(traced.jaxpr.outvars))
    return any(used[: len(jax.tree.leaves(symbols))])


def _are_equal(first: object, other: object) -> bool:
    ones, others = nested.leaves(first), nested.leaves(other)
    return len(ones) == len(others) and all(
        np.array_equal(a, b, equal_nan=np.asarray(a).dtype.kind in "fc") for a, b in zip(ones, others)
    )
