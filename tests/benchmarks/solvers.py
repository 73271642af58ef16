"""Solvers of stanlib against diffrax, optimistix and quadax: one gradient each, on one core of the CPU.

    python tests/benchmarks/solvers.py

Prints the time to compile and the time of one jitted gradient, in double precision and at equal tolerances. Libraries
that are not installed are left out.
"""
from __future__ import annotations

import importlib.util
import os
import time
from collections.abc import Callable, Iterator
from typing import Any

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

from stanlib import registry  # noqa: E402

Loss = Callable[[Any], Any]


def predators(t, y, p):
    return jnp.stack([(p[0] - p[1] * y[1]) * y[0], (p[2] * y[0] - p[3]) * y[1]])


def robertson(t, y, p):
    first, second = p[0] * y[0] - p[1] * y[1] * y[2], p[2] * y[1] ** 2
    return jnp.stack([-first, first - second, second])


def system(y, p):
    return jnp.stack([y[0] - p[0] * jnp.exp(-y[1]), y[1] * y[0] + y[1] ** 2 - 2 * p[1]])


def bump(x, p):
    return jnp.exp(-0.5 * ((x - p[0]) / p[1]) ** 2) * (1 + jnp.sin(x))


YEARS, DECADES = np.arange(1.0, 21.0), np.array([0.4, 4.0, 40.0])
START, MIXED = np.array([33.0, 6.0]), np.array([1.0, 0.0, 0.0])


def of_stanlib() -> Iterator[tuple[str, Loss, Any]]:
    f = registry.by_symbol
    yield "predators, 1e-6", lambda p: f("ode_rk45")(predators, START, 0.0, YEARS, p).sum(), [0.55, 0.028, 0.024, 0.8]
    stiff = lambda p: f("ode_bdf_tol")(robertson, MIXED, 0.0, DECADES, 1e-8, 1e-10, 10**6, p).sum(0)[0]
    yield "Robertson, 1e-8", stiff, [0.04, 1e4, 3e7]
    yield "two equations", lambda p: f("solve_newton")(system, np.full(2, 0.5), p).sum(), [1.2, 0.8]
    integrand = lambda x, xc, p: bump(x, p)
    yield "integral", lambda p: f("integrate_1d_double_exponential")(integrand, -2.0, 3.0, p), [1.2, 0.7]


def of_others() -> Iterator[tuple[str, Loss, Any]]:
    if _installed("diffrax"):
        yield "predators, 1e-6", _diffrax("Dopri5", predators, START, YEARS, 1e-6, 1e-6, None), None
        yield "Robertson, 1e-8", _diffrax("Kvaerno5", robertson, MIXED, DECADES, 1e-8, 1e-10, 0), None
    if _installed("optimistix"):
        import optimistix

        def root(p):
            solver = optimistix.Newton(rtol=1e-12, atol=1e-12)
            return optimistix.root_find(lambda y, p: system(y, p), solver, np.full(2, 0.5), p).value.sum()

        yield "two equations", root, None
    if _installed("quadax"):
        import quadax

        yield "integral", lambda p: quadax.quadgk(bump, jnp.array([-2.0, 3.0]), (p,), epsabs=0, epsrel=1e-8)[0], None


def _diffrax(solver: str, f: Any, y0: Any, ts: Any, rtol: float, atol: float, component: int | None) -> Loss:
    import diffrax

    def loss(p):
        solution = diffrax.diffeqsolve(
            diffrax.ODETerm(f), getattr(diffrax, solver)(), 0.0, ts[-1], None, jnp.asarray(y0), args=p,
            saveat=diffrax.SaveAt(ts=ts), stepsize_controller=diffrax.PIDController(rtol=rtol, atol=atol),
            max_steps=4096,
        )  # fmt: skip
        return solution.ys.sum() if component is None else solution.ys.sum(0)[component]

    return loss


def _installed(name: str) -> bool:
    return importlib.util.find_spec(name) is not None


def measure(loss: Loss, p: Any) -> tuple[Any, float, float]:
    """The gradient, the seconds to compile it, the microseconds of one call: CPU time, the least of several rounds."""
    f, p = jax.jit(jax.grad(loss)), np.array(p)
    start = time.process_time()
    gradient = jax.block_until_ready(f(p))
    compiled = time.process_time() - start
    rounds = []
    for _ in range(5):
        start = time.process_time()
        for _ in range(50):
            jax.block_until_ready(f(p))
        rounds.append((time.process_time() - start) / 50)
    return gradient, compiled, min(rounds) * 1e6


def main() -> None:
    jax.config.update("jax_enable_x64", True)
    print(f"{'':18} {'compile s':>10} {'us':>8}   {'the other: s':>12} {'us':>8}   gradients differ by")
    others = {name: loss for name, loss, _ in of_others()}
    for name, loss, p in of_stanlib():
        gradient, compiled, each = measure(loss, p)
        line = f"{name:18} {compiled:10.2f} {each:8.0f}"
        if name in others:
            other, seconds, theirs = measure(others[name], p)
            worst = np.max(np.abs((other - gradient) / gradient))
            line += f"   {seconds:12.2f} {theirs:8.0f}   {worst:.0e}"
        print(line)


if __name__ == "__main__":
    main()
