"""Which parameters a model samples, and where it has sampled them all."""
from __future__ import annotations

from collections.abc import Collection, Iterable

from stanlib.errors import StanRuntimeError
from stanlib.program import Program

from .. import tuples


class Enough(BaseException):
    """Raised in a model that has sampled all its parameters, where nothing behind them is asked for."""


def are_sampled(program: Program, sites: Collection[str]) -> bool:
    """Whether these are the sites of all parameters: a complex one has two, of its real and its imaginary part."""
    names = tuples.leaf_names(program.parameters)
    return all(n in sites or f"{n}.real" in sites and f"{n}.imag" in sites for n in names)


def check_sampled(program: Program, sites: Iterable[str]) -> None:
    """Test that a model whose parameters' sites these are has sampled all parameters of its program.

    Raises:
        StanRuntimeError: naming one that it has not, with its line, as the draw was rejected before.
    """
    found = {s.removesuffix(".real").removesuffix(".imag") for s in sites}
    for variable in program.parameters:
        lacking = next((n for n in tuples.leaves(variable) if n not in found), None)
        if lacking is not None:
            raise StanRuntimeError(
                f"the model rejects its first draw before it samples parameter {lacking}, which can't be inferred "
                f"then: declared as `{variable.declaration}` in {program.filename}, line {variable.line}; the "
                "comprehensive scheme samples all parameters first"
            )
