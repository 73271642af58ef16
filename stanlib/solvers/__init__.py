"""Numerical engines of the higher-order functions: differential equations, roots, integrals, Laplace's method.

Each family has two: `<family>_jax` is traced and compiled, with derivative rules of its own; `<family>_host` runs in
Python on NumPy arrays and PyTorch tensors. The functions of stanlib.functions choose by the namespace of their
arguments and take care of Stan's argument orders, defaults and errors.
"""
from __future__ import annotations

import importlib
from types import ModuleType


def engine(xp: ModuleType, family: str) -> ModuleType:
    """The module that computes this family of problems for the arrays of a namespace."""
    return importlib.import_module(f"{__name__}.{family}_{'jax' if xp.LIBRARY == 'jax' else 'host'}")
