"""The QR algorithm for small matrices without symmetry, in NumPy.

LAPACK's eigenvalues come in another order than Stan's, and its Schur vectors with other phases. Both follow from the
steps of the QR algorithm, so it is written out here: single shifts with Givens rotations for the complex Schur form,
double shifts for the order of the eigenvalues of a real matrix. Source: Golub and Van Loan, Matrix Computations,
sections 5.1, 7.4 and 7.5.
"""
from __future__ import annotations

import cmath
import math
from typing import Any

import numpy as np

Array = Any


MOST_STEPS = 300  # between two deflations; some ten are usual


def complex_schur(a: Array) -> tuple[Array, Array]:
    """Unitary u and upper triangular t with a = u t u*; NaN where there are none to be found."""
    dtype = np.result_type(a, np.complex64)
    failure = np.full(np.shape(a), np.nan, dtype)
    if not np.isfinite(a).all():
        return failure, failure
    t, u = hessenberg(np.asarray(a, complex))
    last, steps = len(a) - 1, 0
    while last > 0:
        if steps > MOST_STEPS:
            return failure, failure
        if _negligible(t, last):
            t[last, last - 1] = 0
            last, steps = last - 1, 0
            continue
        steps += 1
        first = last - 1
        while first > 0 and not _negligible(t, first):
            first -= 1
        if first > 0:
            t[first, first - 1] = 0
        _chase(t, u, first, last, _shift(t, last, steps))
    return u.astype(dtype), np.triu(t).astype(dtype)


def eigenvalue_order(a: Array, values: Array) -> Array:
    """The positions of `values`, the eigenvalues of `a`, in Stan's order.

    That of a complex matrix is by modulus, that of a real one the order on the diagonal of its real Schur form.
    """
    if np.iscomplexobj(a):
        return np.argsort(abs(values), kind="stable")
    left, order = list(range(len(values))), []
    for value in _real_eigenvalues(np.asarray(a, float)) if np.isfinite(a).all() else ():
        nearest = min(left, key=lambda i: abs(values[i] - value))
        left.remove(nearest)
        order.append(nearest)
    return np.array(order + left, int)


def hessenberg(a: Array) -> tuple[Array, Array]:
    """h, zero below its first subdiagonal, and unitary q with a = q h q*."""
    h, q = a.copy(), np.eye(len(a), dtype=a.dtype)
    for k in range(len(a) - 1):
        v, tau, beta = _reflector(h[k + 1 :, k])
        h[k + 1 :] -= tau * np.outer(v, v.conj() @ h[k + 1 :])
        h[:, k + 1 :] -= np.conj(tau) * np.outer(h[:, k + 1 :] @ v, v.conj())
        q[:, k + 1 :] -= np.conj(tau) * np.outer(q[:, k + 1 :] @ v, v.conj())
        h[k + 1, k], h[k + 2 :, k] = beta, 0
    return h, q


def _reflector(x: Array) -> tuple[Array, Any, float]:
    """v, tau and beta with (1 - tau v v*) x = beta e1 and real beta, whose sign is against that of x[0]."""
    v = np.array(x)
    if not v[1:].any() and np.imag(v[0]) == 0:
        return np.zeros_like(v), 0.0, np.real(x[0])
    beta = -math.copysign(float(np.linalg.norm(v)), np.real(v[0]))
    tau = np.conj((beta - v[0]) / beta)
    v[1:] /= v[0] - beta
    v[0] = 1
    return v, tau, beta


def _norm1(z: complex) -> float:
    return abs(z.real) + abs(z.imag)


def _negligible(t: Array, k: int) -> bool:
    """Whether t[k, k - 1] is as good as zero."""
    scale = _norm1(t[k - 1, k - 1]) + _norm1(t[k, k])
    return bool(_norm1(t[k, k - 1]) <= scale * np.finfo(float).eps)


def _shift(t: Array, last: int, steps: int) -> complex:
    """The eigenvalue of the trailing block that is nearest to its corner; another value where that stalls."""
    if steps % 10 == 0 and last > 1:
        return abs(complex(t[last, last - 1]).real) + abs(complex(t[last - 1, last - 2]).real)
    block = t[last - 1 : last + 1, last - 1 : last + 1]
    scale = float(abs(block).sum())
    a, b, c, d = map(complex, (block / scale).ravel())
    root = cmath.sqrt((a - d) * (a - d) + 4 * (b * c))
    x, y = (a + d + root) / 2, (a + d - root) / 2
    if _norm1(x) > _norm1(y):  # the smaller one by way of the determinant: no cancellation
        y = (a * d - b * c) / x
    elif _norm1(y) > 0:
        x = (a * d - b * c) / y
    return scale * (x if _norm1(x - d) < _norm1(y - d) else y)


def _givens(p: complex, q: complex) -> Array:
    """The rotation whose conjugate transpose takes (p, q) to (r, 0); its real c has the sign of p's real part."""
    if q == 0:
        c, s = math.copysign(1.0, p.real), 0j
    elif p == 0:
        c, s = 0.0, -q / abs(q)
    else:
        r = math.copysign(math.hypot(abs(p), abs(q)), p.real)
        c = abs(p) / r
        s = -q * p.conjugate() / (abs(p) * r)
    return np.array([[c, np.conj(s)], [-s, c]])


def _chase(t: Array, u: Array, first: int, last: int, shift: complex) -> None:
    """One QR step on the block from `first` to `last`, in place."""
    for k in range(first, last):
        bulge = (t[k, k] - shift, t[k + 1, k]) if k == first else (t[k, k - 1], t[k + 1, k - 1])
        g = _givens(*map(complex, bulge))
        t[k : k + 2, max(k - 1, 0) :] = g.conj().T @ t[k : k + 2, max(k - 1, 0) :]
        t[: min(k + 2, last) + 1, k : k + 2] = t[: min(k + 2, last) + 1, k : k + 2] @ g
        u[:, k : k + 2] = u[:, k : k + 2] @ g
        if k > first:
            t[k + 1, k - 1] = 0


def _real_eigenvalues(a: Array) -> list[complex]:
    """By double shifts, deflating from the bottom: in the order of the diagonal."""
    h, out, steps = hessenberg(a)[0], [], 0
    last = len(a) - 1
    while last >= 0 and steps <= MOST_STEPS:
        first = last
        while first > 0 and not _negligible(h, first):
            first -= 1
        if first == last:
            out.append(complex(h[last, last]))
            last, steps = last - 1, 0
        elif first == last - 1:
            out.extend(_pair(h[first : last + 1, first : last + 1]))
            last, steps = last - 2, 0
        else:
            steps += 1
            window = slice(first, last + 1)
            h[window, window] = _double_step(h[window, window], steps)
    return out[::-1]


def _pair(block: Array) -> tuple[complex, complex]:
    """Both eigenvalues of a block, last one first: nearest to the corner, or with negative imaginary part."""
    (a, b), (c, d) = block
    half = (a - d) / 2
    square = half * half + b * c
    root = math.copysign(math.sqrt(square), half) if square >= 0 else 1j * math.sqrt(-square)
    mean = (a + d) / 2
    return complex(mean - root), complex(mean + root)


def _double_step(h: Array, steps: int) -> Array:
    """One step of Francis with the eigenvalues of the trailing block as shifts."""
    (a, b), (c, d) = h[-2:, -2:]
    total, product = a + d, a * d - b * c
    if steps % 10 == 0:
        size = abs(h[-1, -2]) + abs(h[-2, -3])
        total, product = d + 1.5 * size, d * d + size * size
    first = h[0, 0] * (h[0, 0] - total) + h[0, 1] * h[1, 0] + product
    second = h[1, 0] * (h[0, 0] + h[1, 1] - total)
    v, tau, _ = _reflector(np.array([first, second, h[1, 0] * h[2, 1]]))
    h = h.copy()
    h[:3] -= tau * np.outer(v, v @ h[:3])
    h[:, :3] -= tau * np.outer(h[:, :3] @ v, v)
    return hessenberg(h)[0]
