"""The examples in the docstrings of the public interface show what happens."""
from __future__ import annotations

import doctest
import inspect
import pathlib
import warnings
from typing import Any

import pytest

import stanimport
from stanimport import inference
from stanimport.compile import compile_package
from stanimport.stubs import write_stubs
from stanlib import program

ROOT = pathlib.Path(__file__).parent.parent.parent
FUNCTIONS = [f for f in map(vars(stanimport).get, stanimport.__all__) if inspect.isfunction(f)]
MODULE = [program.TransformedData, program.Model, program.GeneratedQuantities, program.Program]
INFERENCE = [f for n in inference.__all__ if inspect.isfunction(f := getattr(inference, n))]
PUBLIC = [*FUNCTIONS, *MODULE, *INFERENCE, compile_package, write_stubs]


@pytest.fixture
def in_checkout(monkeypatch, tmp_path):
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("STANIMPORT_CACHE_DIR", str(tmp_path))
    monkeypatch.syspath_prepend(str(ROOT))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("item", PUBLIC, ids=lambda f: f.__name__)
def test_examples(item: Any, in_checkout):
    (found,) = doctest.DocTestFinder(recurse=False).find(item, item.__name__, globs={"stanimport": stanimport})
    assert found.examples, f"{item.__name__} has no example"
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    report: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        runner.run(found, out=report.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(report)
