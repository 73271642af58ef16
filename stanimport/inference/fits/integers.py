"""Which variables of a fit hold ints: text files of draws do not tell."""
from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from stanlib.program import Program, Variable

from . import columns


def columns_of(variables: Mapping[str, np.ndarray], axes: columns.Axes) -> frozenset[str]:
    """The columns, "z[1]", of variables (chains, draws, ...) that hold ints."""
    return frozenset(columns.head({n: v for n, v in variables.items() if v.dtype.kind in "iu"}, axes=axes)[0])


def declared(program: Program, variables: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Variables that were read as reals, with ints where the program declares them."""
    blocks = (program.parameters, program.transformed_parameters, program.generated_quantities)
    whole = {n for block in blocks for v in block for n in _of_ints(v, v.name)}
    return {n: v.astype(np.int64) if n in whole and _is_whole(v) else v for n, v in variables.items()}


def _of_ints(v: Variable, name: str) -> Iterator[str]:
    """The names of a variable's arrays that hold ints: of a tuple's items `t.1`, `t.2`."""
    if v.type.rpartition(" ")[2] == "int":
        yield name
    for i, item in enumerate(v.items, 1):
        yield from _of_ints(item, f"{name}.{i}")


def _is_whole(value: np.ndarray) -> bool:
    return bool(np.isfinite(value).all() and (value == np.floor(value)).all())
