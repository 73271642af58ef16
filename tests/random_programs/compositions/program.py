"""A composition as a program, with its data."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..choices import Choices
from ..program import RandomProgram
from .constraining import constraining
from .declarations import declarations
from .functions import functions
from .moving import moving
from .priors import priors
from .scope import Program
from .simulations import simulations
from .solvers import solvers
from .vectorised import vectorised
from .violated import violated

ORDER = ("functions", "data", "transformed data", "parameters", "transformed parameters", "model",
         "generated quantities")  # fmt: skip
TOPICS: dict[str, Callable[[Program], None]] = {
    "declarations": declarations, "constraining": constraining, "vectorised": vectorised, "violated": violated,
    "priors": priors, "functions": functions, "solved": solvers,
    "simulations": simulations, "moving": moving,
}  # fmt: skip


def program(c: Choices, wanted: Sequence[str] = ()) -> RandomProgram:
    """A program by its choices, about one of the wanted TOPICS, or of all."""
    p = Program(c, reals=["m"])
    p.add("parameters", "real m;")
    p.add("model", "m ~ normal(0, 1);")
    TOPICS[c.pick([t for t in TOPICS if t in wanted] or list(TOPICS))](p)
    text = "".join(f"{b} {{\n" + "".join(f"  {x}\n" for x in p.blocks[b]) + "}\n" for b in ORDER if b in p.blocks)
    return RandomProgram(text, text, p.data, features=frozenset({"wild"}))
