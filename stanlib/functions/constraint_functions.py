"""The transforms of constrained types as functions. Source: Stan Functions Reference, "Variable Transformations".

Every constraint of stanlib.constraints has three: `_constrain` maps unconstrained values to constrained ones,
`_jacobian` does the same and adds the log Jacobian to the target, `_unconstrain` goes back.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from .. import constraints, signatures
from ..arrays.base import Array, Namespace, Real
from ..checks import nonempty, same_shape, same_size, size
from ..constraints import Constraint
from ..domains import FINITE, POSITIVE_FINITE
from ..errors import StanDomainError
from ..registry import Function, add
from ..rejection import refuse


def _summed(xp: Namespace, value: Array, log_jacobian: Array) -> tuple[Any, Any]:
    return value, xp.sum(log_jacobian)


def _transforms(to: str, back: str, kind: str, examples: Any, symbol: str = "", domains: Any = None) -> None:
    """Register the three functions of the constraint of that name.

    `to` and `back` are their signatures without the ending of the name; the ints among the arguments are the sizes of
    the constrained value. `examples` holds arguments of the constraining functions and of the inverse.
    """
    record = constraints.get(kind)
    parsed = signatures.parse(to)
    name, sizes = parsed.name, tuple(a.name for a in parsed.arguments if getattr(a.term, "text", "") == "int")

    def constrain(xp: Namespace, x: Array, *given: Real) -> Array:
        x, given = _checked(xp, f"{name}constrain", record, x, given, sizes)
        return record.constrain(xp, x, *given)[0]

    def jacobian(xp: Namespace, x: Array, *given: Real) -> tuple[Array, Array]:
        x, given = _checked(xp, f"{name}jacobian", record, x, given, sizes)
        return _summed(xp, *record.constrain(xp, x, *given))

    def unconstrain(xp: Namespace, y: Array, *given: Array) -> Array:
        y, given = _checked_value(xp, f"{name}unconstrain", record, y, given)
        return record.unconstrain(xp, y, *given)

    def enter(kind: str, text: str, body: Callable[..., Any], example: Any, **options: Any) -> None:
        body.__doc__ = f"{_DOCS[kind]} {record.description.replace('{', '').replace('}', '')}."
        text, as_ = text.replace(f" {name}(", f" {name}{kind}("), f"{symbol or name}{kind}"
        add(Function(name + kind, as_, (text,), body, domains=domains or {}, examples=(example,), **options))

    enter("constrain", to, constrain, examples[0], sizes=sizes, constrains=kind)
    enter("jacobian", to, jacobian, examples[0], sizes=sizes, constrains=kind, effect="jacobian")
    enter("unconstrain", back, unconstrain, examples[1], unconstrains=kind)


_DOCS = {
    "constrain": "From unconstrained values,",
    "jacobian": "From unconstrained values, with the log Jacobian added to the target:",
    "unconstrain": "The unconstrained values of",
}


def _checked(xp: Namespace, name: str, record: Constraint, x: Array, given: Any, sizes: tuple[str, ...]) -> Any:
    """Unconstrained reals, and what the record takes beside them."""
    if sizes:
        given = _checked_sizes(xp, name, record, x, [size(name, n, s) for n, s in zip(sizes, given)])
    else:
        _check_bounds(xp, name, record, x, given)
    if record is constraints.get("unit_vector"):
        _has_components(xp, name, record, x)
    return xp.real(x), given


def _checked_sizes(
    xp: Namespace, name: str, record: Constraint, x: Array, given: Sequence[int]
) -> tuple[int, ...]:  # fmt: skip
    """Rows and columns, where the record takes them: the type has values of them, and x as many free numbers."""
    rows, cols = given[0], given[-1]  # one size is that of a square matrix
    if record.is_tall:
        refuse(rows < cols, lambda: StanDomainError(f"{name}: {rows} rows must not be fewer than {cols} columns!"))
    sizes = (rows, cols) if record.is_sized else ()
    free = record.free_shape((rows, cols), *sizes)
    same_size(name, "the number of unconstrained values", xp.shape(x)[-1], "what the sizes ask for", free[0])
    return sizes


def _checked_value(xp: Namespace, name: str, record: Constraint, y: Array, given: Any) -> Any:
    """Constrained reals that satisfy the constraint, and what the record takes beside them."""
    _check_bounds(xp, name, record, y, given)
    if record.event_dims:
        _has_components(xp, name, record, y)
    if record.is_square:
        rows, columns = xp.shape(y)[-2:]
        same_size(name, "the rows of the matrix", rows, "its columns", columns)
    y = xp.real(y)
    given = record.sizes_of(xp.shape(y)) or given
    wanted = record.description.format(**dict(zip(record.arguments, given)))
    error = partial(StanDomainError, f"{name}: the argument is {y}, but must be {wanted}!")
    refuse(xp.asarray(record.check(xp, y, *given)) == 0, error)
    return y, given


def _has_components(xp: Namespace, name: str, record: Constraint, x: Array) -> None:
    """Raise where the elements of arrays have no components; arrays without elements have none to look at."""
    axes = xp.ndim(x) - record.event_dims
    if 0 not in xp.shape(x)[:axes]:
        nonempty(xp, name, x)


def _check_bounds(xp: Namespace, name: str, record: Constraint, x: Array, given: Array) -> None:
    """Bounds, offset and multiplier are scalars or of the value's shape, and a lower bound is below the upper one."""
    for bound in given:
        if xp.ndim(bound):
            same_shape(xp, name, x, bound)
    if record.name == "lower_upper":
        lower, upper = given
        message = f"{name}: the lower bound {lower} must be less than the upper bound {upper}!"
        refuse(xp.asarray(lower < upper) == 0, partial(StanDomainError, message))


def _bounded(name: str, kind: str, bounds: Sequence[str], example: Any, **options: Any) -> None:
    """A constraint on scalars, whose arguments are scalars or of the value's type."""
    text = f"B {name}_(B x, {', '.join(f'B{i} {b}' for i, b in enumerate(bounds, 1))})"
    _transforms(text, text, kind, (example, example), **options)


def _own_type(name: str, kind: str, variable: str, examples: Any, **options: Any) -> None:
    """A constraint whose free and constrained values are of one type."""
    text = f"{variable} {name}_({variable} x)"
    _transforms(text, text, kind, tuple((e,) for e in examples), **options)


def _packed(name: str, sizes: Sequence[str], kind: str, examples: object) -> None:
    """A constraint on matrices whose free values are a vector."""
    named = ", ".join(f"int {s}" for s in sizes)
    _transforms(f"MatrixOfV {name}_(V x, {named})", f"VectorOfM {name}_(M x)", kind, examples)


_bounded("lower_bound", "lower", ["lower"], ([0.3, 1.2], -0.5))
_bounded("upper_bound", "upper", ["upper"], ([0.3, 1.2], 2.5))
_bounded("lower_upper_bound", "lower_upper", ["lower", "upper"], ([0.3, 1.2], -0.5, 2.5))
_bounded(
    "offset_multiplier", "offset_multiplier", ["offset", "multiplier"], ([0.3, 1.2], -0.5, 2.5),
    domains={"offset": FINITE, "multiplier": POSITIVE_FINITE},
)  # fmt: skip

_own_type("ordered", "ordered", "V", ([0.3, -0.2, 0.5], [-1.0, 0.2, 0.7]))
_own_type("positive_ordered", "positive_ordered", "V", ([0.3, -0.2, 0.5], [0.1, 0.2, 0.7]))
_own_type("unit_vector", "unit_vector", "V", ([0.3, -0.2, 0.5], [0.6, 0.0, -0.8]))
_own_type("simplex", "simplex", "V", ([0.3, -0.2], [0.2, 0.5, 0.3]))
_own_type("sum_to_zero", "sum_to_zero_vector", "V", ([0.3, -0.2], [1.5, -2.0, 0.5]))
_own_type(
    "sum_to_zero", "sum_to_zero_matrix", "M", ([[0.3, -0.2]], [[1.5, -2.0, 0.5], [-1.5, 2.0, -0.5]]),
    symbol="sum_to_zero_matrix_",
)  # fmt: skip
_own_type("stochastic_row", "row_stochastic_matrix", "M", ([[0.3], [-0.2]], [[0.2, 0.8], [0.5, 0.5]]))
_own_type("stochastic_column", "column_stochastic_matrix", "M", ([[0.3, -0.2]], [[0.2, 0.5], [0.8, 0.5]]))

_FACTOR = [[1.0, 0.0], [0.6, 0.8]]
_packed("cholesky_factor_corr", ["K"], "cholesky_factor_corr", (([0.3], 2), (_FACTOR,)))
_packed("cholesky_factor_cov", ["M", "N"], "cholesky_factor_cov", (([0.3, 1.0, -0.5], 2, 2), (_FACTOR,)))
_packed("corr_matrix", ["K"], "corr_matrix", (([0.3], 2), ([[1.0, 0.3], [0.3, 1.0]],)))
_packed("cov_matrix", ["K"], "cov_matrix", (([0.3, 1.0, -0.5], 2), ([[1.0, 0.3], [0.3, 2.0]],)))
