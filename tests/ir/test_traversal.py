"""What stands directly below a node is all that its fields hold."""
from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Iterator

import pytest

from stanimport import pipeline
from stanimport.ir import traversal
from stanimport.ir.fresh import Fresh
from stanimport.source import Source

MODELS = sorted((pathlib.Path(__file__).parents[2] / "models").glob("*.stan"))


def held(value: object) -> Iterator[object]:
    """The nodes in the value of a field, whatever its annotation says."""
    if isinstance(value, tuple):
        for item in value:
            yield from held(item)
    elif isinstance(value, traversal.NODES):
        yield value


def below(node: object) -> list[int]:
    return [id(n) for f in dataclasses.fields(node) for n in held(getattr(node, f.name))]  # type: ignore[arg-type]


@pytest.mark.parametrize("path", MODELS, ids=lambda p: p.stem)
def test_children_are_what_the_fields_hold(path: pathlib.Path) -> None:
    options, names = pipeline.Options(), Fresh()
    program = pipeline.compile_program(pipeline.analyse(Source(path.name, path.read_text()))[0], options, names)
    bodies = [body for _, body in pipeline.specialised(program, options, names).bodies()]
    nodes = [n for body in (program.model, program.generated_quantities, *bodies) for n in traversal.walk(body)]
    assert [n for n in nodes if [id(c) for c in traversal.children(n)] != below(n)] == []
    assert len(nodes) > 5
