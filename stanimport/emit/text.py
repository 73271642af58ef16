"""The text of a translated module, for readers: its metadata with a line for each variable."""
from __future__ import annotations

import ast

_STEP = "    "


def written(module: ast.Module) -> str:
    """The Python text, in which the assignment of `stan` takes several lines instead of one very long one."""
    text = ast.unparse(module) + "\n"
    for s in module.body:
        if isinstance(s, ast.Assign) and isinstance(s.value, ast.Call) and ast.unparse(s.targets[0]) == "stan":
            return text.replace(f"\n{ast.unparse(s)}\n", f"\nstan = {_call(s.value)}\n", 1)
    return text


def _call(call: ast.Call) -> str:
    """A call with a line for each of its arguments."""
    arguments = [ast.unparse(a) for a in call.args] + [f"{k.arg}={_argument(k.value)}" for k in call.keywords]
    return f"{ast.unparse(call.func)}(\n" + "".join(f"{_STEP}{a},\n" for a in arguments) + ")"


def _argument(value: ast.expr) -> str:
    """A tuple of calls with a line for each of them, all else as it is."""
    if not isinstance(value, ast.Tuple) or not any(isinstance(e, ast.Call) for e in value.elts):
        return ast.unparse(value)
    return "(\n" + "".join(f"{2 * _STEP}{ast.unparse(e)},\n" for e in value.elts) + f"{_STEP})"
