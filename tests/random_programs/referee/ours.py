"""Our log density, gradient and variables at points of the unconstrained scale, on both backends.

A point holds the unconstrained parameters in Stan's order: in the order of declaration, matrices by columns.
"""

from __future__ import annotations

import contextlib
import functools
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from unittest import mock

import jax
import numpy as np

from stanimport import pipeline
from stanimport.inference.blocks import density as division
from stanimport.inference.blocks import planning, sweeps
from stanimport.inference.density.posterior import Posterior
from stanimport.source import Source
from stanlib.arrays import progressions
from stanlib.program import Variable

from .interpreted import evaluate
from .outcome import Outcome

# As inference compiles. With less optimization (`xla_backend_optimization_level` 0) XLA gives wrong gradients at times.
_QUICK = {"xla_cpu_use_fusion_emitters": False}
_KEY = np.zeros(2, np.uint32)
PARTS = ("gradient", "variables")  # what is computed besides the log density


@functools.lru_cache(maxsize=4)
def translated(text: str, backend: str, scheme: str, without: tuple[str, ...] = ()) -> types.ModuleType:
    """The module of a program, translated with some passes left out."""
    options = pipeline.Options(backend, scheme, frozenset(without))
    tree = pipeline.translate(Source("program.stan", text), "program", options).tree
    module = types.ModuleType("program")
    exec(compile(tree, "program.stan", "exec"), module.__dict__)
    return module


def outcomes(
    text: str, data: dict[str, Any], points: Sequence[np.ndarray], backend: str = "numpyro", scheme: str = "mixed",
    without: Sequence[str] = (), jit: bool = True, parts: Sequence[str] = PARTS, blocks: bool = False,
) -> list[Outcome]:  # fmt: skip
    """What the program computes at each point; an error becomes the reason of a rejection.

    Without `jit` what JAX traces is evaluated in NumPy, see `interpreted`. Of `parts` Pyro always has all. With
    `blocks` NumPyro's density is computed in blocks of one or two rows, where it can be divided.
    """
    with _double(backend), _small_blocks() if blocks else contextlib.nullcontext():
        try:
            module = translated(text, backend, scheme, tuple(without))
            evaluate = _numpyro(module, data, jit, parts) if backend == "numpyro" else _pyro(module, data)
        except Exception as e:
            return [Outcome(rejected=_said(e))] * len(points)
        return [_outcome(evaluate, p) for p in points]


@contextlib.contextmanager
def _small_blocks() -> Iterator[None]:
    """Two rows of data are many, as are two parameters of a size, and blocks have one or two."""
    small = mock.patch.multiple(sweeps, FEWEST=1, MOST=2), mock.patch.object(progressions, "REGULAR", 0)
    with mock.patch.object(division, "ROWS", 2), mock.patch.object(planning, "PARAMETERS", 2), small[0], small[1]:
        yield


def is_divided(text: str, data: dict[str, Any], scheme: str, without: Sequence[str] = ()) -> bool:
    """Whether NumPyro's density is computed in blocks, if they are small; or is an error, to be reported then."""
    with _double("numpyro"), _small_blocks():
        try:
            module = translated(text, "numpyro", scheme, tuple(without))
            posterior = Posterior(module, module.transformed_data(**data))
            return posterior.has_many_rows and posterior._in_blocks(True) is not None
        except Exception:
            return True


def _outcome(evaluate: Callable[[np.ndarray], Outcome], point: np.ndarray) -> Outcome:
    try:
        return evaluate(point)
    except Exception as e:
        return Outcome(rejected=_said(e))


def _said(e: Exception) -> str:
    return "; ".join([f"{type(e).__name__}: {e}", *getattr(e, "__notes__", ())])


@contextlib.contextmanager
def _double(backend: str) -> Iterator[None]:
    if backend == "numpyro":
        with jax.enable_x64(True):
            yield
        return
    import torch

    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def _numpyro(
    module: types.ModuleType, data: dict[str, Any], jit: bool, parts: Sequence[str]
) -> Callable[[np.ndarray], Outcome]:
    posterior = Posterior(module, module.transformed_data(**data))
    order = stan_order(module.stan.parameters, posterior.shapes)

    def computed(point: Any) -> Any:
        density = jax.value_and_grad(posterior.log_density) if "gradient" in parts else posterior.log_density
        return density(point), posterior.everything(_KEY, point) if "variables" in parts else None

    run = (_compiled if jit else _interpreted)(computed, posterior.size)

    def at(point: np.ndarray) -> Outcome:
        _check_size(point, posterior.size)
        value, made = run(point[order])
        gradient = None
        if "gradient" in parts:
            value, found = value
            gradient = np.empty(len(order))
            gradient[order] = np.asarray(found)
        return Outcome(float(value), gradient, None if made is None else entries(module, made))

    return at


def _compiled(function: Callable[[Any], Any], size: int) -> Callable[[np.ndarray], Any]:
    return jax.jit(function).trace(np.zeros(size)).lower().compile(compiler_options=_QUICK)


def _interpreted(function: Callable[[Any], Any], size: int) -> Callable[[np.ndarray], Any]:
    traced = jax.jit(function).trace(np.zeros(size))
    tree = jax.tree.structure(traced.out_info)
    return lambda point: jax.tree.unflatten(tree, evaluate(traced.jaxpr, point))


def _pyro(module: types.ModuleType, data: dict[str, Any]) -> Callable[[np.ndarray], Outcome]:
    import torch

    from stanimport.inference.methods.pyro_methods import Density

    density = Density(module, data)
    order = stan_order(module.stan.parameters, density.shapes)

    def at(point: np.ndarray) -> Outcome:
        _check_size(point, density.size)
        given = torch.tensor(point[order], requires_grad=True)
        value = density(given)
        gradient = torch.zeros_like(given)
        if value.requires_grad:
            (found,) = torch.autograd.grad(value, given, allow_unused=True)
            gradient = gradient if found is None else found
        back = np.empty(len(order))
        back[order] = gradient.numpy()
        constrained = density.constrain(given.detach())
        return Outcome(float(value.detach()), back, entries(module, density.everything(constrained)))

    return at


def _check_size(point: np.ndarray, size: int) -> None:
    if len(point) != size:
        raise ValueError(f"Stan has {len(point)} unconstrained parameters, the translation {size}")


def stan_order(parameters: Sequence[Variable], shapes: dict[str, tuple[int, ...]]) -> np.ndarray:
    """Of each entry of our points, where it stands in Stan's."""
    sizes = [int(np.prod(s)) for s in shapes.values()]
    starts = dict(zip(shapes, np.cumsum([0, *sizes])))
    order, at = np.zeros(sum(sizes), int), 0
    for leaf, type_ in _leaf_kinds(parameters):
        parts = [leaf] if leaf in shapes else [f"{leaf}.real", f"{leaf}.imag"]
        places = np.arange(int(np.prod(shapes[parts[0]]))) * len(parts)
        for i, part in enumerate(parts):  # Stan has the parts of a complex number side by side
            order[starts[part] : starts[part] + len(places)] = at + i + _by_columns(places, shapes[part], type_)
        at += len(places) * len(parts)
    return order


def _by_columns(places: np.ndarray, shape: tuple[int, ...], type_: str) -> np.ndarray:
    """Stan has matrices by columns; those that a transform makes are flat on the unconstrained scale."""
    arrays = type_.count(",") + 1 if type_.startswith("array") else 0
    if not type_.endswith("matrix") or len(shape) < arrays + 2:
        return places
    return places.reshape(*shape[:-2], shape[-1], shape[-2]).swapaxes(-1, -2).ravel()


def _leaf_kinds(variables: Sequence[Variable], prefix: str = "") -> Iterator[tuple[str, str]]:
    for i, v in enumerate(variables, 1):
        name = f"{prefix}.{i}" if prefix else v.name
        if v.items:
            yield from _leaf_kinds(v.items, name)
        else:
            yield name, v.type


def entries(module: types.ModuleType, made: dict[str, Any]) -> dict[str, float]:
    """The entries of arrays under Stan's names: "m[1,2]"; items of tuples and parts of complex numbers as here."""
    out = {}
    for name, value in made.items():
        array = np.asarray(value)
        name, part = _without_part(name) if array.ndim else (name, "")
        for at in np.ndindex(array.shape):
            label = f"{name}[{','.join(str(i + 1) for i in at)}]" if at else name
            if np.iscomplexobj(array):
                out |= {f"{label}.real": float(array[at].real), f"{label}.imag": float(array[at].imag)}
            else:
                out[label + part] = float(array[at])
    return out


def _without_part(name: str) -> tuple[str, str]:
    """The name of a complex container, and ".real" or ".imag" for a part of it."""
    return next(((name[: -len(p)], p) for p in (".real", ".imag") if name.endswith(p)), (name, ""))
