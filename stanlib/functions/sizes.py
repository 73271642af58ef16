"""Sizes and shapes of containers. Source: Stan Functions Reference, "Array Operations" and "Matrix Operations"."""
from __future__ import annotations

import math

from ..arrays.base import Array, Namespace, Real
from ..registry import stan_function
from ..signatures import each

VECTORS = ("vector", "complex_vector")
ROW_VECTORS = ("row_vector", "complex_row_vector")
MATRICES = ("matrix", "complex_matrix")
_MATRIX = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]


@stan_function(*each("int size({t} x)", ("int", "real", "complex")), shape_only=True, examples=[(0.5,)])
def size_of_scalar(xp: Namespace, x: Array) -> Real:
    return 1


@stan_function(
    "int size(A x)", *each("int size({t} x)", VECTORS + ROW_VECTORS), shape_only=True, examples=[([1.0, 2.0],)]
)
def size(xp: Namespace, x: Real) -> Real:
    return xp.shape(x)[0]


@stan_function(*each("int size({t} x)", MATRICES), shape_only=True, examples=[(_MATRIX,)])
def size_of_matrix(xp: Namespace, x: Real) -> Real:
    return math.prod(xp.shape(x))


@stan_function("int num_elements(G x)", shape_only=True, examples=[(_MATRIX,)])
def num_elements(xp: Namespace, x: Real) -> Real:
    return math.prod(xp.shape(x))


@stan_function("array[] int dims(D x)", shape_only=True, examples=[(_MATRIX,)])
def dims(xp: Namespace, x: Array) -> Array:
    return xp.integer(xp.shape(x))


@stan_function("array[] int dims(DV x)", shape_only=True, examples=[([1.0, 2.0],)])
def dims_of_vectors(xp: Namespace, x: Array) -> Array:
    """A vector has one column."""
    return xp.integer((*xp.shape(x), 1))


@stan_function("array[] int dims(DR x)", shape_only=True, examples=[([1.0, 2.0],)])
def dims_of_row_vectors(xp: Namespace, x: Array) -> Array:
    """A row vector has one row."""
    return xp.integer((*xp.shape(x)[:-1], 1, xp.shape(x)[-1]))


@stan_function(*each("int rows({t} x)", VECTORS + MATRICES), shape_only=True, examples=[(_MATRIX,)])
def rows(xp: Namespace, x: Array) -> Real:
    return xp.shape(x)[0]


@stan_function(*each("int rows({t} x)", ROW_VECTORS), shape_only=True, examples=[([1.0, 2.0],)])
def rows_of_row_vector(xp: Namespace, x: Array) -> Real:
    return 1


@stan_function(*each("int cols({t} x)", ROW_VECTORS + MATRICES), shape_only=True, examples=[(_MATRIX,)])
def cols(xp: Namespace, x: Array) -> Real:
    return xp.shape(x)[-1]


@stan_function(*each("int cols({t} x)", VECTORS), shape_only=True, examples=[([1.0, 2.0],)])
def cols_of_vector(xp: Namespace, x: Array) -> Real:
    return 1
