"""Dataclasses are as the standard library makes them."""
import copy
import dataclasses
import inspect
import pickle

import pytest

from stanlib import dataclass as own


@own.dataclass(frozen=True, slots=True)
class Node:
    """A base."""

    span: int


@own.dataclass(frozen=True, slots=True)
class Call(Node):
    name: str
    arguments: tuple[Node, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class Expected(Node.__base__):
    span: int
    name: str
    arguments: tuple[Node, ...] = ()


def _pairs(**options):
    """A class with defaults of each kind, made by both."""

    def make(decorator):
        class Given:
            size: int
            text: str = dataclasses.field(default="", repr=False)
            seen: list = dataclasses.field(default_factory=list, compare=False)

        Given.__qualname__ = "Given"
        return decorator(**options)(Given)

    return make(own.dataclass), make(dataclasses.dataclass)


@pytest.mark.parametrize("options", [
    {}, {"frozen": True}, {"frozen": True, "eq": False}, {"slots": True}, {"frozen": True, "slots": True},
])  # fmt: skip
def test_instances_are_alike(options):
    made, expected = _pairs(**options)
    for arguments, named in (((1,), {}), ((1, "a"), {"seen": [2]}), ((), {"text": "b", "size": 3})):
        ours, theirs = made(*arguments, **named), expected(*arguments, **named)
        assert repr(ours) == repr(theirs) and dataclasses.astuple(ours) == dataclasses.astuple(theirs)
        assert (ours == made(*arguments, **named)) == (theirs == expected(*arguments, **named))
        assert dataclasses.replace(ours, seen=[4]).seen == [4] and copy.copy(ours).size == theirs.size
        assert ours != theirs and hasattr(ours, "__dict__") == hasattr(theirs, "__dict__")
        assert (made(9) == made(8)) == (expected(9) == expected(8))
    assert made(1).seen is not made(1).seen and made.__match_args__ == expected.__match_args__
    for wrong in (lambda c: c(), lambda c: c(1, "a", [], 4), lambda c: c(1, size=2), lambda c: c(1, other=2)):
        for kind in (made, expected):
            with pytest.raises(TypeError):
                wrong(kind)


@pytest.mark.parametrize("options", [{}, {"frozen": True}, {"frozen": True, "eq": False}])
def test_hashes_are_alike(options):
    made, expected = _pairs(**options)
    for kind in (made, expected):
        if not options:
            with pytest.raises(TypeError):
                hash(kind(1))
        else:
            assert (hash(kind(1, "a", [1])) == hash(kind(1, "a", [2]))) == (options.get("eq", True))
    if options == {"frozen": True}:
        assert hash(made(1, "a")) == hash(expected(1, "a"))


def test_frozen_ones_refuse_changes():
    for kind in _pairs(frozen=True):
        given = kind(1)
        for change in (lambda g: setattr(g, "size", 2), lambda g: delattr(g, "size")):
            with pytest.raises(dataclasses.FrozenInstanceError, match="'size'"):
                change(given)


def test_kinds_of_nodes_inherit():
    made, expected = Call(1, "f", (Node(2),)), Expected(1, "f", (Node(2),))
    assert repr(made) == repr(expected).replace("Expected", "Call")
    assert Call(1, "f") == Call(span=1, name="f") and Call(1, "f") != Call(1, "g") and Node(1) != Call(1, "f")
    assert hash(made) == hash(expected) and {made: 3}[Call(1, "f", (Node(2),))] == 3
    assert [f.name for f in dataclasses.fields(Call)] == ["span", "name", "arguments"]
    assert pickle.loads(pickle.dumps(made)) == made == copy.deepcopy(made)
    assert not hasattr(made, "__dict__") and Node.__doc__ == "A base." and "span, name, arguments" in Call.__doc__
    match made:
        case Call(span, name, (Node(inner),)):
            assert (span, name, inner) == (1, "f", 2)
    assert [*inspect.signature(Call).parameters] == ["span", "name", "arguments"]


def test_classes_have_signatures():
    made, expected = _pairs()
    assert [p.kind for p in inspect.signature(made).parameters.values()] == [
        p.kind for p in inspect.signature(expected).parameters.values()
    ]

    class Other(made):
        def __init__(self, only: int) -> None:
            super().__init__(only, text="t")

    assert [*inspect.signature(Other).parameters] == ["only"] and Other(1).text == "t"
