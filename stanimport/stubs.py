"""Stubs: `.pyi` files beside `.stan` files, from which editors and type checkers know a translated module.

Arguments are typed as what `transformed_data` takes (an `int` is whatever Python takes for an index, a `real` whatever
has a `float`), results as what it returns.
"""
from __future__ import annotations

import keyword
import os
import types
from collections.abc import Sequence
from pathlib import Path

from stanlib.program import Program, Variable

from . import api, compile, files

PathLike = str | os.PathLike[str]
_TAKEN = {"int": "SupportsIndex", "real": "SupportsFloat", "complex": "SupportsComplex | Sequence[float]"}
_GIVEN = {"int": "int", "real": "float", "complex": "complex"}
_HEAD = '''\
{title}
from collections.abc import Sequence
from typing import Any, SupportsComplex, SupportsFloat, SupportsIndex, TypedDict

from numpy.typing import ArrayLike, NDArray
from stanlib.metadata import Program

stan: Program
'''


def write_stubs(folder: PathLike, *, include_paths: Sequence[PathLike] = ()) -> list[Path]:
    """Write the stub of every program in a folder and the folders below (or of one `.stan` file) beside it.

    Returns:
        The files written.

    Raises:
        FileNotFoundError: if there is no such folder, or no program in it.
        StanError: for the first program that is wrong.

    Examples:
        >>> import shutil, tempfile
        >>> folder = tempfile.mkdtemp()
        >>> _ = shutil.copy("models/coin.stan", folder)
        >>> [path.name for path in stanimport.stubs.write_stubs(folder)]
        ['coin.pyi']
    """
    def write(path: Path) -> Path:
        target = path.with_suffix(".pyi")
        files.write(target, stub_of(api.load(path, include_paths=include_paths)).encode())
        return target

    return compile.each_program(compile.find_programs(Path(folder)), write, include_paths)


def stub_of(module: types.ModuleType) -> str:
    """The text of a translated module's stub."""
    stan: Program = module.stan
    made = (*stan.transformed_parameters, *stan.generated_quantities)
    given = _arguments(stan.data) + _arguments(stan.transformed_data, " = ...")
    drawn = _arguments(stan.data) + _arguments(stan.parameters) + _arguments(stan.transformed_data, " = ...")
    blocks = [
        _HEAD.format(title=_title(Path(stan.filename).name)),
        _typed_dict("_Inputs", [(v.name, _type_given(v)) for v in (*stan.data, *stan.transformed_data)]),
        _typed_dict("_Quantities", [(v.name, "Any") for v in made]),
        _function("transformed_data", _arguments(stan.data), "_Inputs", "The data:", stan.data),
        _function("model", given, "dict[str, Any]", "The model's parameters:", stan.parameters),
        _function("generated_quantities", drawn, "_Quantities", "Of one draw:", made),
    ]  # fmt: skip
    if hasattr(module, "guide"):
        blocks.append(_function("guide", given, "dict[str, Any]", "A guide of the parameters:", stan.parameters))
    return "\n".join([blocks[0], *(f"{n}: Any\n" for n in stan.networks), *blocks[1:]])


def _title(file: str) -> str:
    """The stub's docstring; a file may have any name."""
    name = file.encode("unicode_escape").decode().replace('"', r"\"")
    return f'"""Types of {name}. Written by `stanimport stubs`: run it again when the program has changed."""'


def _typed_dict(name: str, items: Sequence[tuple[str, str]]) -> str:
    """In the form of a call, which takes names that are Python's keywords."""
    inner = "".join(f"    {n!r}: {t},\n" for n, t in items)
    return f"{name} = TypedDict({name!r}, {{\n{inner}}})\n" if items else f"class {name}(TypedDict): ...\n"


def _arguments(variables: Sequence[Variable], default: str = "") -> list[str]:
    """The arguments that Python can name; the others are taken by `**others`."""
    return [f"{v.name}: {_type_taken(v)}{default}" for v in variables if _can_name(v.name)]


def _can_name(name: str) -> bool:
    """Python's keywords can't be arguments, nor can a network's parameters ("mlp.l1.weight")."""
    return name.isidentifier() and not keyword.iskeyword(name)


def _function(name: str, arguments: list[str], result: str, title: str, described: Sequence[Variable]) -> str:
    star = ["*", *arguments] if arguments else []
    inner = "".join(f"    {a},\n" for a in [*star, "**others: Any"])
    lines = [title, "", *(v.declaration for v in described)] if described else [title.rstrip(":")]
    text = "\n".join(f"    {line}".rstrip() for line in lines).lstrip()
    # Raw, for Stan's left division is a backslash.
    return f'def {name}(\n{inner}) -> {result}:\n    r"""{text}\n    """\n'


def _type_taken(v: Variable) -> str:
    if v.items:
        return "Any"
    return _TAKEN.get(v.type, "ArrayLike")


def _type_given(v: Variable) -> str:
    if v.items:
        return "Any"
    return _GIVEN.get(v.type, "NDArray[Any]")
