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
