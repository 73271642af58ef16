"""What `stanc --info` tells of a program: names, types and dimensions of variables, what it calls, and includes."""
from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from stanlib.program import Program, Variable

from .. import api
from ..inference import tuples

_BLOCKS = {"inputs": "data", "parameters": "parameters", "transformed parameters": "transformed_parameters",
           "generated quantities": "generated_quantities"}  # fmt: skip


def source_info(program: Program, folders: Sequence[Path]) -> dict[str, object]:
    """The variables by block, calls, and the paths of the included files, which are looked for in these folders."""
    info: dict[str, object] = {
        name: {v.name: _described(v) for v in getattr(program, block)} for name, block in _BLOCKS.items()
    }
    calls = api.called(program.filename, source=program.source, includes=program.includes, functions=program.functions)
    info |= {"functions": list(calls.functions), "distributions": list(calls.distributions)}
    return {**info, "included_files": [_place(name, folders) for name, _ in program.includes]}


def _described(variable: Variable) -> dict[str, object]:
    """A tuple has a list of its items for a type, all else that of its elements."""
    if variable.items:
        return {"type": [*map(_described, variable.items)], "dimensions": tuples.array_axes(variable)}
    kind = variable.type.rpartition(" ")[2]
    return {"type": kind if kind == "int" else "complex" if kind.startswith("complex") else "real",
            "dimensions": len(variable.shape)}  # fmt: skip


def _place(name: str, folders: Sequence[Path]) -> str:
    found = next((f / name for f in folders if (f / name).is_file()), Path(name))
    return str(found.resolve()) if found.is_file() else name
