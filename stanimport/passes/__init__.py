"""Passes over GProb: functions from program to program, in the order of PASSES.

Each says in one line why it stands where it does.
"""
from __future__ import annotations

from collections.abc import Callable

from ..ir.fresh import Fresh
from ..middle import gprob
from . import effects, fusion, normalize, target_reads

Pass = Callable[[gprob.Program, Fresh], gprob.Program]

PASSES: tuple[tuple[str, Pass], ...] = (
    ("normalize", normalize.run),  # first: fewer forms for all that follow
    ("fusion", fusion.run),  # while densities stand as the program has them
    ("effects", effects.run),  # before anything moves expressions: calls that add to the target become statements
    ("target_reads", target_reads.run),  # after effects: all that adds to the target is a statement by then
)


def run(program: gprob.Program, names: Fresh, without: frozenset[str] = frozenset()) -> gprob.Program:
    """The program after all passes but those named in `without`."""
    for name, pass_ in PASSES:
        if name not in without:
            program = pass_(program, names)
    return program
