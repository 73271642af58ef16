"""Every class, method, argument and property of CmdStanPy 1.3 is there, arguments in its order."""
from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from stanimport import cmdstanpy

RECORDED = Path(__file__).with_name("signatures.txt").read_text(encoding="utf-8").splitlines()


@pytest.fixture(scope="module")
def instances(tmp_path_factory):
    """Of the classes whose attributes are set when they are made."""
    program = tmp_path_factory.mktemp("programs") / "plain.stan"
    program.write_text("parameters { real x; } model { x ~ std_normal(); }")
    model = cmdstanpy.CmdStanModel(stan_file=program)
    return {"CmdStanModel": model, "CmdStanLaplace": model.laplace_sample(draws=2, seed=1)}


@pytest.mark.parametrize("line", RECORDED)
def test_it_is_there(line, instances):
    name, _, words = line.partition(":")
    holder, _, method = name.partition(".")
    item = getattr(cmdstanpy, holder)
    if inspect.isclass(item) and not method:
        missing = [n for n in words.split() if not hasattr(item, n) and n not in vars(instances.get(holder, item))]
        assert not missing
        return
    taken = inspect.signature(getattr(item, method) if method else item).parameters
    if any(p.kind is p.VAR_KEYWORD for p in taken.values()):
        return  # takes everything, and does nothing with it
    order = [n for n in taken if n in words.split()]
    assert order == words.split()


def test_what_is_recorded_is_all_that_cmdstanpy_has(instances):
    """Where it is installed: every public class, method, argument with its default, attribute and function of it."""
    theirs = pytest.importorskip("cmdstanpy", reason="CmdStanPy is not installed")
    if not hasattr(theirs, "CmdStanModel") or theirs is cmdstanpy:
        pytest.skip("its place is taken")
    lacking = [n for n in theirs.__all__ if not hasattr(cmdstanpy, n)]
    for name, item in ((n, getattr(theirs, n)) for n in theirs.__all__ if n not in lacking):
        own = getattr(cmdstanpy, name)
        if not inspect.isclass(item):
            lacking += _lacking(name, item, own)
            continue
        for attribute in (a for a in dir(item) if not a.startswith("_")):
            if not hasattr(own, attribute) and attribute not in vars(instances.get(name, own)):
                lacking.append(f"{name}.{attribute}")
            elif callable(getattr(item, attribute)):
                lacking += _lacking(f"{name}.{attribute}", getattr(item, attribute), getattr(own, attribute))
    assert lacking == []


def _lacking(name, theirs, own):
    """The arguments of a function that ours lacks, or that have another default."""
    taken = inspect.signature(own).parameters
    if any(p.kind is p.VAR_KEYWORD for p in taken.values()):
        return []
    asked = [p for p in inspect.signature(theirs).parameters.values()
             if p.kind is not p.VAR_KEYWORD and not p.name.startswith("_")]  # fmt: skip
    return [f"{name}({p.name})" for p in asked if p.name not in taken or taken[p.name].default != p.default]
