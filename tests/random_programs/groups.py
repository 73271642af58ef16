"""Random statements about groups of different lengths: what is written, and what is read, at lists of indices."""

from __future__ import annotations

from .containers import vector_of
from .integers import integer
from .kinds import vector
from .laws import both
from .reals import real
from .scope import Place, Variable

STRETCHES = ("index_g[start_g[{g}] : end_g[{g}]]", "segment(index_g, start_g[{g}], length_g[{g}])",
             "index_g[start_g[{g}] : (start_g[{g}] + length_g[{g}] - 1)]", "start_g[{g}] : end_g[{g}]",
             "index_g[index_g[start_g[{g}] : end_g[{g}]]]")  # fmt: skip


def stretch(place: Place, group: str) -> str:
    """An index that takes as many entries as a group has, of as many as all groups have."""
    return place.choices.pick(STRETCHES).format(g=group)


def members(place: Place, group: str, data: bool = False) -> str:
    """A vector with one entry for each member of a group."""
    c, n = place.choices, place.sizes["NR"]
    known = place.having(lambda v: v.kind.name == "vector" and v.kind.dims[0] == n and (v.data or not data))
    matrices = place.having(lambda v: v.kind.name == "matrix" and v.kind.dims[0] == n and v.kind.dims[1] > 0
                            and (v.data or not data))  # fmt: skip
    if matrices and c.chance(30):
        v = c.pick(matrices[::-1])
        return f"{v.name}[{stretch(place, group)}, {integer(place, 1, v.kind.dims[1], 1)}]"
    if not known or c.chance(15):
        return f"rep_vector({real(place, 1, data)}, length_g[{group}])"
    v = c.pick(known[::-1])
    part = f"segment({v.name}, start_g[{group}], length_g[{group}])" if c.chance(30) else ""
    return part or f"{v.name}[{stretch(place, group)}]"


def scattered(place: Place) -> list[str]:
    """An assignment to the members of a group, or their law."""
    c, n = place.choices, place.sizes["NR"]
    data = place.data_only
    group = integer(place, 1, place.sizes["NG"], 1, static=True)
    value = members(place, group, data)
    if c.chance(40):
        value = f"{value} .* {members(place, group, data)}"
    if c.chance(30):
        value = f"{real(place, 1, data)} * {value}"
    if place.target and c.chance(50):
        center = members(place, group)
        return [both(f"{value} ~ normal({center}, 1.5);", f"target += normal_lpdf({value} | {center}, 1.5);")]

    def fits(v: Variable) -> bool:
        known = v.kind.name in ("vector", "matrix") and v.kind.dims[0] == n and 0 not in v.kind.dims
        return known and v.assignable and (not v.static or place.static or data)

    known = place.having(fits)
    name = c.pick(known[::-1]).name if known else place.names.fresh()
    kind = next((v.kind for v in known if v.name == name), None)
    lines = []
    if kind is None:
        lines = [f"vector[NR] {name} = {vector_of(place, n, 1, data)};"]
        place.add(Variable(name, vector(n), data=data, static=data, assignable=True))
    at = stretch(place, group)
    if kind is not None and kind.name == "matrix":
        at += f", {integer(place, 1, kind.dims[1], 1, data)}"
    with place.restricted(lambda other: other.name != name):
        value = value if name not in value else f"rep_vector({real(place, 1, data)}, length_g[{group}])"
    sign = c.pick(["=", "+=", "-=", ".*="])
    return [*lines, f"{name}[{at}] {sign} {value};"]
