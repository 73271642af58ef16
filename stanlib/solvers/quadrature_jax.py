"""Integrals in JAX, with their derivatives in the bounds and in the integrand's further arguments.

The derivatives are integrals themselves, of the integrand's derivatives: they are computed beside the value, at the
same points, until all of them have converged.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from ..arrays import named
from . import quadrature
from .arguments_jax import Arguments, is_zero, real_type
from .forwards import derived_forwards
from .quadrature import Interval
from .tolerance import Tolerance

xp = named("jax")

Integrand = Callable[[Array, Array], Array]  # of a point and its distance to an end; a vector


def integrate(
    f: Callable[..., object], a: Array, b: Array, arguments: tuple[object, ...], tolerance: Tolerance, method: str
) -> Array:
    """The integral of f(x, xc, *arguments) from a to b; NaN where it doesn't converge."""
    dtype = real_type(a, b, arguments)
    split = Arguments(arguments)
    tolerance = tolerance.at_precision(float(jnp.finfo(dtype).eps))

    def value(x: Array, xc: Array, leaves: Any) -> Array:
        return jnp.asarray(f(x, xc, *split.restore(leaves)), dtype)

    made = _Integral(value, (a, b), tolerance, method, dtype)
    integral = jax.custom_jvp(made)
    integral.defjvp(made.change, symbolic_zeros=True)
    return integral(*(made.bounds[i] for i in made.moving), *split.leaves)


class _Integral:
    """An integral as a function of those of its bounds that are JAX's, and of the leaves of the further arguments."""

    def __init__(
        self, value: Callable[..., Array], bounds: tuple[Any, Any], tolerance: Tolerance, method: str, dtype: Any
    ):
        self.value, self.tolerance, self.method, self.dtype = value, tolerance, method, dtype
        self.bounds = tuple(jnp.asarray(x, dtype) if isinstance(x, jax.Array) else x for x in bounds)
        self.moving = tuple(i for i, x in enumerate(bounds) if isinstance(x, jax.Array))

    def __call__(self, *primals: Array) -> Array:
        ends, leaves = primals[: len(self.moving)], primals[len(self.moving) :]
        return self._total(ends, lambda x, xc: self.value(x, xc, leaves)[None])[0]

    def _total(self, ends: Sequence[Array], integrand: Integrand) -> Array:
        """The integrals of the components of a vector."""
        bounds = list(self.bounds)
        for i, x in zip(self.moving, ends):
            bounds[i] = x
        pieces = quadrature.pieces(*bounds)
        parts = [METHODS[self.method](integrand, p, self.tolerance, self.dtype) for p in pieces]
        return jnp.where(jnp.asarray(bounds[0] <= bounds[1]), sum(parts), jnp.nan)

    def change(self, primals: Any, tangents: Any) -> tuple[Array, Array]:
        """The integral, and its change with the bounds and the leaves."""
        ends, leaves = primals[: len(self.moving)], primals[len(self.moving) :]
        of_leaves = tangents[len(self.moving) :]
        varied = tuple(i for i, t in enumerate(of_leaves) if not is_zero(t))
        parts = self._total(ends, _with_gradient(self.value, leaves, varied))
        weights = [jnp.ravel(of_leaves[i]).astype(self.dtype) for i in varied]
        change = jnp.dot(parts[1:], jnp.concatenate(weights)) if varied else jnp.zeros((), self.dtype)
        for i, end, tangent in zip(self.moving, ends, tangents):
            if not is_zero(tangent):
                slope = self.value(end, jnp.zeros((), self.dtype), leaves)
                change = change + (slope if i else -slope) * tangent
        return parts[0], change


def _with_gradient(value: Callable[..., Array], leaves: Sequence[Array], varied: tuple[int, ...]) -> Integrand:
    """The integrand, and its derivatives in the components of some of the leaves.

    Where the integrand vanishes, as far out, derivatives that are NaN count as 0, as in Stan. What is derived forwards
    alone, as by a solver around, has loops that have no others.
    """
    derived = _value_and_slopes if derived_forwards() else jax.value_and_grad

    def of_varied(chosen: Sequence[Array], x: Array, xc: Array) -> Array:
        out = list(leaves)
        for i, leaf in zip(varied, chosen):
            out[i] = leaf
        return value(x, xc, out)

    def integrand(x: Array, xc: Array) -> Array:
        out, slopes = derived(of_varied)([leaves[i] for i in varied], x, xc)
        known = (jnp.ravel(s).astype(out.dtype) for s in slopes)
        return jnp.concatenate([out[None], *(jnp.where(jnp.isnan(s) & (out == 0), 0, s) for s in known)])

    return integrand


def _value_and_slopes(f: Callable[..., Array]) -> Callable[..., tuple[Array, Any]]:
    """A function, and its derivatives in its first argument, computed forwards."""

    def twice(chosen: Sequence[Array], *rest: Array) -> tuple[Array, Array]:
        out = f(chosen, *rest)
        return out, out

    def of(*arguments: object) -> tuple[Array, Any]:
        slopes, out = jax.jacfwd(twice, has_aux=True)(*arguments)
        return out, slopes

    return of


def double_exponential(f: Integrand, piece: Interval, tolerance: Tolerance, dtype: Any) -> Array:
    """Levels of nodes, each half as far apart, until none of the components changes any more."""
    reach = quadrature.REACH[jnp.dtype(dtype).itemsize]
    first, distance, complete = (jnp.asarray(x, dtype) for x in quadrature.chunks(reach))

    def unfinished(loop: tuple[int, Array, Array, Array]) -> Array:
        i, sums, (_, norm), change = loop
        out: Array = (i < len(first)) & ~tolerance.met(jnp, change, norm).all() & jnp.isfinite(sums).all()
        return out

    def portion(loop: Any) -> Any:
        i, sums, last, change = loop
        t = first[i] + distance[i] * np.arange(quadrature.FIRST_NODES)
        x, xc, weight = quadrature.substitute(xp, t, piece)
        terms = jnp.asarray(quadrature.weighted(xp, piece, x[:, None], weight[:, None], jax.vmap(f)(x, xc)))
        sums = sums + jnp.stack([terms.sum(0), jnp.abs(terms).sum(0)])
        done, now = complete[i] > 0, complete[i] * sums
        change = jnp.where(done & (i > 0), jnp.abs(now[0] - last[0]), change)
        return i + 1, sums, jnp.where(done, now, last), change

    count = jax.eval_shape(f, *(jax.ShapeDtypeStruct((), dtype),) * 2).shape[0]
    zero = jnp.zeros((2, count), dtype)  # integrals of the components, and of their magnitudes
    start = 0, zero, zero, jnp.full(count, jnp.inf, dtype)
    _, _, (value, norm), change = jax.lax.while_loop(unfinished, portion, start)
    return jnp.where(tolerance.met(jnp, change, norm), value, jnp.nan)


def _rule(f: Integrand, points: Callable[..., Any], dtype: Any, ends: Array) -> tuple[Array, Array, Array]:
    """The integral over an interval, its error, and the integral of the magnitude."""
    half = (ends[1] - ends[0]) / 2
    x, weight = points(xp, ends[0] + half * (1 + jnp.asarray(quadrature.NODES, dtype)))
    terms = half * weight[:, None] * jax.vmap(f, (0, None))(x, jnp.asarray(jnp.nan, dtype))
    fine, coarse = (jnp.asarray(w, dtype) @ terms for w in (quadrature.KRONROD, quadrature.GAUSS))
    return fine, jnp.abs(fine - coarse), jnp.asarray(quadrature.KRONROD, dtype) @ jnp.abs(terms)


def gauss_kronrod(f: Integrand, piece: Interval, tolerance: Tolerance, dtype: Any) -> Array:
    """The interval of the largest error is cut in two until the sum of the errors is small enough."""
    low, high, points = quadrature.rational(piece)
    most = min(quadrature.MOST_INTERVALS, tolerance.most_intervals)
    rule = partial(_rule, f, points, dtype)

    def unfinished(loop: tuple[int, Array, tuple[Array, ...]]) -> Array:
        count, _, (value, error, norm) = loop
        out: Array = (count < most) & ~tolerance.met(jnp, error.sum(0), norm.sum(0)).all() & jnp.isfinite(value).all()
        return out

    def cut(loop: Any) -> tuple[Any, Any, tuple[Any, ...]]:
        count, ends, kept = loop
        at = jnp.argmax(jnp.max(kept[1] / (kept[2].sum(0) + jnp.finfo(dtype).tiny), axis=1))
        middle = ends[at].mean()
        left, right = jnp.stack([ends[at, 0], middle]), jnp.stack([middle, ends[at, 1]])
        ends = ends.at[at].set(left).at[count].set(right)
        kept = tuple(k.at[at].set(x).at[count].set(y) for k, x, y in zip(kept, rule(left), rule(right)))
        return count + 1, ends, kept

    whole = jnp.asarray([low, high], dtype)
    kept = tuple(jnp.zeros((most, *x.shape), dtype).at[0].set(x) for x in rule(whole))
    ends = jnp.zeros((most, 2), dtype).at[0].set(whole)
    _, _, (value, error, norm) = jax.lax.while_loop(unfinished, cut, (1, ends, kept))
    return jnp.where(tolerance.met(jnp, error.sum(0), norm.sum(0)), value.sum(0), jnp.nan)


METHODS: dict[str, Callable[[Integrand, Interval, Tolerance, Any], Array]] = {
    "double_exponential": double_exponential, "gauss_kronrod": gauss_kronrod,
}  # fmt: skip
