"""GProb as text, for people: what `translate --dump` shows and what the tests of passes compare."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from stanlib.registry import Function

from . import gprob, traversal

_INDENT = "  "
_PREFIX = {"minus": "-", "logical_negation": "!", "plus": "+"}


def program(p: gprob.Program) -> str:
    """A whole program: functions, then what each function of the module does."""
    parts = [f"{f.name}({', '.join(a.name for a in f.parameters)}):\n{block(f.body, 1)}" for f in p.functions]
    for label in ("transformed_data", "model", "generated_quantities"):
        body: Sequence[gprob.Stmt] = getattr(p, label)
        if body:
            parts.append(f"{label}:\n{block(body, 1)}")
    return "\n\n".join(parts) + "\n"


def block(body: Sequence[gprob.Stmt], depth: int = 0) -> str:
    """Statements, one per line, nested ones indented."""
    return "\n".join(line for s in body for line in _lines(s, depth))


def _lines(s: gprob.Stmt, depth: int) -> Iterator[str]:
    """The lines of a statement and of those inside of it, indented; `else` stands before a second block."""
    pad = _INDENT * depth
    heads = _STATEMENTS[type(s)](s)
    nested = [b for b in traversal.bodies(s)]
    yield pad + heads[0]
    for i, body in enumerate(nested):
        if i and body:
            yield pad + "else"
        for inner in body:
            yield from _lines(inner, depth + 1)


# --- statements: the first line of each ------------------------------------------------------------------------------


def _declare(s: gprob.Declare) -> list[str]:
    value = "" if s.value is None else f" = {expression(s.value)}"
    return [f"let {s.name}: {_sized(s.sized)}{value}"]


_RUNS: dict[gprob.Loop | None, str] = {gprob.Loop.TRACED: "traced for", gprob.Loop.UNROLLED: "unrolled for"}


def _for(s: gprob.For) -> list[str]:
    kind = "lanes" if s.lanes else _RUNS.get(s.runs, "for")
    alike = f" alike ({_list(s.alike)})" if s.alike else ""
    alike += f", {expression(s.most)}" if s.most is not None else ""
    return [f"{kind} {s.name} in {expression(s.lower)}:{expression(s.upper)}{alike}"]


def _if(s: gprob.If) -> list[str]:
    merged = f" merging {', '.join(s.merged)}" if s.merged else ""
    kind = "when" if s.lanes else "traced if" if s.traced else "if"
    return [f"{kind} {expression(s.condition)}{merged}"]


def _recur(s: gprob.Recur) -> list[str]:
    windows = [f"{w.row} after {', '.join(w.before)} from {_list(w.first)}" if w.before else w.row for w in s.windows]
    inputs = [i if g == i else f"{g} of {i}" for g, i in zip(s.given, s.inputs)]
    parts = [("rows", windows), ("state", s.state), ("inputs", inputs), ("outputs", s.outputs)]
    told = "; ".join(f"{label} {', '.join(names)}" for label, names in parts if names)
    return [f"{'ragged recur' if s.ragged else 'recur'} {s.name} over {s.loop}: {told}"]


def _assign(s: gprob.Assign) -> list[str]:
    over = f" over {s.over}" if s.over is not None else ""
    reached = f" where {expression(s.reached)}" if s.reached is not None else ""
    return [f"{_place(s.place)} = {expression(s.value)}{over}{reached}"]


def _accumulate(s: gprob.Accumulate) -> list[str]:
    over = f" over {s.over}" if s.over is not None else ""
    return [f"{_place(s.place)} += {expression(s.value)} for all {s.loop}{over}"]


def _sample(s: gprob.Sample) -> list[str]:
    law = "domain" if s.distribution is None else _law(s.distribution)
    return [f"sample {'unconstrained ' * s.free}{s.name} ~ {law}: {_sized(s.sized)}"]


def _bind(s: gprob.Bind) -> list[str]:
    return [f"bind {s.name} = {expression(s.call)} [{s.site}]"]


_STATEMENTS: dict[type, Callable[[Any], list[str]]] = {
    gprob.Declare: _declare, gprob.Assign: _assign, gprob.Accumulate: _accumulate, gprob.Sample: _sample,
    gprob.Last: lambda s: [f"{s.name} = last of {s.loop}"],
    gprob.Cumulate: lambda s: [f"{s.name} = {expression(s.first)} + sum of {expression(s.value)} over {s.loop} so far"],
    gprob.Unpack: lambda s: [f"unpack {s.places} = {expression(s.value)}"],
    gprob.Observe: lambda s: [f"observe {expression(s.value)} ~ {_law(s.distribution)} [{s.site}]"],
    gprob.Factor: lambda s: [f"factor {expression(s.value)} [{s.site}]"],
    gprob.Check: lambda s: [f"check {s.name}: {s.constraint.kind}"],
    gprob.Deterministic: lambda s: [f"record {s.name}"],
    gprob.For: _for, gprob.If: _if, gprob.Recur: _recur, gprob.Bind: _bind,
    gprob.ForEach: lambda s: [f"for {s.name} in {expression(s.container)}"],
    gprob.While: lambda s: [f"{'traced ' if s.traced else ''}while {expression(s.condition)}"],
    gprob.Break: lambda s: ["break"], gprob.Continue: lambda s: ["continue"],
    gprob.Return: lambda s: ["return" if s.value is None else f"return {expression(s.value)}"],
    gprob.Run: lambda s: [f"run {expression(s.call)}"],
    gprob.Message: lambda s: [f"{s.kind}({', '.join(i if isinstance(i, str) else expression(i) for i in s.items)})"],
}  # fmt: skip


# --- expressions -----------------------------------------------------------------------------------------------------


def expression(e: gprob.Expr) -> str:
    """An expression on one line."""
    return _EXPRESSIONS[type(e)](e)


def _apply(e: gprob.Apply) -> str:
    operator, parts = e.function.operator, e.arguments
    if len(parts) == 2 and operator is not None:
        return f"({expression(parts[0])} {operator} {expression(parts[1])})"
    if len(parts) == 1 and e.function.name in _PREFIX:
        return f"{_PREFIX[e.function.name]}{expression(parts[0])}"
    return f"{'added ' * e.added}{e.function.name}({_list(parts)})"


def _list(items: Sequence[gprob.Expr]) -> str:
    return ", ".join(map(expression, items))


def _sizes(sized: gprob.Sized) -> str:
    """Sizes, and behind them those of a tuple's items."""
    return ", ".join([_list(sized.shape)] * bool(sized.shape) + [f"({_sizes(i)})" for i in sized.items])


def _index(e: gprob.Index) -> str:
    return f"{expression(e.base)}[{', '.join(map(_one_index, e.indices))}]"


def _one_index(i: gprob.IndexExpr) -> str:
    if isinstance(i, gprob.Range):
        return ":".join("" if b is None else expression(b) for b in (i.lower, i.upper))
    return expression(i.value)


def _function_value(e: gprob.FunctionValue) -> str:
    return e.function.symbol if isinstance(e.function, Function) else e.function


_WRAPPED: dict[type, str] = {
    gprob.Copied: "copy", gprob.Converted: "convert", gprob.Decided: "decided", gprob.Bound: "bound",
}  # fmt: skip


def _wrapped(e: Any) -> str:
    return f"{_WRAPPED[type(e)]}({expression(e.value)})"


def _limit(e: gprob.Limit) -> str:
    ranges = (f"{name} in {expression(lower)}:{expression(upper)}" for name, lower, upper in e.ranges)
    return f"most of {expression(e.lower)}:{expression(e.upper)} for {', '.join(ranges)}"


_EXPRESSIONS: dict[type, Callable[[Any], str]] = {
    gprob.Const: lambda e: repr(e.value), gprob.Var: lambda e: e.name, gprob.Apply: _apply,
    gprob.CallUser: lambda e: f"{e.function}({_list(e.arguments)})", gprob.FunctionValue: _function_value,
    gprob.Logical: lambda e: f"({expression(e.left)} {e.operator} {expression(e.right)})",
    gprob.Cond: lambda e: f"({expression(e.condition)} ? {expression(e.then)} : {expression(e.otherwise)})",
    gprob.Index: _index, gprob.Item: lambda e: f"{expression(e.base)}.{e.number}",
    gprob.MakeArray: lambda e: "{" + _list(e.items) + "}", gprob.MakeRow: lambda e: f"[{_list(e.items)}]",
    gprob.MakeTuple: lambda e: f"({_list(e.items)})", gprob.Promote: lambda e: expression(e.value),
    gprob.Padded: lambda e: (
        f"{expression(e.base)}[{expression(e.lower)}:{expression(e.upper)} padded with {expression(e.fill)}]"
    ),
    gprob.Unbroken: lambda e: f"{expression(e.value)} unbroken over {e.loop}",
    gprob.Widest: lambda e: f"widest {expression(e.value)}",
    gprob.Predictor: lambda e: f"predictor([{_list(e.coefficients)}], [{_list(e.columns)}], {_list(e.rest)})",
    gprob.TargetValue: lambda e: "target()", gprob.Unset: lambda e: "unset",
    gprob.Fitted: lambda e: f"fit({expression(e.value)}, {_sizes(e.sized)})",
    gprob.Limit: _limit, **dict.fromkeys(_WRAPPED, _wrapped),
}  # fmt: skip


def _sized(s: gprob.Sized) -> str:
    return f"{s.type}" + (f"[{_list(s.shape)}]" if s.shape else "")


def _law(d: gprob.Distribution) -> str:
    bounds = ["" if e is None else expression(e) for e in (d.lower, d.upper)]
    truncation = f" T[{', '.join(bounds)}]" if any(bounds) else ""
    return f"{d.family}({_list(d.arguments)}){truncation}"


def _place(p: gprob.Place) -> str:
    out = p.name
    for s in p.steps:
        out += f".{s.item}" if s.item else f"[{', '.join(map(_one_index, s.indices))}]"
    return out
