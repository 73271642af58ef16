"""Messages for calls that fit no signature: the nearest ones, and the one argument that differs."""
from __future__ import annotations

from collections.abc import Sequence

from stanlib.overloads import Mismatch
from stanlib.types import (
    INT,
    MATRIX,
    REAL,
    ROW_VECTOR,
    VECTOR,
    Array,
    Function,
    Type,
    array,
    dimensions,
    scalar_of,
)  # fmt: skip

from ...source import Span
from .. import ast
from .context import Typed

SHOWN = 5


# A candidate: the signature to show, its type, and why it does not fit.
Failure = tuple[str, Function, Mismatch]


def mismatch(
    name: ast.Name, span: Span, arguments: Sequence[Typed], failures: Sequence[Failure], tilde: bool = False
) -> tuple[str, Span, str, str]:
    """The parts of a diagnostic about a call that no signature fits: each signature once, the nearest first.

    Behind `~` arguments are counted without the outcome, which stands on the left.
    """
    ranked = sorted(failures, key=lambda f: _badness(f[2], arguments))
    best = ranked[0][2]
    nearest = dict(reversed([(text, m) for text, _, m in ranked]))
    shown = [text for text in dict.fromkeys(text for text, _, _ in ranked)]
    types = [str(a.type) for a in arguments]
    message = f"{name.text!r} can't be called with ({', '.join(types)})"
    if tilde:
        message = f"{types[0]} ~ {name.text}({', '.join(types[1:])}) is not defined"
    if all(m.reason == "count" for m in nearest.values()) and len({str(m.expected) for m in nearest.values()}) == 1:
        message = f"{name.text!r} takes {_count(best.expected, tilde)}, not {_number(best.given, tilde)}"
    hint = "it takes\n" + "\n".join(f"    {text}: {reason(nearest[text], tilde)}" for text in shown[:SHOWN])
    if len(shown) > SHOWN:
        hint += f"\n    and {len(shown) - SHOWN} other signatures"
    return message, span, hint, "call"


def ambiguous(
    name: ast.Name, span: Span, arguments: Sequence[Typed], matches: Sequence[Function]
) -> tuple[str, Span, str, str]:
    types = ", ".join(str(a.type) for a in arguments)
    hint = "equally good are\n" + "\n".join(f"    {signature(name.text, f)}" for f in matches)
    return f"the call of {name.text!r} with ({types}) is ambiguous", span, hint, "ambiguous"


def conversion(to: Type, given: Type) -> str:
    """How a value of one type becomes one of another, where there is a usual way."""
    if (to, given) == (INT, REAL):
        return "declare it real; to_int(...) truncates a number that does not depend on parameters"
    if {to, given} == {VECTOR, ROW_VECTOR}:
        return "transpose it: (...)'"
    if given == ROW_VECTOR and to in (array(REAL, 1), array(INT, 1)):
        return "arrays are written {1, 2, 3}"
    if to in _REPEAT and given in (INT, REAL):
        return f"{_REPEAT[to]} repeats one number"
    if to in _FROM_ARRAY and given in (array(INT, 1), array(REAL, 1)):
        return f"{_FROM_ARRAY[to]} makes one of an array"
    if to in (array(REAL, 1), array(INT, 1)) and given in (VECTOR, ROW_VECTOR):
        return "to_array_1d(...) makes an array of it" if to == array(REAL, 1) else ""
    return ""


_REPEAT = {
    VECTOR: "rep_vector(..., n)", ROW_VECTOR: "rep_row_vector(..., n)", MATRIX: "rep_matrix(..., m, n)",
    array(REAL, 1): "rep_array(..., n)", array(INT, 1): "rep_array(..., n)",
}  # fmt: skip
_FROM_ARRAY = {VECTOR: "to_vector(...)", ROW_VECTOR: "to_row_vector(...)"}


def no_operator(operator: str, left: Type, right: Type) -> str:
    """What to write where an operator is not defined for its operands."""
    if operator == "*" and left == right and left in (VECTOR, ROW_VECTOR):
        return "write .* for the products of the elements, dot_product(...) for their sum"
    if isinstance(left, Array) or isinstance(right, Array):
        return "arrays have no arithmetic: make vectors of them, with to_vector(...)"
    return ""


def signature(name: str, f: Function) -> str:
    return f"{f.result} {name}({', '.join(map(str, f.parameters))})"


def _number(count: object, tilde: bool) -> int:
    return int(str(count)) - tilde


def _count(count: object, tilde: bool) -> str:
    number = _number(count, tilde)
    return f"{number} argument{'s' if number != 1 else ''}"


def reason(m: Mismatch, tilde: bool = False) -> str:
    """Why a signature does not fit, in a few words."""
    if m.reason == "count":
        return f"{_count(m.expected, tilde)}, not {_number(m.given, tilde)}"
    place = "" if m.position is None else f"argument {m.position + 1 - tilde} "
    if tilde and m.position == 0:
        place = "the outcome "
    if m.reason == "data":
        return f"{place}must be data"
    if m.inner is not None:
        return f"{place}is a function whose {_function_reason(m.inner)}"
    return f"{place}is {getattr(m.given, 'type', m.given)}, not {m.expected}"


def _function_reason(m: Mismatch) -> str:
    """What is wrong with a function that is passed on, as the end of a sentence: its name, result or arguments."""
    if m.reason == "suffix":
        return f"name must end in {m.expected!r}" if m.expected else "name must have no such suffix"
    if m.reason == "result":
        return f"result is {m.given}, not {m.expected}"
    if m.inner is None:
        return "arguments differ"
    if m.inner.reason == "count":
        return f"number of arguments is {m.inner.expected}, not {m.inner.given}"
    position = 0 if m.inner.position is None else m.inner.position
    if m.inner.reason == "data":
        return f"argument {position + 1} must not be qualified as data"
    return f"argument {position + 1} is {m.inner.expected}, not {getattr(m.inner.given, 'type', m.inner.given)}"


def _badness(m: Mismatch, arguments: Sequence[Typed]) -> tuple[int, int, int]:
    """Smaller is nearer: the number of arguments fits, the first misfit stands late, only its container differs."""
    if m.reason == "count" or m.position is None:
        return (1, abs(int(str(m.expected)) - len(arguments)) if m.reason == "count" else 0, 0)
    given = arguments[m.position].type if m.position < len(arguments) else None
    expected = getattr(m.expected, "type", m.expected)
    far = 0
    if given is not None and isinstance(expected, Type) and not isinstance(expected, Function):
        far = 2 * (dimensions(given) != dimensions(expected)) + (scalar_of(given) != scalar_of(expected))
    return (0, -m.position, far)
