"""Functions that a program declares without a body, and that Python has.

Where they are found is told by who loads the program, never by the program. They get arrays of the library that
computes at the time, NumPy's for what depends on data alone, and are differentiated as any code of that library is.
"""
from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from . import number_types, signatures
from .arrays.base import Namespace
from .errors import StanError
from .registry import Function


class StanFunctionError(StanError):
    """A function in Python can't be found, or returns what is not declared."""


def external(backend: str, signature: str, path: str, dims: int, spec: Any = None) -> Function:
    """The record of a function that Python has, which generated code calls.

    Args:
        backend: of the module: on Pyro functions are torch's, and get tensors for data too.
        signature: as it is declared.
        path: of the function: modules and a name.
        dims: how many dimensions its result has.
        spec: of the translated module, for messages.
    """
    name = signatures.name_in(signature)
    returned = signature.rpartition(f" {name}(")[0]
    declared = "complex" if "complex" in returned else "int" if returned.endswith("int") else "real"
    place = f", {spec.origin}" if spec is not None and spec.origin else ""

    def fail(problem: str) -> StanFunctionError:
        return StanFunctionError(f"the function {path} ({signature}{place}) {problem}")

    def body(xp: Namespace, *arguments: object) -> Any:
        if backend == "pyro" and xp.LIBRARY == "numpy":
            import torch

            made = _found(path, fail)(*(torch.as_tensor(a) for a in arguments))
            made = made.detach().numpy() if isinstance(made, torch.Tensor) else made
        else:
            made = _found(path, fail)(*arguments)
        result = xp.asarray(made)
        if not number_types.holds(declared, kind := number_types.kind_of(result)):
            raise fail(f"returns {kind} numbers, declared are {declared}")
        if result.ndim != dims:
            raise fail(f"returns a value of shape {tuple(result.shape)}, declared are {dims} dimensions")
        return result

    return Function(name, name, (), body)


def _found(path: str, fail: Callable[[str], StanFunctionError]) -> Callable[..., Any]:
    """The function as its module has it now, which may have been reloaded."""
    module, _, attribute = path.rpartition(".")
    try:
        function: Any = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as e:
        raise fail(f"can't be found: {e}") from e
    if not callable(function):
        raise fail(f"is a {type(function).__name__} and can't be called")
    found: Callable[..., Any] = function
    return found
