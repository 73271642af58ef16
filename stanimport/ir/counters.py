"""Counters of `while`: variables that its condition compares with a bound, and by how much statements change them."""
from __future__ import annotations

from collections.abc import Iterator

from stanlib.dataclass import dataclass
from stanlib.types import INT

from . import gprob
from .calls import apply
from .uses import walk_statements, writes

# comparisons with a bound on the right: whether it is above, and whether it is included
_COMPARED = {"logical_lt": (True, False), "logical_lte": (True, True), "logical_gt": (False, False),
             "logical_gte": (False, True)}  # fmt: skip


@dataclass(frozen=True)
class Bound:
    """A comparison of a variable with a bound in a condition that must hold.

    Attributes:
        counter: the variable, an int.
        last: the last value within the bound.
        is_above: whether the bound is above.
        is_first: whether nothing is evaluated before the comparison.
    """

    counter: gprob.Var
    last: gprob.Expr
    is_above: bool
    is_first: bool


def bounds(condition: gprob.Expr, is_first: bool = True) -> Iterator[Bound]:
    """The comparisons in a condition that may be those of a counter."""
    if isinstance(condition, gprob.Logical) and condition.operator == "&&":
        yield from bounds(condition.left, is_first)
        yield from bounds(condition.right, False)
    elif isinstance(condition, gprob.Apply) and condition.function.name in _COMPARED:
        up, inclusive = _COMPARED[condition.function.name]
        one, other = condition.arguments
        for counter, bound, above in ((one, other, up), (other, one, not up)):
            if isinstance(counter, gprob.Var) and counter.type == bound.type == INT:
                yield Bound(counter, bound if inclusive else _before(bound, above), above, is_first)


def _before(bound: gprob.Expr, is_above: bool) -> gprob.Expr:
    """The value before a bound: one less than one above."""
    return apply("subtract" if is_above else "add", bound, gprob.int_const(1, bound.span))


def steps(name: str, body: tuple[gprob.Stmt, ...]) -> list[int]:
    """By how much each assignment to the counter changes it; nothing if that is not known of every one."""
    found = [step(name, s) for s in walk_statements(body) if name in writes(s)]
    return found if all(found) else []


def step(name: str, s: gprob.Stmt) -> int:
    """The number that a statement adds to the counter; 0 if it does something else."""
    if not isinstance(s, gprob.Assign) or s.place.name != name or s.place.steps or not isinstance(s.value, gprob.Apply):
        return 0
    sign = {"add": 1, "subtract": -1}.get(s.value.function.name, 0)
    parts = [_plain(a) for a in s.value.arguments]
    if sign == 1 and len(parts) == 2 and parts[1] == name:
        parts.reverse()
    return sign * parts[1] if len(parts) == 2 and parts[0] == name and isinstance(parts[1], int) else 0


def _plain(e: gprob.Expr) -> object:
    return e.name if isinstance(e, gprob.Var) else e.value if isinstance(e, gprob.Const) else None
