"""Values that handlers around a model give by names: those that no site takes would change nothing, without a word."""
from __future__ import annotations

from collections.abc import Iterator, Set
from typing import TYPE_CHECKING

from .errors import StanUnsupportedError
from .sites import variable_of

if TYPE_CHECKING:
    from .metadata import Program, Variable

_DATA = "call the model with it: model(**transformed_data(...))"


def without_sites(program: Program) -> list[str]:
    """The names of parameters that have no site, and of those whose parts have them, with these."""
    parted = [v for v in program.parameters if v.items or "complex" in v.type]
    names = [v.name for v in (*program.discrete_parameters, *parted)]
    return names + [site for v in parted for site in sites_of(v, v.name)]


def check_parameters(program: Program, given: Set[str]) -> None:
    """Raise StanUnsupportedError for the name of a parameter that has no site, or whose parts have them."""
    if not given:
        return
    for v in program.discrete_parameters:
        if v.name in given:
            told = f"{v.name} is summed out of the density, so that nothing can give it a value here"
            raise StanUnsupportedError(f"{told}: leave it out, or declare it in block data for the density given it")
    for v in program.parameters:
        parts = [s for s in sites_of(v, v.name) if s != v.name]
        if v.name in given and not given >= set(parts):
            raise StanUnsupportedError(f"{v.name} has no site of its own: give its parts {', '.join(parts)}")


def check_data(program: Program, given: Set[str], observed: Set[str]) -> None:
    """Raise StanUnsupportedError for data that the model read, where not all that observes them took what was given.

    Args:
        given: the names that handlers give values.
        observed: the sites of what the model has observed.
    """
    data = program.names("data", "transformed_data")
    for name in sorted(given & set(data)):
        sites = sorted(s for s in observed if variable_of(s, data) == name)
        if not sites:
            raise StanUnsupportedError(f"{name} has no site, so that no handler can give it a value: {_DATA}")
        if not given >= set(sites):
            raise StanUnsupportedError(f"{name} is observed at the sites {', '.join(sites)}; give all, or {_DATA}")


def no_outcomes(site: str) -> StanUnsupportedError:
    """The error for what handlers give a site of which the densities alone are known."""
    return StanUnsupportedError(f"{site} has log densities of the data, and takes none from a handler: {_DATA}")


def sites_of(v: Variable, name: str) -> Iterator[str]:
    """The sites of a parameter, of a tuple's items and a complex number's parts."""
    if v.items:
        for i, item in enumerate(v.items, 1):
            yield from sites_of(item, f"{name}.{i}")
    elif "complex" in v.type:
        yield from (f"{name}.real", f"{name}.imag")
    else:
        yield name
