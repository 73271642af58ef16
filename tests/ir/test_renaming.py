"""Every identifier under another name: the translation, the sites and the log densities are the same but for the names.

`python tests/ir/renaming.py FOLDER ...` does it for all programs in folders.
"""
from __future__ import annotations

import ast
import json
import pathlib
import symtable
import zlib

import numpy as np
import pytest
import renaming

import stanimport
from stanimport import pipeline
from stanimport.emit.names import RESERVED
from stanimport.inference.density.points import LogProb
from stanimport.source import Source

ROOT = pathlib.Path(__file__).parents[2]
DEEPSTAN = {"multimodal", "vae", "mlp"}
PROGRAMS = {
    p.stem: p for folder in ("tests/passes/loops", "tests/constructs/programs", "models")
    for p in sorted((ROOT / folder).glob("*.stan")) if p.stem not in DEEPSTAN
}  # fmt: skip
COMPUTED = ["coin", "eight_schools", "garch11", "hmm_example", "conditional"]


def seed(name: str) -> int:
    """A number of its own for every program, the same in every run."""
    return zlib.crc32(name.encode())


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("backend, scheme", [("numpyro", "mixed"), ("pyro", "comprehensive")])
def test_the_translation_is_the_same_but_for_the_names(name, backend, scheme):
    options = pipeline.Options(backend, scheme)
    assert renaming.difference(PROGRAMS[name].read_text(), seed(name), options) == ""


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", COMPUTED)
def test_the_log_density_is_the_same(name):
    text, data = PROGRAMS[name].read_text(), json.loads(PROGRAMS[name].with_suffix(".json").read_text())
    program = renaming.parsed(text)
    names = renaming.renaming(program, seed(name))
    other = stanimport.loads(renaming.renamed(text, program, names))
    densities = LogProb(stanimport.loads(text), data), LogProb(other, {names[k]: v for k, v in data.items()})
    point = np.linspace(-0.5, 0.5, densities[0].size)
    first, second = (d.at(point) for d in densities)
    assert first.lp == second.lp
    np.testing.assert_array_equal(first.gradient, second.gradient)


@pytest.mark.parametrize(
    "names", [("self", "args", "data_", "bool"), ("inputs", "key", "dict", "len"), ("x", "x_", "x__2", "int_")]
)
def test_data_and_parameters_may_be_called_as_pythons_own(names):
    count, known, free, sum_ = names
    text = f"""data {{ int {count}; vector[{count}] {known}; }} parameters {{ real {free}; }}
    model {{ real {sum_} = 0; for (n in 1:{count}) {sum_} += {known}[n] * {free}; target += {sum_}; }}
    generated quantities {{ int is = {count} > 1 && {free} > 0; }}"""
    for backend in ("numpyro", "pyro"):
        module = stanimport.loads(text, backend=backend)
        inputs = module.transformed_data(**{count: 2, known: [1.0, 3.0]})
        assert list(inputs) == [count, known]
        assert module.generated_quantities(**inputs, **{free: 0.5})["is"] == 1
    density = LogProb(stanimport.loads(text), {count: 2, known: [1.0, 3.0]})
    assert density({free: 0.5}).lp == pytest.approx(2.0)


def free_names(table: symtable.SymbolTable) -> set[str]:
    """The names that a function takes from the module."""
    own = {s.get_name() for s in table.get_symbols() if s.is_global()}
    return own.union(*map(free_names, table.get_children()))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", [n for n in PROGRAMS if "constructs" in str(PROGRAMS[n])])
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_generated_code_refers_to_nothing_but_what_no_variable_is_called(name, backend):
    text = PROGRAMS[name].read_text()
    code = pipeline.translate(Source("p.stan", text), "p", pipeline.Options(backend)).text
    functions = {s.name for s in ast.parse(code).body if isinstance(s, ast.FunctionDef)}
    taken = set().union(*map(free_names, symtable.symtable(code, "p", "exec").get_children()))
    assert taken <= RESERVED | functions
