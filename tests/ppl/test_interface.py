"""The contract between generated code and backends: every name that may be called is there, with the same arguments."""
from __future__ import annotations

import importlib
import inspect
import pathlib
import re

import pytest

from stanlib import backend, program
from stanlib.ppl import interface

ROOT = pathlib.Path(__file__).parents[2]
PROTOCOLS = {"numpyro": interface.Traces, "pyro": interface.Runs}


def members(protocol):
    """Of a protocol the names, with their signatures (None for values)."""
    found = {}
    for base in reversed(protocol.__mro__):
        found.update(dict.fromkeys(base.__dict__.get("__annotations__", {})))
        found.update({n: inspect.signature(f) for n, f in vars(base).items() if inspect.isfunction(f) and n[0] != "_"})
    return found


def parameters(signature):
    return [p for p in signature.parameters.values() if p.name != "self"]


def accepts(own, wanted):
    """Whether a signature takes whatever the wanted one does; more arguments must have defaults."""
    mine = {p.name: p for p in own}
    fixed = [p for p in wanted if p.kind in (p.POSITIONAL_OR_KEYWORD, p.POSITIONAL_ONLY)]
    if [p.name for p in own[: len(fixed)]] != [p.name for p in fixed]:
        return False
    if any(p.name not in mine or mine[p.name].kind != p.kind or mine[p.name].default != p.default for p in wanted):
        return False
    return all(p.default is not p.empty for p in own if p.name not in {w.name for w in wanted})


@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_backend_has_every_name_of_the_contract(name):
    module = importlib.import_module(f"stanlib.ppl.{name}")
    wrong = {}
    for member, signature in members(PROTOCOLS[name]).items():
        if not hasattr(module, member):
            wrong[member] = "missing"
        elif signature is not None:
            own = parameters(inspect.signature(getattr(module, member)))
            if not accepts(own, parameters(signature)):
                wrong[member] = f"{own} for {signature}"
    assert not wrong


def test_signatures_are_told_apart():
    def wanted(x, y=1): ...

    def more(x, y=1, z=2): ...

    def other(x, z=1): ...

    def fewer(x): ...

    def demanding(x, y=1, *, z): ...

    mine = [parameters(inspect.signature(f)) for f in (wanted, more, other, fewer, demanding)]
    assert [accepts(m, mine[0]) for m in mine] == [True, True, False, False, False]


def called_by_generated_code():
    """The names behind `ppl.` in what the targets write."""
    text = "\n".join(p.read_text() for p in sorted((ROOT / "stanimport/emit").glob("*.py")))
    names = set(re.findall(r"[\"']ppl\.(\w+)", text))
    assert {"cond", "observe", "at"} <= names
    return names | {"reject", "fatal_error"}  # by the kind of a message


def test_generated_code_calls_nothing_else():
    contract = {n for p in PROTOCOLS.values() for n in members(p)}
    of_modules = {n for n in vars(backend.Backend) if not n.startswith("_")}
    assert called_by_generated_code() <= contract | of_modules


def test_the_contract_holds_nothing_that_nobody_calls():
    contract = {n for p in PROTOCOLS.values() for n in members(p)}
    modules = (program, backend, importlib.import_module("stanlib.networks"))
    by_modules = "\n".join(map(inspect.getsource, modules))
    unused = contract - called_by_generated_code() - set(re.findall(r"\w+", by_modules))
    assert not unused
