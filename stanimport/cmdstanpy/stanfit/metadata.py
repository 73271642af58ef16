"""What CmdStanPy's results tell of themselves: the configuration, and where each variable is among the columns."""
from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from stanlib.arrays import numpy as xp
from stanlib.dataclass import dataclass

from ...inference import tuples
from ...inference.fits import columns, stan_csv
from ...inference.fits.fit import Fit
from ...inference.fits.result import declared
from ...inference.fits.stan_configuration import METHODS, configuration
from .values import column_names

Array = np.ndarray


@dataclass(frozen=True)
class Variable:
    """A variable among the columns, with the attributes that `stanio`'s have, which CmdStanPy shows.

    Attributes:
        name: as the program declares it.
        start_idx, end_idx: its columns are those from the first index up to before the second.
        dimensions: its sizes; of a tuple those of the array that it is in.
        type: "real", "complex" or "tuple".
    """

    name: str
    start_idx: int
    end_idx: int
    dimensions: tuple[int, ...]
    type: str

    def columns(self) -> range:
        """The indices of its columns."""
        return range(self.start_idx, self.end_idx)

    def extract_reshape(self, src: Array, object: bool = True) -> Array:
        """The variable from an array (..., columns): (..., dimensions).

        Raises:
            ValueError: for tuples, which `stan_variable` gives.
        """
        if self.type == "tuple":
            raise ValueError(f"{self.name} is a tuple: fit.stan_variable({self.name!r}) has its parts")
        values = np.asarray(src)[..., self.start_idx : self.end_idx]
        if self.type == "complex":
            values = xp.complex(values[..., ::2], values[..., 1::2])
        return values.reshape(*values.shape[:-1], *self.dimensions, order="F")


class InferenceMetadata:
    """The configuration of a fit, and its variables.

    Args:
        told: CmdStan's names of options and their values, as files tell them that the fit was read from.

    Attributes:
        cmdstan_config: CmdStan's names of the options and their values, the column names, and the options as they
            are called here.
        method_vars, stan_vars: the method's own variables and the program's, by name: their columns and sizes.
    """

    def __init__(self, fit: Fit, told: Mapping[str, object]):
        options = {n: v for n, v in fit.settings.items() if not n.startswith("chain_") or n == "chain_ids"}
        named = {"model": f"{fit.program.name}_model", "method": METHODS.get(fit.method, fit.method),
                 "num_chains": fit.chains, "column_names": column_names(fit.column_names),
                 "raw_header": ",".join(map(stan_csv.name_in_file, fit.column_names))}  # fmt: skip
        self.cmdstan_config: dict[str, Any] = {**options, **dict(_flat(configuration(fit, 0))), **named, **told}
        found = {v.name: v for v in _variables(fit)}
        self.method_vars = {n: v for n, v in found.items() if n.endswith("__")}
        self.stan_vars = {n: v for n, v in found.items() if not n.endswith("__")}

    def __repr__(self) -> str:
        return f"Metadata:\n{self.cmdstan_config}\n"

    def __getitem__(self, key: str) -> Any:
        return self.cmdstan_config[key]

    @property
    def column_names(self) -> tuple[str, ...]:
        names: tuple[str, ...] = self.cmdstan_config["column_names"]
        return names


def _flat(entries: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """The entries of a nested configuration, each under its own name, as CmdStanPy reads them."""
    for key, value in entries.items():
        inner = value[1] if isinstance(value, tuple) else value
        if not isinstance(inner, Mapping):
            yield key, value
            continue
        if isinstance(value, tuple):
            yield key, value[0]
        yield from ((f"{key}_file" if n == "file" else n, v) for n, v in _flat(inner))


def _variables(fit: Fit) -> Iterator[Variable]:
    """The variables in the order of the columns."""
    roots = [*map(columns.root, fit.column_names)]
    sizes = {n: v.shape[2:] for n, v in {**fit.stats, **fit.variables}.items()}
    kinds = {n: v.dtype.kind for n, v in fit.variables.items()}
    arrays = {v.name: tuples.array_axes(v) for v in declared(fit.program) if v.items}
    for root in dict.fromkeys(roots):
        start = roots.index(root)
        end = start + roots.count(root)
        if root in sizes:
            yield Variable(root, start, end, sizes[root], "complex" if kinds.get(root) == "c" else "real")
        else:
            first = next(v for n, v in fit.variables.items() if n.startswith(f"{root}."))
            yield Variable(root, start, end, first.shape[2 : 2 + arrays.get(root, 0)], "tuple")
