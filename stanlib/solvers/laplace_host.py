"""Laplace's approximation for NumPy and PyTorch.

NumPy has no derivatives of a program's likelihood: there JAX computes, in double precision. PyTorch records Newton
steps at the mode, which have its derivatives (`arrays/implicit.py`).
"""
from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..arrays import namespace
from ..arrays.base import Array, Real
from ..arrays.implicit import differentiable
from ..errors import StanDomainError, StanTracingError
from ..rejection import collected
from . import laplace, roots
from .calculus_host import Lift, plain, records
from .laplace import Model, Search


def matrix(f: Callable[..., Any], arguments: tuple[Any, ...], beside: object) -> Array:
    """The covariance matrix f(*arguments); among tensors it is one."""
    lift = Lift(namespace((arguments, beside)), arguments, beside)
    return lift(f(*lift.reals(arguments)))


def marginal(model: Model, search: Search) -> Any:
    """The log of the approximate marginal likelihood; where the mode is not found, NaN on PyTorch.

    Raises:
        StanDomainError: the same on NumPy.
    """
    if namespace((model.arguments, model.covariance)).LIBRARY == "numpy":
        return float(_of_data(model, search, "marginal"))
    return _Tensors(model).marginal(search)


def latent(model: Model, search: Search) -> tuple[Any, Any]:
    """Mean and covariance matrix of the approximate law of the latent values.

    Raises:
        StanDomainError: where the mode is not found, of NumPy's arrays.
    """
    if namespace((model.arguments, model.covariance)).LIBRARY == "numpy":
        mean, covariance = _of_data(model, search, "latent")
        return mean, covariance
    return _Tensors(model).latent(search)


def _of_data(model: Model, search: Search, what: str) -> Any:
    """What `marginal` or `latent` are of NumPy's arrays: by JAX, or PyTorch, which runs conditions on latent values.

    Raises:
        StanDomainError: where the mode is not found.
    """
    import jax

    try:
        out = _by_jax(model, search, what)
    except (jax.errors.JAXTypeError, StanTracingError):
        if "torch" not in sys.modules:  # which programs for Pyro have loaded
            raise
        out = _by_torch(model, search, what)
    if any(np.isnan(x).any() for x in jax.tree.leaves(out)):
        raise StanDomainError(f"the mode of the latent values was not found in {search.most_steps} steps")
    return out


def _lifted(values: object, asarray: Callable[[np.ndarray], object]) -> object:
    """Values with other arrays for NumPy's of reals."""
    if isinstance(values, tuple):
        return tuple(_lifted(v, asarray) for v in values)
    known = np.asarray(values)
    return asarray(known) if known.dtype.kind == "f" else values


def _on(model: Model, asarray: Callable[[np.ndarray], object]) -> Model:
    """A model of another library's arrays."""
    arguments = tuple(_lifted(a, asarray) for a in model.arguments)
    return replace(model, arguments=arguments, covariance=_lifted(model.covariance, asarray))


def _by_torch(model: Model, search: Search, what: str) -> object:
    import torch

    moved = _on(model, torch.tensor)
    out = getattr(_Tensors(moved), what)(search)
    return tuple(map(plain, out)) if isinstance(out, tuple) else plain(out)


def _by_jax(model: Model, search: Search, what: str) -> Any:
    """What a function of laplace_jax returns, in double precision, as NumPy arrays."""
    import jax

    from . import laplace_jax

    # without jit, since every call would be compiled anew; where a function rejects, it is NaN there, which tells it
    with jax.enable_x64(True), jax.ensure_compile_time_eval(), jax.disable_jit(), collected():
        moved = _on(model, jax.numpy.asarray)
        return jax.tree.map(np.asarray, getattr(laplace_jax, what)(moved, search))


class _Tensors:
    """The likelihood and the covariance matrix as PyTorch's tensors."""

    def __init__(self, model: Model):
        import torch

        self.torch, self.model = torch, model
        self.lift = Lift(namespace((model.arguments, model.covariance)), model.covariance, model.arguments)
        self.arguments, self.covariance = self.lift.reals(model.arguments), self.lift(model.covariance)
        self.size = len(self.covariance)

    def value(self, theta: Array) -> Any:
        return self.lift(self.model.likelihood(theta, *self.arguments))

    def slope(self, theta: Array) -> Any:
        return self._derivatives(theta)[1]

    def _derivatives(self, theta: Any) -> tuple[Any, Any]:
        """A leaf or recorded theta, and the slope there, recorded."""
        if not theta.requires_grad:
            theta = theta.detach().requires_grad_()
        value = self.value(theta)
        if not value.requires_grad:
            return theta, self.torch.zeros_like(theta)
        slope = self.torch.autograd.grad(value, theta, create_graph=True, allow_unused=True)[0]
        return theta, self.torch.zeros_like(theta) if slope is None else slope

    def curvature(self, theta: Any) -> Any:
        """The negative Hessian, recorded."""
        theta, slope = self._derivatives(theta)
        out = self.torch.zeros((self.size, self.size), dtype=theta.dtype, device=theta.device)
        rows, columns = laplace.places(self.size, self.model.block)
        for probe, row, column in zip(laplace.probes(self.size, self.model.block), rows, columns):
            if slope.requires_grad:
                along = self.torch.autograd.grad(
                    slope @ self.lift(probe), theta, create_graph=True, retain_graph=True, allow_unused=True
                )[0]
                if along is not None:
                    out = out.index_put(tuple(self.torch.as_tensor(i) for i in (row, column)), -along)
        return out

    def factor(self, theta: Array) -> Any:
        return self.torch.eye(self.size, dtype=theta.dtype) + self.covariance @ self.curvature(theta)

    def mode(self, search: Search) -> Any:
        """The mode, recorded as a function of the covariance matrix and the arguments."""
        found = self.lift(_climb(self, search))
        factor = self.factor(found).detach()

        def step(theta: Array) -> Any:
            return theta - self.torch.linalg.solve(factor, theta - self.covariance @ self.slope(theta))

        return differentiable(step, found)

    def marginal(self, search: Search) -> Any:
        """The log of the approximate marginal likelihood, recorded if what goes in is; NaN where there is none."""
        recorded = records(self.lift.xp, self.arguments, (self.covariance,))
        with self.torch.enable_grad():
            theta = self.mode(search)
            a = self.slope(theta)
            sign, log_det = self.torch.linalg.slogdet(self.factor(theta))
            height = self.value(theta) - a @ self.covariance @ a / 2  # theta' K^-1 theta / 2
            out = self.torch.where(sign > 0, height - log_det / 2, np.nan)
        return out if recorded else out.detach()

    def latent(self, search: Search) -> tuple[Any, Any]:
        with self.torch.enable_grad():
            theta = self.mode(search)
            spread = self.torch.linalg.solve(self.factor(theta), self.covariance)
        return theta.detach(), ((spread + spread.T) / 2).detach()


def _known(model: _Tensors, f: Callable[[Any], Any], theta: Array) -> np.ndarray:
    """A function of tensors in NumPy."""
    with model.torch.enable_grad():
        return plain(f(model.lift(theta)))


def _ascending(
    height: Callable[[Any], float], a: Array, change: Real, top: float, halvings: int
) -> tuple[Any, float]:
    """A step, halved until it is no longer one down, and where it leads."""
    tried = [height(a + change)]
    while halvings and not tried[-1] >= top and len(tried) <= halvings:
        change = change / 2
        tried.append(height(a + change))
    return change, tried[-1]


def _climb(model: _Tensors, search: Search) -> Any:
    """Newton's method on the log posterior, in the variable a with theta = K a; NaN where it fails."""
    covariance = plain(model.covariance)

    of = partial(_known, model)

    def height(a: Array) -> float:
        theta = covariance @ a
        return float(of(model.value, theta)) - float(theta @ a) / 2

    theta = a = np.zeros(model.size, covariance.dtype)
    if search.start is not None:
        theta = plain(search.start).astype(covariance.dtype)
        a = np.linalg.solve(covariance, theta)
    top = height(a)
    for _ in range(search.most_steps):
        w = of(model.curvature, theta)
        drive = w @ theta + of(model.slope, theta)
        change = np.linalg.solve(np.eye(model.size) + w @ covariance, drive) - a
        change, top = _ascending(height, a, change, top, search.halvings)
        a = a + change
        theta = covariance @ a
        left = roots.norm(np, of(model.slope, theta) - a)
        if left <= search.tolerance or roots.lost(np, change, a):
            return theta
    return np.full_like(theta, np.nan)
