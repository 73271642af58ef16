"""Many calls in one program: each of them in every context, on one backend."""
from __future__ import annotations

import contextlib
import functools
import os
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from calls import LANES, Call, lifted
from densities import module_log_density

import stanimport
from stanlib.types import COMPLEX, INT, MATRIX_DIMS, Type, scalar_of, unwind

SIZE = 40  # calls in one program
WEIGHTS = np.array([1.0, -1.0, 1.0])  # the iterations whose condition on a parameter holds
DATA, ALL, ONE, MASKED, BRANCH, RECURRENCE, FUNCTION = CONTEXTS = (
    "transformed data", "all arguments of a loop", "one argument of a loop", "condition inside a loop", "branch",
    "recurrence", "function",
)  # fmt: skip

Outcome = np.ndarray | str  # what came out, or what went wrong


def declared(t: Type, name: str, shape: Sequence[int]) -> str:
    """The declaration of a variable of this type and shape."""
    element, dims = unwind(t)
    own = len(shape) - dims
    assert own == MATRIX_DIMS.get(element, 0), (t, shape)
    sizes = f"[{', '.join(map(str, shape[dims:]))}]" if own else ""
    arrays = f"array[{', '.join(map(str, shape[:dims]))}] " if dims else ""
    return f"{arrays}{element}{sizes} {name};"


def is_parameter(c: Call, k: int) -> bool:
    """Whether an argument may depend on parameters."""
    return scalar_of(c.types[k]) != INT and not c.data_only[k]


@dataclass
class Written:
    """What a call adds to the blocks of a program, and the values of its variables."""

    functions: str
    data: str
    transformed: str
    parameters: str
    quantities: Mapping[str, str]
    adds: bool  # to the target, which transformed parameters can
    inputs: dict[str, np.ndarray]
    draw: dict[str, np.ndarray]


def written(c: Call, i: int, contexts: Sequence[str] = CONTEXTS) -> Written:
    """The program text of a call; `i` is its number."""
    count, shape = range(len(c.types)), np.shape(c.values[0])
    arrays = [np.stack([np.asarray(a[k]) for a in c.lanes]) for k in count]
    arrays = [a.astype(float) if a.dtype.kind in "iub" and scalar_of(t) != INT else a for a, t in zip(arrays, c.types)]
    types = [lifted(t) for t in c.types]
    dynamic = [is_parameter(c, k) for k in count]
    late = [d and scalar_of(t) == COMPLEX for d, t in zip(dynamic, c.types)]
    free = [d and not z for d, z in zip(dynamic, late)]
    data = [f"d{i}_{k}" for k in count]
    given = [f"p{i}_{k}" if d else f"d{i}_{k}" for k, d in zip(count, dynamic)]
    result = lambda prefix, lanes=True: declared(
        lifted(c.result) if lanes else c.result, f"{prefix}{i}", (LANES, *shape) if lanes else shape
    )
    at = lambda names, n: [f"{x}[{n}]" for x in names]
    loop = f"for (n in 1:{LANES})"
    arguments = ", ".join(f"{'data ' * c.data_only[k]}{t} a{k}" for k, t in enumerate(c.types))
    own = f"f{i}_jacobian" if c.function.effect else f"f{i}"
    texts = {
        ALL: f"{result('all')} {loop} all{i}[n] = {c.text(at(given, 'n'))};",
        MASKED: f"{result('some')} {loop} if (w[n] > 0) some{i}[n] = {c.text(at(given, 'n'))};",
        BRANCH: f"{result('branch', False)} if (w[2] > 0) branch{i} = {c.text(at(given, 1))}; "
        f"else branch{i} = {c.text(at(given, 2))};",
        RECURRENCE: _recurrence(c, i, result("carried"), [f"{x}[n]" for x in given], shape),
        FUNCTION: f"{result('own')} {loop} own{i}[n] = {own}({', '.join(at(given, 'n'))});",
    }
    if c.by_itself is not None:
        k = c.by_itself[0]
        some = [f"{x}[n]" if j == k else f"{x}[1]" for j, x in enumerate(given)]
        texts[ONE] = f"{result('one')} {loop} one{i}[n] = {c.text(some)};"
    copies = " ".join(
        f"{declared(types[k], given[k], arrays[k].shape)} {loop} {given[k]}[n] = u * {data[k]}[n];"
        if not unwind(c.types[k])[1] else
        f"{declared(types[k], given[k], arrays[k].shape)} {given[k]} = {data[k]}; if (u > 0) {given[k]} = {data[k]};"
        for k in count if late[k]
    )
    chosen = {k: v for k, v in texts.items() if k in contexts}
    if chosen and copies:
        chosen = {next(iter(chosen)): copies + " " + next(iter(chosen.values())), **dict(list(chosen.items())[1:])}
    return Written(
        f"{c.result} {own}({arguments}) {{ return {c.text([f'a{k}' for k in count])}; }}"
        if FUNCTION in contexts else "",
        " ".join(declared(types[k], data[k], arrays[k].shape) for k in count),
        f"{result('fixed')} {loop} fixed{i}[n] = {c.text(at(data, 'n'))};"
        if DATA in contexts and not c.function.effect else "",
        " ".join(declared(types[k], given[k], arrays[k].shape) for k in count if free[k]),
        chosen, bool(c.function.effect), dict(zip(data, arrays)), {given[k]: arrays[k] for k in count if free[k]},
    )  # fmt: skip


def _recurrence(c: Call, i: int, declaration: str, arguments: list[str], shape: Sequence[int]) -> str:
    """The calls one after the other: each one's result decides what is multiplied by 0 and added for the next one."""
    for k, t in enumerate(c.types):
        if is_parameter(c, k) and not unwind(t)[1] and scalar_of(t) != COMPLEX:
            arguments[k] = f"{arguments[k]} + 0 * z"
            break
    first = f"r[{', '.join('1' for _ in shape)}]" if shape else "r"
    finite = 0 not in shape and all(np.isfinite(v).all() for v in c.values)
    real = f"get_real({first})" if scalar_of(c.result) == COMPLEX else first
    return (
        f"{declaration} {{ real z = 0; for (n in 1:{LANES}) {{ {declared(c.result, 'r', shape)[:-1]} = "
        f"{c.text(arguments)}; z = 0.5 * z + {real if finite else 'n'}; carried{i}[n] = r; }} }}"
    )


NAMES = {
    DATA: "fixed", ALL: "all", ONE: "one", MASKED: "some", BRANCH: "branch", RECURRENCE: "carried", FUNCTION: "own"
}  # fmt: skip


def wanted(c: Call) -> dict[str, np.ndarray]:
    """What the calls give by themselves, by context; iterations whose condition does not hold are left out."""
    lanes = np.stack([np.asarray(v) for v in c.values])
    out = {context: lanes for context in (DATA, ALL, RECURRENCE, FUNCTION)}
    out |= {MASKED: lanes[WEIGHTS > 0], BRANCH: lanes[1]}
    if c.function.effect:
        del out[DATA]
    if c.by_itself is not None:
        out[ONE] = np.stack([np.asarray(v) for v in c.by_itself[1]])
    return out


# --- running them ----------------------------------------------------------------------------------------------------


def program(parts: Sequence[Written]) -> str:
    lines = lambda texts: "\n  ".join(t for t in texts if t)
    return f"""functions {{ {lines(p.functions for p in parts)} }}
data {{ {lines(p.data for p in parts)} }}
transformed data {{ {lines(p.transformed for p in parts)} }}
parameters {{ real u; array[{LANES}] real w; {lines(p.parameters for p in parts)} }}
transformed parameters {{ {lines(t for p in parts if p.adds for t in p.quantities.values())} }}
generated quantities {{ {lines(t for p in parts if not p.adds for t in p.quantities.values())} }}"""


def run(parts: Sequence[Written], backend: str) -> dict[str, np.ndarray]:
    """The values of all variables of a program on one backend; on JAX those of a traced program."""
    with warnings.catch_warnings(), double(backend):
        warnings.simplefilter("ignore")
        module, inputs, draw = _loaded(parts, backend)
        quantities = _QUANTITIES[backend](module, inputs, draw)
    return {**inputs, **quantities}


def log_density(parts: Sequence[Written], backend: str) -> float:
    """The log density of a program's model."""
    return module_log_density(*_loaded(parts, backend), backend)


def _loaded(parts: Sequence[Written], backend: str) -> tuple[Any, dict[str, Any], dict[str, np.ndarray]]:
    """A program, its data, and values of its parameters."""
    with unverified() if backend == "pyro" else contextlib.nullcontext():  # by the same passes as NumPyro's
        module = stanimport.loads(program(parts), backend=backend)
    inputs = module.transformed_data(**{k: v for p in parts for k, v in p.inputs.items()})
    draw = {"u": np.array(1.0), "w": WEIGHTS, **{k: v for p in parts for k, v in p.draw.items()}}
    return module, inputs, draw


@contextlib.contextmanager
def unverified() -> Iterator[None]:
    """Inside, translations are not verified, which takes half of their time."""
    before = os.environ.pop("STANIMPORT_VERIFY", None)
    try:
        yield
    finally:
        if before is not None:
            os.environ["STANIMPORT_VERIFY"] = before


@contextlib.contextmanager
def double(backend: str) -> Iterator[None]:
    if backend == "numpyro":
        import jax

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


def _traced(module: Any, inputs: dict[str, Any], draw: dict[str, Any]) -> dict[str, np.ndarray]:
    from interpreted import traced
    from numpyro.handlers import seed

    made = traced(lambda p: seed(module.generated_quantities, 0)(**inputs, **p), draw)
    return {k: np.asarray(v) for k, v in made.items()}


def _eager(module: Any, inputs: dict[str, Any], draw: dict[str, Any]) -> dict[str, np.ndarray]:
    import torch

    tensors = {k: torch.as_tensor(v) for k, v in draw.items()}
    made = module.generated_quantities(**inputs, **tensors)
    return {k: v.resolve_conj().numpy() if hasattr(v, "numpy") else np.asarray(v) for k, v in made.items()}


_QUANTITIES: dict[str, Callable[..., dict[str, np.ndarray]]] = {"numpyro": _traced, "pyro": _eager}


class Outcomes:
    """The outcomes of calls in every context, by name and backend; computed for many calls at once."""

    def __init__(self, calls: Sequence[Call], size: int = SIZE):
        self.batches = [calls[i : i + size] for i in range(0, len(calls), size)]
        self.number = {c.name: b for b, batch in enumerate(self.batches) for c in batch}

    def of(self, c: Call, backend: str) -> dict[str, Outcome]:
        return self._batch(self.number[c.name], backend)[c.name]

    @functools.cache
    def _batch(self, number: int, backend: str) -> dict[str, dict[str, Outcome]]:
        return outcomes(self.batches[number], backend)


def contexts(c: Call, backend: str) -> list[str]:
    """The contexts that a call is tried in; JAX traces long, and calls of vectors come beside those of numbers."""
    found = [x for x in CONTEXTS if x in wanted(c)]
    return [x for x in found if x in (DATA, ALL, FUNCTION)] if backend == "numpyro" and c.of_vectors else found


def outcomes(calls: Sequence[Call], backend: str) -> dict[str, dict[str, Outcome]]:
    """Every call's outcomes by context; where a program fails, halves of it tell which call is to blame."""
    try:
        made = run([written(c, i, contexts(c, backend)) for i, c in enumerate(calls)], backend)
    except Exception:
        if len(calls) == 1:
            return {calls[0].name: {x: _alone(calls[0], x, backend) for x in contexts(calls[0], backend)}}
        half = len(calls) // 2
        return outcomes(calls[:half], backend) | outcomes(calls[half:], backend)
    return {c.name: {x: _seen(made, x, i) for x in contexts(c, backend)} for i, c in enumerate(calls)}


def _alone(c: Call, context: str, backend: str) -> Outcome:
    try:
        return _seen(run([written(c, 0, (context,))], backend), context, 0)
    except Exception:
        return traceback.format_exc(limit=-4)


def _seen(made: Mapping[str, np.ndarray], context: str, i: int) -> np.ndarray:
    value = np.asarray(made[f"{NAMES[context]}{i}"])
    return value[WEIGHTS > 0] if context == MASKED else value
