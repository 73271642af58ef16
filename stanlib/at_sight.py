"""Log densities of numbers that PyTorch has in memory and that are seen to be right, as nearly all are."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .arrays.base import Array, Namespace
from .observations import check_sizes
from .rejection import is_explaining, is_noted


def terms(law: Any, xp: Namespace, y: Any, arguments: Sequence[Any], checks: Sequence[Any]) -> Array | None:
    """The log densities of a law, without what it takes to tell where Stan throws and why.

    None where anything is wrong or not to be looked at, as without PyTorch: it takes more to tell what that means.

    Args:
        law: its `Distribution`.
        checks: those of its arguments that are to be made.
    """
    if xp.LIBRARY != "torch" or not xp.are_seen((y, *arguments)) or is_noted() or is_explaining():
        return None
    if not all([c[0] >= len(arguments) or c[2].is_seen_to_hold(xp, arguments[c[0]]) for c in checks]):
        return None
    given = xp.reals((y, *arguments)) if law.density == "lpmf" else (y, *arguments)
    try:
        check_sizes(xp, law.name, given, law.event_dims, law.dims)
        found: Array = law.methods[law.density](xp, *given)
    except Exception:  # it will be raised again, with the place of the statement
        return None
    return None if xp.is_concrete(found) or _has_nan(found) else found


def _has_nan(found: Any) -> bool:
    """Whether a term is no number: their sum is none then, in a fraction of the time of looking at each."""
    total = found.detach().sum().item()
    return bool(total != total)
