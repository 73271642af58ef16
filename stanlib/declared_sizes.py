"""Whether values have the kinds and sizes that a program declares for its variables, as far as its data tell them."""
from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .errors import StanDataError
from .given import NoNumbersError, array_of, verified
from .metadata import Program, Variable
from .rejection import NO_INTEGER

_OPERATIONS: dict[type, Callable[[int, int], int]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
}  # fmt: skip


def verify(
    v: Variable, value: Any, data: Mapping[str, Any], program: Program, around: tuple[str, ...] = ()
) -> None:
    """A value must have as many axes as its variable, each of the declared size where data alone decide it.

    Args:
        around: the sizes of arrays of tuples, whose item it is.

    Raises:
        StanDataError: naming both sizes.
    """
    texts = (*around, *v.shape)
    if v.items:
        for item, part in zip(v.items, value if isinstance(value, tuple) else ()):
            verify(item, part, data, program, texts)
        return
    given, declared = np.shape(value), [_size(text, data) for text in texts]
    if len(given) != len(declared) or any(d is not None and d != n for d, n in zip(declared, given)):
        raise _error(v, f"has a value of sizes {tuple(map(int, given))}", program)


def numbers(v: Variable, value: Any, program: Program) -> Any:
    """A value of a variable, of which lists become arrays. Raises StanDataError for what is not made of numbers."""
    if v.items or hasattr(value, "shape") and not isinstance(value, np.ndarray):  # a tuple, or a backend's array
        return value
    try:
        return array_of(verified(value))
    except NoNumbersError as e:
        raise _error(v, str(e), program) from None


def _error(v: Variable, problem: str, program: Program) -> StanDataError:
    where = f"declared as `{v.declaration}` in {program.filename}, line {v.line}"
    return StanDataError(f"{v.name} {problem}: {where}", v.name, program.filename, v.line)


def _size(text: str, data: Mapping[str, object]) -> int | None:
    """The value of a size's text, made of numbers, names of data, sums and products; None of others."""
    try:
        return _value(ast.parse(text, mode="eval").body, data)
    except (SyntaxError, ValueError):
        return None


def _value(node: ast.expr, data: Mapping[str, object]) -> int | None:
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS:
        left, right = _value(node.left, data), _value(node.right, data)
        return None if left is None or right is None else _OPERATIONS[type(node.op)](left, right)
    if isinstance(node, ast.Constant):  # `True` is a name in Stan
        value = node.value if type(node.value) is int else data.get(str(node.value))
    else:
        value = data.get(node.id) if isinstance(node, ast.Name) else None
    return int(value) if isinstance(value, (int, np.integer)) else None


def blank(
    v: Variable, data: Mapping[str, object], around: tuple[str, ...] = ()
) -> dict[str, np.ndarray]:  # fmt: skip
    """A variable without a value, a tuple's items each by itself: NaN, of integers Stan's least.

    What has sizes that data don't tell here is left out.
    """
    texts = (*around, *v.shape)
    if v.items:
        return {n: value for item in v.items for n, value in blank(item, data, texts).items()}
    sizes = [size for size in (_size(text, data) for text in texts) if size is not None]
    kind = v.type.rpartition(" ")[2]
    fill = NO_INTEGER if kind == "int" else complex(np.nan, np.nan) if kind.startswith("complex") else np.nan
    return {v.name: np.full(sizes, fill)} if len(sizes) == len(texts) else {}
