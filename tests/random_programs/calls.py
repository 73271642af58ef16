"""Calls of the functions that a random program defines."""

from __future__ import annotations

from .containers import expression
from .kinds import Kind
from .scope import Place, Signature


def allowed(place: Place) -> set[str]:
    """The suffixes of functions that may be called here, without those of laws and of random numbers."""
    return {"", *(["lp"] if place.target else []), *(["jacobian"] if place.jacobian else [])}


def call(place: Place, result: Kind, depth: int) -> str:
    """A call with a result of this kind, or nothing."""
    some = allowed(place)
    known = [f for f in place.functions
             if f.result == result and (f.suffix in some or f.certain and place.draws)]  # fmt: skip
    return with_arguments(place, place.choices.pick(known[::-1]), depth) if known else ""


def with_arguments(place: Place, f: Signature, depth: int) -> str:
    texts = arguments(place, f, depth)
    if f.suffix in ("lpdf", "lpmf"):
        return f"{f.name}({texts[0]} | {', '.join(texts[1:])})"
    return f"{f.name}({', '.join(texts)})"


def arguments(place: Place, f: Signature, depth: int) -> list[str]:
    out = []
    for kind, data, (low, high) in zip(f.arguments, f.data, f.bounds):
        only_data = data or place.data_only
        if data:
            with place.restricted(lambda v: v.data):
                out.append(expression(place, kind, min(depth - 1, 1), True, low, high))
        else:
            out.append(expression(place, kind, depth - 1, only_data, low, high))
    return out
