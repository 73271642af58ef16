"""The text of a translated module, for readers: its metadata with a line for each variable."""
from __future__ import annotations

import ast
from typing import cast

_STEP = "    "
_HELD = "stan'"  # what stands for the metadata until all else is written: no Python has it


def written(module: ast.Module) -> str:
    """The Python text, in which the assignment of `stan` takes several lines instead of one very long one."""
    at = next((i for i, s in enumerate(module.body) if _is_metadata(s)), None)
    if at is None:
        return ast.unparse(module) + "\n"
    before, found, after = module.body[:at], cast(ast.Assign, module.body[at]), module.body[at + 1:]
    held = ast.copy_location(ast.Assign(found.targets, ast.Name(_HELD, ast.Load())), found)
    text = ast.unparse(ast.Module([*before, held, *after], [])) + "\n"
    return text.replace(f"\nstan = {_HELD}\n", f"\nstan = {_call(cast(ast.Call, found.value))}\n", 1)


def _is_metadata(s: ast.stmt) -> bool:
    target = s.targets[0] if isinstance(s, ast.Assign) and isinstance(s.value, ast.Call) else None
    return isinstance(target, ast.Name) and target.id == "stan"


def _call(call: ast.Call) -> str:
    """A call with a line for each of its arguments."""
    arguments = [ast.unparse(a) for a in call.args] + [f"{k.arg}={_argument(k.value)}" for k in call.keywords]
    return f"{ast.unparse(call.func)}(\n" + "".join(f"{_STEP}{a},\n" for a in arguments) + ")"


def _argument(value: ast.expr) -> str:
    """A tuple of calls with a line for each of them, all else as it is."""
    if not isinstance(value, ast.Tuple) or not any(isinstance(e, ast.Call) for e in value.elts):
        return ast.unparse(value)
    return "(\n" + "".join(f"{2 * _STEP}{ast.unparse(e)},\n" for e in value.elts) + f"{_STEP})"
