"""What functions of the library make of values that depend on rows.

A function that is not told of here takes all rows together, so that what depends on its result is no sum over rows.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence

from stanlib import constraints
from stanlib.constraints import Constraint
from stanlib.distribution import Distribution
from stanlib.registry import Function
from stanlib.types import COMPLEX_ROW_VECTOR, INT, MATRIX_DIMS, ROW_VECTOR, Type, dimensions, is_scalar, unwind

from ..ir import gprob
from ..source import Span
from .kinds import FREE, ROW, SIZE, SUM, Kind, added, alike, everything, rows, scaled, worst

Rule = Callable[[Sequence[Kind], Sequence[Type], Span], Kind]
_DENSITIES = ("lpdf", "lpmf", "lupdf", "lupmf", "lcdf", "lccdf")


def result(call: gprob.Apply, given: Sequence[Kind]) -> Kind:
    """The kind of a call, of the kinds of its arguments."""
    types = [a.type for a in call.arguments]
    found = worst(given)
    if found is not None:
        return found
    if all(k.is_local for k in given):
        return ROW if ROW in given else FREE
    return _of_rows(call.function, given, types, call.span)


def _of_rows(function: Function, given: Sequence[Kind], types: Sequence[Type], span: Span) -> Kind:
    """The kind of a call with arguments that more than one row decides: by the function's rule, if there is one."""
    law = function.distribution
    if law is not None and function.method in _DENSITIES:
        return density(law, given, types, span)
    rule = _RULES.get(function.name)
    if rule is not None:
        return rule(given, types, span)
    if function.constrains or function.unconstrains:
        return _transformed(constraints.get(function.constrains or function.unconstrains), given, types, span)
    if pairs_entries(function):
        return componentwise(given, types, span)
    return everything(span)


def componentwise(given: Sequence[Kind], types: Sequence[Type], span: Span) -> Kind:
    return everything(span) if differ_in_size(given, types) else alike(given, span)


def differ_in_size(given: Sequence[Kind], types: Sequence[Type]) -> bool:
    """Whether values that are to have as many entries can't: of a batch a container that has no rows has others."""
    containers = [k for k, t in zip(given, types) if not is_scalar(t)]
    return any(k.tag == "rows" for k in containers) and any(k.is_local for k in containers)


def pairs_entries(function: Function) -> bool:
    """Whether a function takes containers of as many entries, one of each at a time."""
    is_sum = function.name in ("add", "subtract")
    return is_sum or function.is_componentwise or function.name in _COMPONENTWISE


def keeps_size(function: Function) -> bool:
    """Whether the result has as many entries as each container that a function takes."""
    return pairs_entries(function) or function.name in _KEPT


def _transformed(constraint: Constraint, given: Sequence[Kind], types: Sequence[Type], span: Span) -> Kind:
    """The kind of a transform of a constrained type, or of its inverse: the entries of one value depend on one another,
    except those that have bounds, so that rows are those of arrays of values.
    """
    if not constraint.event_dims:
        return componentwise(given, types, span)
    value, *beside = map(first, given)
    apart = value.tag == "rows" and _is_before(value, unwind(types[0])[1])
    return value if apart and all(k.is_constant for k in beside) else everything(span)


# --- laws ------------------------------------------------------------------------------------------------------------


def density(law: Distribution, given: Sequence[Kind], types: Sequence[Type], span: Span) -> Kind:
    """A log density: a sum over rows where these are observations of the law, none of them part of one."""
    dims: tuple[int, ...] = law.dims
    linear = "x" in law.argument_dims  # a matrix with a row of predictors for each
    found = worst(given)
    if found is not None:
        return found
    if all(k.is_local for k in given):
        return ROW if ROW in given else FREE
    for kind, type_, own in zip(given, types, dims):
        if linear and dimensions(type_) == 2:
            own = 1
        observations = dimensions(type_) - own
        if kind.is_constant and (observations <= 0 or linear and own):
            continue
        if kind.tag != "rows" or not _is_before(kind, observations):
            return everything(span)
    return SUM if alike(given, span).tag == "rows" else everything(span)


def _is_before(kind: Kind, axes: int) -> bool:
    """Whether the axis of the rows is one of the first ones, which are those of observations."""
    return axes > 0 and (not isinstance(kind.axis, int) or kind.axis < axes)


# --- arithmetic ------------------------------------------------------------------------------------------------------


def _add(given: Sequence[Kind], types: Sequence[Type], span: Span) -> Kind:
    return added(given[0], given[1], span) if all(map(is_scalar, types)) else componentwise(given, types, span)


def _subtract(given: Sequence[Kind], types: Sequence[Type], span: Span) -> Kind:
    """A running sum that is taken away from something changes its sign from row to row."""
    return everything(span) if given[1].tag == "running" else _add(given, types, span)


def _same(given: Sequence[Kind], types: Sequence[Type], span: Span) -> Kind:
    return SUM if given[0].tag == "size" else given[0] if given[0].tag in ("rows", "sum") else everything(span)


def _multiply(given: Sequence[Kind], types: Sequence[Type], span: Span) -> Kind:
    if any(map(is_scalar, types)):
        factor = 0 if is_scalar(types[0]) and given[0].is_constant else 1
        return scaled(given[1 - factor], given[factor], span)
    return _product([first(k) for k in given], [dimensions(t) for t in types], span)


def _divide(given: Sequence[Kind], types: Sequence[Type], span: Span) -> Kind:
    if all(t == INT for t in types):  # what is left of a division differs between batches
        return alike(given, span)
    if is_scalar(types[0]):
        return scaled(given[0], given[1], span)
    return alike(given, span) if is_scalar(types[1]) else everything(span)


def first(kind: Kind) -> Kind:
    """What a network returns has its rows first, where nothing else is said."""
    return rows(0) if kind.tag == "rows" and kind.axis is None else kind


def _product(given: Sequence[Kind], ranks: Sequence[int], span: Span) -> Kind:
    """A product of matrices and vectors: rows stay apart where they are the left one's rows or the right one's columns.
    """
    left, right = given
    if ranks == [1, 1] and left.tag == right.tag == "rows":
        return SUM if left.axis == right.axis else everything(span)
    if ranks[0] == 2 and left == rows(0) and right.is_constant:
        return rows(0)
    if ranks[1] == 2 and right == rows(1) and left.is_constant:
        return rows(ranks[0] - 1)
    return everything(span)


def _outer_product(given: Sequence[Kind], types: Sequence[Type], span: Span) -> Kind:
    left, right = map(first, given)
    if left == rows(0) and right.is_constant:
        return left
    return rows(1) if right == rows(0) and left.is_constant else everything(span)


def _products(given: Sequence[Kind], types: Sequence[Type], span: Span) -> Kind:
    if all(not is_scalar(t) for t in types) and [str(t) for t in types] == ["vector", "row_vector"]:
        return _outer_product(given, types, span)
    return _multiply(given, types, span)


def _transpose(given: Sequence[Kind], types: Sequence[Type], span: Span) -> Kind:
    kind = first(given[0])
    if dimensions(types[0]) == 1:
        return kind
    return rows(1 - kind.axis) if isinstance(kind.axis, int) else everything(span)


# --- sums, sizes, containers -----------------------------------------------------------------------------------------


def _sum(given: Sequence[Kind], types: Sequence[Type], span: Span) -> Kind:
    return SUM if all(k.tag == "rows" for k in given) and alike(given, span).tag == "rows" else everything(span)


def _along(axis: int) -> Rule:
    """Sums along the other axis of matrices, one for each row; of a vector along it there is one sum."""

    def rule(given: Sequence[Kind], types: Sequence[Type], span: Span) -> Kind:
        apart = all(dimensions(t) == 2 for t in types) and all(first(k) == rows(axis) for k in given)
        return rows(0) if apart else everything(span)

    return rule


def _size(axis: int) -> Rule:
    """How long an axis is: that of the rows of matrices, or of their columns."""

    def rule(given: Sequence[Kind], types: Sequence[Type], span: Span) -> Kind:
        if given[0].tag != "rows":
            return everything(span)
        along, found = axis - (types[0] in (ROW_VECTOR, COMPLEX_ROW_VECTOR)), first(given[0]).axis
        if isinstance(found, str):  # some entries of each row
            return FREE if along else SUM
        return SIZE if found == along else FREE

    return rule


def _length(given: Sequence[Kind], types: Sequence[Type], span: Span) -> Kind:
    """The length of an array's first axis, and how many entries anything else has."""
    array = unwind(types[0])[1] > 0
    return _size(0)(given, types, span) if array else _num_elements(given, types, span)


def _num_elements(given: Sequence[Kind], types: Sequence[Type], span: Span) -> Kind:
    one = given[0].tag == "rows" and dimensions(types[0]) == 1 and not isinstance(given[0].axis, str)
    return SIZE if one else _sum(given, types, span)


def _compared(given: Sequence[Kind], types: Sequence[Type], span: Span) -> Kind:
    """The number of rows beside itself, or beside 0: for a batch, which is never empty, the same as for all rows."""
    return FREE if {k.tag for k in given} <= {"size", "zero"} else everything(span)


def _larger(given: Sequence[Kind], types: Sequence[Type], span: Span) -> Kind:
    return SIZE if {k.tag for k in given} <= {"size", "zero"} else everything(span)


def _repeat(given: Sequence[Kind], types: Sequence[Type], span: Span) -> Kind:
    """A value repeated along new first axes."""
    value, sizes = given[0], given[1:]
    if value.tag == "rows" and all(s.is_constant for s in sizes) and isinstance(value.axis, int):
        return rows(value.axis + len(sizes))
    counted = [i for i, s in enumerate(sizes) if s.tag == "size"]
    plain = all(s.is_constant or s.tag == "size" for s in sizes)
    return rows(counted[0]) if value.is_constant and plain and len(counted) == 1 else everything(span)


def _filled(given: Sequence[Kind], types: Sequence[Type], span: Span) -> Kind:
    """`ones_vector(N)` and its like."""
    return _repeat((FREE, *given), types, span)


def _repeat_matrix(given: Sequence[Kind], types: Sequence[Type], span: Span) -> Kind:
    if str(types[0]) != "vector":
        return _repeat(given, types, span)
    value, size = given
    if value == rows(0) and size.is_constant:
        return value
    return rows(1) if value.is_constant and size.tag == "size" else everything(span)


def _flatten(given: Sequence[Kind], types: Sequence[Type], span: Span) -> Kind:
    """Entries one after the other: by columns those of matrices, those of arrays by rows."""
    axis, dims = first(given[0]).axis, dimensions(types[0])
    if given[0].tag == "rows" and dims == 1:
        return given[0]
    if given[0].tag != "rows" or axis not in (0, dims - 1):
        return everything(span)
    return rows(f"{axis} of {dims} by {'columns' if types[0] in MATRIX_DIMS else 'rows'}")


def _reshaped(given: Sequence[Kind], types: Sequence[Type], span: Span) -> Kind:
    """A conversion that keeps the axes."""
    two = len(given) == 1 and dimensions(types[0]) == 2
    return given[0] if two and given[0].tag == "rows" else everything(span)


def _beside(axis: int) -> Rule:
    """Columns beside columns keep the rows of matrices and vectors apart, and so the other way round."""

    def rule(given: Sequence[Kind], types: Sequence[Type], span: Span) -> Kind:
        along = "vector" if axis == 0 else "row_vector"
        for kind, t in zip(given, types):
            if first(kind) != rows(axis if dimensions(t) == 2 else 0) or dimensions(t) == 1 and str(t) != along:
                return everything(span)
        return rows(axis)

    return rule


def _selected(axis: int) -> Rule:
    """`col(x, k)` and `row(x, n)`: `axis` is the one that is left."""

    def rule(given: Sequence[Kind], types: Sequence[Type], span: Span) -> Kind:
        kind = first(given[0])
        if kind == rows(axis) and given[1].is_constant:
            return rows(0)
        return ROW if kind == rows(1 - axis) and given[1].tag == "index" else everything(span)

    return rule


def _scaled_rows(matrix: int, axis: int) -> Rule:
    """A diagonal matrix times a matrix, or the other way round: `axis` is the one along which entries are scaled."""

    def rule(given: Sequence[Kind], types: Sequence[Type], span: Span) -> Kind:
        kind, factors = first(given[matrix]), given[1 - matrix]
        if kind == rows(axis) and factors == rows(0) or kind == rows(1 - axis) and factors.is_constant:
            return kind
        return everything(span)

    return rule


_KEPT = frozenset((
    "reverse", "sort_asc", "sort_desc", "sort_indices_asc", "sort_indices_desc", "cumulative_sum", "softmax",
    "log_softmax", "minus", "plus", "transpose", "to_vector", "to_row_vector", "to_array_1d",
))  # fmt: skip
FILLED = frozenset((
    "rep_vector", "rep_row_vector", "rep_array", "ones_vector", "zeros_vector", "ones_row_vector", "zeros_row_vector",
))  # fmt: skip
COUNTED = {
    "head": 1, "tail": 1, "segment": 2, "sub_col": 3, "sub_row": 3, "linspaced_vector": 0, "linspaced_row_vector": 0,
    "linspaced_array": 0, "linspaced_int_array": 0, "uniform_simplex": 0, "one_hot_vector": 0,
}  # the places of the arguments that say how many entries there are
APPENDED = frozenset(("append_row", "append_col", "append_array"))
_COMPONENTWISE = frozenset(("elt_multiply", "elt_divide", "pow", "elt_pow"))
_RULES: dict[str, Rule] = {
    "add": _add, "subtract": _subtract,
    **dict.fromkeys(("minus", "plus"), _same),
    "multiply": _products, "divide": _divide, "transpose": _transpose,
    **dict.fromkeys(("sum", "dot_self", "dot_product", "squared_distance"), _sum),
    **dict.fromkeys(("rows_dot_product", "rows_dot_self"), _along(0)),
    **dict.fromkeys(("columns_dot_product", "columns_dot_self"), _along(1)),
    "rows": _size(0), "cols": _size(1), "size": _length, "num_elements": _num_elements,
    **dict.fromkeys((f"logical_{n}" for n in ("eq", "neq", "lt", "lte", "gt", "gte")), _compared), "max": _larger,
    **dict.fromkeys(("rep_vector", "rep_row_vector", "rep_array"), _repeat), "rep_matrix": _repeat_matrix,
    **dict.fromkeys((n for n in FILLED if not n.startswith("rep_")), _filled),
    **dict.fromkeys(("to_vector", "to_row_vector", "to_array_1d"), _flatten),
    **dict.fromkeys(("to_matrix", "to_array_2d"), _reshaped),
    "append_col": _beside(0), "append_row": _beside(1), "col": _selected(0), "row": _selected(1),
    "diag_pre_multiply": _scaled_rows(1, 0), "diag_post_multiply": _scaled_rows(0, 1),
}  # fmt: skip
