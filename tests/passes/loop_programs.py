"""The programs of the loop tests, one file each in loops/, and how they are translated with passes left out."""
from __future__ import annotations

import pathlib
import types
from collections.abc import Sequence

import numpy as np

from stanimport import pipeline
from stanimport.ir import printer
from stanimport.ir.fresh import Fresh
from stanimport.passes.loops import PASSES
from stanimport.source import Source

FOLDER = pathlib.Path(__file__).parent / "loops"
NAMES = sorted(p.stem for p in FOLDER.glob("*.stan"))


def text(name: str) -> str:
    return (FOLDER / f"{name}.stan").read_text()


def shown(name: str) -> str:
    """The bodies of a program after each pass over loops alone, and after all of them."""
    source = Source(f"{name}.stan", text(name))
    parts = []
    for label, without in [*((p, set(PASSES) - {p}) for p in PASSES), ("all passes", set())]:
        options = pipeline.Options(without=frozenset(without), scheme="comprehensive")
        names = Fresh()
        program = pipeline.compile_program(pipeline.analyse(source)[0], options, names)
        bodies = [printer.block(b) for _, b in pipeline.bodies(program, names, options) if b]
        parts.append(f"=== {label}\n" + "\n---\n".join(bodies) + "\n")
    return "\n".join(parts)


def translated(program: str, backend: str = "numpyro", without: Sequence[str] = ()) -> types.SimpleNamespace:
    """The functions of a program that is translated without some passes."""
    source = Source("loops.stan", program)
    options = pipeline.Options(backend, "comprehensive", frozenset(without))
    tree = pipeline.translate(source, "loops", options).tree
    namespace: dict[str, object] = {"__name__": "loops"}
    exec(compile(tree, "loops.stan", "exec"), namespace)
    return types.SimpleNamespace(**namespace)


def data() -> dict[str, object]:
    """Values for all the names that the programs declare as data."""
    rng = np.random.default_rng(5)
    return {
        "N": 7, "K": 3, "y": rng.normal(size=7), "x": rng.normal(size=(7, 3)), "group": np.array([1, 3, 2, 3, 1, 1, 3]),
        "count": np.array([0, 2, 1, 0, 0, 4, 1]), "start": np.array([1, 3, 6]), "length": np.array([2, 3, 2]),
    }  # fmt: skip


PARAMETERS = {"a": 0.3, "b": -0.6, "s": 0.8, "v": np.array([0.2, -0.4, 1.1]), "z": np.linspace(-1.0, 1.2, 7)}


def wanted(program: str) -> dict[str, object]:
    """The data that a program declares."""
    block = program.split("parameters {")[0]
    return {k: v for k, v in data().items() if f" {k};" in block}


def drawn(program: str) -> dict[str, object]:
    """The parameters that a program declares."""
    block = program.split("parameters {")[1].split("}")[0]
    return {k: v for k, v in PARAMETERS.items() if f" {k};" in block}
