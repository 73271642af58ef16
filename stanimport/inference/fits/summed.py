"""Statements of which a trace has sums alone: those in loops that run as long as it takes, and in large branches."""
from __future__ import annotations

from collections.abc import Iterable, Mapping

from stanlib.ppl.numpyro import Sums
from stanlib.program import Program
from stanlib.unobserved import Unobserved

from .positions import variable_of


def summed(program: Program, sites: Iterable[str], lines: Mapping[str, int]) -> list[Unobserved]:
    """The statements about data that are among the sums of a trace, each with its variable.

    Args:
        sites: the names of all sites of the trace.
        lines: those of the program's statements, by site.
    """
    given = set(sites)
    found = {n.partition(".")[0] for n in given if n.partition(".")[2].startswith("sum")}
    if found - lines.keys():  # a sum of several statements: of those that are not there themselves
        found |= lines.keys() - given
    data = program.names("data", "transformed_data")
    return [Unobserved(lines[n], (variable_of(n, program),)) for n in lines
            if n in found and variable_of(n, program) in data]  # fmt: skip


def sums_of_no_variable(program: Program, sites: Iterable[tuple[str, Mapping[str, object]]]) -> list[str]:
    """The sites of a trace with one sum of the log densities of what data make: of how many, nothing tells."""
    data = program.names("data", "transformed_data")
    return [n for n, s in sites if isinstance(s.get("fn"), Sums) and variable_of(n, program) not in data]
