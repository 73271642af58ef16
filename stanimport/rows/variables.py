"""The kinds of variables: of what is declared by its sizes, assigned as a whole, or in part."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from stanlib.dataclass import dataclass
from stanlib.types import dimensions, is_scalar

from ..ir import gprob
from ..source import Span
from . import library
from .expressions import Calls, Expressions
from .kinds import FREE, INDEX, ROW, ZERO, Kind, alike, everything, rows, worst

Env = dict[str, Kind]


@dataclass(frozen=True)
class Around:
    """What is around a statement: a loop over rows, the names declared in it, conditions, and the function's sum.

    A function may be called inside of a loop over rows: then `nested` keeps it from looping over them itself.
    """

    in_rows: bool = False
    nested: bool = False
    own: frozenset[str] = frozenset()
    condition: Kind = FREE
    call: "Call | None" = None


@dataclass
class Call:
    """What a call of one of the program's functions gives: its values, and what it adds to the target."""

    results: list[Kind] = field(default_factory=list)
    total: Kind = ZERO


class Variables(Calls):
    """What assignments make of variables. `sizes` are the kinds of variables by their declared sizes alone, `shown`
    those sizes as they are written."""

    def __init__(self, networks: frozenset[str]):
        self.networks = networks
        self.sizes: dict[str, Kind] = {}
        self.shown: dict[str, str] = {}

    def controlled(self, kind: Kind, around: Around) -> Kind:
        """The kind of what happens under conditions."""
        if around.condition.is_constant or kind.tag == "all":
            return kind
        if around.condition == ROW:
            return ROW if kind.is_local else kind
        return around.condition

    def of_sizes(self, sized: gprob.Sized, env: Env, span: Span) -> Kind:
        """The kind of a container by its sizes alone."""
        if sized.items:
            parts = [self.of_sizes(i, env, span) for i in sized.items] + [self._axes(sized.shape, env, span)]
            return FREE if all(k.is_constant for k in parts) else everything(span)
        return self._axes(sized.shape, env, span)

    def _axes(self, shape: Sequence[gprob.Expr], env: Env, span: Span) -> Kind:
        kinds = [Expressions(env, self)(e) for e in shape]
        axes = [i for i, k in enumerate(kinds) if k.tag == "size"]
        if all(k.is_local for k in kinds):
            return ROW if ROW in kinds else FREE
        plain = len(axes) == 1 and all(k.is_constant for i, k in enumerate(kinds) if i not in axes)
        return rows(axes[0]) if plain else worst(kinds) or everything(span)

    def declared(self, s: gprob.Declare, env: Env, around: Around) -> Kind:
        sizes = self.of_sizes(s.sized, env, s.span)
        self.sizes.pop(s.name, None)
        if s.sized.shape or not dimensions(s.sized.type):
            self.sizes[s.name] = sizes
            self.shown[s.name] = ", ".join(e.span.text for e in s.sized.shape)
        if s.value is None:
            return sizes
        return self._stored(s.value, s.name, Expressions(env, self), s.span, around)

    def _stored(self, e: gprob.Expr, name: str, expr: Expressions, span: Span, around: Around) -> Kind:
        """The kind of a variable that a value is assigned to as a whole."""
        value = expr(e)
        sizes = self.sizes.get(name)
        if sizes is None:  # of arguments and what passes declare
            sizes = rows(None) if dimensions(e.type) else FREE
        else:
            self._verify_sizes(name, sizes, expr.sized(value, e), e, span)
        if value.tag == "rows" and value.axis is None:
            value = sizes if sizes.tag == "rows" else everything(span)
        if value.tag == sizes.tag == "rows" and value.axis != sizes.axis and None not in (value.axis, sizes.axis):
            return everything(span)
        if sizes.tag == "all":
            return sizes
        return self.controlled(value, around)

    def assign(self, s: gprob.Assign, env: Env, around: Around) -> None:
        """Put the kind of a variable after an assignment into `env`."""
        name, expr = s.place.name, Expressions(env, self)
        value = expr(s.value)
        if not s.place.steps:
            env[name] = self._stored(s.value, name, expr, s.span, around)
            if env[name].tag == "rows" and _is_outer(name, around):
                env[name] = everything(s.span)
            return
        env[name] = self.controlled(self._with_part(s, env.get(name, FREE), value, expr, around), around)

    def _verify_sizes(self, name: str, sizes: Kind, value: Kind, e: gprob.Expr, span: Span) -> None:
        """A variable, or a part of it, must have rows if its value has: else a batch has other numbers of entries."""
        if library.differ_in_size((sizes, value), (e.type, e.type)):
            shown = f"declared with {self.shown[name]}" if name in self.shown else "a container"
            gets = "an entry for every row" if value.tag == "rows" else "a value of other sizes"
            self.refuse_sizes(f"{name}, {shown}, gets {gets}", span)

    def _with_part(self, s: gprob.Assign, base: Kind, value: Kind, expr: Expressions, around: Around) -> Kind:
        """The kind of a container of which a part is assigned."""
        held = expr.sized(base, gprob.Var(s.place.base, s.place.span, s.place.name))
        if held.is_local:
            self._verify_sizes(s.place.name, held, expr.sized(value, s.value), s.value, s.span)
        if worst((base, value)) is not None:
            return worst((base, value)) or base
        if len(s.place.steps) > 1 or s.place.steps[0].item:
            indices = [expr.index(i) for step in s.place.steps for i in step.indices]
            kind = alike((base, value, *(k for _, k in indices)), s.span)
        else:
            indices = [expr.index(i) for i in s.place.steps[0].indices]
            if base.tag == "rows":
                return self._with_rows(s, base, value, indices, expr, around)
            kinds = [k for _, k in indices]
            kind = everything(s.span) if INDEX in kinds else alike((base, value, *kinds), s.span)
        kept = kind.is_constant or kind == ROW and not _is_outer(s.place.name, around)
        return kind if kept else worst((kind,)) or everything(s.span)

    def _with_rows(
        self, s: gprob.Assign, base: Kind, value: Kind, indices: list[tuple[gprob.IndexExpr, Kind]],
        expr: Expressions, around: Around,
    ) -> Kind:  # fmt: skip
        """Rows stay apart where each row's entry gets what depends on it alone."""
        part = expr.part(base, indices, s.place.read())
        if part == ROW and value.is_local:
            return base
        if part.tag == "rows" and _is_outer(s.place.name, around):
            return everything(s.span)
        if part.tag == "rows" and value.tag == "rows" and value.axis in (None, part.axis):
            return base
        self._verify_sizes(s.place.name, part, value, s.value, s.span)
        filled = part.tag == "rows" and value.is_constant and is_scalar(s.value.type)
        return base if filled else worst((part,)) or everything(s.span)


def _is_outer(name: str, around: Around) -> bool:
    """Whether a loop over rows changes a variable that it has not for every row anew: as often as there are rows."""
    return around.in_rows and name not in around.own
