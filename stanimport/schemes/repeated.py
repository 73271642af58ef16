"""Terms of the target that come as often as there are outcomes of some kind: parts of the log densities of these.

`for (n in positive) target += log1m(p);` of a hurdle, where the places of positive counts are computed of these; or
`for (n in 1:K) { target += log1m(p); y[places[n]] ~ poisson(m); }`.
"""
from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from functools import partial, reduce

from ..ir import gprob, traversal
from ..ir.calls import call
from ..ir.outcomes import deciding
from ..ir.provenance import Provenance
from ..ir.uses import declared, depending, is_density_of, mentions, names_in, outcomes, walk_statements


class Repeated:
    """What the increments of a program that hold no outcome are repeated for.

    Args:
        known: of which data values are made in the model.
        observed: the data of which there are log densities, and those that these are made of.
        dynamic: the variables that depend on parameters.
    """

    def __init__(self, program: gprob.Program, known: Provenance, observed: Set[str], dynamic: Set[str]):
        self.known, self.dynamic = known, dynamic
        body = (*program.transformed_data, *program.model)
        self.shapes = {s.name: s.sized.shape for s in walk_statements(body) if isinstance(s, gprob.Declare)}
        self.shapes |= {v.symbol: v.sized.shape for v in (*program.data, *program.transformed_data_variables)}
        # Bounds of parameters decide no numbers of terms.
        numbers = traversal.rewrite(tuple(s for s in body if not isinstance(s, gprob.Sample)), self._number)
        self.decided = {name: depending(numbers, {name}, deciding) for name in sorted(observed)}

    def of(self, value: gprob.Expr, path: Sequence[gprob.Stmt]) -> set[str]:
        """The data that decide how often, or how many times, a statement with those around it adds a value.

        Else those of which each iteration around it has an outcome, unless it has parameters of its own as well.
        None of densities of variables, as of parameters in a prior.
        """
        if any(is_density_of(n) and names_in(n.arguments[0]) for n in self.known.reached(value)):
            return set()
        lengths = [e for s in path for e in _lengths(s)]
        numbers = names_in(traversal.rewrite((value, *lengths), self._number))
        return {n for n, found in self.decided.items() if found & numbers} or self._beside(value, path)

    def _number(self, node: object) -> object:
        """What the size of a variable is made of, in the place of this."""
        if not isinstance(node, gprob.Apply) or not node.function.shape_only:
            return node
        of = node.arguments[0]
        shape = self.shapes.get(of.name) if isinstance(of, gprob.Var) else None
        none: gprob.Expr = gprob.int_const(0, node.span)
        return node if shape is None else reduce(partial(call, "add", node.span), shape, none)

    def _beside(self, value: gprob.Expr, path: Sequence[gprob.Stmt]) -> set[str]:
        loops = [(s, {s.name} | declared(s.body)) for s in path if isinstance(s, gprob.For)]
        alike = [(loop, own) for loop, own in loops if not self._differs(value, own)]
        return {n for loop, own in alike for y in _outcomes_of(loop, own) for n in self.known.of(y)}

    def _differs(self, value: gprob.Expr, own: Set[str]) -> bool:
        """Whether a value has entries of parameters that are those of an iteration, of which it may be the prior."""
        entries = (n for n in self.known.reached(value) if isinstance(n, gprob.Index))
        return any(mentions(n.base, self.dynamic) and self._is_by(n, own) for n in entries)

    def _is_by(self, entry: gprob.Index, own: Set[str]) -> bool:
        single = (i.value for i in entry.indices if isinstance(i, gprob.Single))
        return any(isinstance(n, gprob.Var) and n.name in own for e in single for n in self.known.reached(e))


def _lengths(s: gprob.Stmt) -> Sequence[gprob.Expr]:
    """What decides how often a statement runs what is in it."""
    if isinstance(s, gprob.For):
        return (s.lower, s.upper)
    return (s.condition,) if isinstance(s, gprob.While) else ()


def _outcomes_of(loop: gprob.For, own: Set[str]) -> Iterator[gprob.Expr]:
    """What the iterations of a loop observe, each its own."""
    for s in walk_statements(loop.body):
        found = [s.value] if isinstance(s, gprob.Observe) else outcomes(s) if isinstance(s, gprob.Factor) else []
        yield from (y for y in found if mentions(y, own))
