"""Small programs that hold every operation of which one kernel is made: `python kernel_programs.py NAME ...` runs them.

Each is run as one kernel and as XLA does it otherwise; what differs is printed. XLA may end the process.
"""
from __future__ import annotations

import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from stanimport.inference import programs
from stanimport.inference.density import kernels

UNARY = (
    "abs acos asin asinh atan atanh bessel_i1e cbrt ceil cos cosh digamma erf erf_inv erfc exp exp2 expm1 floor "
    "is_finite lgamma log log1p logistic neg round rsqrt sign sin sinh sqrt square tan tanh"
).split()
BINARY = "add atan2 div max min mul nextafter pow rem sub".split()


def _bits(x, m, i, n):
    shifted = (n << 1) + (n >> 1) + lax.shift_right_logical(n, 1) + lax.population_count(n) + lax.clz(n)
    return ((n & 3) ^ (n | 1)) + ~n + shifted + lax.bitcast_convert_type(x, jnp.int64) // 2**52


# name -> a function of a vector of 6, a matrix, indices and integers
PROGRAMS = {
    **{name: (lambda f: lambda x, m, i, n: f(x))(getattr(lax, name)) for name in UNARY},
    **{name: (lambda f: lambda x, m, i, n: f(x, x[::-1]))(getattr(lax, name)) for name in BINARY},
    "polygamma": lambda x, m, i, n: lax.polygamma(0 * x + 1, x), "zeta": lambda x, m, i, n: lax.zeta(x + 1.5, x),
    "select": lambda x, m, i, n: jnp.where(~(x > 0.5) & (x < 0.9) | (x > 0.8), x, -x),
    "clamp": lambda x, m, i, n: lax.clamp(0.2, x, 0.7), "bits": _bits,
    "integers": lambda x, m, i, n: n // 2 + n % 2 + lax.div(n, jnp.array(2)) + lax.rem(n, jnp.array(2)),
    "types": lambda x, m, i, n: x.astype(jnp.float32) + n.astype(jnp.uint32) + lax.reduce_precision(x, 8, 10),
    "products": lambda x, m, i, n: m @ x[:3] + (m @ m.T)[0] + jnp.dot(x, x),
    "batches": lambda x, m, i, n: jnp.einsum("bij,bjk->bik", jnp.stack([m, m]), jnp.stack([m, m])),
    "large product": lambda x, m, i, n: jnp.outer(jnp.tile(x, 10), x) @ jnp.outer(x, jnp.tile(x, 10)),
    "reductions": lambda x, m, i, n: m.sum(0) + m.max() + m.min() + m.prod() + jnp.argmax(x) + jnp.any(x > 0.8),
    "two results": lambda x, m, i, n: lax.reduce((x, x), (0.0, 1.0), lambda a, b: (a[0] + b[0], a[1] * b[1]), (0,))[1],
    "log sums": lambda x, m, i, n: jax.nn.logsumexp(x) + jax.nn.softmax(x),
    "windows": lambda x, m, i, n: jnp.cumsum(x) + jnp.cumprod(x) + lax.cummax(x) + lax.cumlogsumexp(x),
    "gathers": lambda x, m, i, n: x[i] + m[i, i] + m[i].sum(0) + x[n[3]],
    "slices": lambda x, m, i, n: lax.dynamic_slice(x, (n[1],), (3,)) + x[1:6:2] + x[::-1][:3],
    "update": lambda x, m, i, n: lax.dynamic_update_slice(x, x[:2] * 2, (n[1],)),
    "padding": lambda x, m, i, n: lax.pad(x, 0.0, ((-1, 2, 1),)),
    "shapes": lambda x, m, i, n: jnp.concatenate([m.T.ravel(), jnp.tril(m).reshape(-1), jnp.diagonal(m), x[:0]]),
    "counting": lambda x, m, i, n: x + jnp.arange(6), "barrier": lambda x, m, i, n: lax.optimization_barrier(x),
    "branches": lambda x, m, i, n: lax.switch(n[2], [lambda y: y, lambda y: y * 2, lambda y: y * 3], x),
    "condition": lambda x, m, i, n: lax.cond(x[0] > 0.5, lambda y: y * 2, lambda y: y + 1, x),
    "scan": lambda x, m, i, n: lax.scan(lambda c, v: (c * 0.5 + v, c), x[0], x)[1],
    "while": lambda x, m, i, n: lax.while_loop(lambda s: s[0] < 5, lambda s: (s[0] + 1, s[1] * 1.1), (0, x))[1],
    "complex": lambda x, m, i, n: jnp.abs(lax.complex(x, x) * lax.complex(x, -x)) + jnp.real(lax.complex(x, x)),
    "gradient": lambda x, m, i, n: jax.grad(lambda x: (x[1:] * x[:-1]).sum() + lax.lgamma(x).sum())(x),
    "large": lambda x, m, i, n: jnp.exp(jnp.tile(x, 600)).sum(),
}  # fmt: skip


def repeated(name):
    """The program in a loop, as samplers have it."""

    def function(x, m, i, n):
        def body(state):
            count, x, total = state
            return count + 1, 0.99 * x, total + jnp.sum(PROGRAMS[name](x, m, i, n).astype(float))

        return lax.while_loop(lambda s: s[0] < 3, body, (0, x, 0.0))[2]

    return function


def arguments():
    x, m = jnp.linspace(0.1, 0.9, 6), jnp.arange(9.0).reshape(3, 3) / 10 + jnp.eye(3)
    return x, m, jnp.array([2, 0, 1]), jnp.arange(6)


def marked_text(name):
    """The program in XLA's language, and whether it will be one kernel."""
    lowered = programs.Traced(repeated(name), *arguments()).lower(None, True)
    return lowered.as_text(), "xla_cpu_small_call" in lowered.as_text()


def run(names):
    for name in names:
        print(f"began {name}", flush=True)
        text, is_one = marked_text(name)
        expected = float(jax.jit(repeated(name))(*arguments()))
        found = float(programs.Program(repeated(name), *arguments(), as_one=True)(*arguments()))
        if not is_one or not np.isclose(found, expected, rtol=1e-9):
            print(f"wrong {name}: {found} for {expected}; {'one kernel' if is_one else kernels.operations(text)}")
    print("ended", flush=True)


if __name__ == "__main__":
    jax.config.update("jax_enable_x64", True)
    run(sys.argv[1:] or PROGRAMS)
