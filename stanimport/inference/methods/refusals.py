"""Options that a sampler does not have: the one table of which method refuses what."""
from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any, NamedTuple

from .. import options
from ..samplers.tracks import Settings
from .metrics import Choice
from .sampling_options import ENSEMBLES
from .unheeded import WINDOWS

Given = Mapping[str, Any]

_WRAPPED = (*ENSEMBLES, "blackjax", "nutpie")  # of packages that know no warm-up but their own
_NOT_OWN = (*_WRAPPED, "numpyro", "pyro")
_USUAL = Settings()


class Refusal(NamedTuple):
    """An option, as the message names it; whether options and metric ask for it; the methods that don't have it."""

    name: str
    is_asked: Callable[[Given, Choice], bool]
    methods: Collection[str]


def _is_given(name: str, chosen: Given, metric: Choice) -> bool:
    return chosen[name] is not None


REFUSED = (
    Refusal("metric='low_rank'", lambda chosen, metric: metric.kind.low_rank, _NOT_OWN),
    Refusal("this step_size", lambda chosen, metric: isinstance(chosen["step_size"], tuple), _NOT_OWN),
    Refusal("this metric", lambda chosen, metric: isinstance(metric.start, list), _NOT_OWN),
    *(Refusal(f"this {name}", partial(_is_given, name), _NOT_OWN) for name in (*WINDOWS, "journal")),
    Refusal("this chain_method", lambda chosen, metric: chosen["chain_method"] not in (None, "vectorized"), ENSEMBLES),
    Refusal("save_warmup", lambda chosen, metric: chosen["save_warmup"], (*_WRAPPED, "pyro")),
    Refusal("metric", lambda chosen, metric: metric.start is not None, _WRAPPED),
    Refusal("metric='dense_e'", lambda chosen, metric: metric.kind.dense, (*ENSEMBLES, "nutpie")),
    Refusal("metric='unit_e'", lambda chosen, metric: not metric.kind.adapts, ("meads", "blackjax", "nutpie")),
    Refusal("adapt_engaged", lambda chosen, metric: not chosen["adapt_engaged"], _WRAPPED),
    Refusal("adapt_delta", lambda chosen, metric: chosen["adapt_delta"] != _USUAL.adapt_delta, ("meads",)),
    Refusal("step_size", lambda chosen, metric: chosen["step_size"] not in (None, _USUAL.step_size), ("meads",)),
)


def refuse(method: str, chosen: Given, metric: Choice) -> None:
    """Raise OptionError for the first of the options that are set which the method does not have."""
    for option in REFUSED:
        if method in option.methods and option.is_asked(chosen, metric):
            raise options.OptionError(f"method={method!r} does not take {option.name}: that needs method='nuts'")
