"""The option `metric` of `sample`: what is asked for by a name, numbers or a file."""
from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from stanlib.errors import StanDataError

from ... import files
from .. import options
from ..samplers import curvature, packed
from ..samplers.metric import Kind

_LOW_RANK = Kind(low_rank=True, by_gradients=True)


class Choice(NamedTuple):
    """The metric that was asked for.

    Attributes:
        start: the inverse metric to begin with; a list of those of all chains; None for the unit matrix.
        kind: what it is, and how it is learned.
    """

    start: Any
    kind: Kind


def metrics_of(metric: object, size: int, chains: int, method: str = "nuts") -> Choice:
    """The same as `metric_of`, with a list where chains have inverse metrics of their own.

    Raises:
        OptionError, StanDataError: for metrics that do not fit.
    """
    several = _several(metric, size, chains)
    if several is None:
        return metric_of(metric, size, method)
    made = [metric_of(m, size, method) for m in options.for_chains("metric", several, chains)]
    if any(choice.kind != made[0].kind for choice in made):
        raise options.OptionError("the metrics of all chains must be of one kind: diagonals, matrices, or of low rank")
    return made[0]._replace(start=[choice.start for choice in made])


def _several(metric: object, size: int, chains: int) -> list[Any] | None:
    """The metrics of chains that have their own; None if there is one for all.

    As many diagonals as they are long are taken for a matrix, where they make one that is a metric.
    """
    if isinstance(metric, (str, os.PathLike, Mapping)):
        return None
    if isinstance(metric, (list, tuple)) and any(isinstance(m, (str, os.PathLike, Mapping)) for m in metric):
        return list(metric)
    try:
        array = np.asarray(metric, float)
    except (TypeError, ValueError, OverflowError):
        return None
    is_matrix = array.shape == (size, size) and _is_of_energy(array)
    return list(array) if array.ndim == 3 or array.shape == (chains, size) and not is_matrix else None


def metric_of(metric: object, size: int, method: str = "nuts") -> Choice:
    """The metric that an option asks for, of a posterior with so many parameters.

    Raises:
        OptionError, StanDataError: for one that does not fit.
    """
    if isinstance(metric, str) and metric == "low_rank":
        return Choice(None, _LOW_RANK)
    if isinstance(metric, str) and metric in options.METRICS:
        automatic = metric == "auto" and method in options.OWN_METHODS and size <= curvature.LARGEST
        dense = automatic and 1 < size <= curvature.LARGEST_MATRIX
        return Choice(None, Kind(metric == "dense_e" or dense, adapts=metric != "unit_e", by_gradients=automatic))
    array = _given(metric)
    if array.ndim == 2 and packed.is_packed(array) and packed.is_sound(array, size):
        return Choice(array, _LOW_RANK)
    if array.shape not in ((size,), (size, size)):
        shapes = f"({size},) or ({size}, {size})"
        raise options.OptionError(f"metric, or inv_metric, must have shape {shapes}, not {array.shape}")
    if not _is_of_energy(array):
        told = "must be finite and positive, a matrix symmetric and positive definite"
        raise options.OptionError(f"metric, or inv_metric, {told}")
    return Choice(array, Kind(array.ndim == 2))


def _given(metric: object) -> np.ndarray:
    """The numbers of a metric: an array, a dict with "inv_metric", or the path of a JSON file."""
    if isinstance(metric, (str, os.PathLike)):
        try:
            metric = json.loads(files.read_bytes(Path(metric)))
        except (OSError, ValueError) as e:
            raise StanDataError(f"metric, or inv_metric: {metric} can't be read: {e}") from None
    if isinstance(metric, Mapping):
        if "inv_metric" not in metric:
            raise options.OptionError("a metric given as a dict must have the item inv_metric")
        metric = metric["inv_metric"]
    try:
        return np.asarray(metric, float)
    except (TypeError, ValueError, OverflowError) as e:
        raise options.OptionError(f"metric, or inv_metric, must hold numbers: {e}") from None


def _is_of_energy(metric: np.ndarray) -> bool:
    """Whether an inverse metric, its diagonal or the matrix, is that of a kinetic energy."""
    if not np.all(np.isfinite(metric)):
        return False
    if metric.ndim == 1:
        return bool(np.all(metric > 0))
    return bool(np.allclose(metric, metric.T)) and curvature.is_positive_definite(metric)
