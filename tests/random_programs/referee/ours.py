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
from stanimport.inference import programs
from stanimport.inference.blocks import density as division
from stanimport.inference.blocks import planning, sweeps
from stanimport.inference.density.posterior import Posterior
from stanimport.inference.density.rejected import REJECTED, stacked
from stanimport.source import Source
from stanlib.arrays import progressions
from stanlib.ppl.numpyro import control
from stanlib.program import Variable

from .interpreted import evaluate
from .outcome import Outcome

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
    scanned: bool = False, seed: int = 0,
) -> list[Outcome]:  # fmt: skip
    """What the program computes at each point; an error becomes the reason of a rejection.

    Without `jit` what JAX traces is evaluated in NumPy, see `interpreted`. Of `parts` Pyro always has all. With
    `blocks` NumPyro's density is computed in blocks of one or two rows, where it can be divided; `scanned`, no loop of
    NumPyro's is so short that it is written out.
    """
    small = _small_blocks() if blocks else contextlib.nullcontext()
    with _double(backend), small, mock.patch.object(control, "UNROLL", 0 if scanned else control.UNROLL):
        try:
            module = translated(text, backend, scheme, tuple(without))
            evaluate = _numpyro(module, data, jit, parts, seed) if backend == "numpyro" else _pyro(module, data, seed)
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
    module: types.ModuleType, data: dict[str, Any], jit: bool, parts: Sequence[str], seed: int
) -> Callable[[np.ndarray], Outcome]:
    posterior = Posterior(module, module.transformed_data(**data))
    order, key = stan_order(module.stan.parameters, posterior.shapes), np.array([0, seed], np.uint32)

    def computed(point: Any) -> Any:
        density = jax.value_and_grad(posterior.log_density) if "gradient" in parts else posterior.log_density
        return density(point), posterior.everything(key, point) if "variables" in parts else None

    run = (_compiled if jit else _interpreted)(computed, posterior.size)

    def at(point: np.ndarray) -> Outcome:
        _check_size(point, posterior.size)
        value, made = run(point[order])
        gradient = None
        if "gradient" in parts:
            value, found = value
            gradient = np.empty(len(order))
            gradient[order] = np.asarray(found)
        return Outcome(float(value), gradient, None if made is None else entries(module, without_flag(made)))

    return at


def _compiled(function: Callable[[Any], Any], size: int) -> Callable[[np.ndarray], Any]:
    """As inference compiles. With less optimization XLA (at level 0 of its backend) gives wrong gradients at times."""
    return programs._compile(jax.jit(function).trace(np.zeros(size)).lower(), programs._QUICK)


def _interpreted(function: Callable[[Any], Any], size: int) -> Callable[[np.ndarray], Any]:
    traced = jax.jit(function).trace(np.zeros(size))
    tree = jax.tree.structure(traced.out_info)
    return lambda point: jax.tree.unflatten(tree, evaluate(traced.jaxpr, point))


def _pyro(module: types.ModuleType, data: dict[str, Any], seed: int) -> Callable[[np.ndarray], Outcome]:
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
        torch.manual_seed(seed)
        made = stacked([density.everything(constrained)])
        return Outcome(float(value.detach()), back, entries(module, {n: v[0] for n, v in without_flag(made).items()}))

    return at


def without_flag(made: dict[str, Any]) -> dict[str, Any]:
    """The variables of a draw, without what tells whether Stan throws for it."""
    return {n: v for n, v in made.items() if n != REJECTED}


def _check_size(point: np.ndarray, size: int) -> None:
    if len(point) != size:
        raise ValueError(f"Stan has {len(point)} unconstrained parameters, the translation {size}")


def stan_order(parameters: Sequence[Variable], shapes: dict[str, tuple[int, ...]]) -> np.ndarray:
    """Of each entry of our points, where it stands in Stan's."""
    found: dict[str, np.ndarray] = {}
    at = 0
    for v in parameters:
        _place(v, v.name, 0, np.array([at]), shapes, found)
        at += _width(v, v.name, 0, shapes)
    return np.concatenate([np.zeros(0, int), *(found[n] for n in shapes)])


def _parts(leaf: str, shapes: dict[str, tuple[int, ...]]) -> list[str]:
    return [leaf] if leaf in shapes else [f"{leaf}.real", f"{leaf}.imag"]


def _own_sizes(v: Variable, name: str, outer: int, shapes: dict[str, tuple[int, ...]]) -> tuple[int, ...]:
    """The sizes of an array of tuples, behind those of what it is in."""
    leaf = v
    while leaf.items:
        name, leaf = f"{name}.1", leaf.items[0]
    return shapes[_parts(name, shapes)[0]][outer : outer + _arrays(v.type)]


def _arrays(type_: str) -> int:
    return type_.partition("]")[0].count(",") + 1 if type_.startswith("array") else 0


def _width(v: Variable, name: str, outer: int, shapes: dict[str, tuple[int, ...]]) -> int:
    """How many numbers one element of a variable has, that is in arrays of tuples of so many dimensions."""
    if not v.items:
        parts = _parts(name, shapes)
        return int(np.prod(shapes[parts[0]][outer:])) * len(parts)
    own = _own_sizes(v, name, outer, shapes)
    inside = [_width(i, f"{name}.{k}", outer + len(own), shapes) for k, i in enumerate(v.items, 1)]
    return int(np.prod(own)) * sum(inside)


def _place(v: Variable, name: str, outer: int, starts: np.ndarray, shapes: dict[str, tuple[int, ...]],
           found: dict[str, np.ndarray]) -> None:  # fmt: skip
    """Enter where the numbers of a variable stand, of each element of the arrays of tuples around it."""
    if v.items:  # one tuple after the other
        own = _own_sizes(v, name, outer, shapes)
        count, inner = int(np.prod(own)), outer + len(own)
        whole = _width(v, name, outer, shapes) // max(count, 1)
        starts = (starts[:, None] + np.arange(count) * whole).ravel()
        for k, item in enumerate(v.items, 1):
            _place(item, f"{name}.{k}", inner, starts, shapes, found)
            starts = starts + _width(item, f"{name}.{k}", inner, shapes)
        return
    parts = _parts(name, shapes)
    shape = shapes[parts[0]][outer:]
    places = _by_columns(np.arange(int(np.prod(shape))) * len(parts), shape, v.type)
    for i, part in enumerate(parts):  # Stan has the parts of a complex number side by side
        found[part] = (starts[:, None] + i + places).ravel()


def _by_columns(places: np.ndarray, shape: tuple[int, ...], type_: str) -> np.ndarray:
    """Stan has matrices by columns; those that a transform makes are flat on the unconstrained scale."""
    if not type_.endswith("matrix") or len(shape) < _arrays(type_) + 2:
        return places
    return places.reshape(*shape[:-2], shape[-1], shape[-2]).swapaxes(-1, -2).ravel()


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
