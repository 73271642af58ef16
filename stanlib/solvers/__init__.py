"""Numerical engines of the higher-order functions: differential equations, roots, integrals, Laplace's method.

Each family has two: `<family>_jax` is traced and compiled, with derivative rules of its own; `<family>_host` runs in
Python on NumPy arrays and PyTorch tensors. The functions of stanlib.functions choose by the namespace of their
arguments and take care of Stan's argument orders, defaults and errors.
"""
from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any

from ..arrays import namespace
from ..arrays.base import Namespace
from ..errors import StanDomainError
from ..rejection import Lifted, refuse


def engine(xp: Namespace, family: str) -> ModuleType:
    """The module that computes this family of problems for the arrays of a namespace."""
    return importlib.import_module(f"{__name__}.{family}_{'jax' if xp.LIBRARY == 'jax' else 'host'}")


def solve(xp: Namespace, name: str, family: str, what: str, f: Callable[..., object], *problem: object) -> Any:
    """What an engine's function `what` finds for a function of the program, which may reject the draw.

    Raises:
        StanDomainError: where nothing is found, for what depends on data alone; else the draw is rejected.
    """
    return solved(name, getattr(engine(xp, family), what)(Lifted(f), *problem))


def solved(name: str, solution: object) -> Any:
    """A solution, or several; NaN in it says that it was not found."""
    for part in solution if isinstance(solution, tuple) else (solution,):
        refuse(namespace((part,)).isnan(part), partial(StanDomainError, f"{name}: no solution was found"))
    return solution
